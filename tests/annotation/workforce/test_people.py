"""The command `people`: hours for whoever pays, voiding, invitations and the list."""

import csv
import subprocess
from datetime import UTC, date, datetime, timedelta
from functools import partial
from math import isclose
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opened import OPEN
from support.campaign_cases import NONE_VOIDED, START, make_judgments, voided_of, write_empty

from annotation import people
from annotation.label_studio.connection import Connection
from annotation.label_studio.records import Project
from annotation.roster import roster
from annotation.roster.annotator import Annotator
from annotation.roster.roster import Account, Person, Roster
from annotation.workforce import hours, invitations
from annotation.workforce.invitations import invite
from annotation.workforce.listing import listing
from annotation.workforce.voiding import Period, void
from pipeline.campaign.campaign import CampaignError, write_campaign
from pipeline.core import csv_files, tables
from pipeline.core.params import load

REPOSITORY = Path(__file__).parents[3]
NOW = datetime(2024, 5, 2, tzinfo=UTC)
REFUSED = tables.REJECTED_JUDGMENTS.empty()


def judge_at(*rows):
    """Return judgments of `(annotator, hours after the start, seconds)`."""
    return make_judgments(
        {
            "query_id": "q",
            "moment_id": f"m{number}",
            "annotator": who,
            "level": 3,
            "submitted_at": START + timedelta(hours=after),
            "seconds": seconds,
        }
        for number, (who, after, seconds) in enumerate(rows)
    )


def make_refused(*rows):
    """Return refused answers of `(annotator, reason, hours after the start, seconds)`."""
    frame = pd.DataFrame(
        [(None, None, who, reason, f"{number}@r", START + timedelta(hours=after), seconds,
          f"annotator {who}")
         for number, (who, reason, after, seconds) in enumerate(rows)],
        columns=tables.REJECTED_JUDGMENTS.columns,
    )  # fmt: skip
    return tables.REJECTED_JUDGMENTS.check(frame)


# Hours


work_rows = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.integers(0, 24 * 30),
        st.none() | st.sampled_from([0.0, 30.0, 299.0, 300.0, 301.0, 1e6]),
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(work_rows, st.integers(0, 24 * 30), st.integers(-2, 33), st.integers(-2, 33))
def test_hours_are_the_sum_of_what_each_answer_took(rows, voided_after, first, last):
    period = Period(1, START + timedelta(hours=voided_after))
    work = hours.list_work([judge_at(*rows)], voided_of(period), REFUSED)
    days = [(START + timedelta(days=day)).date() for day in (first, last)]
    table = hours.measure_hours(work, 5.0, *days)
    expected, before = {}, {}
    for who, after, seconds in sorted(rows, key=lambda row: row[1]):
        since = after - before.get(who, -1)
        before[who] = after
        when = START + timedelta(hours=after)
        if not days[0] <= when.date() <= days[1]:
            continue
        key = who, "{}-W{:02}".format(*when.isocalendar()[:2])
        own = expected.setdefault(key, dict.fromkeys(hours.TOTALS, 0))
        state = "voided" if who == 1 and after >= voided_after else "judgments"
        own[state] += 1
        spent = min(seconds or 0, 300, since * 3600)
        own["voided_hours" if state == "voided" else "hours"] += spent / 3600
        own["without_time"] += state == "judgments" and seconds is None
    actual = {
        (row["annotator"], row["week"]): {name: row[name] for name in hours.TOTALS}
        for row in table.to_dict("records")
    }
    assert actual.keys() == expected.keys()
    for key, own in expected.items():
        assert all(isclose(actual[key][name], own[name], abs_tol=1e-9) for name in own), key
    everybody = hours.add_totals(table).iloc[-1]
    assert everybody["judgments"] == sum(own["judgments"] for own in expected.values())
    assert hours.text(table, 5.0).count("\n") == len(expected) + len({k[0] for k in expected}) + 3


