"""Score all models' runs, and write TVR-Ranking's Table 2 for this collection.

reads   val.json and test.json of the release, datasets/work/baselines/runs/, `score.references`
writes  datasets/work/baselines/table.{md,tex,html}, and metrics/score.json

Model x N x nDCG@{10,20,40} x IoU {.3,.5,.7} on val and test, with intervals over queries, paired
tests against the best model, Judged@K, and the deviation over seeds.
"""

from itertools import product
from pathlib import Path

from baselines.collection.release import SPLITS
from baselines.comparison import render
from baselines.comparison.scores import System, score
from baselines.core import cli, files, paths
from baselines.core.params import load
from baselines.core.sections import MODELS, ZERO_SHOT, Params

REFERENCES = ("captions", "ideal", "random", "jittered")


def find_runs(params: Params, split: str) -> dict[System, list[Path]]:
    """Return the runs of each system, one for each seed.

    A model without runs is left out.

    Raises:
        FileError: no model has runs, or one lacks a seed's run.
    """
    runs_of: dict[System, list[Path]] = {}
    if (zero_shot := paths.RUNS / ZERO_SHOT / f"{split}.run").is_file():
        runs_of[System(ZERO_SHOT, 0)] = [zero_shot]
    for name, top in product(MODELS, params.train.top):
        names = [f"{paths.run_name(top, seed)}.{split}.run" for seed in params.train.seeds]
        runs = [paths.RUNS / name / file_name for file_name in names]
        missing = [run for run in runs if not run.is_file()]
        if missing and len(missing) < len(runs):
            command = f"dvc repro baselines/dvc.yaml:predict@{name}"
            raise files.FileError(
                f"{missing[0]}: no such run, but other seeds have one; type: {command}"
            )
        if not missing:
            runs_of[System(name, top)] = runs
    if not runs_of:
        raise files.FileError(f"{paths.RUNS}: no runs; type: dvc repro baselines/dvc.yaml")
    for name in REFERENCES if params.score.references else ():
        run = Path(str(params.score.references)) / f"{name}.{split}.run"
        if run.is_file():
            runs_of[System(name, None)] = [run]
    return runs_of


def main() -> None:
    """Run the stage."""
    params = load()
    folder = Path(params.train.release)
    splits = {
        split: score(folder / f"{split}.json", find_runs(params, split), params.score)
        for split in SPLITS
    }
    for suffix, write in (("md", render.markdown), ("tex", render.latex), ("html", render.html)):
        files.write_text(paths.WORK / f"table.{suffix}", write(splits))
    figures = {
        split: {
            f"{system.name}{'' if system.top is None else f'.top{system.top:02d}'}": {
                name: round(cell.mean, 6) for name, cell in row.items()
            }
            for system, row in table.items()
        }
        for split, table in splits.items()
    }
    files.write_json(paths.METRICS / "score.json", figures)
    cli.log(render.markdown(splits))


if __name__ == "__main__":
    cli.parser().parse_args()
    cli.run_command(main)
