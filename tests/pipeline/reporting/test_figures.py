"""Every figure of the report, counted by hand on the small collection."""

import contextlib
import json
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import small_collection
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import release
from pipeline.campaign.collection import Audit, per_query
from pipeline.core import tables
from pipeline.core.params import load_defaults
from pipeline.core.text import count_words, vocabulary, words
from pipeline.pages import (
    audited,
    charts,
    collection_section,
    cost,
    lead,
    losses,
    pool_section,
    relevance,
    scores,
    soundness,
    verbs,
)
from pipeline.pages.charts import Words, bars
from pipeline.pages.figures import draw_figures
from pipeline.pages.html_tables import count, decimal, percent

ENDED = "2026-11-23T08:53:12Z"


def replace_pairs(source, pairs):
    """Return what the report reads, with other pairs."""
    return replace(source, collection=replace(source.collection, pairs=pairs))


def end_campaign(source, ended):
    """Return what the report reads, with another end of the campaign."""
    campaign = source.collection.campaign.model_copy(update={"closed_at": ended})
    return replace(source, collection=replace(source.collection, campaign=campaign))


def test_table_1_counts_each_split(inputs):
    splits = collection_section.collect_statistics(inputs)["splits"]
    assert {tuple(own) for own in splits.values()} == {collection_section.COUNTS}
    # m1 and m2 have levels 3 and 2; v1 has 20 seconds; "a man walks in".
    assert list(splits["val"].values()) == [1, 1, 2, 2, 2, 2, 1, 0.005556, 4, 1]
    # m2-m2 is discarded and m3-m3 waits: m2-m3 alone has a level, 0.
    assert list(splits["test"].values()) == [2, 1, 3, 1, 0, 1, 1, 0.011111, 8, 2]
    assert list(splits["train"].values()) == [1, *[None] * 7, 5, 1]  # nobody judges these
    # The pool has four moments of two videos, which last 20 and 40 seconds.
    assert list(splits["all"].values()) == [4, 2, 5, 3, 2, 4, 2, 0.016667, 15, 4]


def test_table_4_tells_words_lengths_and_shares(inputs):
    own = collection_section.collect_statistics(inputs)
    # "a man walks in", "a woman opens the door", "he sits down"
    assert own["query_words"] == {"mean": 4.0, "median": 4.0, "min": 3.0, "max": 5.0}
    assert own["splits"]["all"]["vocabulary"] == 15  # and "she holds a hand out"
    assert own["pool_verbs"] == 4  # and holds, but not "a hand"
    assert own["moment_seconds"] == {"mean": 5.0, "median": 4.0, "min": 2.0, "max": 10.0}
    assert own["video_seconds"]["mean"] == 30.0
    # 2/20, 4/20, 4/40, 10/40
    assert own["ratio"] == {"mean": 0.1625, "median": 0.15, "min": 0.1, "max": 0.25}
    assert own["moments_per_video"] == 2.0
    assert own["relevant_per_query"] == {"mean": 1.0, "median": 1.0, "min": 0.0, "max": 2.0}
    means = own["means"]
    assert {split: split_means["query_words"] for split, split_means in means.items()} == {
        "val": 4.0, "test": 4.0, "train": 5.0, "all": 4.25,
    }  # fmt: skip
    assert means["val"]["moment_seconds"] == 3.0  # 2 and 4
    assert means["test"]["video_seconds"] == 40.0
    assert means["test"]["relevant_per_query"] == 0.0
    assert means["val"]["judged_per_query"] == 2.0
    assert means["train"]["ratio"] is None
    assert means["val"]["shown_20"] == 0.0
    json.dumps(own, allow_nan=False)


def test_shares_of_queries_with_20_and_40_pairs(inputs):
    pairs = [("a", 20), ("b", 40), ("c", 40), ("d", 7)]
    rows = [(query, f"{n}") for query, size in pairs for n in range(size)]
    judged = pd.DataFrame(rows, columns=["query_id", "moment_id"]).assign(
        pair_id=0, caption="", video_id="v", start=0.0, end=1.0, duration=9.0, rank=1,
        similarity=0.5,
        split="test", level=pd.NA, origin="candidates",
    )  # fmt: skip
    further = judged[judged["query_id"] == "a"].assign(origin="audit", rank=41)  # no candidates
    own = collection_section.collect_statistics(replace_pairs(inputs, pd.concat([judged, further])))
    assert (own["means"]["test"]["shown_20"], own["means"]["test"]["shown_40"]) == (0.25, 0.5)


