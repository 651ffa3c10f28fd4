"""Drawing queries: equal texts, frozen queries, and how little one caption changes."""

import hashlib

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pipeline.core import captions as in_use
from pipeline.core import tables
from pipeline.core.captions import join_captions, text_key
from pipeline.core.sections import Split
from pipeline.core.table import TableError
from pipeline.split import SplitError, select_others, split

NONE_FROZEN = tables.QUERIES.empty()


def make_captions(texts: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame({"moment_id": list(texts), "caption": list(texts.values())})


def draw_split(texts: dict[str, str], seed=1, val=2, test=3, frozen=NONE_FROZEN, train=None):
    params = Split(seed=seed, val=val, test=test, train=train)
    return split(make_captions(texts), frozen, params)


def made_from(table: pd.DataFrame) -> set[str]:
    return set(table["moment_id"])


def select_texts(table: pd.DataFrame, name: str) -> set[str]:
    return set(text_key(table.loc[table["split"] == name, "query"]))


DISTINCT = {f"m{i:02}": f"Somebody does thing {i}." for i in range(20)}
captions = (
    st.lists(st.sampled_from("abcdefghijklmnopABC"), min_size=8, max_size=40)
    .filter(lambda texts: len({text.lower() for text in texts}) >= 3)
    .map(lambda texts: {f"m{i:02}": f"{text} waves." for i, text in enumerate(texts)})
)


def test_sizes_are_as_asked_and_every_other_caption_trains():
    table = draw_split(DISTINCT).table
    assert table["split"].value_counts().to_dict() == {"train": 15, "test": 3, "val": 2}
    assert made_from(table) == set(DISTINCT)


def test_a_judged_query_has_an_id_of_its_text_and_a_training_query_its_moments():
    table = draw_split({**DISTINCT, "m99": "Jemand gießt „Tee“ ein."}, val=9, test=9).table
    judged, train = table[table["split"] != "train"], table[table["split"] == "train"]
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in judged["query"]]
    assert judged["query_id"].tolist() == [f"q{digest[:12]}" for digest in digests]
    assert (train["query_id"] == train["moment_id"]).all()
    for _, rows in judged.groupby("split"):
        assert rows["query_id"].is_monotonic_increasing


def test_texts_of_the_same_id_are_an_error_that_names_both(monkeypatch):
    monkeypatch.setattr(in_use, "ID_DIGITS", 1)
    with pytest.raises(SplitError, match=r"id q. stands for two texts, 'Some.*' and 'Some.*review"):
        draw_split(DISTINCT, val=9, test=9)


def test_a_judged_query_whose_id_is_a_moments_is_an_error_that_names_both():
    [drawn] = draw_split(DISTINCT, val=1, test=0).table["query_id"][:1]
    texts = {f"{drawn}" if name == "m05" else name: text for name, text in DISTINCT.items()}
    with pytest.raises(SplitError, match=rf"id {drawn} stands for two texts, .*thing 5"):
        draw_split(texts, val=1, test=0)


def test_equal_texts_are_one_query_of_the_smallest_id_and_none_of_them_trains():
    texts = {"m3": " She waves. ", "m1": "she WAVES.", "m2": "She waves.", "m9": "He sits."}
    result = draw_split(texts, val=1, test=1)
    assert made_from(result.table) == {"m1", "m9"}
    assert result.metrics["train_left_out_as_equal"] == 2
    assert result.metrics["distinct_texts"] == 2


def test_letters_that_lower_case_does_not_join_are_folded():
    result = draw_split(
        {"m1": "Die Straße.", "m2": "DIE STRASSE.", "m3": "Er winkt."}, val=1, test=1
    )
    assert made_from(result.table) == {"m1", "m3"}


def test_frozen_queries_of_equal_text_are_refused():
    texts = ["He waves.", " he WAVES. "]
    queries = {"query_id": ["a", "b"], "query": texts, "split": "val", "moment_id": None}
    with pytest.raises(SplitError, match=r"queries\.csv: a, b have the same text"):
        draw_split(DISTINCT, frozen=tables.QUERIES.check(pd.DataFrame(queries)))


