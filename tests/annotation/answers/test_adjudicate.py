"""Which pairs an expert decides on, what is shown of the votes, and which decision counts."""

import contextlib
from argparse import Namespace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opened import OPEN, STANDARD
from support.campaign_cases import START, decisions_of, ledger_of, voided_of
from support.disputed import EXPERT, SETTLED, disputed_campaign
from test_pulling import AWAY, KEY, OLD, OTHER, OURS, SIGNER, answer, level, task
from test_pulling import START as LAST_DAY

from annotation import adjudicate, status
from annotation.answers.adjudications import fetch_decisions, merge_decisions
from annotation.answers.judgments import NOT_THEIRS
from annotation.label_studio import guideline, projects
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.connection import Connection
from annotation.label_studio.records import Project
from annotation.machine import second_looks
from annotation.roster.annotator import Annotator
from annotation.roster.roster import Account, Roster
from annotation.tasks.adjudication_tasks import (
    describe_votes,
    find_deciders,
    find_unsettled,
    give_to,
)
from momentrank.errors import MomentRankError
from pipeline.campaign.campaign import CampaignError, load_campaign
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.reopening import BASES
from pipeline.core import csv_files, tables
from pipeline.core.params import load


def make_consensus(outcomes):
    """Return a consensus of votes by `(moment, outcome)`."""
    frame = pd.DataFrame(outcomes, columns=["moment_id", "voted_outcome"])
    return frame.assign(query_id="q")


def make_second_look(*moments):
    rows = [("q", moment, None, "lead") for moment in moments]
    return pd.DataFrame(rows, columns=tables.SECOND_LOOK.columns)


def make_decisions(*rows):
    """Return decisions of `(moment, level, second, origin)`."""
    moments, levels, seconds, origins = zip(*rows, strict=True)
    times = [START + pd.Timedelta(seconds=second) for second in seconds]
    ledger = ledger_of(("q", moment) for moment in moments)
    return decisions_of(ledger, levels, at=times, origin=origins)


OUTCOMES = make_consensus(
    [("a", "two"), ("b", "discarded"), ("c", "unjudgeable"), ("d", "waiting")]
)


def test_discarded_and_unjudgeable_pairs_are_decided_and_those_that_are_listed():
    unsettled = find_unsettled(OUTCOMES, make_second_look("a", "b"))
    assert unsettled.set_index("moment_id")["why"].to_dict() == {
        "a": "listed", "b": "discarded", "c": "unjudgeable",
    }  # fmt: skip


@pytest.mark.parametrize("moment", ["d", "unknown"])
def test_what_people_have_not_settled_can_not_be_listed(moment):
    with pytest.raises(CampaignError, match=rf"second_look\.csv: line 3: .* moment {moment};"):
        find_unsettled(OUTCOMES, make_second_look("a", moment))


def test_experts_decide_and_where_there_are_none_the_lead():
    annotator, lead = Annotator(1, "annotator", active=True), Annotator(7, "lead", active=True)
    expert, gone = Annotator(8, "expert", active=True), Annotator(9, "expert", active=False)
    accounts = {number: Account(email=f"a{number}@example.org") for number in (1, 7, 8, 9)}
    assert find_deciders(Roster([annotator, lead, expert, gone], accounts)) == [8]
    assert find_deciders(Roster([annotator, lead, gone], accounts)) == [7]
    with pytest.raises(CampaignError, match="nobody has the role expert or lead"):
        find_deciders(Roster([annotator, gone], accounts))
    with pytest.raises(CampaignError, match=r"annotator 8 .*no account"):
        find_deciders(Roster([expert], {}))


@given(st.sets(st.integers(1, 9), min_size=2))
@settings(max_examples=20)
def test_a_pair_stays_with_its_person_when_others_leave(people):
    pairs = pd.DataFrame({"query_id": "q", "moment_id": [f"m{at}" for at in range(20)]})
    before = give_to(pairs, sorted(people), "campaign")["annotator"]
    leaver = max(people)
    after = give_to(pairs, sorted(people - {leaver}), "campaign")["annotator"]
    assert (before[before != leaver] == after[before != leaver]).all()
    assert set(after) <= people - {leaver}


