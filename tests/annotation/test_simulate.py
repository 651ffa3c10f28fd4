"""Simulated people judge the sample corpus, and nothing else: its true levels alone are known."""

import json
import shutil

import pytest

from annotation.opened import CampaignError
from annotation.simulate import truth
from pipeline import sample
from pipeline.sitcom.screenplay import SCREENPLAY

SCENE = {"who": ["Rose"], "action": "waves", "object": None, "place": "kitchen", "mentions": []}


@pytest.fixture
def folder(repository, tmp_path, monkeypatch):
    (tmp_path / SCREENPLAY).parent.mkdir(parents=True)
    shutil.copy(repository / SCREENPLAY, tmp_path / SCREENPLAY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_where_the_sample_is_not_drawn_it_says_what_draws_it(folder):
    (folder / sample.OUT).mkdir(parents=True)  # as with a corpus of one's own
    with pytest.raises(
        CampaignError, match=r"annotations.jsonl is not there: .*`dvc repro ingest`"
    ):
        truth()


def test_a_moment_of_another_corpus_has_no_true_level(folder):
    (folder / sample.OUT).mkdir(parents=True)
    path = folder / sample.OUT / "annotations.jsonl"
    path.write_text(json.dumps({"desc_id": 1, "scene": SCENE}))
    with pytest.raises(CampaignError, match=r"the moment '2' is not of the sample corpus"):
        truth()("1", "2")