@pytest.mark.parametrize("character", ["\x1b", "\u202e", "\u200b", "\ue000"])
def test_a_frozen_query_with_a_character_that_nobody_sees_is_refused(character):
    queries = {"query_id": ["a"], "query": [f"He {character}waves."], "split": "val"}
    frozen = tables.QUERIES.check(pd.DataFrame(queries | {"moment_id": None}))
    with pytest.raises(SplitError, match=rf"queries\.csv: a contains U\+{ord(character):04X}"):
        draw_split(DISTINCT, frozen=frozen)


def test_queries_that_are_no_captions_are_judged_and_their_captions_are_not():
    variants = tables.VARIANTS.empty()
    made = {"model": None, "prompt": None, "similarity": 0.7, "detail": 0.5, "source": "rules"}
    rows = [
        ("m03", "gist", "Somebody does something.", "passed"),
        ("m04", "changed", "Somebody does thing 99.", "passed"),
        ("m05", "vague", "Somebody does thing 5.", "failed"),
    ]
    names = ["moment_id", "stratum", "query", "status"]
    variants = pd.DataFrame(rows, columns=names).assign(**made, caption="x", note=None)
    written = pd.DataFrame({"query": ["Somebody does THING 7."], "split": "val", "note": None})
    written = tables.WRITTEN_QUERIES.check(written.assign(stratum="person", origin="person"))
    others = select_others(tables.VARIANTS.check(variants), written)
    params = Split(seed=1, val=2, test=15, train=None)
    table = split(make_captions(DISTINCT), NONE_FROZEN, params, others).table
    judged = table[table["split"] != "train"]
    by_stratum = judged.groupby("stratum", sort=False)["moment_id"].agg(set).to_dict()
    assert by_stratum.pop("caption") <= set(DISTINCT) - {"m03", "m04", "m07"}
    assert {name: list(map(str, ids)) for name, ids in by_stratum.items()} == {
        "gist": ["m03"], "changed": ["nan"], "person": ["nan"],
    }  # fmt: skip
    assert set(judged["origin"]) == {"corpus", "model", "person"}
    assert made_from(table[table["split"] == "train"]) == {"m04"}, "its text is no query's"
    with pytest.raises(SplitError, match="only 17 distinct"):
        split(
            make_captions(DISTINCT), NONE_FROZEN, Split(seed=1, val=3, test=16, train=None), others
        )


def test_a_written_query_twice_names_its_file():
    written = pd.DataFrame({"query": ["He waves.", "he WAVES."], "split": "val", "note": None})
    with pytest.raises(SplitError, match=r"written_queries\.csv: .* have the same text \('[Hh]e"):
        select_others(tables.VARIANTS.empty(), written.assign(stratum="p", origin="person"))


def test_a_frozen_training_query_is_refused(tmp_path):
    path = tmp_path / "queries.csv"
    path.write_text("query_id,query,split,moment_id\nq1,He waves.,train,m1\n")
    with pytest.raises(TableError, match="line 2, split: 'train' is not one of val, test"):
        tables.FROZEN_QUERIES.read(path)


def test_training_keeps_repeats():
    texts = {**DISTINCT, "r1": "The same.", "r2": "The same."}
    table = draw_split(texts, val=1, test=1, seed=3).table
    assert {"r1", "r2"} <= set(table.loc[table["split"] == "train", "query_id"])


@settings(max_examples=30)
@given(captions, st.integers(0, 5))
def test_no_training_text_equals_a_drawn_one(texts, seed):
    table = draw_split(texts, seed=seed, val=1, test=2).table
    val, test, train = (select_texts(table, name) for name in ("val", "test", "train"))
    assert not val & test
    assert not train & (val | test)


@settings(max_examples=30)
@given(captions, st.integers(0, 5), st.data())
def test_dropping_one_caption_changes_at_most_one_drawn_query(texts, seed, data):
    before = draw_split(texts, seed=seed, val=1, test=2).table
    gone = data.draw(st.sampled_from(sorted(texts)))
    remaining = {name: text for name, text in texts.items() if name != gone}
    assume(text_key(pd.Series(list(remaining.values()))).nunique() >= 3)
    after = draw_split(remaining, seed=seed, val=1, test=2).table
    for name in ("val", "test"):
        assert len(select_texts(before, name) - select_texts(after, name)) <= 1
    both = [select_texts(table, "val") | select_texts(table, "test") for table in (before, after)]
    assert len(both[0] - both[1]) <= 1


