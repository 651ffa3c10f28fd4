"""Every figure of the report, counted by hand on the small collection."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from pipeline.params import Report
from pipeline.reporting import checks, collection, cost, lead, losses, relevance, scores, words
from pipeline.reporting.charts import Words, bars
from pipeline.reporting.figures import figures
from pipeline.reporting.grid import count, decimal, percent
from pipeline.reporting.sources import Campaign, ReportError, campaign_of

ASKED = Report(min_alpha=0.667, max_discarded=0.05, max_alike_below_top=0.2, max_lost=0.05)


def test_table_1_counts_each_split(found):
    splits = collection.figures(found)["splits"]
    assert splits["val"] == {
        "queries": 1,
        "judged_queries": 1,
        "shown": 2,
        "with_level": 2,  # m1 and m2, levels 3 and 2
        "relevant": 2,
        "moments": 2,
        "videos": 1,
    }
    # m2-m2 is discarded and m3-m3 waits: m2-m3 alone has a level, 0.
    assert list(splits["test"].values()) == [2, 1, 3, 1, 0, 1, 1]
    assert list(splits["train"].values()) == [1, 0, 0, 0, 0, 0, 0]


def test_table_4_tells_words_lengths_and_shares(found):
    own = collection.figures(found)
    # "a man walks in", "a woman opens the door", "he sits down"
    assert own["query_words"] == {"mean": 4.0, "median": 4.0, "min": 3.0, "max": 5.0}
    assert own["vocabulary"] == 11
    assert own["verbs"] == 3
    assert own["pool_verbs"] == 4  # and holds, but not "a hand"
    assert own["moment_seconds"] == {"mean": 5.0, "median": 4.0, "min": 2.0, "max": 10.0}
    assert own["video_seconds"]["mean"] == 30.0
    # 2/20, 4/20, 4/40, 10/40
    assert own["ratio"] == {"mean": 0.1625, "median": 0.15, "min": 0.1, "max": 0.25}
    assert own["moments_per_video"] == 2.0
    assert own["relevant_per_query"] == {"mean": 1.0, "median": 1.0, "min": 0.0, "max": 2.0}
    assert own["judged_share"] == {"20": 0.0, "40": 0.0}
    json.dumps(own, allow_nan=False)


def test_shares_of_queries_with_20_and_40_pairs(found):
    pairs = [("a", 20), ("b", 40), ("c", 40), ("d", 7)]
    rows = [(query, f"{n}") for query, size in pairs for n in range(size)]
    shown = pd.DataFrame(rows, columns=["query_id", "moment_id"]).assign(
        pair_id=0, caption="", video_id="v", start=0.0, end=1.0, rank=1, similarity=0.5
    )
    own = collection.figures(replace(found, shown=shown))
    assert own["judged_share"] == {"20": 0.25, "40": 0.5}


def test_verbs_are_what_the_lexicon_knows_and_no_noun_after_an_article():
    texts = ["She is walking.", "He carries and stopped it.", "The talks", "Two men frobnicate."]
    assert words.verbs(texts) == {"be", "walk", "carry", "stop"}
    assert words.verbs(["A person hands him the hand"]) == {"hand"}
    assert words.words("The man's well-known e-mail, don't!") == [
        "the", "man's", "well-known", "e-mail", "don't"
    ]  # fmt: skip
    assert words.lexicon_size() > 400


def test_figure_4_is_of_levels_by_rank_and_similarity(found):
    by_rank = relevance.by_rank(found.levels).to_dict("records")
    assert [(row["rank"], row["pairs"], row["mean"]) for row in by_rank] == [
        (1, 1, 3.0),
        (2, 2, 1.0),
    ]
    assert (by_rank[1]["level_0"], by_rank[1]["level_2"]) == (0.5, 0.5)
    by_similarity = relevance.by_similarity(found.levels)
    assert by_similarity["similarity"].tolist() == [0.5, 1.0]  # 0.5 and 0.52; 1.0 apart
    assert by_similarity["pairs"].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("similarity", "step"),
    [(0.15, 0.15), (0.349999, 0.3), (0.999999, 0.95), (1.0, 1.0), (-0.01, -0.05)],
)
def test_a_similarity_falls_into_the_step_that_begins_at_or_below_it(similarity, step):
    levels = pd.DataFrame({"similarity": [similarity], "level": [1]})
    assert relevance.by_similarity(levels)["similarity"].tolist() == [step]


def test_histograms_are_half_open_and_have_40_bars_at_most():
    table = relevance.histogram(pd.Series([0.0, 1.9, 2.0, 7.5]), 2)
    assert table.to_numpy().tolist() == [[0, 2, 2], [2, 4, 1], [4, 6, 0], [6, 8, 1]]
    assert len(relevance.histogram(pd.Series([0.0, 10_000.0]), 1)) <= relevance.MOST_BARS + 1
    assert relevance.histogram(pd.Series([], dtype="float64"), 2).empty


def test_what_was_rejected_is_counted_by_reason(found):
    assert [tuple(one) for one in losses.rejected(found)] == [
        ("moments", "no-duration", 1, "rejected_moments.csv"),
        ("moments", "no-id", 1, "rejected_moments.csv"),
        ("captions", "similarity", 1, "rewrite_review.csv"),
        ("dropped", "dropped by a person", 1, "review.csv"),
        ("clips", "unreadable", 1, "failed_clips.csv"),
        ("judgments", "bad-level", 1, "rejected_judgments.csv"),
    ]
    assert losses.lost(found) == (5, 100)  # 2 refused, 2 captions, 1 clip


def test_table_3_is_ordered_by_frequency(found):
    grid = losses.table_3(found)
    assert [row[0] for row in grid.rows] == ["man", "a"]
    assert grid.rows[0][2:] == ("3", "75.0\u202f%")
    assert "1 rarer" in losses.table_3(found, shown=1).note


def test_cost_is_hours_of_judging_and_what_rewriting_was_paid(found):
    rows = dict(cost.cost(found).rows)
    # 10 and 20 s, five times less one, and 30 and 40 s once: 5 * 10 + 4 * 20 + 70
    assert rows["Judgments"] == "11"
    assert rows["Hours of judging"] == "0.1"
    assert rows["Seconds for a judgment, median"] == "20.0"
    spent = {
        "result_tokens_in": 1200,
        "result_tokens_out": 300,
        "result_cost_usd": 1.5,
        "cost_usd": 0,
    }
    paid = found.metrics | {"rewrite": found.metrics["rewrite"] | {"llm": spent}}
    assert dict(cost.cost(replace(found, metrics=paid)).rows)["Rewriting, USD"] == "1.50"


def test_six_checks_with_value_threshold_and_verdict(found):
    made = checks.checks(found, ASKED)
    assert len(made) <= checks.MOST
    assert {check.name: (check.value, check.verdict) for check in made} == {
        "judged": ("4 / 5", "look"),
        # First votes 33, 12, 03, 00: observed 2 (1 + 25) / 8, expected 608 / 56.
        "agreement": ("0.401", "look"),
        "no_consensus": ("25.0\u202f%", "look"),  # m2-m2 of four decided
        "same_words_lower_level": ("100.0\u202f%", "look"),  # m1-m1 is 3
        "lost_on_the_way": ("5.0\u202f%", "pass"),
        "scorer": ("0.000", "pass"),  # the one test query that is judged has level 0 alone
    }
    assert all(check.threshold and check.detail for check in made)


def test_the_scorer_check_wants_all_that_can_be_scored_and_random_below_captions():
    def runs(ideal, random):
        of_run = {"ideal": ideal, "random": random, "captions": 0.8, "jittered": 0.9}
        scored = {name: {checks.NDCG: value} for name, value in of_run.items()}
        counts = {"judged_queries": 4, "with_a_relevant_moment": 3}
        return {"test": {"runs": scored, **counts}, "val": {"runs": scored, **counts}}

    def verdict(ideal, random):
        return checks._scored(runs(ideal, random)).verdict

    told = verdict(0.75, 0.1), verdict(1.0, 0.1), verdict(0.7, 0.1), verdict(0.75, 0.9)
    assert told == ("pass", "look", "look", "look")


@pytest.mark.parametrize(
    ("closed", "planned", "text"),
    [
        (False, 9, "Incomplete: 4 of 9 pairs are decided, 5 wait."),
        (False, 0, "Incomplete: 4 of 5 pairs are decided, 1 wait."),
        (True, 9, "Incomplete: 4 of 5 pairs are decided, 1 wait."),
    ],
)
def test_what_is_wanted_is_the_plans_word_while_the_campaign_runs(found, closed, planned, text):
    state = {"pairs": {"all": planned}} if planned else {"campaign": None}
    asked = replace(found, state=state, campaign=Campaign("x", "1", closed=closed))
    assert checks.standing(asked).text == text


def test_complete_is_said_when_nothing_waits(found):
    judged = found.consensus[found.consensus["outcome"] != "waiting"]
    standing = checks.standing(replace(found, consensus=judged))
    assert (standing.complete, standing.text) == (True, "Complete: 4 of 4 pairs are decided.")


def test_disputed_pairs_come_with_answers_and_a_relative_link(found):
    [pair] = lead.disputed(found)
    assert pair.answers == ["1: 0", "2: 3", "3: 4", "4: 1"]
    assert (pair.outcome, pair.clip) == ("discarded", "../clips/m2.mp4")
    assert pair.place == "v1, 5.0 to 9.0 s, rank 1"


def test_flags_are_shown_with_their_reasons():
    table = pd.DataFrame({"annotator": [1, 2], "flags": [None, "too fast: 1.0 s; constant: 95%"]})
    assert lead.flags(table) == [lead.Flag("2", ["too fast: 1.0 s", "constant: 95%"])]


def test_scores_stand_in_rows_for_plots(found):
    table = scores.table(found.metrics["reference_runs"])
    own = table[(table["split"] == "val") & (table["run"] == "ideal")].set_index("measure")["score"]
    assert own["nDCG(iou=0.7)@10"] == 1.0
    assert len(own) == 21


def test_every_figure_has_a_chart_or_says_that_there_is_nothing(found):
    none = replace(found, consensus=found.consensus.iloc[:0])
    for source in (found, none):
        shown = figures(relevance.tables(source), found.metrics["agreement"])
        assert len(shown) == len({figure.name for figure in shown}) == 7
        assert all(figure.chart is None or "<title" in figure.chart for figure in shown)
    assert shown[0].chart is None


def test_a_chart_escapes_what_it_is_told():
    drawn = bars(Words("a", "<b>", "&"), ["<i>", "1"], [3, 4], "x", "<y>")
    assert "<b>" not in drawn
    assert "<i>" not in drawn
    assert "&lt;i&gt;" in drawn


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (count(1234567), "1,234,567"),
        (decimal(-0.5), "\u22120.50"),
        (percent(0.125), "12.5\u202f%"),
        (percent(None), "\u2013"),
        (decimal(float("nan")), "\u2013"),
        (count(pd.NA), "\u2013"),
    ],
)
def test_numbers_are_written_alike(written, expected):
    assert written == expected


@pytest.mark.parametrize(
    "value", [[], {"name": "x"}, {"name": "x", "rehearsal": "no", "closed_at": 1}]
)
def test_a_file_that_is_no_campaign_is_refused(value):
    with pytest.raises(ReportError, match="git restore"):
        campaign_of(value)
