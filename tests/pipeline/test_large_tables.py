"""Tables past memory: whatever `engine.table_memory` is, the same bytes and the same errors."""

import string
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.params_file import set_params

from pipeline import ingest, split
from pipeline.core import batches, captions, tables
from pipeline.core.storage import database
from pipeline.core.table import TableError
from pipeline.corpora import sharded_corpus as corpora_shards
from pipeline.corpora import sources
from pipeline.corpora.rows import Row
from pipeline.language import detection
from pipeline.names.evidence import advice

TINY, USUAL = 1e-6, 4.0
# Letters of one to four bytes, with and without folding, a null byte, and blanks of several kinds.
LETTERS = "\0aAbBßẞ\u017fsŉİ\u0131éÉ\u0301Σς\ud7ff\ue000\uffff\U00010000\U0010ffff \t\u3000\x85"
texts = st.text(LETTERS + string.digits, min_size=1, max_size=6)
ids = texts
nonblank = texts.filter(str.strip)


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch, repository):
    """Work in an empty folder, with batches of three rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(batches, "ROWS", 3)
    monkeypatch.setattr(database, "ROWS", 3)
    text = (repository / "params.yaml").read_text(encoding="utf-8")
    Path("params.yaml").write_text(text, encoding="utf-8")
    tables.FROZEN_QUERIES.write(tables.FROZEN_QUERIES.empty())


def outcome(main, memory: float) -> tuple[str, dict[str, bytes]]:
    """Return a stage's error and what it writes."""
    inputs = {"captions.parquet", "moments.parquet"} if main is split.main else ()
    set_params("engine", table_memory=memory)
    error = ""
    for path in tables.WORK.rglob("*"):
        if path.is_file() and path.name not in inputs:
            path.unlink()
    try:
        main()
    except Exception as exc:  # noqa: BLE001  (whatever it is)
        error = f"{type(exc).__name__}: {exc}"
    return error, {
        str(path): path.read_bytes() for path in tables.WORK.rglob("*") if path.is_file()
    }