def test_verbs_are_found_in_every_form_and_no_noun_after_an_article():
    texts = ["She is walking.", "He carries and stopped it.", "The talks", "Two men frobnicate."]
    assert verbs.verbs(texts) == {"be", "walk", "carry", "stop"}
    assert verbs.verbs(["A person hands him the hand"]) == {"hand"}
    missed = ["He waves.", "The man hugs her.", "Someone grabs it.", "They sat.", "She took it.",
              "He held a cup."]  # fmt: skip
    assert verbs.verbs(missed) == {"wave", "hug", "grab", "sit", "take", "hold"}
    assert verbs.verbs(["Two guys in the house of a man"]) == set()
    assert words("The man's well-known e-mail, don't!") == [
        "the", "man's", "well-known", "e-mail", "don't"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("similarity", "step"),
    [(0.15, 0.15), (0.349999, 0.3), (0.999999, 0.95), (1.0, 1.0), (-0.01, -0.05)],
)
def test_a_similarity_falls_into_the_step_that_begins_at_or_below_it(similarity, step):
    levels = pd.DataFrame({"similarity": [similarity], "level": [1]})
    assert relevance.by_similarity(levels)["similarity"].tolist() == [step]


def test_what_was_rejected_is_counted_by_reason(inputs):
    assert [tuple(loss) for loss in losses.list_rejected(inputs)] == [
        ("moments", "no-duration", 1, "rejected_moments.csv"),
        ("moments", "no-id", 1, "rejected_moments.csv"),
        ("captions", "similarity", 1, "rewrite_review.csv"),
        ("dropped", "dropped by a person", 1, "review.csv"),
        ("clips", "unreadable", 1, "failed_clips.csv"),
        ("judgments", "bad-level", 1, "rejected_judgments.csv"),
    ]
    assert losses.count_lost(inputs) == (5, 100)  # 2 refused, 2 captions, 1 clip


def test_table_3_is_ordered_by_frequency(inputs):
    grid = losses.table_3(inputs)
    assert [row[0] for row in grid.rows] == ["man", "a"]
    assert grid.rows[0][2:] == ("3", "75.0\u202f%")
    assert "1 rarer" in losses.table_3(inputs, shown=1).note


def test_cost_is_hours_of_judging_and_what_rewriting_was_paid(inputs):
    rows = dict(cost.cost(inputs).rows)
    # 10 and 20 s, five times less one, and 30 and 40 s once: 5 * 10 + 4 * 20 + 70
    assert rows["Judgments"] == "11"
    assert rows["Hours of judging"] == "0.1"
    assert rows["Median seconds per judgment"] == "20.0"
    spent = {"result_tokens_in": 1200, "result_tokens_out": 300, "result_cost_usd": 1.5}
    spent["cost_usd"] = 0
    paid = inputs.metrics | {"rewrite": inputs.metrics["rewrite"] | {"llm": spent}}
    assert dict(cost.cost(replace(inputs, metrics=paid)).rows)["Rewriting, USD"] == "1.50"


def test_a_page_left_open_overnight_costs_five_minutes_and_that_is_said(inputs):
    seconds = inputs.judgments["seconds"].mask(inputs.judgments.index == 0, 43_200.0)
    seconds = seconds.mask(inputs.judgments.index == 1)
    night = cost.cost(replace(inputs, judgments=inputs.judgments.assign(seconds=seconds)))
    rows = dict(night.rows)
    hours = (seconds[2:].sum() + 300) / 3600
    assert rows["Hours of judging"] == f"{hours:.1f}" == "0.1"
    assert rows["Judgments cut off at 5 minutes"] == rows["Judgments without a time"] == "1"
    assert "at most 5 minutes" in night.note


def test_judgments_without_a_complete_pair_are_no_nothing(inputs):
    pairs = inputs.collection.pairs.assign(outcome="waiting", level=pd.NA)
    waiting = soundness.measure_progress(replace_pairs(inputs, pairs))
    assert waiting.text == "Incomplete: 11 judgments, no pair complete yet."
    single = waiting._replace(judgments=1)
    assert single.text == "Incomplete: 1 judgment, no pair complete yet."
    assert soundness._check_progress(waiting).detail == "11 judgments, no pair complete yet"


