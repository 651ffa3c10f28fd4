"""Train a model on a release's pseudo training sets, for each N and seed.

reads   the release's JSON files, features; CONQUER: its trained first stage
writes  datasets/work/baselines/models/MODEL/topNN-seed.safetensors,
        datasets/work/baselines/plots/train_MODEL.csv, metrics/train_MODEL.json

Early stopping watches nDCG@20,IoU>=0.5 on val, over the last `train.smoothing` validations. A
killed run resumes, to the same weights.
"""

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

import momentrank
from baselines.collection.release import read_release
from baselines.core import cli, files, paths
from baselines.core.devices import choose_device
from baselines.core.params import load
from baselines.core.sections import MODELS, Params
from baselines.features.inputs import Inputs, open_inputs
from baselines.inference.output import segments

if TYPE_CHECKING:
    from baselines.inference.first_stage import FirstStage
    from baselines.models.registry import Model

STOPPED_BY = "nDCG(iou=0.5)@20"


def validator(
    model: "Model", inputs: Inputs, params: Params, first_stage: "FirstStage | None"
) -> Callable[[], float]:
    """Return a function that computes the model's current validation score."""
    from baselines.inference.searchers import open_searcher  # noqa: PLC0415  (--help needs none)

    queries = inputs.release.read_queries("val")
    scorer = momentrank.evaluator([STOPPED_BY], inputs.release.folder / "val.json", "paper")

    def validate() -> float:
        ranked = open_searcher(model, inputs, params.predict, first_stage).search(queries)
        run = segments(ranked, inputs.names, queries)
        [value] = scorer.calc_aggregate({"": run}).values()
        return float(value)

    return validate


def identity(params: Params, name: str, inputs: Inputs, top: int, seed: int) -> str:
    """Return what determines a run's weights; paths, the device and pauses do not."""
    sections = {
        "train": params.train.of_top(top).model_dump(
            exclude={"release", "top", "by_top", "seeds", "device", "save_every"}
        ),
        "features": params.features.model_dump(
            exclude={"videos", "folder", "video", "sub", "queries"}
        ),
        "predict": params.predict.model_dump(),
        name: getattr(params, name).model_dump(),
    }
    release = inputs.release.hashes([top])
    del release["test.json"]  # training never reads it
    features = [features_file.digest() for features_file in (*inputs.streams, inputs.tokens)]
    return files.fingerprint(name, sections, release, features, seed)


def train(params: Params, name: str, inputs: Inputs, top: int, seed: int) -> list[dict[str, float]]:
    """Train one model; return an entry for each validation. N = 0 is the model before training."""
    import torch  # noqa: PLC0415  (--help needs none)

    from baselines.inference.first_stage import open_first_stage  # noqa: PLC0415  (--help needs none)
    from baselines.models.registry import build  # noqa: PLC0415  (--help needs none)
    from baselines.training.batches import BatchMaker  # noqa: PLC0415  (--help needs none)
    from baselines.training.checkpoint import save_finished  # noqa: PLC0415  (--help needs none)
    from baselines.training.loop import Setting, Trainer  # noqa: PLC0415  (--help needs none)
    from baselines.training.negatives import Negatives  # noqa: PLC0415  (--help needs none)

    first_stage = open_first_stage(params, name, inputs, top, seed)
    torch.manual_seed(seed)
    model = build(name, inputs.widths, params, params.train.mode)
    model = model.to(choose_device(params.train.device)).eval()
    validate = validator(model, inputs, params, first_stage)
    path = paths.checkpoint(name, top, seed)
    if not top:
        score = validate()
        save_finished(path, model, score)
        return [{"top": top, "seed": seed, "epoch": 0, "validation": score, "watched": score}]
    pairs = inputs.release.read_pairs(top)
    settings = getattr(params, name)
    shapes = {key: list(tensor.shape) for key, tensor in model.state_dict().items()}
    decided = files.fingerprint(identity(params, name, inputs, top, seed), shapes)
    negatives = hard_negatives = None
    if first_stage is None:
        hard_negatives = (settings.hard_negatives_from, settings.hard_pool)
    else:
        decided = files.fingerprint(decided, first_stage.identity)
        ranked = first_stage.rank(pairs.queries, settings.negative_pool).videos.numpy()
        negatives = Negatives(ranked, pairs, settings.negatives)
    setting = Setting(
        name=f"{name}, N = {top}, seed {seed}",
        path=path,
        identity=decided,
        seed=seed,
        hard_negatives=hard_negatives,
    )
    trainer = Trainer(
        model, BatchMaker(inputs, pairs, negatives), params.train.of_top(top), setting
    )
    state = trainer.run(validate)
    return [{"top": top, "seed": seed, **entry} for entry in state.history]


def main(name: str) -> None:
    """Run the stage for one model."""
    params = load()
    release = read_release(Path(params.train.release))
    inputs = open_inputs(params, release.all_queries(params.train.top))
    entries: list[dict[str, float]] = []
    for top, seed in product(params.train.top, params.train.seeds):
        entries += train(params, name, inputs, top, seed)
    frame = pd.DataFrame(entries)
    loss_columns = frame.drop(columns=["top", "seed", "epoch", "validation", "watched"])
    frame["loss"] = loss_columns.sum(axis=1, min_count=1)  # none before training
    plot = paths.PLOTS / f"train_{name}.csv"
    files.write_text(plot, frame.to_csv(index=False))
    best = frame.loc[frame.groupby(["top", "seed"])["watched"].idxmax()]
    figures = best[["top", "seed", "epoch", "validation", "watched"]].to_dict("records")
    files.write_json(paths.METRICS / f"train_{name}.json", {"runs": figures})


if __name__ == "__main__":
    parser = cli.parser()
    parser.add_argument("model", choices=MODELS, help="its section is in baselines/params.yaml")
    arguments: argparse.Namespace = parser.parse_args()
    cli.run_command(lambda: main(arguments.model))
