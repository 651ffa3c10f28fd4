"""Charades-STA (Gao et al., ICCV 2017) and ActivityNet Captions (Krishna et al., ICCV 2017).

Their annotations have no ids: the k-th sentence of a video is the query `VIDEO#k`, from 0.
Charades-STA has lines `VIDEO START END##sentence`, and durations in Charades' own CSV file.
ActivityNet Captions is one object of videos; a submission names the sentence.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from momentrank.formats.benchmarks.base import (
    JsonFormat,
    Reading,
    longest,
    parse_list,
    read_results,
    require_truth,
    split_objects,
    spread,
    texts_of,
)
from momentrank.formats.lines import NUMBER, Lines, floats
from momentrank.formats.records import Column
from momentrank.formats.source import Location, Source
from momentrank.formats.table import Table, Windows

CHARADES = "charades-sta"
CONVENTION = "charades"
"""Of both: the same cells are customary."""
CHARADES_SHAPE = "lines VIDEO START END##sentence"
MARK = "##"
LAYOUT = "video_id start end"
DURATIONS = ("id", "length")
"""The columns of Charades' CSV file: a video, and its duration in seconds."""
_FIRST = re.compile(
    rf"\s*[^\s{{\[]\S{{0,200}}[ \t]+(?:{NUMBER.pattern})[ \t]+(?:{NUMBER.pattern})[ \t]*{MARK}",
    re.ASCII,
)


class Line(NamedTuple):
    """A moment as in the file, unchecked."""

    video: str
    start: str
    end: str
    sentence: str


def moment_id(video: str, seen: Counter[str]) -> str:
    """Return the id of the next moment of a video."""
    seen[video] += 1
    return f"{video}#{seen[video] - 1}"


def split_line(text: str) -> Line | None:
    """Return the parts of a line; None if it is not `VIDEO START END##sentence`."""
    head, mark, sentence = text.partition(MARK)
    fields = head.split()
    if not mark or len(fields) != len(LAYOUT.split()):
        return None
    video, start, end = fields
    return Line(video, start, end, sentence)


def is_charades(text: str) -> bool:
    """Tell whether the first line with content is one of Charades-STA."""
    return _FIRST.match(text) is not None


def read_charades(source: Source) -> Table:
    """Read one moment of level 1 per line."""
    numbered = [
        (number, line)
        for number, line in enumerate(source.text.split("\n"), start=1)
        if line and not line.isspace()
    ]
    lines = []
    for number, text in numbered:
        line = split_line(text)
        if line is None:
            raise Location(source.path, number).error(
                f"must be {CHARADES_SHAPE.removeprefix('lines ')}"
            )
        lines.append(line)

    def location(row: int) -> Location:
        return Location(source.path, numbered[row][0])

    fields = Lines(list(zip(*lines, strict=True))[:3], location)
    seen: Counter[str] = Counter()
    queries = [moment_id(line.video, seen) for line in lines]
    start, end = floats(fields, LAYOUT, "start"), floats(fields, LAYOUT, "end")

    def texts() -> dict[str, str]:
        return {query: line.sentence.strip() for query, line in zip(queries, lines, strict=True)}

    videos = [line.video for line in lines]
    return Table(queries, videos, start, end, np.ones(len(lines)), location, queries, texts=texts)


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
    start, end = rows.split_as("start end")
    seen: Counter[str] = Counter()
    queries = [moment_id(name, seen) for name in video]

    def texts() -> dict[str, str]:
        return texts_of(queries, sentences.flat().values)

    def durations() -> dict[str, float]:
        return longest(zip(names, (record.get(DURATION) for record in videos.values), strict=True))

    columns = (start.numbers(), end.numbers(), np.ones(len(queries)))
    return Table(queries, video, *columns, rows.location, queries, durations=durations, texts=texts)


def read_submission(records: Column, reading: Reading) -> Table:
    """Read `{results: {video: [{sentence, timestamp: [start, end], score}, ...]}}`.

    A query is a sentence of that video in the qrels. Its results are in the order of the list.
    Queries of a video with the same sentence share its results in equal parts, in order.
    """
    truth = require_truth(records, reading, "its queries are named by their sentences")
    names, lists = split_objects(records.key(RESULTS, dict))
    rows, video = lists.flat(), spread(names, lists)
    sentences = rows.key("sentence", str).values
    keys = [(name, plain(text)) for name, text in zip(video, sentences, strict=True)]
    names_of: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, text in truth.texts.items():
        owner = truth.videos.get(name) or name.rpartition("#")[0]  # if it has no moment left
        names_of[owner, plain(text)].append(name)
    number, used = Counter(keys), Counter[tuple[str, str]]()
    query, notes = [], []
    for row, key in enumerate(keys):
        queries = names_of.get(key) or [" ".join(key)]
        query.append(queries[used[key] * len(queries) // number[key]])
        if not used[key] and 1 < len(queries) != number[key]:
            reason = f"{len(queries)} queries have this sentence: its {number[key]} results are"
            notes.append(str(rows.location(row).error(f"{reason} divided in order")))
        used[key] += 1
    if reading.depth is not None:
        seen: Counter[str] = Counter()
        top = [row for row, name in enumerate(query) if _count(seen, name) <= reading.depth]
        rows, query, video = rows.select(top), *([c[row] for row in top] for c in (query, video))
    table = read_results(query, rows, reading._replace(scored=False), _parse, video)
    return table._replace(notes=[*notes, *table.notes])


def _count(seen: Counter[str], name: str) -> int:
    seen[name] += 1
    return seen[name]


def _parse(rows: Column) -> Windows:
    times = rows.key("timestamp", list)
    times.split_as("start end")
    pairs = zip(times.values, rows.values, strict=True)
    listed = [[*pair, result["score"]] if "score" in result else pair for pair, result in pairs]
    return parse_list(times._replace(values=listed), "start end score")


def plain(sentence: str) -> str:
    """Normalise a sentence: annotations and submissions write it differently."""
    return " ".join(sentence.split()).rstrip(" .").casefold()


def _is_annotations(record: Any) -> bool:
    first = next(iter(record.values()), None) if isinstance(record, dict) else None
    return isinstance(first, Mapping) and TIMES in first


ANNOTATIONS = JsonFormat(
    "activitynet-captions",
    "{video: {duration, timestamps: [[start, end], ...], sentences: [...]}}",
    _is_annotations,
    read_annotations,
    convention=CONVENTION,
)
SUBMISSION = JsonFormat(
    "activitynet-captions",
    "{results: {video: [{sentence, timestamp: [start, end], score}, ...]}}",
    lambda record: isinstance(record, dict) and isinstance(record.get(RESULTS), dict),
    read_submission,
)