def test_seven_checks_with_value_threshold_and_verdict(inputs):
    results = soundness.check_collection(
        inputs, soundness.measure_progress(inputs), load_defaults().report
    )
    assert len(results) == 7
    assert {check.name: (check.value, check.verdict) for check in results} == {
        "judged": ("4 / 5", "look"),
        # First votes 33, 12, 03, 00: observed 2 (1 + 25) / 8, expected 608 / 56.
        "agreement": ("0.401", "look"),
        "no_consensus": ("25.0\u202f%", "look"),  # m2-m2 of four decided
        "same_words_lower_level": ("100.0\u202f%", "look"),  # m1-m1 is 3
        "missed": ("\u2013", "open"),  # no audit
        "lost_on_the_way": ("5.0\u202f%", "pass"),
        "scorer": ("1.000", "pass"),  # of validation: the one judged test query has level 0 alone
    }
    assert all(check.threshold and check.detail for check in results)


@pytest.mark.parametrize(
    ("share", "low", "high", "verdict"),
    [
        (0.08, 0.03, 0.25, "pass"),
        (0.08, 0.0, 0.2501, "open"),
        (0.3, 0.25, 0.4, "open"),
        (0.3, 0.2501, 0.4, "look"),
        (None, None, None, "open"),
    ],
)
def test_what_is_missed_passes_or_fails_by_its_whole_interval(share, low, high, verdict):
    missed = {"level": 2, "depth": 1000, "queries": 50, "left": "3 of 9 pairs are decided"}
    missed |= {"share": share, "low": low, "high": high, "deeper": 36.25}
    check = soundness._check_missed(missed, 0.25)
    assert check.verdict == verdict
    assert ("at most 36.2 moments" in check.detail) is (share is not None)
    assert ("3 of 9 pairs" in check.detail) is (share is None)


def test_the_scorer_check_wants_all_that_can_be_scored_and_random_below_captions():
    def runs(ideal, random):
        of_run = {"ideal": ideal, "random": random, "captions": 0.8, "jittered": 0.9}
        scored = {name: {soundness.NDCG: value} for name, value in of_run.items()}
        counts = {"judged_queries": 4, "with_a_relevant_moment": 3}
        return {"test": {"runs": scored, **counts}, "val": {"runs": scored, **counts}}

    def verdict(ideal, random):
        return soundness._check_scorer(runs(ideal, random)).verdict

    verdicts = verdict(1.0, 0.1), verdict(0.75, 0.1), verdict(1.0, 0.9)
    assert verdicts == ("pass", "look", "look")


@pytest.mark.parametrize(
    ("ended", "planned", "text"),
    [
        (None, 9, "Incomplete: 4 of 9 pairs are decided; 5 waiting, the campaign is open."),
        (None, 0, "Incomplete: 4 of 5 pairs are decided; 1 waiting, the campaign is open."),
        (ENDED, 9, "Incomplete: 4 of 5 pairs are decided; 1 waiting."),
    ],
)
def test_what_is_wanted_is_the_plans_word_while_the_campaign_runs(inputs, ended, planned, text):
    state = {"pairs": {"all": planned}} if planned else {"campaign": None}
    asked = replace(end_campaign(inputs, ended), state=state)
    assert soundness.measure_progress(asked).text == text


def test_complete_is_what_the_release_calls_so(inputs):
    pairs = inputs.collection.pairs[lambda own: own["outcome"] != "waiting"]
    frozen = inputs.collection.frozen[lambda own: own["query_id"] != "m3"]
    judged = replace(inputs.collection, pairs=pairs, frozen=frozen)
    still_open = soundness.measure_progress(replace(inputs, collection=judged))
    assert still_open.text == "Incomplete: 4 of 4 pairs are decided; the campaign is open."
    ended = end_campaign(replace(inputs, collection=judged), ENDED)
    standing = soundness.measure_progress(ended)
    assert (standing.complete, standing.text) == (True, "Complete: 4 of 4 pairs are decided.")
    assert ended.collection.complete

    given_up = pairs.assign(scores=pairs["scores"].where(pairs["outcome"] != "discarded", 2))
    short = soundness.measure_progress(replace_pairs(ended, given_up))
    assert not short.complete
    assert [text.split()[0] for text in short.left] == ["1"]  # the given up pair


def test_disputed_pairs_come_with_answers_and_a_relative_link(inputs):
    [pair] = lead.list_disputed(inputs)
    assert pair.answers == ["1: 0", "2: 3", "3: 4", "4: 1"]
    assert (pair.outcome, pair.clip) == ("discarded", "../clips/m2.mp4")
    assert pair.moment == "v1, 5.0 to 9.0 s, rank 1"


