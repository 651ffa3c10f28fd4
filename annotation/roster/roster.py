"""Who takes part: `annotators.yaml` (committed) and `annotators.private.yaml` (never).

The first lists people by number only; the second, ignored by git, has their accounts.
"""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from annotation.roster.annotator import Annotator, Role
from pipeline.campaign.campaign import CampaignError
from pipeline.core import cli, files, tables
from pipeline.core.params import read_model
from pipeline.core.tables import PRIVATE
from pipeline.core.validation import Name, Positive, Section

PUBLIC = tables.CAMPAIGN / "annotators.yaml"

Number = Annotated[int, Field(ge=1)]


class Person(Section):
    """The public part of an annotator: as `Annotator`, with `from` for `since`."""

    role: Role
    active: bool
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    per_week: Positive | None = None
    since: date | None = Field(default=None, alias="from")
    until: date | None = None
    admitted: bool = False
    checked_from: date | None = None

    @model_validator(mode="after")
    def _refuse_no_days(self) -> "Person":
        if self.since is not None and self.until is not None and self.until < self.since:
            raise ValueError(f"until {self.until} is before from {self.since}: correct one of them")
        return self


class Account(Section):
    """An annotator's account in Label Studio; `password` only where the person is simulated.

    `kind` is for a simulated person who is not honest: in rehearsals only.
    """

    email: Annotated[str, Field(pattern=r"^\S+@\S+$")]
    name: Name | None = None
    password: Name | None = None
    kind: Literal["lazy", "contrary", "random"] | None = None


class People(Section):
    """The file `annotators.yaml`."""

    annotators: dict[Number, Person]


class Accounts(Section):
    """The file `annotators.private.yaml`."""

    accounts: dict[Number, Account]


class Roster(NamedTuple):
    """The annotators, and the accounts of those who have one, by number."""

    annotators: list[Annotator]
    accounts: Mapping[int, Account]


def read_people(path: Path = PUBLIC) -> list[Annotator]:
    """Return the annotators by number.

    Raises:
        FileError: the file is missing or not YAML (a repeated number is not valid).
        ParamsError: a key is unknown, missing or not valid.
    """
    listed = read_model(People, path).annotators
    return [Annotator(number, **person.model_dump()) for number, person in sorted(listed.items())]


def read_accounts(path: Path = PRIVATE) -> dict[int, Account]:
    """Return the accounts by annotator; nothing if the file is missing.

    Raises:
        CampaignError: two annotators have the same account.
    """
    if not path.is_file():
        return {}
    cli.keep_private(path)
    listed = read_model(Accounts, path).accounts
    by_email: dict[str, int] = {}
    for number, account in listed.items():
        other = by_email.setdefault(account.email.lower(), number)
        if other != number:
            raise CampaignError(f"{path}: annotators {other} and {number} have the same account")
    return listed


def read_roster() -> Roster:
    """Return who takes part, with their accounts.

    Raises:
        MomentRankError: one of the two files is not valid.
    """
    return Roster(read_people(), read_accounts())


def write(annotators: Mapping[int, Person], accounts: Mapping[int, Account]) -> None:
    """Write both files, the private one readable only by its owner."""
    people = People(annotators=dict(annotators))
    public = people.model_dump(by_alias=True, exclude_defaults=True)
    private = Accounts(accounts=dict(accounts)).model_dump(exclude_none=True)
    files.write_yaml(
        PUBLIC, public, "Who takes part: a number, a role (annotator, escalation, lead, expert)."
    )
    remark = "Accounts in Label Studio. Never commit this file."
    files.write_yaml(PRIVATE, private, remark, private=True)
