"""What a pool chosen by captions does to scores, where the truth is known: the sample corpus.

    python -m benchmarks.pooled_scores FOLDER [--draws 10] [--noise 0.8]

FOLDER is a rehearsal on the sample corpus that is released (`make demo`: .demo). Two runs are
scored by its test qrels, and by the true levels of every moment of the pool: `captions`, the
candidates; and a system that looks at the video, which ranks the pool by the true level plus noise
of the given standard deviation, drawn several times. It prints both scores of each, and the upper
bound by the release (`--unjudged bounds`); by how much the second is better, with a 95 % interval
over the queries (Student's, of the mean over the draws); how often their order by the release is
wrong, and how often their bounds overlap; what share of the relevant moments has a level; and both
scores of both by stratum.
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from annotation.simulation.truth import truth
from annotation.votes.votes import Floats
from benchmarks.script import parse_arguments, run
from momentrank.data import Data
from momentrank.formats import load_run, read_qrels
from momentrank.functions import evaluator
from momentrank.paired_tests import t_quantile
from momentrank.scoring import Evaluator
from pipeline.campaign.leave_one_out import MEASURE
from pipeline.core import captions, tables
from pipeline.core.params import load

SEGMENT = ["video_id", "start", "end"]
DEPTH = 100


def read_truth() -> pd.DataFrame:
    """Return `query_id, video_id, start, end, level` of every moment of the pool, by test query."""
    modalities = load().ingest.pool_modalities
    moments = captions.join_captions(tables.CAPTIONS.read(), tables.MOMENTS.read(), modalities)
    moments = moments.drop_duplicates(SEGMENT)
    frozen, level = tables.FROZEN_QUERIES.read(), truth()
    queries = frozen.loc[frozen["split"] == "test", "query_id"].tolist()
    tables_of_queries = [
        moments[SEGMENT].assign(
            query_id=query, level=[level(query, moment) for moment in moments["moment_id"]]
        )
        for query in queries
    ]
    return pd.concat(tables_of_queries, ignore_index=True)


def look(true: pd.DataFrame, noise: float, seed: int) -> pd.DataFrame:
    """Return the run of a system that sees the level of each moment, with noise."""
    seen = true["level"] + np.random.default_rng(seed).normal(0, noise, len(true))
    ordered = true.assign(score=seen).sort_values(["query_id", "score"], ascending=[True, False])
    rank = ordered.groupby("query_id").cumcount() + 1
    return ordered.assign(rank=rank)[rank <= DEPTH]


def per_query(scorer: Evaluator, run: Data) -> Floats:
    """Return the measure by query, in the order of the ids."""
    metrics = sorted(scorer.iter_calc(run), key=lambda metric: metric.query_id)
    return np.array([metric.value for metric in metrics])


def by_stratum(
    scorers: Sequence[Evaluator], runs: Sequence[Data], strata: "pd.Series[str]"
) -> Iterator[tuple[str, int, list[float]]]:
    """Yield each stratum of the queries, how many these are, and both scores of both runs."""
    values = [
        [pd.Series({m.query_id: m.value for m in scorer.iter_calc(run)}) for run in runs]
        for scorer in scorers
    ]
    for name, own in strata.groupby(strata):
        means = [[each.reindex(own.index).mean() for each in of_scorer] for of_scorer in values]
        yield name, len(own), [v for first, *rest in means for v in (first, float(np.mean(rest)))]


def interval(differences: Floats) -> str:
    """Return the mean and Student's 95 % interval."""
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    half = t_quantile(0.95, len(differences) - 1) * error
    return f"{mean:+.3f} ({mean - half:+.3f} to {mean + half:+.3f})"


def main() -> None:
    """Print both runs' scores by the release and by the truth."""
    options = parse_arguments(__doc__, "folder", draws=10, noise=0.8)
    with contextlib.chdir(options.folder):
        released = read_qrels(tables.RELEASE / "qrels/test.qrels")
        candidates = load_run(tables.WORK / "runs/captions.test.run")
        true = read_truth()
        strata = tables.FROZEN_QUERIES.read().set_index("query_id")["stratum"]
    true = true[true["query_id"].isin(released["query_id"])]
    path = Path(options.folder) / tables.RELEASE / "qrels/test.qrels"  # which knows its negatives
    scorers = [evaluator([MEASURE], path), evaluator([MEASURE], true)]
    runs = [candidates] + [look(true, options.noise, n) for n in range(options.draws)]
    asked = [(scorers[0], None), (scorers[0], "bounds"), (scorers[1], None)]
    scores = np.array(
        [[next(iter(s.calc_aggregate(r, kind).values())) for s, kind in asked] for r in runs]
    )
    own, others = scores[0], scores[1:]
    queries = released["query_id"].nunique()
    print(f"{MEASURE}, {queries} test queries:{'':12}by the release       at best  by the truth")
    rows = {"captions": own, "looks at the video, mean": others.mean(0)}
    rows |= {"  least": others.min(0), "  most": others.max(0)}
    for name, values in rows.items():
        print(f"  {name:42}{''.join(f'{value:14.3f}' for value in values)}")
    for name, scorer in zip(("release", "truth"), scorers, strict=True):
        each = np.array([per_query(scorer, run) for run in runs])
        print(f"looking less captions, by the {name}: {interval(each[1:].mean(0) - each[0])}")
    wrong = ((others - own)[:, [0, 2]].prod(axis=1) < 0).sum()
    print(f"the wrong way round in {wrong} of {options.draws} draws")
    overlap = (others[:, 1] >= own[0]) & (own[1] >= others[:, 0])
    print(f"the bounds of both overlap in {overlap.sum()} of {options.draws} draws")
    judged = true.merge(released, on=["query_id", *SEGMENT], how="left", suffixes=("", "_judged"))
    for least in (1, 2):
        share = judged.loc[judged["level"] >= least, "level_judged"].notna().mean()
        print(f"of the moments of true level {least} or higher, {share:.0%} have a level")
    print(f"pairs with a level per query: {len(released) / queries:.1f}")
    names = ("captions", "looks", "captions", "looks")
    print(
        f"by stratum:{'':28}by the release{'':6}by the truth\n{'':26}{'':>8}"
        + "".join(f"{n:>10}" for n in names)
    )
    strata = strata[strata.index.isin(released["query_id"])]
    for name, number, means in by_stratum(scorers, runs, strata):
        cells = "".join(f"{'-' if math.isnan(mean) else f'{mean:.3f}':>10}" for mean in means)
        print(f"  {name:24}{number:>8}{cells}")


if __name__ == "__main__":
    run(main)
