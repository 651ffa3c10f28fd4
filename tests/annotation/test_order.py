"""Where hidden checks stand in a push: their place tells nothing."""

from random import Random

import numpy as np
import pandas as pd
from hidden_tasks import classify
from hypothesis import given
from hypothesis import strategies as st

from annotation.label_studio.keys import Key
from annotation.tasks.order import mix_checks
from annotation.tasks.tasks import shuffle

CAMPAIGN = "6f1c2a34"


def key(query, moment, kind="first", annotator=1):
    return Key(query, moment, annotator, kind, "text", "clip", "1")


def push_of(random, annotator=1):
    """Return what one person is given at once: batches, pairs others disputed, and checks."""
    queries = random.sample(range(500), random.randint(1, 12))
    keys = []
    for query in queries:
        kind = random.choice(["first", "first", "escalated"])
        number = 20 if kind == "first" else random.randint(1, 6)
        keys += [key(f"q{query}", f"m{rank}", kind, annotator) for rank in range(number)]
    for _ in range(random.randint(0, 4)):
        query = random.choice([*queries, random.randrange(500, 900)])
        kind = random.choice(["gold", "repeat"])
        keys.append(key(f"q{query}", f"g{random.randrange(99)}", kind, annotator))
    return list(dict.fromkeys(keys))


@given(st.integers(0, 10**6))
def test_votes_stay_in_their_order_and_checks_stand_where_pairs_do(seed):
    keys = push_of(Random(seed))
    made = shuffle(keys, CAMPAIGN)
    assert sorted(made) == sorted(keys)
    assert mix_checks(made, CAMPAIGN) == made, "a second time changes nothing"
    checks = [one for one in keys if one.kind in {"gold", "repeat"}]
    votes = [one for one in keys if one not in checks]
    assert [one for one in made if one in votes] == shuffle(votes, CAMPAIGN)
    runs = [one.query_id for at, one in enumerate(made) if not at or made[at - 1][0] != one[0]]
    assert len(runs) == len(set(runs)), "a query's pairs stay together"
    if len({one.query_id for one in votes}) > 1:
        strangers = {one.query_id for one in checks} - {one.query_id for one in votes}
        assert made[0].query_id not in strangers
        assert made[-1].query_id not in strangers
    for query in {one.query_id for one in checks} & {one.query_id for one in votes}:
        own = [one for one in made if one.query_id == query]
        if sum(one in votes for one in own) > 1:
            assert own[0] in votes
            assert own[-1] in votes


def test_no_classifier_tells_checks_by_their_place():
    random, rows = Random(3), []
    for annotator in range(1, 150):
        made = shuffle(push_of(random, annotator), CAMPAIGN)
        if len({one.query_id for one in made}) < 6:
            continue  # in a short push little is inside
        rows += [
            ((at + 1) / (len(made) + 1), one.kind in {"gold", "repeat"})
            for at, one in enumerate(made)
        ]
    table = pd.DataFrame(rows, columns=["place", "check"])
    checks = table.pop("check").to_numpy()
    assert checks.sum() > 150
    for told in classify(table.assign(end=(table["place"] - 0.5).abs()), checks):
        assert told.area < told.limit
    planted = table.assign(place=np.where(checks, 0.01, table["place"]))
    assert all(told.area > 0.9 for told in classify(planted, checks))