@st.composite
def corpora(draw) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw captions and moments: most of them fit together."""
    names = draw(st.lists(ids, min_size=1, max_size=20, unique=True))
    some = st.sampled_from(draw(st.lists(nonblank, min_size=1, max_size=6)))
    rows = [
        (name, draw(some), "none", None, None, 0, None, None, draw(st.sampled_from(STATUSES)))
        for name in names
    ]
    moments = [
        (name, draw(ids), 0.0, 1.5, draw(nonblank), draw(st.sampled_from(["v", "v", "t"])))
        for name in draw(st.permutations(names))[draw(st.integers(0, 2)) :]
    ]
    return (
        tables.CAPTIONS.check(pd.DataFrame(rows, columns=tables.CAPTIONS.columns)),
        tables.MOMENTS.check(pd.DataFrame(moments, columns=tables.MOMENTS.columns)),
    )


STATUSES = ["passed", "passed", "passed", "reviewed", "failed"]


def make_variants(moments, texts):
    """Return vague versions of the captions of some moments, which passed."""
    made = {"source": "rules", "model": None, "prompt": None, "similarity": 0.7, "detail": 0.5}
    variants = pd.DataFrame({"moment_id": moments, "query": texts, "caption": texts})
    return variants.assign(**made, stratum="vague", status="passed", note=None)


some_examples = settings(max_examples=12, phases=set(Phase) - {Phase.shrink, Phase.explain})


@some_examples
@given(
    corpora(),
    st.integers(0, 3),
    st.integers(0, 3),
    st.none() | st.integers(1, 6),
    st.lists(nonblank, max_size=4),
    st.data(),
)
def test_split_writes_the_same_bytes(corpus, val, test, train, frozen, data):
    for table, frame in zip((tables.CAPTIONS, tables.MOMENTS), corpus, strict=True):
        table.write(frame)
    names = st.sampled_from([*corpus[0]["moment_id"], "another"])
    frozen = {data.draw(names): text for text in frozen}
    queries = pd.DataFrame({"query_id": list(frozen), "query": list(frozen.values())})
    queries["moment_id"] = [data.draw(names | st.none()) for _ in frozen]
    tables.FROZEN_QUERIES.write(queries.assign(split="val"))
    names = data.draw(st.lists(names, max_size=3, unique=True))
    texts = data.draw(st.lists(nonblank, min_size=len(names), max_size=len(names)))
    tables.VARIANTS.write(make_variants(names, texts))
    tables.WRITTEN_QUERIES.write(tables.WRITTEN_QUERIES.empty())
    set_params("split", val=val, test=test, train=train)
    assert outcome(split.main, TINY) == outcome(split.main, USUAL)
    assert not list(database.FOLDER.glob("*"))


@some_examples
@given(corpora(), st.sampled_from([["v"], ["t", "v"], []]))
def test_the_pool_is_the_same(corpus, modalities):
    for table, frame in zip((tables.CAPTIONS, tables.MOMENTS), corpus, strict=True):
        table.write(frame)
    small, large = (captions.read_pool(modalities, memory) for memory in (USUAL, TINY))
    pd.testing.assert_frame_equal(small, large)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 7), max_size=5))
def test_how_rows_are_batched_does_not_show(lengths):
    rows = [(f"m{n}", "She waves." * (n % 3 + 1), "train", f"m{n}") for n in range(sum(lengths))]
    frame = pd.DataFrame(rows, columns=tables.QUERIES.columns[:4])
    tables.QUERIES.write(tables.QUERIES.check(frame))
    whole = tables.QUERIES.path.read_bytes()
    ends = pd.Series(lengths, dtype="int64").cumsum()
    parts = [frame[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    tables.QUERIES.write_batches(parts)
    assert tables.QUERIES.path.read_bytes() == whole


@pytest.mark.parametrize("name", ["val", "none"])
def test_rows_that_are_wanted_are_the_same(name):
    rows = [(f"m{n}", "She waves.", tables.SPLITS[n % 3], None) for n in range(10)]
    tables.QUERIES.write(pd.DataFrame(rows, columns=tables.QUERIES.columns[:4]))
    small, large = (
        database.read_rows(tables.QUERIES, memory, lambda frame: frame["split"] == name)
        for memory in (USUAL, TINY)
    )
    pd.testing.assert_frame_equal(small, large)


numbers = st.sampled_from([0.0, 1, 1.5, 2.0, "2,5", "3", 4.25, 5, 1e-7, -1.0])
ODD = [None, True, "x", float("nan"), float("inf"), 2**70, 1e16, Decimal("1.50"), [1, None]]
times = numbers | st.sampled_from(ODD)
names = st.sampled_from(["a", "b", "B", "c ", 1, 1.0, 2, "../x", "z" * 501, None, "\ud800", "é"])
raw_rows = st.builds(
    Row,
    file=st.just("tvr.jsonl"),
    line=st.none() | st.integers(1, 9),
    item=st.sampled_from(["", "row 1"]),
    moment_id=st.integers(0, 40) | names,
    video_id=st.integers(0, 3) | st.integers(0, 3) | names,
    start=st.just(0.0) | times,
    end=numbers | times,
    duration=st.sampled_from([5.0, 6, "5"]) | times,
    description=nonblank | st.sampled_from(["She waves.", None, 7, "=1+1", "a\rb", "\udc80", "?"]),
    modality=st.sampled_from(["v", "v", "t", "vt", "x", None, ["v"], 3]),
    problem=st.sampled_from(["", "", "", "not-json"]),
)


@some_examples
@given(
    st.lists(raw_rows, max_size=27),
    st.sampled_from([None, "videos/{video_id}.mp4", "{video_id}.*"]),
    st.sampled_from([["v"], ["v", "t"]]),
)
def test_ingest_writes_the_same_bytes(rows, videos, modalities):
    def probe(paths, **_):
        return {path: 4.5 for path in paths if len(path) % 2}

    set_params(
        "ingest", source="x.jsonl", videos=videos, max_rejected=1.0, pool_modalities=modalities
    )
    Path("x.jsonl").write_text(f"{rows!a}\n" * 3)  # whose parts are those of these rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpora_shards, "ROWS", 2)
        patch.setattr(sources, "PORTION_BYTES", 1)  # three portions
        patch.setattr(ingest.corpora, "read", lambda *_: iter(rows))
        patch.setattr(
            ingest.corpora,
            "read_portion",
            lambda _, portion, __: iter(rows[9 * (portion.span.line - 1) :][:9]),
        )
        patch.setattr(ingest, "durations", probe)
        patch.setattr(detection, "SAMPLE", 4)
        patch.setattr(advice, "ENOUGH", 3)
        lines = []
        patch.setattr(ingest.cli, "log", lines.append)
        large = outcome(ingest.main, TINY), lines.copy()
        lines.clear()
        assert large == (outcome(ingest.main, USUAL), lines)


BROKEN = {
    "a cell": {"start": [0.0] * 7 + [-1.0]},
    "many cells": {"video_id": [""] * 8, "start": [-1.0] * 8},
    "no numbers": {"start": ["0", "1", "2", "3", "x", "5", "6", "y"]},
    "a key": {"moment_id": list("aecdefga")},
    "many keys": {"moment_id": list("aaaabbbb")},
    "a column": {"colour": ["red"] * 8},
    "null": {"description": ["x", None, "y", " ", "z", "", "x", "x"]},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_table_is_told_alike(name):
    frame = pd.DataFrame(
        {"moment_id": list("abcdefgh"), "video_id": "v", "start": 0.0, "end": 1.0}
        | {"description": "She waves.", "modality": "v"}
    )
    tables.CAPTIONS.write(tables.CAPTIONS.empty())
    frame.assign(**BROKEN[name]).to_parquet(tables.MOMENTS.path)
    with pytest.raises(TableError) as small:
        captions.read_pool(["v"], USUAL)
    with pytest.raises(TableError) as large:
        captions.read_pool(["v"], TINY)
    assert str(large.value) == str(small.value)
