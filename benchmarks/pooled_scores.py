"""What a pool chosen by captions does to scores, where the truth is known: the sample corpus.

    python -m benchmarks.pooled_scores FOLDER [--draws 10] [--noise 0.8]

FOLDER is a rehearsal on the sample corpus that is released (`make demo`: .demo). Two runs are
scored by its test qrels, and by the true levels of every moment of the pool: `captions`, the
candidates; and a system that looks at the video, which ranks the pool by the true level plus noise
of the given standard deviation, drawn several times. It prints both scores of each; by how much the
second is better, with a 95 % interval over the queries (Student's, of the mean over the draws); how
often their order by the release is wrong; and what share of the relevant moments has a level.
"""

import contextlib
import math
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
    true = true[true["query_id"].isin(released["query_id"])]
    path = Path(options.folder) / tables.RELEASE / "qrels/test.qrels"  # which knows its negatives
    scorers = [evaluator([MEASURE], path), evaluator([MEASURE], true)]
    runs = [candidates] + [look(true, options.noise, n) for n in range(options.draws)]
    each = {
        name: np.array([per_query(scorer, run) for run in runs])
        for name, scorer in zip(("release", "truth"), scorers, strict=True)
    }
    queries = released["query_id"].nunique()
    print(f"{MEASURE}, {queries} test queries, {options.draws} draws")
    for name, values in each.items():
        own, others = values[0], values[1:].mean(0)
        print(f"by the {name}: captions {own.mean():.3f}, looks at the video {others.mean():.3f}")
        print(f"  the second less the first: {interval(others - own)}")
    better, truly = (values.mean(1)[1:] > values.mean(1)[0] for values in each.values())
    print(f"the wrong way round in {(better != truly).sum()} of {options.draws} draws")
    judged = true.merge(released, on=["query_id", *SEGMENT], how="left", suffixes=("", "_judged"))
    for least in (1, 2):
        share = judged.loc[judged["level"] >= least, "level_judged"].notna().mean()
        print(f"of the moments of true level {least} or higher, {share:.0%} have a level")
    print(f"pairs with a level per query: {len(released) / queries:.1f}")


if __name__ == "__main__":
    run(main)
