"""Opening leaves nothing half done; closing loses nothing that people did, and tells the rest."""

import contextlib
import shutil
from argparse import Namespace

import pandas as pd
import pytest
from opened import OPEN
from support.campaign_cases import make_judgments
from support.campaign_folder import CampaignFolder, Size

from annotation import campaign, consensus, plan, status
from annotation.assignment import planning
from annotation.assignment.inputs import PlanError
from annotation.assignment.shown import read_pairs_to_judge
from annotation.label_studio import guideline, keys, settings
from annotation.roster import roster
from annotation.tasks.pushing import append_pairs, describe_pairs
from pipeline.campaign import next_step
from pipeline.campaign.campaign import FILE, CampaignError, load_campaign, write_campaign
from pipeline.campaign.freezing import freeze, is_frozen
from pipeline.campaign.guideline import GuidelineError
from pipeline.core import cli, files, git, tables
from pipeline.core.params import load


@pytest.fixture
def folder(folder, repository):
    shutil.copy(repository / "params.yaml", folder)
    FILE.parent.mkdir(parents=True)
    return folder


def test_without_a_server_nothing_is_closed_unless_that_is_said(folder):
    write_campaign(OPEN)
    with pytest.raises(CampaignError, match=r"since the last pull would be lost; .* --offline"):
        campaign.close_campaign(OPEN, give_up=True)
    assert load_campaign() == OPEN


def test_an_opening_that_fails_freezes_nothing(folder, repository, monkeypatch):
    camp = CampaignFolder.make(folder, repository, Size(queries=2, ranks=1))
    (folder / settings.ENV).unlink()
    camp.put(tables.FROZEN_QUERIES, tables.FROZEN_QUERIES.empty())
    FILE.write_text("null\n")
    before = roster.PUBLIC.read_text()

    def wrong(_settings):
        raise GuidelineError("the guideline is wrong")

    with pytest.raises(CampaignError, match=r"--people 3: at least 4 people are needed"):
        campaign.open_campaign("Test", rehearsal=True, people=3)
    with monkeypatch.context() as patched:
        patched.setattr(guideline, "current", wrong)
        with pytest.raises(GuidelineError):
            campaign.open_campaign("Test", rehearsal=True, people=6)
    assert (load_campaign(), settings.value(keys.SECRET)) == (None, None)
    assert (len(tables.FROZEN_QUERIES.read()), roster.PUBLIC.read_text()) == (0, before)
    for words in ("init -q", "add params.yaml", "commit -qm code"):
        assert git.run(*words.split()).returncode == 0
    assert campaign.open_campaign("Test", rehearsal=True, people=6) == load_campaign()
    assert load_campaign().commit == git.run("rev-parse", "HEAD").stdout.strip()
    assert (len(tables.FROZEN_QUERIES.read()), len(roster.read_people())) == (2, 6)


class Server:
    """What `close` meets: `levels` so far, and what people do just as their tasks are closed."""

    def __init__(self, levels):
        self.levels, self.meanwhile = levels, {}
        self.roster = roster.Roster([], {})  # nobody adjudicates
        self.campaign = load_campaign()
        first = planning.plan(
            planning.read_inputs(roster.read_people(), load(), planning.read_answers())
        )
        self.shown = describe_pairs(first.assignments, load())
        tables.PAIRS.write(append_pairs(tables.PAIRS.empty(), self.shown))
        waiting = self.shown.assign(opened_at=pd.Timestamp("2024-05-01T08:00:00Z"))
        tables.OPEN_TASKS.write(waiting[tables.OPEN_TASKS.columns])

    def pull(self, connection):
        hashes = self.shown.drop_duplicates("moment_id").set_index("moment_id")
        hashes = hashes[["query_id", "query_sha", "clip_sha"]].to_dict("index")
        rows = [
            {"moment_id": moment, "annotator": who, "level": level, **hashes[moment]}
            for (moment, who), level in self.levels.items()
        ]
        tables.JUDGMENTS.write(make_judgments(rows))

    def push(self, connection, pairs, params):
        assert pairs.empty, "nobody is asked any more"
        tables.OPEN_TASKS.write(tables.OPEN_TASKS.empty())
        self.levels = self.levels | self.meanwhile


