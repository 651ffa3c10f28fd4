"""Write and score runs to compare systems with, so that a release is useful on its first day.

reads   datasets/release/qrels/{val,test}.qrels,
        datasets/work/{candidates,captions,moments,queries,videos}.parquet
writes  datasets/work/runs/{random,captions,ideal,jittered}.{val,test}.run

    random     moments of the pool, drawn blindly
    captions   the candidates by rank: it reads captions, which a real system may not
    ideal      the judged moments, the highest level first
    jittered   the same order, with boundaries moved by up to `jitter` of a moment's length

A query's random numbers depend only on the seed and its own id. If nothing is judged, the last two
are empty files.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentrank.collection.declarations import NEGATIVE, YES, read_declared
from momentrank.formats import read_qrels
from momentrank.formats.write import write_run
from momentrank.functions import evaluator
from momentrank.meta.boundaries import measure_boundary_noise
from momentrank.segments import Segments, build_run
from pipeline.core import captions, cli, files, rng, tables
from pipeline.core.params import load
from pipeline.core.sections import ReferenceRuns
from pipeline.core.strata import list_strata

RUNS = tables.WORK / "runs"
QRELS = Path("datasets/release/qrels")
THRESHOLDS, CUTOFFS = (0.3, 0.5, 0.7), (10, 20, 40)
DEPTH = max(CUTOFFS)
GAINS = tuple(f"nDCG(iou={iou})@{cutoff}" for cutoff in CUTOFFS for iou in THRESHOLDS)
MEASURES = (
    *GAINS,
    *(f"R(iou={iou},strict=True)@{cutoff}" for cutoff in CUTOFFS for iou in THRESHOLDS),
    *(f"AxIoU@{cutoff}" for cutoff in CUTOFFS),
)
SEGMENT = ["video_id", "start", "end"]
COLUMNS = ["query_id", *SEGMENT, "rank", "score"]

Scores = dict[str, float]


def tags(params: ReferenceRuns) -> dict[str, str]:
    """Return the tag of each run, which states what it is."""
    return {
        "random": f"random:seed-{params.seed}",
        "captions": "caption-similarity:reads-captions",
        "ideal": "oracle:exact-boundaries",
        "jittered": f"oracle:boundaries-jittered-{params.jitter:g}",
    }


def random_moments(queries: Iterable[str], moments: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return for each query up to `DEPTH` distinct moments of the pool, as `COLUMNS`."""
    segments = moments[SEGMENT].drop_duplicates().sort_values(SEGMENT, ignore_index=True)
    size = min(DEPTH, len(segments))

    def draw_rows(query: str) -> npt.NDArray[np.int64]:
        return rng.generator(seed, query).permutation(len(segments))[:size]

    lists = [segments.iloc[draw_rows(query)].assign(query_id=query) for query in queries]
    empty = pd.DataFrame(columns=["query_id", *SEGMENT])
    drawn = pd.concat([empty, *lists], ignore_index=True)
    rank = drawn.groupby("query_id", sort=False).cumcount() + 1
    return drawn.assign(rank=rank, score=1 / rank)[COLUMNS]


def by_captions(candidates: pd.DataFrame, moments: pd.DataFrame) -> pd.DataFrame:
    """Return the candidates by rank, as `COLUMNS`; the score is the similarity."""
    run = candidates.merge(moments[["moment_id", *SEGMENT]], on="moment_id", validate="m:1")
    run = run.rename(columns={"similarity": "score"})
    return run.sort_values(["query_id", "rank"], ignore_index=True)[COLUMNS]


def ideal(qrels: pd.DataFrame) -> pd.DataFrame:
    """Return judged moments (`query_id, video_id, start, end, level`) in the ideal order.

    As `COLUMNS`, the highest level first, then by video and time; the score is the level.
    """
    key, ascending = ["query_id", "level", *SEGMENT], [True, False, True, True, True]
    order = qrels.sort_values(key, ascending=ascending, ignore_index=True)
    rank = order.groupby("query_id").cumcount() + 1
    return order.assign(rank=rank, score=order["level"])[COLUMNS]


def move_boundaries(
    run: pd.DataFrame, durations: pd.Series, seed: int, jitter: float
) -> pd.DataFrame:
    """Return a run with each boundary moved by up to `jitter` of the moment's length.

    No moment leaves its video; if the video's duration is unknown, a moment may end later.
    """
    moves = [
        rng.generator(seed, query).uniform(-jitter, jitter, (len(rows), 2))
        for query, rows in run.groupby("query_id", sort=False)
    ]
    moved = np.concatenate([np.zeros((0, 2)), *moves])
    length = (run["end"] - run["start"]).to_numpy()
    last = run["video_id"].map(durations).fillna(np.inf).to_numpy()
    start = np.maximum(run["start"].to_numpy() + moved[:, 0] * length, 0)
    end = np.minimum(run["end"].to_numpy() + moved[:, 1] * length, np.maximum(last, run["end"]))
    return run.assign(start=start.round(3), end=end.round(3))


