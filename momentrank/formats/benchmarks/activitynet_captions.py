"""ActivityNet Captions (Krishna et al., ICCV 2017): one object of videos.

The k-th sentence of a video is the query `VIDEO#k`, from 0. A submission names the sentence.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from momentrank.formats.benchmarks.base import (
    JsonFormat,
    Reading,
    longest,
    moment_id,
    parse_list,
    read_results,
    require_truth,
    split_objects,
    spread,
    texts_of,
)
from momentrank.formats.records import Column
from momentrank.formats.table import Table, Windows

TIMES, SENTENCES, DURATION = "timestamps", "sentences", "duration"
RESULTS = "results"


def read_annotations(records: Column, _: Reading) -> Table:
    """Read `{video: {duration, timestamps: [[start, end], ...], sentences: [...]}}`."""
    names, videos = split_objects(records)
    lists, sentences = videos.key(TIMES, list), videos.key(SENTENCES, list)
    pairs = zip(sentences.values, lists.values, strict=True)
    uneven = (len(texts) != len(times) for texts, times in pairs)
    sentences.refuse(uneven, f"must have as many items as {TIMES}")
    rows, video = lists.flat(), spread(names, lists)
    start, end = rows.parts("start end")
    seen: Counter[str] = Counter()
    queries = [moment_id(name, seen) for name in video]

    def texts() -> dict[str, str]:
        return texts_of(queries, sentences.flat().values)

    def durations() -> dict[str, float]:
        return longest(zip(names, (one.get(DURATION) for one in videos.values), strict=True))

    columns = (start.numbers(), end.numbers(), np.ones(len(queries)))
    return Table(queries, video, *columns, rows.place, queries, durations=durations, texts=texts)


def read_submission(records: Column, reading: Reading) -> Table:
    """Read `{results: {video: [{sentence, timestamp: [start, end], score}, ...]}}`.

    A query is a sentence of that video in the qrels. Its results are in the order of the list. Of a
    sentence that several queries of a video have, the results are theirs in equal parts, in order.
    """
    truth = require_truth(records, reading, "its queries are named by their sentences")
    names, lists = split_objects(records.key(RESULTS, dict))
    rows, video = lists.flat(), spread(names, lists)
    sentences = rows.key("sentence", str).values
    keys = [(name, plain(text)) for name, text in zip(video, sentences, strict=True)]
    known: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, text in truth.texts.items():
        own = truth.videos.get(name) or name.rpartition("#")[0]  # where it has no moment left
        known[own, plain(text)].append(name)
    number, place = Counter(keys), Counter[tuple[str, str]]()
    query, notes = [], []
    for row, key in enumerate(keys):
        queries = known.get(key) or [" ".join(key)]
        query.append(queries[place[key] * len(queries) // number[key]])
        if not place[key] and 1 < len(queries) != number[key]:
            reason = f"{len(queries)} queries have this sentence: its {number[key]} results are"
            notes.append(str(rows.place(row).error(f"{reason} divided in order")))
        place[key] += 1
    if reading.depth is not None:
        seen: Counter[str] = Counter()
        kept = [row for row, name in enumerate(query) if _count(seen, name) <= reading.depth]
        rows, query, video = rows.select(kept), *([c[row] for row in kept] for c in (query, video))
    table = read_results(query, rows, reading._replace(scored=False), _parse, video)
    return table._replace(notes=[*notes, *table.notes])


def _count(seen: Counter[str], name: str) -> int:
    seen[name] += 1
    return seen[name]


def _parse(rows: Column) -> Windows:
    times = rows.key("timestamp", list)
    times.parts("start end")
    pairs = zip(times.values, rows.values, strict=True)
    listed = [[*pair, one["score"]] if "score" in one else pair for pair, one in pairs]
    return parse_list(times._replace(values=listed), "start end score")


def plain(sentence: str) -> str:
    """Return a sentence without what annotations and submissions write differently."""
    return " ".join(sentence.split()).rstrip(" .").casefold()


def _is_annotations(record: Any) -> bool:
    first = next(iter(record.values()), None) if isinstance(record, dict) else None
    return isinstance(first, Mapping) and TIMES in first


ANNOTATIONS = JsonFormat(
    "activitynet-captions",
    "{video: {duration, timestamps: [[start, end], ...], sentences: [...]}}",
    _is_annotations,
    read_annotations,
    convention="charades",  # the same cells are usual
)
SUBMISSION = JsonFormat(
    "activitynet-captions",
    "{results: {video: [{sentence, timestamp: [start, end], score}, ...]}}",
    lambda record: isinstance(record, dict) and isinstance(record.get(RESULTS), dict),
    read_submission,
)
