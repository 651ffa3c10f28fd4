"""What a campaign takes is told before it begins, and is what TVR-Ranking's took."""

import pytest
from support.campaign_cases import START, make_judgments, voided_of

from annotation.estimate import UNLEARNED
from annotation.workforce.costs import EXTENDED, LEAST, MOST, estimate, text
from pipeline.campaign.effort import ESCALATED, SECONDS, measure_seconds
from pipeline.core import tables
from pipeline.core.params import load


@pytest.fixture(scope="module")
def paper(repository):
    return load(repository / "params.paper.yaml")


def test_the_usual_is_what_the_paper_reports(paper):
    pairs, judgments = estimate(paper, EXTENDED, ESCALATED)
    assert pairs == pytest.approx(96_483, rel=0.001)
    assert judgments == pytest.approx(227_808, rel=0.001)
    assert judgments * SECONDS / 3600 == pytest.approx(1_200, rel=0.01)


def test_least_and_most_are_the_rule_at_its_ends(paper):
    assert estimate(paper, *LEAST) == (3_281 * 20, 3_281 * 20 * 2)
    assert estimate(paper, *MOST) == (3_281 * 40, 3_281 * 40 * 4)


def test_checks_and_exam_come_on_top_where_there_are_any(paper):
    last = text(paper, SECONDS, (EXTENDED, ESCALATED), None).splitlines()[-1]
    assert "5.3 % more" in last
    assert "100 for each person's exam" in last
    assert "4 for 100 pairs as links" in last
    none = {
        "plan": paper.plan.model_copy(update={"gold": 0.0, "repeats": 0.0, "link": 0.0}),
        "exam": paper.exam.model_copy(update={"required": False}),
    }
    rows = text(paper.model_copy(update=none), SECONDS, (EXTENDED, ESCALATED), None).splitlines()
    assert rows[-1].startswith("most")


def test_a_single_batch_is_not_extended(paper):
    short = paper.model_copy(
        update={"candidates": paper.candidates.model_copy(update={"top": 8, "batch": 20})}
    )
    assert estimate(short, 1.0, 0.0) == (3_281 * 8, 3_281 * 8 * 2)


def test_the_usual_share_is_not_that_of_learned_batches(command, monkeypatch, repository, tmp_path):
    text = (repository / "params.paper.yaml").read_text()
    path = tmp_path / "learned.yaml"
    path.write_text(text.replace("further: similarity", "further: learned"))
    monkeypatch.chdir(tmp_path)
    _, usual, _ = command("annotation.estimate", "--params", str(path))
    assert UNLEARNED in usual
    _, piloted, _ = command("annotation.estimate", "--params", str(path), "--extended", ".3")
    assert UNLEARNED not in piloted


def test_what_people_took_here_counts_once_there_is_enough_of_it(paper, tmp_path):
    path = tmp_path / "judgments.csv"
    assert measure_seconds(paper, path) is None
    voided = path.with_name("voided.csv")
    tables.VOIDED.write(tables.VOIDED.empty(), voided)
    for number, expected in ((49, None), (50, 12.0)):
        rows = [
            {"query_id": f"q{row}", "moment_id": "m", "annotator": 1, "level": 2, "seconds": 12.0}
            for row in range(number)
        ]
        tables.JUDGMENTS.write(make_judgments(rows), path)
        assert measure_seconds(paper, path) == expected
    tables.JUDGMENTS.write(make_judgments([row | {"seconds": 9e4} for row in rows]), path)
    assert measure_seconds(paper, path) == 300, "nobody judges for a day"
    tables.VOIDED.write(voided_of((1, START, None, None)), voided)
    assert measure_seconds(paper, path) is None, "what is voided says nothing"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--hourly 10", "usual"),
        ("--extended 1.5", "must be between 0 and 1"),
        ("--seconds 0", "must be above 0"),
        ("--params nowhere.yaml", "nowhere.yaml"),
    ],
)
def test_the_command_tells_it_or_what_is_wrong(command, monkeypatch, repository, options, message):
    monkeypatch.chdir(repository)
    code, out, errors = command("annotation.estimate", *options.split())
    assert message in (errors if code else out)
    assert (code == 0) == (message == "usual")