def test_votes_are_shown_without_any_hint_whose_they_are():
    ledger = pd.DataFrame({"pair_id": [5, 6], "query_id": "q", "moment_id": ["a", "b"]})
    rows = [(5, 1, 4, None), (5, 2, 0, None), (5, 3, 2, None), (6, 1, None, "senseless-query"),
            (6, 2, None, "broken-clip"), (6, 3, 1, None)]  # fmt: skip
    counted = pd.DataFrame(rows, columns=tables.COUNTED_VOTES.columns).astype({"level": "Int64"})
    guide = guideline.current(STANDARD)
    texts = describe_votes(counted, ledger, guide)
    assert texts["q", "a"] == "0, 2, 4"
    broken, senseless = (guide.reasons[name].name for name in ("broken-clip", "senseless-query"))
    assert texts["q", "b"] == f"1; Can't judge: {broken}; Can't judge: {senseless}"
    renamed = counted.assign(annotator=9 - counted["annotator"])
    assert describe_votes(renamed.iloc[::-1], ledger, guide) == texts


def test_of_several_decisions_on_a_pair_the_last_counts_and_a_changed_answer_as_it_is_now():
    before = make_decisions(("a", 1, 0, "x"), ("b", 2, 1, "y"))
    now = make_decisions(("a", 4, 9, "z"), ("b", 3, 1, "y"))
    assert merge_decisions(before, now)["level"].tolist() == [4, 3]
    assert merge_decisions(now, before)["level"].tolist() == [4, 2]
    merged = merge_decisions(before, tables.ADJUDICATIONS.empty())
    pd.testing.assert_frame_equal(merged, before)


def test_a_released_decision_stays_whatever_has_become_of_it():
    """Changed or withdrawn since; a further decision on the pair counts as ever."""
    before = make_decisions(("a", 1, 0, "x"), ("b", 2, 1, "y"), ("c", 3, 9, "z"))
    now = make_decisions(("a", 4, 0, "x"), ("c", 0, 9, "z"))
    released = START + pd.Timedelta(seconds=5)
    merged = merge_decisions(before, now, {"y"}, released)
    assert merged["level"].tolist() == [1, 2, 0]
    again = merge_decisions(merged, make_decisions(("b", 0, 10, "w")), {"z"}, released)
    assert again["level"].tolist() == [1, 0]
    assert merge_decisions(before, now, {"y"})["level"].tolist() == [4, 0]


class Server:
    """A server with the project of one expert, and these tasks in it."""

    url = "https://judge.example.org"

    def __init__(self, *tasks):
        self.tasks = tasks

    def projects(self):
        mark = projects.mark(OPEN.id, KEY.annotator, "adjudication")
        return [Project(7, "", mark, "", "", "", len(self.tasks), 0)]

    def answers(self, project, since):
        return self.tasks

    def whoami(self):
        return None

    def users(self):
        return {"eva@example.org": OURS}

    page_url, task_url = LabelStudio.page_url, LabelStudio.task_url
    _data_url = LabelStudio._data_url


DISPUTED = KEY._replace(kind="adjudication")


@pytest.fixture
def fetch(folder):
    """Return what fetches the decisions of an expert's tasks."""
    tables.ADJUDICATIONS.write(tables.ADJUDICATIONS.empty())

    def run(*tasks, departed=None, until=None):
        expert = Annotator(KEY.annotator, "expert", active=True, until=until)
        own = Roster([expert], {KEY.annotator: Account(email="eva@example.org")})
        connection = Connection(OPEN, Server(*tasks), SIGNER, own)
        departures = tables.DEPARTURES.empty() if departed is None else departed
        run.connection = connection
        return fetch_decisions(connection, departures, full=True)

    return run


