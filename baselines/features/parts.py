"""Extraction in parts: each is its own file, so that a killed run can resume."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from baselines.core import files
from baselines.core.cli import progress
from baselines.features.store import Rows, is_made_of, read_all, write_features

SIZE = 64
"""Videos or queries in a part."""

Compute = Callable[[Sequence[str]], Iterable[tuple[str, Mapping[str, Rows]]]]
"""Turns names into (name, {kind: rows}), in their order."""
Load = Callable[[], Compute]
"""Loads a model, which takes seconds; called only if there is work to do."""


def extract(
    described: Mapping[str, str], load: Load, targets: Mapping[str, Path], model: str
) -> None:
    """Write one feature file for each kind of `targets`; files and parts of the same work are kept.

    `described` says, by name, what features are made from: a video's seconds, a query's text.
    """
    if all(is_made_of(target, described, model) for target in targets.values()):
        return
    compute, names = load(), list(described)
    groups = [names[first : first + SIZE] for first in range(0, len(names), SIZE)]
    work = files.fingerprint(dict(described), model, sorted(targets))
    folder = next(iter(targets.values())).parent / f".parts-{work}"
    for number, group in enumerate(progress(" and ".join(targets), groups, unit="parts")):
        paths = {kind: folder / f"{kind}.{number:06d}.h5" for kind in targets}
        if all(path.exists() for path in paths.values()):
            continue
        computed = list(compute(group))
        for kind, path in paths.items():
            write_features(path, ((name, rows[kind]) for name, rows in computed), described, model)
    for kind, target in targets.items():
        parts = [folder / f"{kind}.{number:06d}.h5" for number in range(len(groups))]
        write_features(
            target, (table for part in parts for table in read_all(part)), described, model
        )
    shutil.rmtree(folder)
