"""Queries without an answer: who they are, and the bound of those that have one after all."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.campaign import negatives
from pipeline.campaign.campaign import Campaign
from pipeline.campaign.collection import Audit, Collection
from pipeline.campaign.estimator import Counts
from pipeline.campaign.negatives import TAIL, Tally, bound_missed, bound_negatives
from pipeline.core import tables

BATCH = 3
CLOSED = Campaign.model_construct(closed_at="2026-01-02T00:00:00Z", rehearsal=False)


def make_collection(frozen, pairs, audit=None, campaign=CLOSED):
    """Return a collection of `query: (stratum, own moment)` and `(query, rank, level, origin)`.

    A moment is named by its rank; a level of None is discarded, "waiting" waits.
    """
    rows = [(name, f"{name}?", "test", own, stratum) for name, (stratum, own) in frozen.items()]
    queries = pd.DataFrame(rows, columns=tables.FROZEN_QUERIES.columns[:5]).assign(origin="person")
    shown = pd.DataFrame(pairs, columns=["query_id", "rank", "level", "origin"])
    waits = shown["level"] == "waiting"
    shown["moment_id"] = shown["rank"].map("m{}".format)
    shown["outcome"] = np.where(waits, "waiting", "two")
    shown["level"] = shown["level"].mask(waits, None).astype("Int64")
    shown["split"], shown["pair_id"] = "test", range(len(shown))
    votes = pd.DataFrame({"pair_id": [], "worker": [], "level": []})
    runs = tables.POOLED_RUNS.empty()
    return Collection(campaign, queries, shown, votes, runs, 0, None, 0, audit=audit)


def make_audit(drawn, **changes):
    """Return an audit of `(query, rank, part, size, taken)`."""
    pairs = pd.DataFrame(drawn, columns=["query_id", "rank", "part", "size", "taken"])
    pairs["moment_id"] = pairs["rank"].map("m{}".format)
    pairs["stratum"] = pairs["part"] + " unjudged"
    fields = {"queries": {*pairs["query_id"]}, "population": 4, "depth": 10, "is_drawn": True}
    return Audit(pairs.drop(columns="rank"), **fields | changes)


def most_unseen(found, missed):
    """Return the bound by its definition: the most that the number found does not refute."""
    unseen = 0
    while True:
        whole = found + unseen + 1
        chance = sum(
            comb(whole, k) * (1 - missed) ** k * missed ** (whole - k) for k in range(found + 1)
        )
        if chance <= TAIL:
            return unseen
        unseen += 1


@given(st.integers(0, 30), st.floats(0.01, 0.9), st.integers(0, 5), st.integers(0, 200))
def test_the_bound_is_what_the_number_found_does_not_refute(found, missed, later, negative):
    bound = bound_negatives(Tally(found, later, negative), missed)
    assert bound == min(max(most_unseen(found, missed) - later, 0), negative)


def test_if_nothing_is_missed_no_negative_has_an_answer_and_if_all_may_be_each_may():
    assert bound_negatives(Tally(5, 0, 9), 0.0) == 0
    assert bound_negatives(Tally(5, 0, 9), 1.0) == 9


@given(st.integers(0, 60), st.floats(0.05, 0.8), st.integers(0, 2**32 - 1))
def test_the_bound_holds_for_answers_that_are_missed_with_different_chances(having, mean, seed):
    random = np.random.default_rng(seed)
    chances = random.beta(mean, 1 - mean, having)
    missed = (random.random((400, having)) < chances).sum(1)
    highest = chances.mean() if having else 0.5
    holds = [bound_negatives(Tally(having - n, 0, 1000), highest) >= n for n in missed]
    assert np.mean(holds) >= 1 - TAIL - 0.03  # four standard errors of 400 draws


def test_a_candidate_has_no_own_moment_that_answers():
    frozen = {
        "own": ("caption", "m1"), "low": ("caption", "m1"), "none": ("person", None),
        "found": ("person", None), "deep": ("person", None), "waits": ("person", None),
    }  # fmt: skip
    pairs = [
        ("own", 1, 4, "candidates"), ("own", 2, 0, "candidates"), ("low", 1, 1, "candidates"),
        ("low", 2, None, "candidates"), ("none", 1, 0, "candidates"),
        ("found", 3, 2, "candidates"), ("found", 9, 4, "clip"), ("deep", 1, 0, "candidates"),
        ("deep", 8, 3, "audit"), ("waits", 1, 0, "candidates"),
        ("waits", 2, "waiting", "candidates"),
    ]  # fmt: skip
    collection = make_collection(frozen, pairs)
    assert negatives.count(collection, BATCH) == Tally(found=1, later=1, negative=2)
    assert collection.negatives == ["low", "none"], "what an audit found is an answer"


def random_audit(seed):
    """Return a judged collection with an audit, in which anything may have been taken since."""
    random = np.random.default_rng(seed)
    frozen = {f"q{n}": ("person", f"m{n + 1}" if random.random() < 0.5 else None) for n in range(4)}
    pairs, drawn = [], []
    for query in frozen:
        for rank in range(1, 21):
            level = random.choice([0, 1, 2, 4, None], p=[0.3, 0.2, 0.2, 0.2, 0.1])
            if rank <= BATCH:
                pairs.append((query, rank, level, "candidates"))
            elif random.random() < 0.2:
                pairs.append((query, rank, level, "clip"))
            elif random.random() < 0.6:
                taken = bool(random.random() < 0.2)
                part = "near" if rank <= 10 else "deep"
                drawn.append((query, rank, part, 7, taken))
                pairs.append((query, rank, level, "audit"))
    return make_collection(frozen, pairs, make_audit(drawn))


def count_by_hand(collection, deep):
    """Return (size, judged, relevant) by query and stratum, a loop over the pairs."""
    drawn = {(row.query_id, row.moment_id): row for row in collection.audit.pairs.itertuples()}
    own = set(zip(collection.frozen["query_id"], collection.frozen["moment_id"], strict=True))
    cells = {}
    for pair in collection.pairs.itertuples():
        key = pair.query_id, pair.moment_id
        if not deep and pair.rank > 10:
            continue
        has = pd.notna(pair.level)
        answers = has and pair.level >= 2 and key not in own
        row = drawn.get(key)
        if row is not None:
            cell = cells.setdefault((pair.query_id, f"{row.part} unjudged"), [7, 0, 0])
            cell[1] += has and key not in own
            cell[2] += answers and not row.taken
        if (row is None or row.taken) and has and key not in own:
            stratum = negatives.WITHIN if pair.rank <= BATCH else negatives.BELOW
            cell = cells.setdefault((pair.query_id, stratum), [0, 0, 0])
            cell[0] += 1
            cell[1] += 1
            cell[2] += answers
    return cells


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_answers_are_counted_as_by_hand(seed, deep):
    collection = random_audit(seed)
    counts = negatives.count_answers(collection, BATCH, deep=deep)
    cells = count_by_hand(collection, deep)
    empty = {
        query for (query, stratum), cell in cells.items() if stratum[0].isalpha() and not cell[1]
    }
    queries = sorted(collection.audit.queries - empty)
    parts = ["deep unjudged", "near unjudged"] if deep else ["near unjudged"]
    names = [negatives.WITHIN, negatives.BELOW, *parts]
    wanted = np.array([[cells.get((q, name), [0, 0, 0]) for name in names] for q in queries])
    for got, at in zip(counts[:3], range(3), strict=True):
        np.testing.assert_array_equal(got, wanted[..., at])
    assert counts.drawn == len(parts)


def test_an_answer_below_the_first_batch_counts_whoever_found_it():
    within = Counts(np.array([[5, 0, 0]] * 9), np.array([[5, 0, 0]] * 9), np.array([[2, 0, 0]] * 9))
    below = Counts(np.array([[5, 5, 0]] * 9), np.array([[5, 5, 0]] * 9), np.array([[2, 2, 0]] * 9))
    assert bound_missed(within, 9) == 0
    assert bound_missed(below, 9) == pytest.approx(0.5)
    nothing = within._replace(relevant=0 * within.relevant)
    assert bound_missed(nothing, 9) is None


def test_without_an_audit_nothing_is_claimed_and_its_reason_is_named():
    frozen, pairs = {"q": ("person", None)}, [("q", 1, 0, "candidates")]
    audit = make_audit([("q", 5, "near", 7, False)])
    cases = {
        negatives.NO_AUDIT: {},
        negatives.CLOSE: {"audit": audit, "campaign": Campaign.model_construct(closed_at=None)},
        negatives.AUDITING: {"audit": audit._replace(is_drawn=False)},
        negatives.FEW: {"audit": audit},
    }
    for reason, changes in cases.items():
        told = negatives.describe(make_collection(frozen, pairs, **changes), BATCH)
        assert (told["unknown"], told["at_most"], told["negative"]) == (reason, None, 1)
    answered = make_collection(frozen, [("q", 1, 3, "candidates")], audit)
    assert negatives.describe(answered, BATCH) == {}


def test_each_stratum_has_its_own_bound():
    collection = random_audit(3)
    rest = {f"n{n}": ("changed" if n % 2 else "person", None) for n in range(10)}
    frozen = pd.concat([collection.frozen, make_collection(rest, []).frozen])
    more = make_collection(rest, [(name, 1, 0, "candidates") for name in rest]).pairs
    more["pair_id"] += 1000
    pairs = pd.concat([collection.pairs, more], ignore_index=True)
    whole = make_collection({}, [], collection.audit)
    whole = Collection(
        CLOSED, frozen, pairs, whole.votes, whole.runs, 0, None, 0, audit=whole.audit
    )
    told = negatives.describe(whole, BATCH)
    assert told["unknown"] is None
    assert 0 < told["missed"] <= 1
    assert [*told["by_stratum"]] == ["changed", "person"]
    assert told["by_stratum"]["changed"]["negative"] == 5
    for part in (told, *told["by_stratum"].values()):
        tally = Tally(part["found"], part["later"], part["negative"])
        bound = bound_negatives(tally, told["missed"]) / tally.negative
        assert part["at_most"] == pytest.approx(bound, abs=1e-6)
        assert part["at_most"] <= part["at_most_anywhere"]
    assert told["negative"] == len(whole.negatives)
