"""Rank windows of frames for each query of val and test, without training.

reads   the release's JSON files, its videos (`features.videos`)
writes  datasets/work/baselines/zero_shot/video.h5, runs/zero_shot/{val,test}.{run,json}

Frames and queries are embedded in one space (`zero_shot.model`). A killed run resumes.
"""

from pathlib import Path

import numpy as np

from baselines.collection.release import SPLITS, read_release
from baselines.core import cli, paths
from baselines.core.devices import choose_device
from baselines.core.params import load
from baselines.core.sections import ZERO_SHOT
from momentrank.errors import UsageError


def main() -> None:
    """Run the stage."""
    from baselines.features.joint import ClipSpace, ColourSpace  # noqa: PLC0415  (--help needs none)
    from baselines.features.parts import extract  # noqa: PLC0415  (--help needs none)
    from baselines.features.store import read_all  # noqa: PLC0415  (--help needs none)
    from baselines.inference.output import segments, write  # noqa: PLC0415  (--help needs none)
    from baselines.inference.windows import search_windows  # noqa: PLC0415  (--help needs none)

    params = load()
    model, features = params.zero_shot.model, params.features
    runs, target = paths.RUNS / ZERO_SHOT, paths.WORK / ZERO_SHOT / "video.h5"
    for folder in (runs, target.parent):  # DVC requires them, even empty
        folder.mkdir(parents=True, exist_ok=True)
    if model is None:
        cli.log("zero_shot.model is null: no run without training")
        return
    if features.videos is None:
        raise UsageError("zero_shot.model: needs features.videos; or null: no run without training")
    release, device = read_release(Path(params.train.release)), choose_device(params.train.device)
    made_by = f"{model}, {features.clip_seconds} s"
    kind = ColourSpace if model == "builtin" else ClipSpace
    space = kind(features.videos, features.clip_seconds, model, device)
    extract(release.described_videos(), lambda: space, {"video": target}, made_by)
    by_name, seconds = dict(read_all(target)), np.array([*release.videos.values()])
    rows = [by_name[name] for name in release.videos]
    for split in SPLITS:
        queries = release.read_queries(split)
        vectors = space.embed([query.text for query in queries])
        ranked = search_windows(rows, seconds, vectors, params)
        write(runs, split, segments(ranked, [*release.videos], queries), ZERO_SHOT)


if __name__ == "__main__":
    cli.parser().parse_args()
    cli.run_command(main)