def test_flags_are_shown_with_their_reasons():
    table = pd.DataFrame({"annotator": [1, 2], "flags": [None, "too fast: 1.0 s; constant: 95%"]})
    assert lead.flags(table) == ["2: too fast: 1.0 s; constant: 95%"]


def test_every_figure_has_a_chart_or_says_that_there_is_nothing(inputs):
    none = replace_pairs(inputs, inputs.collection.pairs.assign(level=pd.NA))
    for source in (inputs, none):
        examples = relevance.examples(source.collection.judged, source.collection.frozen)
        plots = draw_figures(relevance.tables(source), inputs.metrics["agreement"], examples)
        assert len(plots) == len({figure.name for figure in plots}) == 7 + len(examples)
        assert all(figure.chart is None or "<title" in figure.chart for figure in plots)
    assert plots[0].chart is None


def test_a_chart_escapes_what_it_is_told():
    svg = bars(Words("a", "<b>", "&"), ["<i>", "1"], [3, 4], "x", "<y>")
    assert "<b>" not in svg
    assert "<i>" not in svg
    assert "&lt;i&gt;" in svg


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


def move_origins(inputs, ranks, origins):
    """Return the inputs with other ranks and origins: m1-m1 has level 3, m1-m2 2, m2-m3 0."""
    pairs = inputs.collection.pairs.sort_values(["query_id", "moment_id"], ignore_index=True)
    return replace_pairs(inputs, pairs.assign(rank=ranks, origin=origins))


def test_what_each_step_brought_is_counted_with_its_judgments(inputs):
    origins = ["candidates", "candidates", "clip", "audit", "candidates"]
    source = move_origins(inputs, [1, 21, 99, 300, 1], origins)
    pairs = pool_section.decided_pairs(source.collection, source.batch)
    grid = pool_section.yield_grid(pairs, source.collection)
    # m3-m3 waits; m2-m2 was discarded after four judgments.
    assert [row[:5] for row in grid.rows] == [
        ("First batch", "1", "2", "3.00", "1"),
        ("Second batch", "1", "2", "2.00", "1"),
        ("Found by clip", "1", "4", "\u2013", "0"),
        ("Audit (apart)", "1", "2", "0.00", "0"),
    ]
    assert [row[-1] for row in grid.rows] == ["50.0", "50.0", "0.0", "0.0"]
    figure = pool_section.yield_figure(pairs)
    assert figure.data["judgments"].tolist() == [2, 4, 8], "an audit is no part of the pool"
    assert "<polyline" in figure.chart
    none = pool_section.decided_pairs(replace_pairs(inputs, pairs.iloc[:0]).collection, 20)
    assert pool_section.yield_figure(none).chart is None


def test_figure_4_sets_the_first_batch_apart(inputs):
    source = move_origins(inputs, [1, 21, 1, 300, 1], ["candidates"] * 3 + ["audit", "clip"])
    tables = relevance.tables(source)
    assert tables["relevance_by_rank"][["rank", "mean"]].to_numpy().tolist() == [[1, 3.0]]
    assert tables["relevance_by_rank_second"][["rank", "mean"]].to_numpy().tolist() == [[21, 2.0]]
    assert tables["relevance_by_similarity"]["pairs"].sum() == 1
    assert tables["relevance_by_similarity_otherwise"]["pairs"].sum() == 2
    plots = draw_figures(tables, inputs.metrics["agreement"], [])
    names = [figure.name for figure in plots if figure.name.startswith("figure-4")]
    assert names == ["figure-4a", "figure-4b", "figure-4a-otherwise", "figure-4b-second"]


def make_audited(inputs, random_levels):
    """Return the inputs with an audit of m1: moments far down, of a stratum of 60."""
    pairs = inputs.collection.pairs.iloc[[0]]
    rows = [pairs.assign(moment_id=f"x{n}", rank=600 + n, level=level, origin="audit")
            for n, level in enumerate(random_levels)]  # fmt: skip
    drawn = pd.DataFrame({"query_id": "m1", "moment_id": [f"x{n}" for n in range(len(rows))]})
    drawn = drawn.assign(part="deep", stratum="deep unjudged", size=60, taken=False)
    whole = pd.concat([inputs.collection.pairs, *rows], ignore_index=True)
    return replace_drawn(replace_pairs(inputs, whole.astype({"level": "Int64"})), drawn)


def replace_drawn(source, drawn):
    audit = Audit(drawn, {"m1"}, population=2, depth=500, is_drawn=True)
    return replace(source, collection=replace(source.collection, audit=audit))