@pytest.fixture
def closing(folder, repository, monkeypatch):
    """Return what makes a campaign of a query with two pairs, of which some are judged."""

    def closing(levels):
        camp = CampaignFolder.make(folder, repository, Size(queries=1, ranks=2, people=4))
        camp.put(tables.OPEN_TASKS, tables.OPEN_TASKS.empty())
        camp.put(tables.REJECTED_JUDGMENTS, tables.REJECTED_JUDGMENTS.empty())
        studio = Server(levels)
        monkeypatch.setattr(campaign, "connect", lambda _: studio)
        monkeypatch.setattr(campaign, "hold_lock", lambda _: contextlib.nullcontext())
        monkeypatch.setattr(campaign, "pull", studio.pull)
        monkeypatch.setattr(campaign, "push", studio.push)
        return studio

    return closing


FIRST, SECOND = "q000-m01", "q000-m02"
AGREED = {(FIRST, 1): 3, (FIRST, 2): 3}
BOTH = AGREED | {(SECOND, 1): 0, (SECOND, 2): 0}


def end(**how):
    return campaign.close_campaign(load_campaign(), **({"give_up": False} | how))


def test_what_people_do_just_before_their_tasks_are_closed_is_not_given_up(closing):
    studio = closing(AGREED)
    studio.meanwhile = BOTH
    assert end(give_up=True)["pairs"]["two"] == 2
    assert (load_campaign().closed, load_campaign().given_up) == (True, 0)


def test_an_answer_that_is_changed_meanwhile_keeps_the_campaign_open(closing):
    """The next `dvc repro` gives out again what was closed."""
    studio = closing(BOTH)
    studio.meanwhile = {(SECOND, 2): 4}
    with pytest.raises(CampaignError, match=r"1 pairs wait for judgments: .*`dvc repro`"):
        end()
    assert not load_campaign().closed
    assert end(give_up=True)["pairs"]["discarded"] == load_campaign().given_up == 1


def leave(remaining):
    """Let all but the first `remaining` people leave."""
    people = roster.read_people()
    named = (
        (who.number, roster.Person(role=who.role, active=who.number <= remaining)) for who in people
    )
    roster.write(dict(named), {})


@pytest.mark.parametrize("remaining", [0, 1, 3])
@pytest.mark.parametrize("offline", [False, True])
def test_a_lead_whose_people_have_left_can_close(closing, monkeypatch, remaining, offline):
    studio = closing(AGREED)
    studio.pull(None)
    leave(remaining)
    if offline:
        monkeypatch.setattr(campaign, "connect", lambda _: None)
    with pytest.raises(PlanError, match=f"{remaining} active people can judge, but 4 are needed"):
        plan.main()
    assert status.read_status()[1]["waits"]
    with pytest.raises(CampaignError, match=r"1 pairs wait .* close --give-up"):
        end(offline=offline)
    assert end(give_up=True, offline=offline)["pairs"]["discarded"] == 1
    assert load_campaign().given_up == 1


def test_a_pilot_is_judged_alone_and_kept_apart(folder, repository, command):
    """Its queries alone are asked; it can't be closed; afterwards the others are asked."""
    CampaignFolder.make(folder, repository, Size(queries=3, ranks=1))
    FILE.write_text("null\n")
    code, _, errors = command("annotation.campaign", "open", "--name", "Spring", "--pilot", 1)
    assert code == 0, errors

    def read_asked_queries():
        candidates, _ = read_pairs_to_judge(load().candidates.batch)
        return set(candidates["query_id"])

    [pilot] = read_asked_queries()
    code, _, errors = command("annotation.campaign", "close", "--offline", "--give-up")
    assert (code, "has a pilot running; end it first" in errors) == (1, True)
    assert command("annotation.campaign", "open", "--end-pilot")[0] == 0
    assert len(read_asked_queries()) == 2
    assert pilot not in read_asked_queries()
    assert command("annotation.campaign", "open", "--end-pilot")[0] == 1
    assert command("annotation.campaign", "open", "--take-over")[0] == 2


