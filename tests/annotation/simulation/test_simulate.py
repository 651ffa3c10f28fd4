"""Simulated people judge the sample corpus, and nothing else: its true levels alone are known."""

import json
import shutil

import pandas as pd
import pytest
from werkzeug import Response

from annotation.label_studio.errors import StudioError
from annotation.roster.roster import Account
from annotation.simulation import accounts
from annotation.simulation.accounts import Visitor
from annotation.simulation.truth import truth
from pipeline.campaign.campaign import CampaignError
from pipeline.core import tables
from pipeline.sitcom import true_levels
from pipeline.sitcom.query_reading import QueryError
from pipeline.sitcom.screenplay import SCREENPLAY

SCENE = {"who": ["Nora"], "action": "wave", "object": None, "place": "kitchen", "mentions": []}


@pytest.fixture
def folder(repository, folder):
    SCREENPLAY.parent.mkdir(parents=True)
    shutil.copy(repository / SCREENPLAY, SCREENPLAY)
    return folder


def test_where_the_sample_is_not_drawn_it_says_what_draws_it(folder):
    (folder / true_levels.OUT).mkdir(parents=True)  # as with a corpus of one's own
    with pytest.raises(CampaignError, match=r"annotations.jsonl: missing: .*`dvc repro ingest`"):
        truth()


@pytest.fixture
def queries(folder):
    """Write a sample of two moments, and queries of the first, of another corpus, and of none."""
    (folder / true_levels.OUT).mkdir(parents=True)
    path = folder / true_levels.OUT / "annotations.jsonl"
    scenes = [SCENE | {"action": action, "mentions": ["people"]} for action in ("wave", "pour")]
    records = [{"desc_id": number, "scene": scene} for number, scene in enumerate(scenes, 1)]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    rows = [
        ("qa", "a", "val", "1", "caption", "corpus"),
        ("qb", "b", "val", "9", "caption", "corpus"),
        ("qc", "xyzzy", "val", None, "person", "person"),
        ("qv", "Someone does it.", "test", "1", "gist", "model"),
        ("qp", "A lady is pouring a drink in a kitchen", "test", None, "person", "person"),
        ("qn", "A woman throws a plate in the kitchen.", "test", None, "changed", "model"),
    ]
    tables.FROZEN_QUERIES.write(pd.DataFrame(rows, columns=tables.FROZEN_QUERIES.columns))


@pytest.mark.parametrize(
    ("query", "levels"),
    [("qa", [4, 0]), ("qv", [4, 0]), ("qp", [0, 4]), ("qn", [0, 0])],
    ids=["a caption", "a vaguer one", "a person's", "a changed one, of no action"],
)
def test_the_true_level_is_that_of_the_moment_or_of_what_the_words_say(queries, query, levels):
    assert [truth()(query, moment) for moment in ("1", "2")] == levels


@pytest.mark.parametrize("pair", [("qa", "9"), ("qb", "1")])
def test_a_moment_of_another_corpus_has_no_true_level(queries, pair):
    with pytest.raises(CampaignError, match=r"the moment '9' is not in the sample corpus"):
        truth()(*pair)


def test_an_unknown_query_has_no_true_level(queries):
    with pytest.raises(CampaignError, match=r"queries\.csv: there is no query '1'"):
        truth()("1", "1")


def test_a_query_of_which_no_word_is_known_has_no_true_level(queries):
    with pytest.raises(QueryError, match=r"'xyzzy' can't be judged: .*screenplay\.yaml: reword"):
        truth()("qc", "1")


@pytest.fixture
def visitor(httpserver, monkeypatch):
    monkeypatch.setattr(accounts, "WAITS", (0.0, 0.0))
    httpserver.expect_request("/user/login/", method="GET").respond_with_data("")
    login = httpserver.expect_request("/user/login/", method="POST")
    login.respond_with_data("", status=302)
    account = Account(email="a@b.c", password="x")  # noqa: S106  (nobody's)
    person = Visitor(httpserver.url_for(""), "/invite", account)
    yield person
    person.close()


@pytest.mark.parametrize(
    ("failures", "stored", "posts"),
    [(0, False, 1), (2, False, 3), (1, True, 1)],
    ids=["at once", "at the third try", "kept though it failed"],
)
def test_an_answer_that_a_busy_server_failed_to_save_is_given_once(
    httpserver, visitor, failures, stored, posts
):
    saved = []

    def save(request):
        saved.append(request.get_json())
        return Response(status=500 if len(saved) <= failures else 201)

    path = "/api/tasks/7/annotations/"
    httpserver.expect_request(path, method="POST").respond_with_handler(save)
    httpserver.expect_request(path, method="GET").respond_with_json([{"id": 1}] if stored else [])
    visitor.answer(7, [{"value": 3}], 2.5)
    assert saved == [{"result": [{"value": 3}], "lead_time": 2.5}] * posts


@pytest.mark.parametrize(("status", "posts"), [(500, 3), (404, 1)])
def test_an_answer_that_can_not_be_saved_is_an_error(httpserver, visitor, status, posts):
    path = "/api/tasks/7/annotations/"
    httpserver.expect_request(path, method="POST").respond_with_data("", status=status)
    httpserver.expect_request(path, method="GET").respond_with_json([])
    with pytest.raises(StudioError, match=rf"a@b\.c: answering task 7 failed \({status}\)"):
        visitor.answer(7, [], 1.0)
    asked = [(request.method, request.path) for request, _ in httpserver.log]
    assert asked.count(("POST", path)) == posts
