"""Rank the moments of the whole corpus for each query, with every trained model of one kind.

reads   the release's JSON files, features, datasets/work/baselines/models/MODEL/,
        CONQUER: also its first stage's
writes  datasets/work/baselines/runs/MODEL/topNN-seed.{val,test}.{run,json}
"""

import argparse
from itertools import product
from pathlib import Path

from baselines.collection.release import SPLITS, read_release
from baselines.core import cli, paths
from baselines.core.params import load
from baselines.core.sections import MODELS
from baselines.features.inputs import open_inputs
from baselines.inference.output import segments, write


def main(name: str) -> None:
    """Run the stage for one model."""
    import torch  # noqa: PLC0415  (--help needs none)

    from baselines.inference.first_stage import open_first_stage  # noqa: PLC0415  (--help needs none)
    from baselines.inference.searchers import open_searcher  # noqa: PLC0415  (--help needs none)
    from baselines.training.checkpoint import load_model  # noqa: PLC0415  (--help needs none)

    params = load()
    release = read_release(Path(params.train.release))
    queries = {split: release.read_queries(split) for split in SPLITS}
    inputs = open_inputs(params, [query for listed in queries.values() for query in listed])
    for top, seed in product(params.train.top, params.train.seeds):
        model = load_model(params, name, inputs, top, seed)
        first_stage = open_first_stage(params, name, inputs, top, seed)
        searcher = open_searcher(model, inputs, params.predict, first_stage)
        for split, asked in queries.items():
            with torch.inference_mode():
                run = segments(searcher.search(asked), inputs.names, asked)
            run_name = f"{paths.run_name(top, seed)}.{split}"
            write(paths.RUNS / name, run_name, run, f"{name}:top{top:02d}:seed-{seed}")


if __name__ == "__main__":
    parser = cli.parser()
    parser.add_argument("model", choices=MODELS, help="its section is in baselines/params.yaml")
    arguments: argparse.Namespace = parser.parse_args()
    cli.run_command(lambda: main(arguments.model))
