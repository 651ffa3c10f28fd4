"""Who takes part: what is read, and what is refused with file and field."""

from datetime import date

import pytest

from annotation.roster import roster
from annotation.roster.annotator import Annotator
from annotation.roster.roster import Account, Person
from momentrank.errors import MomentRankError
from pipeline.campaign.campaign import CampaignError
from pipeline.core import tables


@pytest.fixture(autouse=True)
def campaign(folder):
    roster.PUBLIC.parent.mkdir(parents=True)


def test_people_are_read_by_number_with_their_accounts():
    lead, ann = "7: {role: lead, active: false}", "2: {role: annotator, active: true}"
    roster.PUBLIC.write_text(f"annotators:\n  {lead}\n  {ann}\n")
    tables.PRIVATE.write_text("accounts:\n  2: {email: ann@example.org}\n")
    result = roster.read_roster()
    assert result.annotators == [Annotator(2, "annotator", True), Annotator(7, "lead", False)]
    assert {number: account.email for number, account in result.accounts.items()} == {
        2: "ann@example.org"
    }


def test_accounts_may_be_missing_but_not_the_list_of_people():
    roster.PUBLIC.write_text("annotators: {}\n")
    assert roster.read_roster() == ([], {})
    roster.PUBLIC.unlink()
    with pytest.raises(MomentRankError, match=r"annotators\.yaml: no such file"):
        roster.read_roster()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("annotators:\n  1: {role: boss, active: true}\n", r"annotators\.1\.role: .*'annotator', "),
        ("annotators:\n  1: {role: lead}\n", r"annotators\.1\.active: this key is missing"),
        ("annotators:\n  0: {role: lead, active: true}\n", r"annotators\.0: .*greater than"),
        ("annotators:\n  1: {role: lead, active: true, email: a}\n", r"1\.email: unknown key"),
        (
            "annotators:\n  1: {role: lead, active: true, from: 2027-01-02, until: 2027-01-01}\n",
            r"annotators\.1: .*until 2027-01-01 is before from 2027-01-02",
        ),
        ("people: {}\n", r"people: unknown key"),
        ("", r"the file: "),
        ("annotators:\n  1: {role: lead, active: true}\n  1: {role: lead, active: true}\n", "1"),
        ("annotators: {1: {role: lead\n", "line"),
    ],
)
def test_what_is_wrong_with_the_list_is_told_with_file_and_field(text, problem):
    roster.PUBLIC.write_text(text)
    with pytest.raises(MomentRankError, match=rf"(?s)annotators\.yaml.*{problem}"):
        roster.read_people()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("accounts:\n  1: {email: ann}\n", r"accounts\.1\.email: "),
        ("accounts:\n  1: {email: a@b, role: lead}\n", r"accounts\.1\.role: unknown key"),
        (
            "accounts:\n  1: {email: Ann@b.c}\n  2: {email: ann@B.c}\n",
            "1 and 2 have the same account",
        ),
    ],
)
def test_what_is_wrong_with_the_accounts_is_told_with_file_and_field(text, problem):
    roster.PUBLIC.write_text("annotators: {}\n")
    tables.PRIVATE.write_text(text)
    with pytest.raises(MomentRankError, match=rf"annotators\.private\.yaml: .*{problem}") as error:
        roster.read_roster()
    assert isinstance(error.value, CampaignError) == ("same account" in problem)
    assert "ann@" not in str(error.value).lower(), "an address is nobody else's business"


def test_what_is_written_is_read_and_no_address_stands_in_the_public_file():
    people = {3: Person(role="escalation", active=True), 1: Person(role="lead", active=False)}
    accounts = {3: Account(email="ann@example.org", name="Ann", password=None)}
    roster.write(people, accounts)
    result = roster.read_roster()
    assert result.annotators == [Annotator(1, "lead", False), Annotator(3, "escalation", True)]
    assert result.accounts == accounts
    assert "@" not in roster.PUBLIC.read_text()
    assert tables.PRIVATE.stat().st_mode & 0o777 == 0o600


def test_what_is_written_is_read_again_with_every_field():
    days = {"from": date(2026, 12, 1), "until": date(2027, 1, 31), "checked_from": date(2027, 1, 2)}
    full = Person(role="expert", active=False, share=0.5, per_week=300, admitted=True, **days)
    account = Account(email="a@b.c", name="Ann")
    roster.write({1: full, 2: Person(role="annotator", active=True)}, {1: account})
    result = roster.read_roster()
    assert result.annotators[0] == Annotator(1, **full.model_dump())
    assert result.annotators[1] == Annotator(2, "annotator", True)
    assert result.accounts == {1: account}