def test_an_experts_decision_is_fetched_and_what_is_open_is_counted(fetch):
    fetched = fetch(
        task(answer(), key=DISPUTED), task(key=DISPUTED._replace(moment_id="n"), number=2)
    )
    assert fetched.decisions["level"].tolist() == [3]
    assert (fetched.left, fetched.refused) == ({KEY.annotator: 1}, {})


def test_a_pair_listed_for_a_second_look_has_the_address_of_its_own_task(fetch, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_HOST", "https://people.example.org/")
    listed = [task(key=DISPUTED._replace(moment_id=m), number=n) for m, n in (("b", 5), ("a", 4))]
    discarded = task(key=DISPUTED._replace(moment_id="c"), number=6)
    fetched = fetch(task(answer(), key=DISPUTED), *listed, discarded)
    pairs = pd.DataFrame({"query_id": KEY.query_id, "moment_id": [KEY.moment_id, "a", "b", "c"]})
    pairs["why"] = ["listed", "listed", "listed", "discarded"]
    summary = adjudicate.summarize(
        fetch.connection, adjudicate.Disputed(pairs, {}, pairs[1:]), pairs[1:], fetched
    )
    page = "https://people.example.org/projects/7/data"
    assert summary.splitlines()[1:4] == [
        f"  annotator {KEY.annotator} decides on 3: {page}?labeling=1",
        f"  {KEY.query_id} a, annotator {KEY.annotator}: {page}?task=4",
        f"  {KEY.query_id} b, annotator {KEY.annotator}: {page}?task=5",
    ]


@pytest.mark.parametrize(
    ("forged", "reason"),
    [
        (task(answer(completed_by=OTHER), key=DISPUTED), "not-the-annotator"),
        (task(answer(), key=KEY), "bad-key"),
        (task(answer(), key=DISPUTED, clip=OLD), "not-what-was-shown"),
    ],
    ids=["another's", "a vote's key", "another clip"],
)
def test_a_forged_decision_decides_nothing_and_is_told(fetch, forged, reason):
    fetched = fetch(forged)
    assert fetched.decisions.empty
    assert fetched.refused == {reason: 1}
    if reason not in NOT_THEIRS:  # such an answer never was the expert's
        decisions = fetch(task(answer(), key=DISPUTED)).decisions
        tables.ADJUDICATIONS.write(decisions)
        pd.testing.assert_frame_equal(fetch(forged).decisions, decisions)


def test_who_has_left_decides_no_more_and_what_they_decided_stands(fetch):
    before, after = task(answer(), key=DISPUTED), task(answer(made=6), key=DISPUTED)
    assert len(fetch(before, departed=AWAY).decisions) == 1
    fetched = fetch(after, departed=AWAY)
    assert (len(fetched.decisions), fetched.refused) == (0, {"left": 1})
    late = fetch(task(answer(made=86_400), key=DISPUTED), until=LAST_DAY.date())
    assert late.refused == {"left": 1}
    decisions = fetch(before).decisions
    tables.ADJUDICATIONS.write(decisions)
    changed = task(answer(changed=6, said=[level(0)]), key=DISPUTED)
    pd.testing.assert_frame_equal(fetch(changed, departed=AWAY).decisions, decisions)


@pytest.fixture
def campaign(tmp_path, repository):
    """Return a campaign in which nothing waits, without a server."""
    folder = disputed_campaign(tmp_path, repository, "https://clips.example.org")
    with contextlib.chdir(tmp_path):
        yield folder


def test_nothing_happens_without_a_server(campaign, command, monkeypatch):
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    _, *output = command("annotation.adjudicate")
    assert "no Label Studio is configured" in "".join(output)


def test_the_status_counts_what_was_decided(campaign):
    _, figures = status.read_status()
    assert (figures["pairs"]["discarded"], figures["pairs"]["waiting"]) == (8, 0)
    levels = pd.array([0, 1, 2, 3, 4, 0, 1, 2, None], "Int64")
    decisions = decisions_of(campaign.get(tables.PAIRS).iloc[:9], levels)
    campaign.put(tables.ADJUDICATIONS, decisions)
    _, figures = status.read_status()
    pairs = figures["pairs"]
    assert (pairs["adjudicated"], pairs["discarded"], pairs["unjudgeable"]) == (8, 0, 1)
    campaign.put(tables.VOIDED, voided_of((1, START, None, None)))
    _, figures = status.read_status()
    pairs = figures["pairs"]
    assert (pairs["adjudicated"], pairs["waiting"], pairs["without_clip"]) == (8, 1, 0), (
        "a decision stands where votes are voided; only the pair without one waits again"
    )


def test_a_pair_that_is_listed_twice_stands_once_with_the_newer_note(campaign):
    adjudicate.list_pairs([SETTLED], "why?")
    adjudicate.list_pairs([SETTLED], "look at the door")
    with pytest.raises(CampaignError, match=r"--pair q000 m: .*never shown"):
        adjudicate.list_pairs([("q000", "m")], None)
    assert campaign.get(tables.SECOND_LOOK)["note"].tolist() == ["look at the door"]


def test_a_second_look_is_blind_and_a_dispute_shows_its_votes(campaign):
    adjudicate.list_pairs([SETTLED], second_looks.NOTE)
    connection = Connection(load_campaign(), Server(), SIGNER, Roster([], {}))
    disputed = adjudicate.find_disputed(connection, load())
    assert SETTLED in set(disputed.left.itertuples(index=False, name=None))
    assert SETTLED not in disputed.votes
    assert disputed.votes["q000", "q000-m01"] == "0, 0, 4, 4"


def test_a_second_look_is_withdrawn_once_its_machine_may_choose_none(campaign):
    own = tuple(campaign.get(tables.PAIRS)[PAIR_KEY].iloc[-2])
    adjudicate.list_pairs([SETTLED], second_looks.NOTE)
    adjudicate.list_pairs([own], None)
    connection = Connection(load_campaign(), Server(), SIGNER, Roster([], {}))

    def left():
        return {*adjudicate.find_disputed(connection, load()).left.itertuples(index=False)}

    assert {SETTLED, own} <= left(), "no calibration has run here: nothing is known against it"
    looks = pd.DataFrame([SETTLED], columns=PAIR_KEY)
    csv_files.write_csv(second_looks.FILE, looks)
    assert {SETTLED, own} <= left()
    csv_files.write_csv(second_looks.FILE, looks[:0])
    assert SETTLED not in left()
    assert own in left(), "who lists a pair by hand needs no machine"


def test_a_clone_without_the_corpus_takes_in_decisions_and_asks_and_withdraws_nothing(
    campaign, monkeypatch, capsys
):
    ledger, levels = campaign.get(tables.PAIRS), [None] * 9 + [3]
    closed = {"at": "2026-02-03T00:00:00Z", "closed_at": "2026-02-01T00:00:00Z"}
    campaign.open(reopenings=[{**closed, "reason": "doubts", "version": "0.1.0"}])
    csv_files.write_csv(BASES / "0.1.0/consensus.csv", ledger[["pair_id"]].assign(level=levels))
    tables.FROZEN_QUERIES.write(tables.FROZEN_QUERIES.check(tables.QUERIES.read()))
    for table in (tables.QUERIES, tables.CANDIDATES, tables.MOMENTS, tables.CAPTIONS, tables.CLIPS):
        table.path.unlink()
    expert = Roster([Annotator(EXPERT, "expert", active=True)], {EXPERT: Account(email="e@a.org")})
    connection = Connection(load_campaign(), Server(), SIGNER, expert)
    monkeypatch.setattr(adjudicate, "require_connection", lambda _: connection)
    monkeypatch.setattr(adjudicate, "hold_lock", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(adjudicate, "pull", lambda _: None)
    monkeypatch.setattr(Server, "projects", lambda _: [])
    reports = write_reports("pair_id,remark", "9,no")
    options = Namespace(pair=None, note=None, pairs=reports, second_looks=False)
    adjudicate.main(options)
    told = capsys.readouterr()
    assert "10 left" in told.out + told.err
    assert "10 have no clip here, so nobody is asked" in told.out + told.err
    tables.ADJUDICATIONS.write(decisions_of(ledger, 0))
    adjudicate.main(options)
    told = capsys.readouterr()
    assert "10 decided, 0 left" in told.out + told.err


def write_reports(*lines):
    """Write a file of readers' reports, with its header."""
    Path("readers.csv").write_text("\n".join(lines) + "\n")
    return Path("readers.csv")


def report(*lines):
    """List what these lines report."""
    adjudicate.list_reported(write_reports(*lines), load_campaign(), load())


def test_readers_name_a_pair_by_number_or_by_its_segment_and_all_remarks_are_kept(campaign):
    report("pair_id,remark", "9,should be 0")
    segment = 'q009,v,9.0,14,"no, 1\nat most"'
    report("query_id;video_name;start;end;remark", "q009;v;9.0;14;no door")
    report("query_id,video_id,start,end,remark", segment, segment)
    adjudicate.list_pairs([SETTLED], "mine")
    rows = campaign.get(tables.SECOND_LOOK)
    assert rows[PAIR_KEY].drop_duplicates().to_numpy().tolist() == [list(SETTLED)]
    notes = rows.set_index("origin")["note"]
    assert notes["lead"] == "mine"
    remarks = ["should be 0", "no door", "no, 1 at most"]
    assert notes["reported"] == "\n".join(f"readers.csv: {remark}" for remark in remarks)
    connection = Connection(load_campaign(), Server(), SIGNER, Roster([], {}))
    disputed = adjudicate.find_disputed(connection, load())
    assert disputed.pairs["why"].value_counts()["listed"] == 1
    assert SETTLED not in disputed.votes, "the present level is not shown"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["pair_id,remark", "9,ok", "99,no"], r"readers\.csv: line 3, pair_id: .*'99'"),
        (["pair_id,remark", "nine,no"], r"line 2, pair_id: .*'nine'"),
        (["pair_id,query_id,remark", "9,q001,no"], r"line 2, query_id: .*other cells"),
        (["query_id,video_id,start,end,remark", "q009,v,8,14,no"], r"line 2, start: .*'8'"),
        (["video_id,remark", "v,no"], r"line 2: matches 10 pairs; give pair_id"),
        (["pair_id,remark", "0,no"], r"line 2: query q000.*: votes gave this pair no level"),
        (["pair_id,remark"], "a row for each report"),
        (["pair_id,remark", "9,no,1"], "line 2: has 3 cells"),
        (["pair_id", "9"], "remark"),
    ],
)
def test_a_report_of_no_judged_pair_is_refused_with_its_line_and_changes_nothing(
    campaign, lines, message
):
    before = tables.SECOND_LOOK.path.read_bytes()
    with pytest.raises(MomentRankError, match=message):
        report(*lines)
    assert tables.SECOND_LOOK.path.read_bytes() == before


def test_what_an_expert_has_decided_is_not_asked_again_but_a_file_may_be_read_again(campaign):
    report("pair_id,remark", "9,no")
    campaign.put(tables.ADJUDICATIONS, decisions_of(campaign.get(tables.PAIRS).iloc[[9]], 3))
    report("pair_id,remark", "9,no")
    again = r"line 3: .*an expert has decided this pair"
    with pytest.raises(CampaignError, match=again):
        report("pair_id,remark", "9,no", "9,still no")
    campaign.put(tables.SECOND_LOOK, tables.SECOND_LOOK.empty())
    with pytest.raises(CampaignError, match=again.replace("3", "2")):
        report("pair_id,remark", "9,no")