@settings(max_examples=30)
@given(captions, st.integers(0, 5), st.integers(1, 30), st.data())
def test_some_training_queries_are_a_steady_part_of_all(texts, seed, train, data):
    everything = draw_split(texts, seed=seed, val=1, test=2)
    some = draw_split(texts, seed=seed, val=1, test=2, train=train)
    ids = {
        name: {split: set(rows["query_id"]) for split, rows in result.table.groupby("split")}
        for name, result in (("all", everything), ("some", some))
    }
    assert ids["some"]["test"] == ids["all"]["test"]
    assert ids["some"].get("train", set()) <= ids["all"].get("train", set())
    assert some.metrics["train"] == min(train, everything.metrics["train"])
    assert some.metrics["train_not_drawn"] == everything.metrics["train"] - some.metrics["train"]
    if not ids["some"].get("train"):
        return
    gone = data.draw(st.sampled_from(sorted(ids["some"]["train"])))
    remaining = {name: text for name, text in texts.items() if name != gone}
    after = draw_split(remaining, seed=seed, val=1, test=2, train=train).table
    after = set(after.loc[after["split"] == "train", "query_id"])
    assert ids["some"]["train"] - after == {gone}


@settings(max_examples=30)
@given(st.permutations(sorted(DISTINCT)))
def test_the_order_of_captions_does_not_matter(order):
    shuffled, ordered = draw_split({name: DISTINCT[name] for name in order}), draw_split(DISTINCT)
    frames = (
        result.table.sort_values("query_id", ignore_index=True) for result in (shuffled, ordered)
    )
    pd.testing.assert_frame_equal(*frames)


def test_another_seed_draws_other_queries():
    first, second = (draw_split(DISTINCT, seed=seed).table for seed in (1, 2))
    assert select_texts(first, "test") != select_texts(second, "test")


def test_frozen_queries_are_taken_as_they_are():
    rows = [("q1", "An older wording.", "val", "m01"), ("q2", "Nobody's.", "test", None),
            ("m02", "Of an id that is a moment's.", "test", None)]  # fmt: skip
    frozen = tables.FROZEN_QUERIES.check(pd.DataFrame(rows, columns=tables.QUERIES.columns[:4]))
    result = draw_split(DISTINCT, val=5, test=5, frozen=frozen)
    judged, train = result.table[:3], result.table[3:]
    pd.testing.assert_frame_equal(judged, frozen)
    assert (train["split"] == "train").all()
    assert set(train["query_id"]) == set(DISTINCT) - {"m01", "m02"}
    assert result.metrics["frozen"]


def test_a_frozen_query_with_the_id_of_another_moment_is_an_error():
    row = ("m02", "An older wording.", "val", "m01")
    frozen = tables.FROZEN_QUERIES.check(pd.DataFrame([row], columns=tables.QUERIES.columns[:4]))
    with pytest.raises(SplitError, match=r"stands for .*older wording.* id in .*queries\.csv"):
        draw_split(DISTINCT, frozen=frozen)


def test_more_queries_than_texts_is_a_clear_error():
    with pytest.raises(SplitError, match=r"split\.val \+ split\.test ask for 40 .* only 20"):
        draw_split(DISTINCT, val=20, test=20)


def test_captions_kept_out_and_other_modalities_are_no_queries():
    moments = pd.DataFrame({"moment_id": list("cba"), "modality": ["v", "t", "v"]})
    moments = moments.assign(video_id="v", start=0.0, end=1.0)
    captions = pd.DataFrame({"moment_id": ["a", "b", "c", "gone"], "caption": "x"})
    captions["status"] = ["passed", "passed", "failed", "passed"]
    assert join_captions(captions, moments, ["v"])["moment_id"].tolist() == ["a"]
    assert join_captions(captions, moments, ["t", "v"])["moment_id"].tolist() == ["a", "b"]
