"""What the lead does next, with the command to type: one rule for `status`, `plan` and the report.

`close` uses `list_open` too, so it is named as the next step exactly when it would succeed.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.campaign.campaign import Campaign
from pipeline.core import files, tables

MANIFEST = Path("datasets/release/manifest.json")
LEAD_PAGE = tables.WORK / "lead" / "index.html"
PEOPLE = tables.CAMPAIGN / "annotators.yaml"
SHOWN_IDS = 5
END_PILOT = "python -m annotation.campaign open --end-pilot"
CLOSE = "python -m annotation.campaign close"
CLOSE_UNAUDITED = f"{CLOSE} --unaudited"
PLAN_AUDIT = "python -m annotation.audit plan"
LEAST_AUDITED = 2
"""Minimum of queries to audit: one does not show how queries differ."""
AUDITED = 100
"""The queries of the audit that is proposed, or all if there are fewer."""


class Step(NamedTuple):
    """What to do, and the command for it, if any."""

    what: str
    command: str | None = None

    @property
    def text(self) -> str:
        """The step as one line."""
        return self.what if self.command is None else f"{self.what}: {self.command}"


MAKE_CANDIDATES = Step("make the candidates and their clips", "dvc repro")


class Situation(NamedTuple):
    """The state of a campaign.

    `state` is the plan's (`campaign_state.json`); `unsent` counts the planned judgments that are
    not in Label Studio yet. `shown` says whether any pair was ever shown. `audit` has the options
    of `audit plan` that draw what is left of an audit: "" if there is none yet, None if nothing is
    left. What a caller can't know (the report does not contact the server) is assumed to be fine.
    """

    campaign: Campaign | None
    state: Mapping[str, Any]
    candidates: bool = True
    server: bool = True
    shown: bool = True
    audit: str | None = None
    unsent: int = 0
    frozen: bool = True
    released: bool = False


def next_steps(now: Situation) -> list[Step]:
    """Return what to do, the next step first."""
    if now.campaign is None:
        opening = Step("open the campaign", "python -m annotation.campaign open --name NAME")
        return [opening if now.candidates else MAKE_CANDIDATES]
    if now.campaign.closed:
        return [_finish(now)]
    if not now.candidates:
        return [MAKE_CANDIDATES]
    if not now.state.get("queries"):
        return [Step("plan who judges what", "dvc repro")]
    return list(_run(now))


def format_steps(steps: Sequence[Step]) -> list[str]:
    """Return the steps as lines for a terminal."""
    return [f"{'also' if position else 'next'}: {step.text}" for position, step in enumerate(steps)]


def list_open(state: Mapping[str, Any]) -> list[str]:
    """Return what keeps a campaign from being closed, with numbers; empty if nothing does."""
    pairs, queries = state["pairs"], state["queries"]
    counts = {
        "pairs wait for judgments": pairs["waiting"],
        "pairs wait for a clip": pairs["without_clip"],
        f"queries wait for a decision in {tables.EXTEND.path}": len(queries["for_the_lead"]),
    }
    return [f"{number:,} {what}" for what, number in counts.items() if number]


def is_released(campaign: Campaign, path: Path = MANIFEST) -> bool:
    """Return whether this campaign was released in its present state."""
    manifest = files.read_json(path) if path.is_file() else None
    return isinstance(manifest, dict) and manifest.get("campaign") == campaign.model_dump()


def _finish(now: Situation) -> Step:
    if not now.frozen:
        return Step("finish closing", CLOSE)
    if not now.released:
        return Step("release the judgments", "dvc repro release report")
    return Step(
        "done: datasets/release/ and datasets/report/ are final; publish it (docs/release.md)",
        "python -m pipeline.publish --to hf OWNER/NAME --dry-run",
    )


def _run(now: Situation) -> Iterator[Step]:
    if not now.server:
        yield Step(
            "put the address and token of your Label Studio into .env (LABEL_STUDIO_URL,"
            " LABEL_STUDIO_API_KEY), or start one",
            "make label-studio",
        )
    elif list_open(now.state):
        yield from _ask_people(now)
    elif now.campaign is not None and now.campaign.piloting:
        yield Step(
            "the pilot is judged: read the disagreements, revise the guideline"
            " (docs/guideline-howto.md), then",
            END_PILOT,
        )
    else:
        yield from _close(now.audit, now.state["queries"]["all"])
        yield from _adjudicate(now.state)
    yield from _for_the_lead(now.state)


def _close(audit: str | None, queries: int) -> Iterator[Step]:
    """Yield the closing, and before it an audit, or what is left of it."""
    options = propose_audit(audit, queries)
    if options is None:
        yield Step("close the campaign", CLOSE)
        return
    yield Step("close the campaign without knowing what the pool missed", CLOSE_UNAUDITED)
    if audit:
        yield Step("better: draw what is left of the audit before that", f"{PLAN_AUDIT} {options}")
    else:
        yield Step(
            "better: find out, with an audit before that; for its cost",
            f"{PLAN_AUDIT} {options} --dry-run",
        )


def propose_audit(audit: str | None, queries: int) -> str | None:
    """Return the options of `audit plan` for `Situation.audit`; None if it can't draw anything."""
    if audit or audit is None:
        return audit
    return f"--queries {min(AUDITED, queries)}" if queries >= LEAST_AUDITED else None


