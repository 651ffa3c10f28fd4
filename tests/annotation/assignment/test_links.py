"""Link judgments in the plan: who is asked which decided pairs again, and that no level moves."""

from collections import Counter
from copy import deepcopy
from dataclasses import replace
from functools import cache
from math import ceil
from random import Random

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.campaign_cases import START, ledger_of, make_judgments, voided_of
from support.simulated import BATCH, Simulated, candidates_of, people

from annotation.assignment import links
from annotation.assignment.inputs import CheckInputs, Rule
from annotation.assignment.planning import plan
from annotation.roster.annotator import Annotator
from annotation.votes.campaign_votes import consensus
from pipeline.campaign.campaign import Reopening
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables

SHARE = 0.5
OLD, NEW = 6, 4


def reopen(second):
    """Return a reopening after so many judgments, which are a second apart."""
    at = (START + pd.Timedelta(seconds=second) - pd.Timedelta(milliseconds=1)).isoformat()
    return Reopening(at=at, reason="late runs", closed_at="2024-05-01T00:00:00Z", version="1.0")


def make_reopened(random, queries=5, further=2, queue=200):
    """Return a campaign that ended, was reopened with new people, and has `further` queries."""
    whole = candidates_of(queries + further, BATCH)
    asked = whole["query_id"].isin([f"q{query}" for query in range(queries)])
    rest = {"checks": CheckInputs(link=SHARE), "rule": Rule(BATCH, max_open=queue), "id": "c"}
    world = Simulated(whole[asked], people(OLD), random, rest=rest)
    world.judge_all()
    rest["reopenings"] = [reopen(len(world.rows))]
    world.candidates = whole
    world.annotators += [Annotator(OLD + at, "annotator", active=True) for at in range(1, NEW + 1)]
    return world


def list_links(world, state):
    """Return `(pair, annotator)` of each link, answered or open."""
    rows = [row for row in world.rows if row["kind"] == "link"]
    rows += state.assignments.query("kind == 'link'").to_dict("records")
    return [((row["query_id"], row["moment_id"]), row["annotator"]) for row in rows]


def levels_before(world):
    """Return each pair's level by the votes before the reopening."""
    old = make_judgments(world.rows)
    old = old[old["submitted_at"] < pd.Timestamp(world.campaign.reopenings[-1].at)]
    ledger = ledger_of(sorted({tuple(row) for row in old[PAIR_KEY].to_numpy()}))
    table = consensus(old, ledger, tables.VOIDED.empty())
    return table[table["level"].notna()].set_index(PAIR_KEY)["level"].to_dict()


def without_links(judgments):
    return judgments[judgments["kind"] != "link"].reset_index(drop=True)


@settings(max_examples=2, phases=[Phase.generate], deadline=None)
@given(st.integers(0, 10**6))
def test_new_people_judge_decided_pairs_again_and_no_level_moves(seed):
    random = Random(seed)
    world = make_reopened(random, queue=random.choice([20, 200]))
    before = levels_before(world)
    for _ in range(5):
        campaign, state = world.plan()
        asked = list_links(world, state)
        assert len(asked) == len(set(asked))
        assert {pair for pair, _ in asked} <= set(before)
        assert all(who > OLD for _, who in asked), "only of people who had given no vote"
        assert max(Counter(pair for pair, _ in asked).values(), default=0) <= links.FIRST_VOTES
        open_links = Counter(state.assignments.query("kind == 'link'")["annotator"])
        assert max(open_links.values(), default=0) <= ceil(campaign.rule.max_open / links.PART)
        rows = pd.concat([make_judgments(world.rows)[[*PAIR_KEY, "annotator"]], state.assignments])
        assert not rows.duplicated([*PAIR_KEY, "annotator"]).any(), "nobody meets a pair twice"
        again = plan(replace(campaign, open_tasks=state.assignments))
        pd.testing.assert_frame_equal(again.assignments, state.assignments)
        world.answer_some()
    world.judge_all()
    _, state = world.plan()
    number = Counter(before[pair] for pair in {pair for pair, _ in list_links(world, state)})
    share = Counter(before.values())
    # A pair whose level was decided then is still in the sample unless somebody voted on it since.
    assert number == {
        level: min(of, max(links.LEAST, ceil(SHARE * of))) for level, of in share.items()
    }
    assert set(Counter(pair for pair, _ in list_links(world, state)).values()) == {2}
    counts = state.state["checks"]["link"]
    assert counts["made"] == 2 * counts["pairs"] == 2 * number.total()
    whole = make_judgments(world.rows)
    ledger, none = world.campaign.shown, tables.VOIDED.empty()
    levels = [consensus(rows, ledger, none) for rows in (whole, without_links(whole))]
    pd.testing.assert_frame_equal(*levels)


