"""Closing a campaign loses nothing that people did, and says what it gave up."""

import shutil

import pytest

from annotation import campaign, env, opened, server
from annotation.opened import CampaignError

OPEN = opened.Opened(
    id="348075d9-cac8-4995-ad38-d2f981dd1cde",
    name="Test",
    guideline="1",
    rehearsal=False,
    opened_at="2024-05-01T07:00:00Z",
    closed_at=None,
)


@pytest.fixture
def folder(tmp_path, monkeypatch, repository):
    monkeypatch.chdir(tmp_path)
    for name in (env.URL, env.TOKEN):
        monkeypatch.delenv(name, raising=False)
    shutil.copy(repository / "params.yaml", tmp_path)
    opened.FILE.parent.mkdir(parents=True)
    return tmp_path


def test_without_a_server_nothing_is_closed_unless_that_is_said(folder):
    opened.write(OPEN)
    with pytest.raises(CampaignError, match=r"since the last pull would be lost; .* --offline"):
        campaign.end(OPEN, give_up=True)
    assert opened.current() == OPEN


def test_a_campaign_file_of_before_gave_nothing_up_and_tells_what_one_did(folder):
    opened.write(OPEN)
    text = opened.FILE.read_text().replace("given_up: 0\n", "")
    opened.FILE.write_text(text)
    assert opened.current() == OPEN
    opened.write(OPEN.model_copy(update={"given_up": 7}))
    assert opened.current().given_up == 7


def test_freezing_twice_is_freezing_once(folder, repository):
    shutil.copy(repository / "dvc.yaml", folder)
    assert not campaign.frozen()
    campaign.freeze()
    once = campaign.DAG.read_text()
    assert campaign.frozen()
    campaign.freeze()
    assert campaign.DAG.read_text() == once


def test_a_server_of_ones_own_does_not_take_the_place_of_another(folder):
    env.write({env.URL: "https://judge.example.org", env.TOKEN: "t"})
    with pytest.raises(server.ServerError, match=r"another server \(judge.example.org\)"):
        server.start(0)
    assert env.value(env.URL) == "https://judge.example.org"