def test_an_audit_continues_figure_4b_by_what_each_random_pair_stands_for(inputs):
    assert audited.draw_audited(inputs) == []
    source = make_audited(inputs, [4, 0, 0])
    [figure] = audited.draw_audited(source)
    assert "Not final" not in figure.caption
    left = {"missed": {"share": None, "left": "3 of 9 queries of the audit are judged"}}
    partly = replace(source, metrics={**source.metrics, "calibration": left})
    assert "Not final: 3 of 9 queries" in audited.draw_audited(partly)[0].caption
    by_range = figure.data.set_index("low")
    assert by_range.loc[1, ["pairs", "queries", "mean"]].tolist() == [2, 1, 2.5]
    assert by_range.iloc[-1][["pairs", "mean"]].tolist() == [3, pytest.approx(4 / 3, abs=1e-6)]
    assert "nan" not in figure.chart.lower()
    drawn = source.collection.audit.pairs
    strata = {"stratum": ["deep high", "deep low", "deep low"], "size": [1, 30, 30]}
    [weighted] = audited.draw_audited(replace_drawn(source, drawn.assign(**strata)))
    assert weighted.data["mean"].iloc[-1] == pytest.approx(4 / 31, abs=1e-6)
    taken = drawn.assign(taken=[True, False, False])  # is in the pool since: others stand for 40
    [moved] = audited.draw_audited(replace_drawn(source, taken))
    assert moved.data["mean"].iloc[-1] == pytest.approx(4 / 41, abs=1e-6)
    pairs = source.collection.pairs
    second = pairs.assign(origin=pairs["origin"].mask(pairs["moment_id"] == "x0", "candidates"))
    [extended] = audited.draw_audited(replace_pairs(source, second))  # taken by a second batch
    assert extended.data["mean"].iloc[-1] == pytest.approx(4 / 41, abs=1e-6)
    assert audited.draw_audited(replace_drawn(source, drawn.iloc[:0])) == []


@pytest.mark.parametrize("seed", range(3))
def test_the_audits_mean_level_is_covered_by_its_interval(seed):
    """In a pool that is known: 30 queries of 300 moments, of which 20 random ones are judged."""
    random, covered = np.random.default_rng(seed), []
    for _ in range(100):
        rich = random.beta(1, 6, (30, 1)) * np.linspace(2, 0.5, 280)
        true = random.binomial(4, np.minimum(rich, 1))
        drawn = [random.choice(280, 20, replace=False) for _ in range(30)]
        rows = [(f"q{q}", 21 + n, true[q, n], 1 / 20) for q, own in enumerate(drawn) for n in own]
        levels = pd.DataFrame(rows, columns=["query_id", "rank", "level", "weight"])
        means = audited.mean_by_rank(levels, 20).set_index("high")
        wanted = random.beta(1, 6, (4000, 1)) * np.linspace(2, 0.5, 280)[79:180]
        truth = 4 * np.minimum(wanted, 1).mean()
        covered.append(means.loc[200, "mean_low"] <= truth <= means.loc[200, "mean_high"])
    assert np.mean(covered) >= 0.87


LEVELS_AT = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 100), st.integers(0, 4)), min_size=1, max_size=60
)


@settings(max_examples=30)
@given(LEVELS_AT)
def test_figure_4_is_what_counting_one_by_one_finds(rows):
    levels = pd.DataFrame(rows, columns=["rank", "similarity", "level"])
    levels["similarity"] /= 100
    by_rank = relevance.by_rank(levels)
    for own in by_rank.to_dict("records"):
        here = [level for rank, _, level in rows if rank == own["rank"]]
        assert own["pairs"] == len(here)
        assert own["mean"] == pytest.approx(sum(here) / len(here), abs=1e-6)
        for level in range(5):
            assert own[f"level_{level}"] == pytest.approx(here.count(level) / len(here), abs=1e-6)
    steps = relevance.by_similarity(levels)
    assert dict(zip(steps["similarity"], steps["pairs"], strict=True)) == dict(
        Counter(round(hundredths // 5 * 5 / 100, 2) for _, hundredths, _ in rows)
    )


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=50), st.integers(1, 9))
def test_a_histogram_counts_everything_once(values, step):
    table = relevance.histogram(pd.Series(values, dtype="float64"), step)
    for low, high, number in table.itertuples(index=False):
        assert number == sum(low <= value < high for value in values)
    assert table["number"].sum() == len(values)
    assert len(table) <= relevance.MOST_BARS + 1
    assert (table["low"].iloc[1:].to_numpy() == table["high"].iloc[:-1].to_numpy()).all()