def test_all_kinds_of_work_count_and_what_was_refused_stands_apart():
    votes = judge_at((1, 0, 60.0))
    checks = judge_at((1, 1, 60.0)).assign(kind="gold")
    exam = judge_at((1, 2, 60.0))[hours.DONE].assign(attempt=2)
    refused = make_refused(
        (1, "left", 3, 36.0), (1, "skipped", 4, None), (1, "draft", 5, 9.0), (2, "empty", 1, 1e9)
    )
    forged = make_refused((1, "changed-by-another", 6, 60.0)).assign(sent_by="annotator 2")
    refused = pd.concat([refused, forged.assign(origin="f@r")], ignore_index=True)
    table = hours.measure_hours(hours.list_work([votes, checks, exam], NONE_VOIDED, refused), 5.0)
    assert table[["annotator", "judgments", "refused"]].to_numpy().tolist() == [
        [1, 3, 2],
        [2, 0, 1],
    ]
    assert table["hours"].tolist() == pytest.approx([0.05, 0])
    assert table["refused_hours"].tolist() == pytest.approx([0.01, 300 / 3600])
    assert hours.rate(table).tolist() == pytest.approx([60, float("nan")], nan_ok=True)


def test_a_time_that_somebody_claims_is_bounded_by_the_servers_clock():
    burst = [(1, 1 + number / 3600, 300.0) for number in range(29)]
    work = hours.list_work([judge_at(*burst)], NONE_VOIDED, REFUSED)
    assert hours.measure_hours(work, 5.0)["hours"].tolist() == pytest.approx([(300 + 28) / 3600])
    other = hours.list_work([judge_at((2, 1.001, 5.0), *burst)], NONE_VOIDED, REFUSED)
    by_person = hours.measure_hours(other, 5.0).set_index("annotator")["hours"]
    assert by_person[2] == pytest.approx(5 / 3600), "another's answer in between bounds nothing"
    moved = hours.list_work([judge_at(*burst)], NONE_VOIDED, REFUSED, {f"a{n}" for n in range(29)})
    assert hours.measure_hours(moved, 5.0)["hours"].tolist() == pytest.approx([29 * 300 / 3600])


def test_a_week_is_the_iso_week_of_the_day_in_utc():
    sunday = pd.Timestamp("2024-12-29T23:59:59Z")
    for when, week in ((sunday, "2024-W52"), (sunday + timedelta(seconds=1), "2025-W01")):
        done = judge_at((1, 0, 9.0)).assign(submitted_at=when)
        assert hours.measure_hours(hours.list_work([done], NONE_VOIDED, REFUSED), 5.0)[
            "week"
        ].tolist() == [week]


# Voiding


def test_voiding_adds_a_row_and_says_what_it_voids():
    judgments = judge_at((3, 0, 1.0), (3, 2, 1.0), (3, 4, 1.0), (4, 4, 1.0))
    since = START + timedelta(hours=2)
    result = void(NONE_VOIDED, judgments, [3, 4], Period(3, since, None, "did not look"), NOW)
    assert result[1:] == (2, 2, 3)
    [row] = result.voided.astype(object).to_numpy().tolist()
    assert row[:2] + row[3:] == [3, since, "did not look"]
    assert pd.isna(row[2])
    earlier = void(result.voided, judgments, [3, 4], Period(3, START), NOW)
    assert (len(earlier.voided), earlier.judgments) == (2, 1), "only what counted until now"
    assert void(NONE_VOIDED, judgments, [9], Period(9, START), NOW)[1:] == (0, 0, 0)


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("period", "message"),
    [
        (Period(9, START), "there is no annotator 9 (known: 3, 4)"),
        (Period(3, NOW + HOUR), "is in the future"),
        (Period(4, START + HOUR), "annotator 4 is already voided from 2024-05-01 09:00 on (UTC)"),
        (Period(4, START + HOUR, START + 2 * HOUR), "is already voided from"),
        (Period(4, START - HOUR), "has a row for annotator 4 from"),
    ],
)
def test_what_can_not_be_voided_is_refused(period, message):
    rows = voided_of((4, START, None, None), (4, START - HOUR, START, None))
    with pytest.raises(CampaignError) as caught:
        void(rows, judge_at((3, 0, 1.0)), [3, 4], period, NOW)
    assert message in str(caught.value)


# The command