def test_the_commands_commit_what_they_did_and_say_what_it_came_to(
    closing, monkeypatch, capsys, repository
):
    closing(AGREED)
    FILE.write_text("null\n")
    shutil.copy(repository / "dvc.yaml", cli.DAG)
    committed = []
    monkeypatch.setattr(campaign.git, "commit", lambda paths, what: committed.append(what))
    start = Namespace(do="open", name="Spring", rehearsal=False, people=0, pilot=0)
    campaign.main(Namespace(**vars(start), revise=None, end_pilot=False))
    assert "1 queries" in capsys.readouterr().err
    again = Namespace(do="close", give_up=True, unaudited=False, offline=False)
    campaign.main(again)
    assert "1 discarded" in capsys.readouterr().err
    assert committed == ["Open the campaign Spring", "Close Spring"]
    with pytest.raises(CampaignError, match=r"'Spring' is closed"):
        campaign.main(again)
    shutil.copy(repository / "dvc.yaml", cli.DAG)
    campaign.main(again)
    assert is_frozen(), "a closing that was stopped is finished"


def test_people_are_not_needed_where_nothing_waits(closing):
    closing(BOTH).pull(None)
    leave(0)
    plan.main()
    assert tables.ASSIGNMENTS.read().empty


def test_the_status_of_a_closed_campaign_says_what_the_consensus_says(closing, repository):
    studio = closing(AGREED)
    shutil.copy(repository / "dvc.yaml", cli.DAG)
    assert studio.shown["annotator"].nunique() == 2
    state = end(give_up=True)
    tables.FROZEN_QUERIES.write(tables.FROZEN_QUERIES.empty())
    consensus.main()
    metrics = files.read_json(cli.METRICS / "consensus.json")
    name, figures = status.read_status()
    assert figures["pairs"] == state["pairs"]
    assert {key: figures["pairs"][key] for key in ("two", "discarded", "waiting")} == {
        key: metrics["outcomes"][key] for key in ("two", "discarded", "waiting")
    }
    assert (figures["pairs"]["all"], figures["pairs"]["discarded"]) == (metrics["pairs"], 1)
    assert (figures["wanted"], figures["waits"], figures["for_the_lead"]) == (0, False, [])
    assert status.text(name, figures).startswith("Faults: 0 judgments wanted")
    assert (figures["forecast"], figures["judgments"]) == (None, 2)
    assert read_next_command(figures) == "python -m annotation.campaign close", (
        "the closing was stopped"
    )
    freeze()
    assert read_next_command(status.read_status()[1]) == "dvc repro release report"
    files.write_json(next_step.MANIFEST, {"campaign": load_campaign().model_dump()})
    assert read_next_command(status.read_status()[1]).startswith("python -m pipeline.publish")


def read_next_command(figures):
    return figures["next"][0]["command"]


def test_close_is_the_next_step_exactly_where_it_goes_through(closing, monkeypatch, capsys):
    studio = closing(AGREED)
    settings.write({settings.URL: "https://judge.example.org", settings.TOKEN: "t"})
    monkeypatch.setattr(status, "connect", lambda _: None)
    for levels, goes_through in ((AGREED, False), (BOTH, True)):
        studio.levels = levels
        studio.pull(None)
        next_command = read_next_command(status.read_status()[1])
        plan.main()
        assert (next_command == "python -m annotation.campaign close") == goes_through
        assert (
            f"next: close the campaign: {next_command}" in capsys.readouterr().err
        ) == goes_through
        if not goes_through:
            with pytest.raises(CampaignError, match="1 pairs wait for judgments"):
                end()
    assert end()["pairs"]["two"] == 2