@given(st.floats(0, 1e9), st.integers(1, 60), st.integers(1, 9))
def test_scales_end_on_round_numbers_and_labels_do_not_touch(value, number, length):
    top, steps = charts._nice(value)
    assert top >= value
    assert 1 <= steps <= charts.MOST_STEPS
    step = charts.INNER / number
    places = [float(x) for x in re.findall(
        r'x="([0-9.]+)"', "".join(charts._labels(["8" * length] * number, step)))]  # fmt: skip
    assert places
    assert all(b - a >= 6 * length for a, b in pairwise(places))


def test_relevant_is_level_1_or_higher_of_the_candidates():
    levels = pd.DataFrame({"query_id": [*"aaabbc"], "level": [0, 1, 4, 0, 4, 3]})
    levels["origin"] = [*["candidates"] * 4, "some run", "audit"]
    assert per_query(levels).to_dict() == {"a": 2, "b": 0, "c": 0}


@pytest.fixture
def audit_folder(copied):
    """Return the folder of the collection where an audit and a run brought two of the pairs."""
    with contextlib.chdir(copied):
        for table, moment, origin in ((tables.AUDIT, "m1", "deep"), (tables.TOPUP, "m2", "run")):
            row = ("m1", moment, 41, 0.5, origin)
            table.write(pd.DataFrame([row], columns=table.columns))
    return copied


def test_the_report_knows_what_brought_a_pair_as_the_release_does(audit_folder):
    with contextlib.chdir(audit_folder):
        tables.PRIVATE.write_text("accounts: {}\n")
        read, released = (
            small_collection.read(),
            release.read_collection(load_defaults().candidates),
        )
    assert read.collection.pairs["origin"].tolist() == ["audit", "run", *["candidates"] * 3]
    assert read.collection.pairs.equals(released.pairs)


@pytest.mark.parametrize("folder", ["small", "audit_folder"])
def test_card_and_report_count_the_same_of_what_people_judged(folder, request):
    with contextlib.chdir(request.getfixturevalue(folder)):
        read = small_collection.read()
    report, card = (
        collection_section.collect_statistics(read),
        collection_section.collect_judged_statistics(read.collection),
    )
    for split in ("val", "test"):
        assert card["splits"][split] == report["splits"][split]
        assert card["means"][split] == report["means"][split]
    means = card["means"]["all"]
    expected = (1.0, 1.5) if folder == "small" else (0.0, 0.5)  # an audit's and a run's don't count
    assert (means["relevant_per_query"], means["judged_per_query"]) == expected


def test_an_apostrophe_is_of_the_word_however_it_is_written():
    assert vocabulary(["Don't", "don\u2019t stop"]) == {"don't", "don\u2019t", "stop"}
    assert count_words(pd.Series(["", "one two-fold, three!"])).tolist() == [0, 3]


def test_scores_stand_under_their_cutoff_and_iou(inputs):
    own = scores.score_grids(inputs.metrics["reference_runs"])
    assert [grid.title for grid in own["wide"]] == [
        "nDCG, validation (1 queries)",
        "R, validation (1 queries)",
    ]  # the one judged test query has no relevant moment
    grid = own["wide"][0]
    assert grid.groups == [("First 10", 3), ("First 20", 3), ("First 40", 3)]
    for wide in own["wide"]:
        assert list(wide.head) == ["Run", *["IoU 0.3", "IoU 0.5", "IoU 0.7"] * 3]
    assert [row[0] for row in grid.rows] == list(scores.RUNS.values())
    jittered = inputs.metrics["reference_runs"]["val"]["runs"]["jittered"]
    named = [jittered[f"nDCG(iou={iou})@{k}"] for k in (10, 20, 40) for iou in (0.3, 0.5, 0.7)]
    assert list(grid.rows[3][1:]) == [f"{value:.3f}" for value in named]
    assert list(own["narrow"][0].head) == ["Run", "First 10", "First 20", "First 40"]
    of_split = inputs.metrics["reference_runs"]["val"]
    for run, row in zip(scores.RUNS, own["bounds"][0].rows, strict=True):
        low, high = (of_split[kind][run]["nDCG(iou=0.5)@10"] for kind in ("runs", "upper"))
        assert row[1] == f"{low:.3f} to {high:.3f}"
        assert low <= high