@pytest.fixture
def checkout(folder, repository):
    """Return a git checkout with a campaign that is open, and three people's judgments."""
    (folder / "params.yaml").write_text((repository / "params.yaml").read_text())
    tables.CAMPAIGN.mkdir(parents=True)
    write_campaign(OPEN)
    roster.write({n: Person(role="annotator", active=True) for n in range(1, 5)}, ACCOUNTS)
    tables.JUDGMENTS.write(judge_at((1, 0, 60.0), (2, 1, 30.0), (3, 200, 30.0)))
    tables.REJECTED_JUDGMENTS.write(make_refused((2, "left", 2, 36.0)))
    write_empty()
    (folder / ".gitignore").write_text("/datasets/work/\nannotators.private.yaml\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *command], check=True)
    return folder


ACCOUNTS = {n: Account(email=f"a{n}@example.org", name=f"=Ann {n}") for n in range(1, 5)}


@pytest.fixture
def run(command):
    """Return a function that runs the command: exit code, stdout, stderr."""
    return partial(command, "annotation.people")


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def test_voiding_commits_the_file_alone(checkout, run):
    (checkout / "params.yaml").write_text("changed: by somebody\n")
    _, _, message = run("void", "2", "--from", "2024-05-01", "--reason", "always 2")
    assert "annotator 2: 1 of 1 judgments, on 1 pairs, are voided, from 2024-05-01 00:00" in message
    assert "set active: false" in message
    assert git("show", "--name-only", "--format=%s").split("\n\n") == [
        "Void the judgments of annotator 2 from 2024-05-01 00:00 on (UTC)",
        "datasets/campaign/voided.csv\n",
    ]
    assert tables.VOIDED.read()["note"].tolist() == ["always 2"]
    _, _, message = run("void", "1", "--from", "2024-05-01T10:00", "--to", "2024-05-01")
    assert "no judgment from 2024-05-01 10:00 to 2024-05-02 00:00" in message


def test_hours_are_printed_and_written_for_whoever_pays(checkout, run):
    run("void", "1", "--from", "2024-05-01")
    _, output, _ = run("hours", "--to", "2024-05-05")
    lines = [line.split() for line in output.splitlines()]
    assert lines[1] == ["1", "2024-W18", "0", "0.00", "-", "0", "1", "0.02", "0", "0.00"]
    assert lines[3] == ["2", "2024-W18", "1", "0.01", "120.00", "0", "0", "0.00", "1", "0.01"]
    assert lines[5] == ["all", "all", "1", "0.01", "120.00", "0", "1", "0.02", "1", "0.01"]
    run("hours", "--csv")
    path = people.LEAD / "hours.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    rows = csv_files.read_csv(path)
    assert rows["email"].tolist() == ["a1@example.org", "a2@example.org", "a3@example.org"]
    assert path.read_text().splitlines()[1].startswith("1,2024-W18,'=Ann 1,"), "no formula"


def test_a_file_with_addresses_is_not_put_where_git_takes_it(checkout, tmp_path_factory, run):
    for path in ("hours.csv", "datasets/campaign/voided.csv", "docs/new/hours.csv"):
        before = (checkout / path).read_bytes() if (checkout / path).exists() else None
        code, _, errors = run("hours", "--csv", path)
        assert (code, "git would commit it" in errors) == (1, True)
        assert before == ((checkout / path).read_bytes() if (checkout / path).exists() else None)
    outside = tmp_path_factory.mktemp("outside") / "hours.csv"
    for path in ("datasets/work/a/b.csv", str(outside)):
        run("hours", "--csv", path)
        assert (checkout / path).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("to", ["2024-04-30", "2024-05-01T00:00"])
def test_a_period_that_ends_before_it_begins_is_said_as_it_was_typed(checkout, run, to):
    code, _, errors = run("void", "2", "--from", "2024-05-01", "--to", to)
    assert (code, f"--to {to} is not after --from 2024-05-01 00:00" in errors) == (2, True)
    assert tables.VOIDED.read().empty
    code, _, errors = run("hours", "--from", "2024-05-01", "--to", "2024-04-30")
    assert (code, "--to 2024-04-30 is before --from 2024-05-01" in errors) == (2, True)


@pytest.mark.parametrize("arguments", [["void", "2", "--from", "soon"], ["hours", "--to", "24:00"]])
def test_what_is_no_date_is_said_with_an_example(arguments, run):
    code, _, errors = run(*arguments)
    assert (code, "such as 2026-11-23" in errors) == (2, True)


# Invitations and the list


class Studio:
    """A server on which annotator 1 has signed up and has a project."""

    url = "https://judge.example.org"

    def invite_path(self):
        return "/user/signup/?token=secret"

    def users(self):
        return {"a1@example.org": 10}

    def projects(self):
        return []

    def page_url(self, project):
        return f"{self.url}/projects/{project.id}/"


@pytest.fixture
def connection(monkeypatch):
    annotators = [
        Annotator(1, "annotator", active=True),
        Annotator(2, "escalation", active=True, share=0.5, per_week=200, until=date(2026, 12, 1)),
        Annotator(3, "annotator", active=False),
        Annotator(4, "lead", active=True),
    ]
    project = Project(7, "", "", "", "", "", 0, 0)
    monkeypatch.setattr(invitations, "read_standings", lambda *_, **__: {})
    monkeypatch.setattr(invitations.projects, "find_projects", lambda *_: {1: project})
    return Connection(OPEN, Studio(), None, Roster(annotators, ACCOUNTS))


def make_params(*, language="en", required=False):
    own = load(REPOSITORY / "params.yaml")
    return own.model_copy(
        update={
            "annotation": own.annotation.model_copy(update={"language": language}),
            "exam": own.exam.model_copy(update={"required": required}),
        }
    )


def test_who_has_not_passed_a_required_exam_is_told_to_wait(connection, monkeypatch):
    standings = {1: "passed", 2: "waits"}
    monkeypatch.setattr(invitations, "read_standings", lambda *_, **__: standings)
    _, second = invite(connection, make_params(required=True))
    assert f"  ({invitations.NO_PAIRS[True]})" in invitations.text(second)


def test_an_expert_is_told_which_command_makes_their_page(connection):
    roster_ = Roster([Annotator(2, "expert", active=True)], ACCOUNTS)
    [expert] = invite(connection._replace(roster=roster_), make_params(required=True))
    assert "annotation.adjudicate" in expert.remark


@pytest.mark.parametrize(
    ("standing", "sent"), [("to-begin", True), ("failed", True), ("passed", False)]
)
def test_who_has_the_exam_before_them_gets_its_page(connection, monkeypatch, standing, sent):
    monkeypatch.setattr(invitations, "read_standings", lambda *_, **__: {1: standing})
    invitation, _ = invite(connection, make_params())
    assert bool(invitation.exam_page) == sent
    assert invitation.exam_page in "".join(invitations.text(invitation))


def test_an_invitation_has_the_links_that_are_needed(connection, tmp_path):
    first, second = invite(connection, make_params(language="de"))
    assert first[:4] == ("a1@example.org", "=Ann 1", 1, "")
    assert first.page.startswith("https://judge.example.org/projects/7/")
    assert second[2:] == (
        2,
        "https://judge.example.org/user/signup/?token=secret",
        "",
        "",
        "",
        "de",
        invitations.NO_PAIRS[False],
    )
    path = tmp_path / "invitations.csv"
    people.write_private(path, pd.DataFrame([first, second], columns=first._fields))
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["number"] for row in rows] == ["1", "2"]
    assert [row["sign_up"] for row in rows] == ["", second.sign_up]


def test_the_list_shows_what_the_roster_says(connection):
    standings = {1: "passed", 2: "failed-twice"}
    rows = listing(connection, standings, voided_of((3, START, None, None)))
    head, *lines = [line.split() for line in rows]
    assert head[:3] == ["number", "role", "state"]
    assert lines[0] == ["1", "annotator", "active", "yes", "passed", "1", "-", "-", "-",
                        "a1@example.org"]  # fmt: skip
    assert lines[1][3:] == ["no", "failed-twice", "0.5", "200", "-", "2026-12-01",
                            "a2@example.org"]  # fmt: skip
    assert lines[2][2] == "voided"
