"""Queries that were asked for: gathered from pages and files, accepted, refused."""

from datetime import UTC, datetime

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.writing import asked_queries, writer_page
from annotation.writing.asking import PageAnswer
from annotation.writing.writer_page import KINDS, TEXTS, label_config, read_queries, result_of
from momentrank.errors import MomentRankError
from pipeline.campaign.campaign import CampaignError
from pipeline.core import tables
from pipeline.core.captions import name_query

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOTHING = tables.ASKED_QUERIES.empty()


def answered(*queries, kind="person", subject="1", writer=3):
    answer = PageAnswer(kind, writer, subject, NOW, result_of(queries))
    return asked_queries.list_answered([answer])


@given(st.lists(st.text(), max_size=5))
def test_a_page_is_read_as_it_was_written_but_for_blanks(typed):
    expected = [" ".join(text.split()) for text in typed]
    actual = read_queries(result_of(typed))
    assert actual == [
        text.encode("utf-8", "replace").decode() for text in expected if text
    ]  # in order, and none is lost


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"])), max_size=4))
def test_what_was_typed_survives_the_file(tmp_path_factory, typed):
    path = tmp_path_factory.mktemp("asked") / "asked_queries.csv"
    asked = answered(*typed)
    tables.ASKED_QUERIES.write(asked, path)
    pd.testing.assert_frame_equal(tables.ASKED_QUERIES.read(path), asked)


@pytest.mark.parametrize(
    "result", [None, [], [{"from_name": "query_1"}], [{"type": "textarea"}], "x"]
)
def test_a_strange_answer_is_no_query(result):
    assert read_queries(result) == []


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_its_words_in_each_language(language, kind):
    texts = TEXTS[language]
    assert label_config(kind, texts).count("<TextArea") == writer_page.FIELDS[kind]
    assert texts.headings[kind]
    assert texts.tasks[kind]


def test_the_corpus_is_told_as_text():
    corpus = writer_page.Corpus("<b>", 3, 5400, titles=["<i>"], about="A & B")
    shown = writer_page.show_corpus("person", TEXTS["en"], corpus)
    assert "&lt;b&gt; is a collection of 3 videos, 1.5 hours in all. A &amp; B" in shown
    assert "<li>&lt;i&gt;</li>" in shown


def test_a_page_that_says_something_else_is_read_anew_unless_it_was_decided():
    asked = asked_queries.merge(NOTHING, answered("a dog", "a cat", "a cow"))
    asked["decision"] = ["accepted", "open", "open"]
    again = asked_queries.merge(asked, answered("an ox", "a cow"))
    assert dict(zip(again["query"], again["decision"], strict=True)) == {
        "a dog": "accepted", "a cow": "open", "an ox": "open",
    }  # fmt: skip
    other = asked_queries.merge(again, answered("a dog", subject="2"))
    assert len(other) == 4, "another page's"


def test_a_recalled_query_keeps_its_clip_and_no_source_moment():
    asked = answered("a dog", kind="recall", subject="m7")
    assert asked[["stratum", "moment_id", "writer"]].to_numpy().tolist() == [["recall", "m7", 3]]
    asked["decision"] = "accepted"
    written = asked_queries.write_accepted(tables.WRITTEN_QUERIES.empty(), asked)
    assert written.to_numpy().tolist() == [["a dog", "test", "recall", "person", "writer 3"]]


def test_only_what_has_no_fault_is_accepted_and_doubts_if_the_lead_says_so():
    asked = answered("a", "b", "c").assign(
        faults=pd.Series([None, "no", None], dtype="str"),
        doubts=pd.Series([None, None, "?"], dtype="str"),
    )
    everything = asked_queries.select(asked, [])
    first = asked_queries.accept(asked, everything, anyway=False, split="val")
    assert list(first["decision"]) == ["accepted", "open", "open"]
    second = asked_queries.accept(first, everything, anyway=True, split=None)
    assert list(second["decision"]) == ["accepted", "open", "accepted"]
    assert list(second["split"]) == ["val", "test", "test"]
    by_hand = pd.DataFrame(
        [["mine", "val", "own", "person", None]], columns=tables.WRITTEN_QUERIES.columns
    )
    written = asked_queries.write_accepted(tables.WRITTEN_QUERIES.check(by_hand), second)
    assert list(written["query"]) == ["mine", "a", "c"]
    refused = asked_queries.refuse(second, asked_queries.select(second, [name_query("a")]), "dull")
    written = asked_queries.write_accepted(written, refused)
    assert list(written["query"]) == ["mine", "c"]
    assert refused["note"].tolist()[0] == "dull"


def test_the_first_decision_may_be_to_refuse():
    asked = asked_queries.refuse(answered("a dog"), pd.Series([True]), None)
    assert asked_queries.write_accepted(tables.WRITTEN_QUERIES.empty(), asked).empty


def test_an_open_query_is_meant_and_not_the_accepted_one_of_the_same_text():
    asked = asked_queries.merge(answered("a dog"), answered("a dog", subject="2"))
    asked["decision"] = ["accepted", "open"]
    refused = asked_queries.refuse(asked, asked_queries.select(asked, [name_query("a dog")]), None)
    assert list(refused["decision"]) == ["accepted", "refused"]
    written = asked_queries.write_accepted(tables.WRITTEN_QUERIES.empty(), refused)
    assert list(written["query"]) == ["a dog"]
    both = asked_queries.select(refused, [name_query("a dog")])
    assert both.all(), "none is open: both are meant"


def test_an_unknown_id_is_named():
    with pytest.raises(CampaignError, match="q000: no such query"):
        asked_queries.select(answered("a"), ["q000"])


def test_a_file_may_say_what_its_queries_are(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("query,stratum,note\n a  dog ,,\na cat,unanswerable,from Friday\n")
    asked = asked_queries.read_file(path, NOW)
    columns = ["source", "query", "split", "stratum", "origin", "note"]
    assert asked[columns].fillna("").to_numpy().tolist() == [
        ["mine.csv", "a dog", "test", "person", "person", ""],
        ["mine.csv", "a cat", "test", "unanswerable", "person", "from Friday"],
    ]
    assert asked["writer"].isna().all()
    twice = asked_queries.add_file(asked_queries.add_file(NOTHING, asked), asked)
    assert len(twice) == 2, "a file that is read again adds nothing"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("query,colour\na,b\n", "column 'colour' is not one of query, split"),
        ("query,stratum\na,caption\n", "line 2: stratum: 'caption' has a meaning of its own"),
        ("query,note\na,b\n,c\n", "line 3: no query"),
        ("query,stratum\na,negative\n", "line 2: stratum: 'negative' has a meaning of its own"),
        ("query,stratum\na,Person X\n", "line 2: stratum: 'Person X' .* is no id"),
        ("query,split\na,val\nb,train\n", "line 3: split: 'train' is not one of val, test"),
    ],
)
def test_a_file_that_is_no_list_of_queries_is_refused(tmp_path, text, problem):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(MomentRankError, match=problem):
        asked_queries.read_file(path, NOW)


def test_the_samples_queries_are_such_a_file(repository):
    asked = asked_queries.read_file(repository / "datasets/sample/written_queries.csv", NOW)
    assert asked["stratum"].value_counts().to_dict() == {"person": 16, "unanswerable": 4}
