"""Do the measures of silence put systems in the order of their skill at rejection?

    python -m benchmarks.silence

Eight systems score 100 queries with a relevant moment and 30 negatives: a query's difficulty, which
all systems share (normal, SD 1), plus each system's own noise (normal, SD .15), plus half its skill
d' for a query with a moment, minus that for a negative. A system answers where that is above 0, and
its answer is right with a chance that is the same for all. Also how often, of two systems of equal
skill, AUROC and AUARC would differ in a paired randomisation test (p < .05): why they are refused.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.script import parse_arguments, print_rows, run
from momentrank.measures import AUARC, AUROC, NullAcc, nDCG
from momentrank.paired_tests import randomisation
from momentrank.scoring import Evaluator, PerQuery
from momentrank.segments import Bools, Floats, Ints, Segments

POSITIVE, NEGATIVE, SYSTEMS, DRAWS, SEED = 100, 30, 8, 100, 2024
OWN, RIGHT, ALPHA = 0.15, 0.7, 0.05
SPACINGS = (0.6, 0.4, 0.2)
MEASURES = (NullAcc, AUROC, nDCG(iou=0.5, silence=True) @ 10, AUARC(iou=0.5) @ 10)
SIDE = np.repeat([1.0, -1.0], [POSITIVE, NEGATIVE])
NAMES = [f"q{n}" for n in range(len(SIDE))]


def _segments(rows: Ints, start: Floats, value: Floats) -> Segments:
    return Segments(NAMES, rows, ["v"] * len(rows), start, start + 10, value)


def main() -> None:
    """Print how often none of the systems is before a better one, and the other figures."""
    parse_arguments(__doc__)
    rng = np.random.default_rng(SEED)
    every = np.arange(len(SIDE), dtype=np.int64)
    scorer = Evaluator(MEASURES, _segments(every, 0.0 * SIDE, np.maximum(SIDE, 0.0)), "paper")

    def score(confidence: Floats, right: Bools, answers: Bools) -> PerQuery:
        rows = np.flatnonzero(answers)
        run = _segments(rows, np.where(right[rows], 0.0, 50.0), confidence[rows])
        return scorer.per_query({"": run})

    def draw(skills: npt.NDArray[Any]) -> list[tuple[Floats, Bools]]:
        shared, right = rng.normal(size=len(SIDE)), rng.random(len(SIDE)) < RIGHT
        noise = rng.normal(scale=OWN, size=(len(skills), len(SIDE)))
        return [(shared + own + SIDE * d / 2, right) for own, d in zip(noise, skills, strict=True)]

    ordered, tied = np.zeros((2, len(MEASURES), len(SPACINGS)), dtype=int)
    beats = np.zeros(len(MEASURES), dtype=int)
    for column, space in enumerate(SPACINGS):
        skills = np.linspace(-1, 1, SYSTEMS) * (space * (SYSTEMS - 1) / 2)
        for _ in range(DRAWS):
            drawn = [scorer.totals(score(c, r, c > 0)) for c, r in draw(skills)]
            values = np.array([[of[measure] for measure in MEASURES] for of in drawn])
            higher = np.diff(values, axis=0)
            ordered[:, column] += (higher >= 0).all(axis=0)
            tied[:, column] += (higher >= 0).all(axis=0) & (higher == 0).any(axis=0)
    for _ in range(DRAWS):
        [(confidence, right)] = draw(np.ones(1))
        silent, answering = (
            scorer.totals(score(confidence, right, answers))
            for answers in (SIDE > 0, np.inf > SIDE)
        )
        beats += [silent[measure] > answering[measure] for measure in MEASURES]
    wrong = np.zeros(len(MEASURES))
    for _ in range(4 * DRAWS):
        first, second = (score(c, r, c > 0) for c, r in draw(np.ones(2)))
        for at, measure in enumerate(MEASURES):
            p = randomisation((second[measure][1] - first[measure][1])[None], 1000, SEED)[0]
            wrong[at] += p < ALPHA
    heads = [f"d' {space:g} apart" for space in SPACINGS]
    rows = []
    for at, measure in enumerate(MEASURES):
        cells = (f"{n} ({t} with ties)" for n, t in zip(ordered[at], tied[at], strict=True))
        figures = {
            "silent beats answering": int(beats[at]),
            "type I error": wrong[at] / (4 * DRAWS),
        }
        rows.append((repr(measure), dict(zip(heads, cells, strict=True)) | figures))
    print_rows(f"of {DRAWS} draws", rows)


if __name__ == "__main__":
    run(main)
