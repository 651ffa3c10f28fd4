"""Rows of features against the seconds of their videos, and against each other."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from baselines.collection.release import Floats, Ints
from baselines.core.cli import log
from baselines.features.store import FeatureError

FEW = 0.05
"""The share of videos whose rows may not fit their length: they are told, not refused."""
OPEN = 0.01
"""The difference in mean error, in rows, that decides nothing between two lengths of a clip."""
MOST_CUT = 2
"""Rows by which the streams of a video may differ."""


def fits(rows: Ints, seconds: Floats, clip: float) -> npt.NDArray[np.bool_]:
    """Return which videos have as many rows as clips of `clip` seconds, (V,).

    Give or take a row, two in videos of 20 rows or more, and 2 % of a long one.
    """
    expected = seconds / clip
    allowed = np.maximum(np.clip(expected / 10, 1, 2), expected / 50)
    return np.asarray(np.abs(rows - expected) <= allowed)


def find_clip(rows: Ints, seconds: Floats) -> float | None:
    """Return the length of a clip, in seconds, that fits nearly all videos; or None.

    The roundest of the lengths whose mean error is within `OPEN` rows of the least. Up to half a
    row that all videos have more, or less, is no error: their last clips are rounded alike.
    """
    typical = np.quantile(seconds / rows, np.linspace(0, 1, 41))
    errors: dict[float, float] = {}
    for digits in range(5):
        for value in np.unique(typical.round(digits))[::-1].tolist():
            if value > 0:
                error = rows - seconds / value
                errors[value] = float(np.abs(error - np.clip(np.median(error), -0.5, 0.5)).mean())
    near = [value for value in errors if errors[value] <= min(errors.values()) + OPEN]
    best = min(near, key=lambda value: (len(f"{value:g}"), errors[value]))
    return best if fits(rows, seconds, best).mean() >= 1 - FEW else None


def check_clips(path: Path, names: Sequence[str], rows: Ints, seconds: Floats, clip: float) -> None:
    """Check that rows of `clip` seconds add up to the videos' lengths.

    A few videos (`FEW`) that they don't fit are told.

    Raises:
        FeatureError: most rows are of another length, or cover only a part of many videos.
    """
    wrong = np.flatnonzero(~fits(rows, seconds, clip))
    if not len(wrong):
        return
    first = wrong[0]
    misfit = (
        f"rows of {clip:g} s don't add up to the length of {len(wrong):,} of {len(names):,} videos"
        f" ({names[first]!r}: {rows[first]} rows are {rows[first] * clip:g} s,"
        f" it has {seconds[first]:g} s)"
    )
    if len(wrong) <= FEW * len(names):
        log(f"{path}: {misfit}: moments outside the rows can't be found")
        return
    fitting = find_clip(rows, seconds)
    if fitting is not None:
        advice = f"features.clip_seconds: {fitting:g} would fit"
    elif (rows * clip < seconds)[wrong].all():
        advice = "no clip_seconds would fit: the file covers only a part of them"
    elif np.ptp(rows) == 0:
        advice = f"no clip_seconds would fit: all have {rows[0]} rows, whatever their length"
    else:
        advice = "no clip_seconds would fit: the features are not of these videos"
    raise FeatureError(f"{path}: {misfit}; {advice}")


def check_streams(paths: tuple[Path, Path], names: Sequence[str], rows: tuple[Ints, Ints]) -> None:
    """Check that both streams have a row for each clip; those that differ a little are told.

    Raises:
        FeatureError: those of a video differ by more than `MOST_CUT` rows.
    """
    difference = np.abs(rows[0] - rows[1])
    if not difference.any():
        return
    worst = int(difference.argmax())
    example = f"{names[worst]!r} has {rows[1][worst]} rows, but {rows[0][worst]} in {paths[0]}"
    if difference[worst] > MOST_CUT:
        others = int((difference > MOST_CUT).sum()) - 1
        raise FeatureError(
            f"{paths[1]}: video {example}; both must have a row for each clip"
            + (f" (so for {others:,} others)" if others else "")
        )
    log(
        f"{paths[1]}: {np.count_nonzero(difference):,} of {len(names):,} videos have a row or two"
        f" more or less than in the other stream ({example}); both are cut to the shorter"
    )
