"""A published collection, in the layout of TVR-Ranking's files, against its raw votes."""

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.assignment.inputs import Rule
from annotation.pooling import published
from momentrank.formats.source import FormatError

TWO = Rule(batch=3, last_ranks=2, min_mean=2.0)
MOMENT = {"video_name": "v", "timestamp": [0.0, 2.5], "duration": 9.0, "caption": "She runs."}


def moment(pair, level, similarity=0.5):
    return {"pair_id": pair, **MOMENT, "similarity": similarity, "relevance": level}


def nest(queries):
    """Return queries `{id: [moment, ...]}` as they are published."""
    return [
        {"query_id": query, "query": "She runs.", "relevant_moment": moments}
        for query, moments in queries.items()
    ]


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """Return the paths of a collection of two queries, in the current folder."""
    monkeypatch.chdir(tmp_path)
    votes = {0: "44", 1: "34", 2: "0422", 3: "0044", 20: "11", 21: "00", 40: "33"}
    rows = [f"{pair},{who},{level}" for pair, levels in votes.items()
            for who, level in enumerate(levels)]  # fmt: skip
    (tmp_path / "raw_annotation.csv").write_text("\n".join(["pair_id,worker,relevance", *rows]))
    val = {7: [moment(0, 4, 1.0), moment(1, 4), moment(2, 2)]}
    test = {8: [moment(20, 2, 1.0), moment(21, 0), moment(3, 2), moment(99, 1)]}
    (tmp_path / "val.json").write_text(json.dumps(nest(val)))
    (tmp_path / "test.json").write_text(json.dumps(nest(test)))
    return ("raw_annotation.csv", "val.json", "test.json")


def test_published_levels_are_held_against_the_votes(collection, command):
    code, output, errors = command("annotation.audit", "published", *collection, "--json")
    assert (code, errors) == (0, "")
    figures = json.loads(output)
    assert (figures["queries"], figures["pairs"]) == (2, 7)
    one_each = dict.fromkeys(("different", "discarded", "without_votes", "unpublished"), 1)
    assert figures["levels"] == {"same": 4, **one_each}
    assert figures["similarity_1"] == {"pairs": 2, "below_top": 1, "share": 0.5}
    _, output, _ = command("annotation.audit", "published", *collection)
    assert "levels: {same: 4, different: 1, discarded: 1, " in output


def test_a_record_for_each_pair_is_the_same_collection(collection, tmp_path):
    lists = json.loads((tmp_path / "val.json").read_text())
    flat = [
        {"query_id": query["query_id"], **pair}
        for query in lists
        for pair in query["relevant_moment"]
    ]
    (tmp_path / "flat.jsonl").write_text("".join(f"{json.dumps(pair)}\n" for pair in flat))
    nested, lines = (published.read_judged([tmp_path / n]) for n in ("val.json", "flat.jsonl"))
    pd.testing.assert_frame_equal(nested, lines)


pairs_of_level = st.tuples(st.integers(0, 4), st.sampled_from([0.2, 0.5, 0.9]))
lists_of_pairs = st.dictionaries(
    st.integers(0, 5), st.lists(pairs_of_level, min_size=1, max_size=6), min_size=1
)


@settings(max_examples=60, deadline=None)
@given(lists_of_pairs)
def test_the_second_batch_is_counted_as_defined(queries):
    rows = [(str(query), level, similarity) for query, pairs in queries.items()
            for level, similarity in pairs]  # fmt: skip
    table = pd.DataFrame(rows, columns=["query_id", "level", "similarity"])
    figures = published.measure_extension(table, TWO)
    ranked = {query: [level for level, _ in sorted(pairs, key=lambda pair: -pair[1])]
              for query, pairs in queries.items()}  # fmt: skip
    extended = {query for query, levels in ranked.items() if len(levels) > 3}
    last = {query: levels[1:3] for query, levels in ranked.items()}
    yes = {query for query, levels in last.items() if levels and sum(levels) >= 2 * len(levels)}
    unsure = {query for query, levels in last.items() if not levels}
    assert (figures["queries"], figures["extended"]) == (len(queries), len(extended))
    assert (figures["by_rule"], figures["undecided"]) == (len(yes), len(unsure))
    assert figures["same"] == len(queries) - len(unsure) - len(extended ^ yes)
    second = [level for levels in ranked.values() for level in levels[3:]]
    assert figures["batches"][2]["pairs"] == len(second)
    if second:
        assert figures["batches"][2]["mean"] == pytest.approx(sum(second) / len(second), abs=1e-6)


BAD = moment(1, 2)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (nest({1: [{**BAD, "relevance": 5}]}), "[0].relevant_moment[0].relevance: must be 0 to"),
        (nest({1: [{**BAD, "relevance": 2.5}]}), "relevance: must be an integer, not 2.5"),
        (nest({1: [{**BAD, "similarity": "x"}]}), "similarity: must be a number, not 'x'"),
        (nest({1: [{**BAD, "similarity": float("nan")}]}), "similarity: must be a number"),
        (nest({1: [BAD, BAD]}), "relevant_moment[1].pair_id: '1' appears twice"),
        (nest({1: [{**MOMENT}]}), "the key 'pair_id' is missing"),
        ([{"query_id": 1, "predictions": []}], "no judged moments with pair_id; "),
        ([], "no judged moments"),
    ],
)
def test_malformed_files_are_told_with_their_place(tmp_path, content, problem):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError) as caught:
        published.read_judged([path])
    assert str(caught.value).startswith(f"{path}:")
    assert problem in str(caught.value)


def test_no_pair_or_query_is_in_two_files(collection, command):
    raw, val, _ = collection
    code, _, errors = command("annotation.audit", "published", raw, val, val)
    assert code == 1
    assert errors == "error: val.json: query_id '7' is also in another file\n"
