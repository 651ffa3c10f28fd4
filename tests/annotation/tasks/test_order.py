"""Where repeats stand in a push: gold stands where votes do, as if it were one."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from annotation.label_studio.keys import Key
from annotation.tasks.tasks import mix_checks, shuffle

CAMPAIGN = "6f1c2a34"


def make_key(query, moment, kind="first", annotator=1):
    return Key(query, moment, annotator, kind, "text", "clip", "1")


def make_push(random, annotator=1):
    """Return what one person is given at once: batches, pairs others disputed, and checks."""
    queries = random.sample(range(500), random.randint(1, 12))
    keys = []
    for query in queries:
        kind = random.choice(["first", "first", "escalated"])
        number = 20 if kind == "first" else random.randint(1, 6)
        keys += [make_key(f"q{query}", f"m{rank}", kind, annotator) for rank in range(number)]
    for _ in range(random.randint(0, 4)):
        kind = random.choice(["gold", "repeat"])
        query = random.choice([*queries, random.randrange(500, 900)] if kind != "gold" else queries)
        keys.append(make_key(f"q{query}", f"g{random.randrange(99)}", kind, annotator))
    return list(dict.fromkeys(keys))


@given(st.integers(0, 10**6))
def test_votes_stay_in_their_order_and_checks_stand_where_pairs_do(seed):
    keys = make_push(Random(seed))
    order = shuffle(keys, CAMPAIGN)
    assert sorted(order) == sorted(keys)
    assert order == shuffle(keys[::-1], CAMPAIGN)
    assert mix_checks(order, CAMPAIGN) == order, "a second time changes nothing"
    checks = [key for key in keys if key.kind == "repeat"]
    votes = [key for key in keys if key not in checks]
    assert [key for key in order if key in votes] == shuffle(votes, CAMPAIGN)
    unmarked = [key._replace(kind="first") for key in keys if key in votes]
    places = [key[:2] for key in order if key in votes]
    assert places == [key[:2] for key in shuffle(unmarked, CAMPAIGN)], "gold is where a vote is"
    runs = [key.query_id for at, key in enumerate(order) if not at or order[at - 1][0] != key[0]]
    assert len(runs) == len(set(runs)), "a query's pairs stay together"
    if len({key.query_id for key in votes}) > 1:
        strangers = {key.query_id for key in checks} - {key.query_id for key in votes}
        assert order[0].query_id not in strangers
        assert order[-1].query_id not in strangers
    for query in {key.query_id for key in checks} & {key.query_id for key in votes}:
        own = [key for key in order if key.query_id == query]
        if sum(key in votes for key in own) > 1:
            assert own[0] in votes
            assert own[-1] in votes