@given(st.integers(0, 10**6), st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=40))
@settings(max_examples=6, deadline=None)
def test_whatever_links_say_levels_and_wanted_votes_stay(seed, said):
    world = ended_world()
    rows = [*world.rows]
    random = Random(seed)
    pairs = list(world.candidates[PAIR_KEY].itertuples(index=False, name=None))
    asked = random.sample(pairs, len(said))
    rows += [
        {"query_id": query, "moment_id": moment, "annotator": OLD + 1 + at % NEW}
        | {"level": said[at], "kind": "link"}
        for at, (query, moment) in enumerate(asked)
    ]
    whole = make_judgments(rows)
    none = tables.VOIDED.empty()
    levels = [consensus(part, world.campaign.shown, none) for part in (whole, without_links(whole))]
    pd.testing.assert_frame_equal(*levels)
    quiet = replace(world.campaign, open_tasks=tables.ASSIGNMENTS.empty())
    states = [
        plan(replace(quiet, judgments=part)).state["pairs"]
        for part in (whole, without_links(whole))
    ]
    decided = [{name: state[name] for name in tables.OUTCOMES if name in state} for state in states]
    assert decided[0] == decided[1]


@cache
def ended_world(further=2):
    return make_reopened(Random(5), further=further)


@pytest.fixture
def world():
    return deepcopy(ended_world(0))


def count_links(campaign):
    return int((plan(campaign).assignments["kind"] == "link").sum())


def test_links_alone_are_asked_where_nothing_new_is(world):
    kinds = world.plan()[1].assignments["kind"]
    assert set(kinds) == {"link"}
    assert len(kinds) == 2 * plan(world.campaign).state["checks"]["link"]["pairs"] > 0


def test_nobody_is_asked_before_a_reopening_without_a_share_or_without_new_people(world):
    campaign = world.campaign
    assert count_links(campaign) > 0
    assert count_links(replace(campaign, reopenings=[])) == 0
    assert "link" not in plan(replace(campaign, reopenings=[])).state["checks"]
    assert count_links(replace(campaign, checks=CheckInputs())) == 0
    assert count_links(replace(campaign, annotators=people(OLD))) == 0


def test_only_what_can_still_be_shown_is_asked(world):
    campaign = world.campaign
    gone = set(campaign.candidates["moment_id"][::2])
    asked = plan(replace(campaign, clips=set(campaign.clips) - gone)).assignments
    assert not asked.empty
    assert not set(asked["moment_id"]) & gone
    changed = campaign.shown.assign(clip_sha="another")
    assert count_links(replace(campaign, shown=changed)) == 0, "what was judged is not shown now"


def test_who_knows_a_pair_from_the_exam_is_not_asked_it(world):
    campaign = world.campaign
    first = plan(campaign).assignments[[*PAIR_KEY, "annotator"]]
    checks = CheckInputs(link=SHARE, taken=first)
    again = plan(replace(campaign, checks=checks)).assignments[[*PAIR_KEY, "annotator"]]
    assert pd.concat([first, again]).duplicated().sum() == 0


def test_each_reopening_draws_pairs_of_its_own_and_a_later_one_knows_more_people(world):
    world.judge_all()
    campaign = world.campaign
    assert count_links(campaign) == 0, "all are done"
    later = [*campaign.reopenings, reopen(len(world.rows) + 60)]
    assert count_links(replace(campaign, reopenings=later)) > 0, "links are no votes: still new"


def test_a_voided_person_does_not_count_and_the_pair_is_asked_of_others(world):
    world.judge_all()
    voided = voided_of((OLD + 1, START, None, None))
    asked = plan(replace(world.campaign, voided=voided)).assignments
    made = [row for row in world.rows if row["kind"] == "link" and row["annotator"] == OLD + 1]
    assert len(asked) == len(made) > 0
    assert OLD + 1 not in set(asked["annotator"])
