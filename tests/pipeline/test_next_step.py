"""The next step of every situation that a campaign can be in, with the command to type."""

import json

import pytest
from opened import OPEN

from pipeline.campaign import next_step
from pipeline.campaign.campaign import Pilot
from pipeline.campaign.next_step import Situation, list_open, next_steps

PILOT = OPEN.model_copy(update={"pilot": Pilot(queries=["q1"])})
CLOSED = OPEN.model_copy(update={"closed_at": "2024-06-01T07:00:00Z"})
ADJUDICATE = "python -m annotation.adjudicate"
PUBLISH = "python -m pipeline.publish --to hf OWNER/NAME --dry-run"
CLOSE = "python -m annotation.campaign close"
AUDIT = "python -m annotation.audit plan"


def state(*, wanted=0, done=0, for_the_lead=(), without_account=(), role="annotator", **pairs):
    """Return a plan's state; what waits and is not said otherwise is nothing."""
    none = ("without_clip", "unjudgeable", "discarded", "nobody_left")
    usual = {"all": 9, "waiting": wanted, **dict.fromkeys(none, 0)}
    return {
        "pairs": usual | pairs,
        "queries": {"all": 120, "for_the_lead": list(for_the_lead)},
        "annotators": {"1": {"role": role, "active": True, "open": wanted, "done": done}},
        "without_account": list(without_account),
    }


JUDGED = state(done=5)
FEW, ONE = (JUDGED | {"queries": {"all": number, "for_the_lead": []}} for number in (15, 1))
UNDER_WAY = state(wanted=4, done=5)


@pytest.mark.parametrize(
    ("situation", "commands"),
    [
        (Situation(None, {}, candidates=False), ["dvc repro"]),
        (Situation(None, {}), ["python -m annotation.campaign open --name NAME"]),
        (Situation(OPEN, {}, candidates=False), ["dvc repro"]),
        (Situation(OPEN, {"campaign": None}), ["dvc repro"]),
        (Situation(OPEN, UNDER_WAY, server=False), ["make label-studio"]),
        (Situation(OPEN, JUDGED, server=False), ["make label-studio"]),
        (Situation(PILOT, JUDGED), ["python -m annotation.campaign open --end-pilot"]),
        (Situation(PILOT, UNDER_WAY), ["dvc repro"]),
        (
            Situation(OPEN, state(wanted=4), shown=False, unsent=4),
            ["dvc repro", "python -m annotation.people invite"],
        ),
        (Situation(OPEN, state(wanted=4)), ["python -m annotation.people invite"]),
        (Situation(OPEN, UNDER_WAY), ["dvc repro"]),
        (Situation(OPEN, UNDER_WAY, unsent=2), ["dvc repro"]),
        (
            Situation(OPEN, UNDER_WAY | {"checks": {"stopped": {"5": {}}}}),
            ["dvc repro", "python -m annotation.status"],
        ),
        (
            Situation(OPEN, state(wanted=4, done=5, without_account=[2])),
            ["python -m annotation.people list", "dvc repro"],
        ),
        (Situation(OPEN, state(for_the_lead=["q1"])), ["dvc repro"]),
        (Situation(OPEN, state(done=5, waiting=1, nobody_left=1)), ["dvc repro"]),
        (
            Situation(OPEN, state(done=5, waiting=1, nobody_left=1) | {"exam": {"2": "waits"}}),
            ["dvc repro"],
        ),
        (Situation(OPEN, state(done=5, waiting=1) | {"later": 1}), ["dvc repro"]),
        (Situation(OPEN, state(without_clip=1)), ["dvc repro -sf clips && dvc repro"]),
        (Situation(OPEN, JUDGED), [CLOSE]),
        (
            Situation(OPEN, JUDGED, audit=""),
            [f"{CLOSE} --unaudited", f"{AUDIT} --queries 100 --dry-run"],
        ),
        (
            Situation(OPEN, FEW, audit=""),
            [f"{CLOSE} --unaudited", f"{AUDIT} --queries 15 --dry-run"],
        ),
        (
            Situation(OPEN, JUDGED, audit="--queries 40 --seed 3"),
            [f"{CLOSE} --unaudited", f"{AUDIT} --queries 40 --seed 3"],
        ),
        (Situation(OPEN, ONE, audit=""), [CLOSE]),
        (Situation(OPEN, state(without_account=[2])), [CLOSE]),
        (Situation(OPEN, state(unjudgeable=2)), [CLOSE, None]),
        (Situation(OPEN, state(discarded=2)), [CLOSE]),
        (Situation(OPEN, state(discarded=2, role="expert")), [CLOSE, ADJUDICATE]),
        (Situation(OPEN, state(done=5, role="lead")), [CLOSE]),
        (Situation(OPEN, state(wanted=4, done=5, discarded=2, role="lead")), ["dvc repro"]),
        (Situation(CLOSED, {}, frozen=False), [CLOSE]),
        (Situation(CLOSED, {}), ["dvc repro release report"]),
        (Situation(CLOSED, {}, released=True), [PUBLISH]),
    ],
)
def test_the_next_step(situation, commands):
    steps = next_steps(situation)
    assert [step.command for step in steps] == commands
    assert all(step.text.endswith(step.command or step.what) for step in steps)


@pytest.mark.parametrize(
    ("now", "named"),
    [
        (state(for_the_lead=["q1", "q2"]), ["extend.csv", "2 queries", "q1, q2"]),
        (state(waiting=3, nobody_left=3), ["annotators.yaml", "3 pairs"]),
        (state(without_clip=1), ["failed_clips.csv"]),
        (state(unjudgeable=2), ["2 pairs", "lead/index.html"]),
        (state(wanted=1, without_account=[7]), ["annotators.private.yaml"]),
    ],
)
def test_what_waits_for_the_lead_names_file_and_number_and_nobody(now, named):
    text = " ".join(step.text for step in next_steps(Situation(OPEN, now)))
    assert [name for name in named if name not in text] == []
    assert "7" not in text


def test_what_keeps_a_campaign_open_is_counted():
    assert list_open(JUDGED) == []
    reasons = list_open(state(wanted=3, without_clip=2, for_the_lead=["q"]))
    assert [reason.split()[0] for reason in reasons] == ["3", "2", "1"]


def test_a_release_is_of_the_campaign_as_it_was_closed(tmp_path):
    path = tmp_path / "manifest.json"
    assert not next_step.is_released(CLOSED, path)
    for campaign, released in ((None, False), (OPEN, False), (CLOSED, True)):
        path.write_text(json.dumps({"campaign": campaign and campaign.model_dump()}))
        assert next_step.is_released(CLOSED, path) is released
