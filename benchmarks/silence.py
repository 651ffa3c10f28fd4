"""How often do measures that depend on other queries call two equal systems different?

    python -m benchmarks.silence

Two systems of equal skill at rejection score 100 queries with a relevant moment and 30 negatives: a
query's difficulty, which they share (normal, SD 1), plus each system's own noise (normal, SD .15),
plus half a skill d' of 1 for a query with a moment, minus that for a negative. A system answers
where that is above 0, and its answer is right with a chance that is the same for all. It prints how
often a paired randomisation test finds a difference (p < .05): for AUROC and AUARC it is refused.
"""

import numpy as np

from benchmarks.script import parse_arguments, print_rows, run
from momentrank.measures import AUARC, AUROC, NullAcc, nDCG
from momentrank.paired_tests import randomisation
from momentrank.scoring import Evaluator, PerQuery
from momentrank.segments import Bools, Floats, Ints, Segments

POSITIVE, NEGATIVE, DRAWS, SEED = 100, 30, 400, 2024
OWN, RIGHT, ALPHA = 0.15, 0.7, 0.05
MEASURES = (NullAcc, AUROC, nDCG(iou=0.5, silence=True) @ 10, AUARC(iou=0.5) @ 10)
SIDE = np.repeat([1.0, -1.0], [POSITIVE, NEGATIVE])
NAMES = [f"q{n}" for n in range(len(SIDE))]


def _segments(rows: Ints, start: Floats, value: Floats) -> Segments:
    return Segments(NAMES, rows, ["v"] * len(rows), start, start + 10, value)


def main() -> None:
    """Print how often the test is wrong, by measure."""
    parse_arguments(__doc__)
    rng = np.random.default_rng(SEED)
    every = np.arange(len(SIDE), dtype=np.int64)
    scorer = Evaluator(MEASURES, _segments(every, 0.0 * SIDE, np.maximum(SIDE, 0.0)), "paper")

    def score(confidence: Floats, right: Bools, answers: Bools) -> PerQuery:
        rows = np.flatnonzero(answers)
        run = _segments(rows, np.where(right[rows], 0.0, 50.0), confidence[rows])
        return scorer.per_query({"": run})

    def draw() -> list[tuple[Floats, Bools]]:
        shared, right = rng.normal(size=len(SIDE)), rng.random(len(SIDE)) < RIGHT
        return [
            (shared + own + SIDE / 2, right) for own in rng.normal(scale=OWN, size=(2, len(SIDE)))
        ]

    wrong = np.zeros(len(MEASURES))
    for _ in range(DRAWS):
        first, second = (score(c, r, c > 0) for c, r in draw())
        for at, measure in enumerate(MEASURES):
            p = randomisation((second[measure][1] - first[measure][1])[None], 1000, SEED)[0]
            wrong[at] += p < ALPHA
    rows = zip(map(repr, MEASURES), wrong / DRAWS, strict=True)
    print_rows(f"of {DRAWS} draws", ((name, {"type I error": share}) for name, share in rows))


if __name__ == "__main__":
    run(main)
