"""Queries and judgments as files: JSON for the published training code, qrels, CSV, TSV."""

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from momentrank import segments
from momentrank.formats import write
from momentrank.ids import json_names, query_numbers
from pipeline.campaign.collection import Collection
from pipeline.core.tables import JUDGED_SPLITS
from pipeline.distribution.release_files import (
    ReleaseFile,
    ReleaseFiles,
    columns,
    csv_rows,
    json_list,
    json_object,
)

CONSENSUS = ["pair_id", "level", "mean", "outcome", "origin", "second_look"]
CONSENSUS += ["voted_level", "voted_outcome", "reported"]
MOMENT = ("pair_id", "video_name", "timestamp", "duration", "caption", "similarity", "relevance")
QUERY = ("query_id", "query", "split", "stratum", "origin", "negative")
HEADER = "query_id\tquery\tsplit\tnumber\tstratum\torigin\tnegative\n"
_BREAKS = re.compile(r"[\t\v\f\x1c-\x1f\x85\u2028\u2029\r\n]+")
"""Characters that end a line or a field for some readers of tab-separated text."""


def build_judgment_files(collection: Collection, meanings: dict[str, Any]) -> ReleaseFiles:
    """Return the files with queries, levels and votes."""
    split = collection.judged["split"]
    by_split = {name: collection.judged[split == name] for name in JUDGED_SPLITS}
    return {
        **{f"{name}.json": _relevant_moments(collection, by_split[name]) for name in JUDGED_SPLITS},
        **{f"qrels/{name}.qrels": segment_qrels(by_split[name]) for name in JUDGED_SPLITS},
        **{f"qrels/{name}.moments.qrels": moment_qrels(by_split[name]) for name in JUDGED_SPLITS},
        "qrels/levels.json": json_object(meanings),
        "queries.tsv": _queries(collection),
        **_tables(collection),
    }


def _relevant_moments(collection: Collection, judged: pd.DataFrame) -> ReleaseFile:
    """Return `{query_id, query, relevant_moment}` for each query, moments by id.

    Where the query's own id is no number, it is its `query_key`.
    """
    numbers = query_numbers(collection.frozen["query_id"])
    texts = dict(zip(collection.frozen["query_id"], collection.frozen["query"], strict=True))
    times = pd.Series(judged[["start", "end"]].to_numpy().tolist(), judged.index, dtype=object)
    names = {"video_id": "video_name", "level": "relevance"}
    rows = judged.assign(timestamp=times).rename(columns=names)
    moments = rows[list(MOMENT)].to_dict("records")
    by_query: dict[str, list[Any]] = {}
    for query, moment in zip(judged["query_id"], moments, strict=True):
        by_query.setdefault(query, []).append(moment)
    return json_list(
        [
            json_names(numbers[query], query) | {"query": texts[query], "relevant_moment": relevant}
            for query, relevant in by_query.items()
        ]
    )


def segment_qrels(judged: pd.DataFrame) -> ReleaseFile:
    """Return the levels of segments: `query_id Q0 video_id start end level`."""
    cells = columns(judged, "query_id", "video_id", "start", "end", "level")
    return ReleaseFile(write.qrels_text(segments.build_qrels(*cells)).encode(), len(judged))


def moment_qrels(judged: pd.DataFrame) -> ReleaseFile:
    """Return the levels of moments, for TREC's tools: `query_id 0 moment_id level`."""
    cells = columns(judged, "query_id", "moment_id", "level")
    return ReleaseFile(_trec_text(*cells).encode(), len(judged))


def _queries(collection: Collection) -> ReleaseFile:
    """Return a line per query, with its id as in the qrels, and `yes` if it is negative."""
    is_negative = collection.queries["query_id"].isin(collection.negatives)
    queries = collection.queries.assign(negative=is_negative.map({True: "yes", False: ""}))
    ids = write.fields(queries["query_id"].tolist())
    numbers = query_numbers(queries["query_id"])
    lines = [
        "\t".join([ids[name], _BREAKS.sub(" ", text), split, str(numbers[name]), *asked]) + "\n"
        for name, text, split, *asked in zip(*columns(queries, *QUERY), strict=True)
    ]
    return ReleaseFile("".join([HEADER, *lines]).encode(), len(lines))


def _tables(collection: Collection) -> ReleaseFiles:
    votes, pairs = collection.votes, collection.pairs.rename(columns={"video_id": "video_name"})
    without = votes[votes["level"].isna()]
    scored = votes[votes["level"].notna()].rename(columns={"level": "relevance"})
    return {
        "raw_annotation.csv": csv_rows(scored[["pair_id", "worker", "relevance"]]),
        "cant_judge.csv": csv_rows(without[["pair_id", "worker", "reason"]]),
        "pairs.csv": csv_rows(pairs[["pair_id", "query_id", "video_name", "start", "end"]]),
        "consensus.csv": csv_rows(pairs[CONSENSUS]),
    }


def _trec_text(queries: Sequence[str], moments: Sequence[str], levels: Sequence[int]) -> str:
    """Return judged moments as lines."""
    query, moment = write.fields(queries), write.fields(moments)
    rows = zip(queries, moments, levels, strict=True)
    return "".join(f"{query[q]} 0 {moment[m]} {level}\n" for q, m, level in rows)