def _adjudicate(state: Mapping[str, Any]) -> Iterator[Step]:
    """Yield that disputed pairs may be decided first, if anyone who could do so is listed."""
    unsettled = state["pairs"]["discarded"] + state["pairs"]["unjudgeable"]
    roles = {annotator["role"] for annotator in state["annotators"].values() if annotator["active"]}
    if unsettled and roles & {"lead", "expert"}:
        yield Step(
            f"optional: have {unsettled:,} pairs without a level decided first",
            "python -m annotation.adjudicate",
        )


def _ask_people(now: Situation) -> Iterator[Step]:
    wanted = sum(annotator["open"] for annotator in now.state["annotators"].values())
    done = sum(annotator["done"] for annotator in now.state["annotators"].values())
    later = now.state.get("later", 0)
    if now.state.get("without_account"):
        yield Step(
            f"write {len(now.state['without_account'])} missing accounts into {tables.PRIVATE};"
            " to see whose",
            "python -m annotation.people list",
        )
    yield from exam_steps(now.state.get("exam", {}))
    if now.unsent or (wanted and not now.shown):
        yield Step(f"assign {now.unsent or wanted:,} judgments", "dvc repro")
    if wanted and not done:
        yield Step("invite people: nobody has judged yet", "python -m annotation.people invite")
    elif wanted and not now.unsent:
        more = f" and {later:,} to follow" if later else ""
        yield Step(f"people are judging, {wanted:,} open{more}; when they have judged", "dvc repro")
    elif later and not wanted:
        yield Step(
            f"{later:,} judgments wait for people: everyone who has not seen these pairs is full"
            f" or away today (see per_week, from and until in {PEOPLE}); tomorrow, or with others",
            "dvc repro",
        )


def exam_steps(standings: Mapping[str, str]) -> Iterator[Step]:
    """Yield what to do about the exam; `standings` has people's numbers and where each stands.

    Only callers that contact the server know that people still have the exam (`given`), or its
    feedback (`told`), to do.
    """
    people: dict[str, list[str]] = {}
    for number, standing in standings.items():
        people.setdefault(standing, []).append(number)
    for standing, (what, command) in EXAM_STEPS.items():
        if some := people.get(standing):
            yield Step(f"annotator{'s' * (len(some) > 1)} {', '.join(some)} {what}", command)


EXAM_STEPS = {
    "failed-twice": (
        f"failed the exam twice: decide in {PEOPLE} (`admitted: true`, or `active: false`), then",
        "dvc repro",
    ),
    "failed": (
        "failed the exam: show the wrong answers and let them try once more",
        "python -m annotation.exam feedback",
    ),
    "to-begin": (
        "must still take the exam: assign it and send them its page",
        "python -m annotation.exam push && python -m annotation.people invite",
    ),
    "given": (
        "can take the exam: send them its page",
        "python -m annotation.people invite",
    ),
    "begun": ("began the exam; when it is done", "python -m annotation.exam mark"),
    "told": ("can answer the feedback; when it is done", "python -m annotation.exam mark"),
}
"""What to do about people by their standing in the exam, and the command for it."""


def _for_the_lead(state: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what only the lead can settle."""
    stopped = state.get("checks", {}).get("stopped", {})
    if stopped:
        yield Step(
            f"decide on {len(stopped):,} annotator{'s' if len(stopped) > 1 else ''} whom hidden"
            " checks have stopped: they get no new tasks; for who, why, and the options",
            "python -m annotation.status",
        )
    pairs, undecided = state["pairs"], state["queries"]["for_the_lead"]
    if undecided:
        some = ", ".join(undecided[:SHOWN_IDS]) + (" ..." if undecided[SHOWN_IDS:] else "")
        yield Step(
            f"decide in {tables.EXTEND.path} (query_id,yes or query_id,no) on {len(undecided):,}"
            f" queries whose last ranks have no level ({some}), then",
            "dvc repro",
        )
    standings = set(state.get("exam", {}).values()) if state.get("exam_required") else set()
    if pairs["nobody_left"] and standings <= {"passed", "admitted"}:
        yield Step(
            f"add people to {PEOPLE}: {pairs['nobody_left']:,} pairs have been seen by everybody"
            " who is active; then",
            "dvc repro",
        )
    if pairs["without_clip"]:
        yield Step(
            f"replace the videos of {pairs['without_clip']:,} pairs without a clip"
            f" ({tables.FAILED_CLIPS.path}), then",
            "dvc repro -sf clips && dvc repro",
        )
    if pairs["unjudgeable"]:
        yield Step(
            f"look at {pairs['unjudgeable']:,} pairs that can't be judged: they are listed in"
            f" {LEAD_PAGE}, and stay without a level"
        )