def read_judged(path: Path) -> pd.DataFrame:
    """Return a release's qrels; no rows if nothing is judged yet and the file is empty.

    Negatives have level 0, as whoever scores on the release's files gives them.

    Raises:
        FileError: the file is missing.
        FormatError: it is not qrels.
    """
    with files.open_source(path) as stream:
        empty = not stream.read(1)
    if empty:
        return pd.DataFrame(columns=["query_id", *SEGMENT, "level"])
    qrels, declared = read_qrels(path), read_declared(path.parent.parent).get(NEGATIVE, {})
    qrels.loc[qrels["query_id"].map(declared) == YES, "level"] = 0
    return qrels


def scores(
    runs: Mapping[str, pd.DataFrame],
    qrels: pd.DataFrame,
    measures: Iterable[str] = MEASURES,
    unjudged: Literal["bounds"] | None = None,
) -> dict[str, Scores | None]:
    """Return measures of every run, or their upper bounds; None if no query has a relevant one."""
    if not (qrels["level"] > 0).any():
        return dict.fromkeys(runs)
    scorer = evaluator(measures, qrels)
    result: dict[str, Scores | None] = {}
    for name, run in runs.items():
        means = scorer.calc_aggregate({"": segments(run)}, unjudged)
        result[name] = {repr(measure): round(value, 6) for measure, value in means.items()}
    return result


def by_stratum(
    runs: Mapping[str, pd.DataFrame],
    qrels: pd.DataFrame,
    queries: pd.DataFrame,
    strata: Iterable[str],
) -> dict[str, dict[str, Any]]:
    """Return each stratum's judged queries, and measures of every run on these.

    They are None for a stratum without a relevant moment: nothing can be gained there.
    """
    result: dict[str, dict[str, Any]] = {}
    for name in strata:
        ids = queries.loc[queries["stratum"] == name, "query_id"]
        levels = qrels[qrels["query_id"].isin(ids)]
        own = {run: rows[rows["query_id"].isin(ids)] for run, rows in runs.items()}
        result[name] = {"judged_queries": levels["query_id"].nunique(), "runs": scores(own, levels)}
    return result


def calc_boundary_noise(
    runs: Mapping[str, pd.DataFrame], qrels: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return what boundaries of other people would do to each run (`BoundaryNoise`)."""
    if not (qrels["level"] > 0).any():
        return []
    lists = {name: {"": segments(run)} for name, run in runs.items()}
    return [noise._asdict() for noise in measure_boundary_noise(evaluator(GAINS, qrels), lists)]


def segments(run: pd.DataFrame) -> Segments:
    """Return a run of `COLUMNS` as the library represents it."""
    ids = (run["query_id"].tolist(), run["video_id"].tolist())
    numbers = (run[name].to_numpy("float64") for name in ("start", "end", "score"))
    return build_run(*ids, *numbers, ranks=run["rank"].to_numpy("int64"))


def write(path: Path, run: pd.DataFrame, tag: str) -> None:
    """Write a run; an empty file if it has no results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if run.empty:
        path.write_text("", encoding="utf-8")
    else:
        write_run(path, segments(run), tag=tag)


def main() -> None:
    """Write the runs of both splits, and score them."""
    params = load()
    settings, queries = params.reference_runs, tables.QUERIES.read()
    modalities = params.ingest.pool_modalities
    moments = captions.join_captions(tables.CAPTIONS.read(), tables.MOMENTS.read(), modalities)
    candidates = tables.CANDIDATES.read()
    durations = tables.VIDEOS.read().set_index("video_id")["duration"]
    metrics: dict[str, Any] = {}
    strata = list_strata(queries[queries["split"] != "train"])
    for split in tables.JUDGED_SPLITS:
        ids = sorted(queries.loc[queries["split"] == split, "query_id"])
        qrels = read_judged(QRELS / f"{split}.qrels")
        best = ideal(qrels)
        runs = {
            "random": random_moments(ids, moments, settings.seed),
            "captions": by_captions(candidates[candidates["query_id"].isin(ids)], moments),
            "ideal": best,
            "jittered": move_boundaries(best, durations, settings.seed, settings.jitter),
        }
        for name, tag in tags(settings).items():
            write(RUNS / f"{name}.{split}.run", runs[name], tag)
        metrics[split] = {
            "queries": len(ids),
            "judged_queries": qrels["query_id"].nunique(),
            "with_a_relevant_moment": qrels.loc[qrels["level"] > 0, "query_id"].nunique(),
            "runs": scores(runs, qrels),
            "upper": scores(runs, qrels, GAINS, "bounds"),
            "boundary_noise": calc_boundary_noise(runs, qrels),
        }
        if strata:
            metrics[split]["strata"] = by_stratum(runs, qrels, queries, strata)
    cli.write_metrics("reference_runs", metrics)
    counts = ", ".join(f"{of_split['judged_queries']} {name}" for name, of_split in metrics.items())
    cli.log(f"reference_runs: scored on the judged queries: {counts}")


if __name__ == "__main__":
    cli.run_stage(main)
