"""What push changes, against a model of a server; the order of tasks; the ledger; the journal."""

import os
import time
from collections import Counter, defaultdict
from random import Random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opened import OPEN, STANDARD
from support.campaign_cases import shown_of

from annotation.label_studio import guideline
from annotation.label_studio.connection import Connection
from annotation.label_studio.keys import Key
from annotation.label_studio.records import Task
from annotation.roster.roster import Roster
from annotation.tasks import pushing, unfinished
from annotation.tasks.annotator_project import compare_tasks
from annotation.tasks.pushing import append_pairs, find_restored, find_unrecorded
from annotation.tasks.tasks import mix_checks, shuffle
from annotation.votes.votes import last_shown
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.core import files, tables
from pipeline.core.params import load
from pipeline.core.table import TableError

QUERIES, MOMENTS = ["q0", "q1"], ["m0", "m1", "m2"]
a_key = st.builds(
    lambda query, moment, kind, sha: Key(query, moment, 1, kind, "text", sha, "1"),
    st.sampled_from(QUERIES),
    st.sampled_from(MOMENTS),
    st.sampled_from(["first", "escalated", "gold"]),
    st.sampled_from(["clip", "new clip"]),
)
a_task = st.tuples(st.none() | a_key, st.booleans(), st.integers(0, 2))
some_tasks = st.lists(a_task, max_size=12).map(
    lambda rows: [Task(number, *row) for number, row in enumerate(rows, start=1)]
)
some_keys = st.lists(a_key, max_size=8)


def read(task):
    """Return a task's key: here it stands in it as it is."""
    return task.pair


def apply(changes, tasks):
    """Return the tasks of a server that has done as it was told."""
    then = [
        task._replace(
            closed=(task.closed or task.id in changes.close) and task.id not in changes.reopen
        )
        for task in tasks
    ]
    return then + [Task(len(then) + 1 + n, key, False, 0) for n, key in enumerate(changes.add)]


def group_by_place(tasks):
    tasks_by_place = defaultdict(list)
    for task in tasks:
        if task.pair is not None:
            tasks_by_place[task.pair.identity].append(task)
    return tasks_by_place


@given(some_keys, some_tasks)
def test_afterwards_each_person_is_offered_what_is_wanted_and_nothing_else(wanted, tasks):
    changes = compare_tasks(wanted, tasks, read)
    there = group_by_place(tasks)
    places = {key.identity for key in wanted}
    assert Counter(key.identity for key in changes.add) == Counter(places - there.keys())
    after = apply(changes, tasks)
    offered = Counter(task.pair.identity for task in after if task.waits and task.pair)
    answered = {
        place for place, same_place in there.items() if any(task.answers for task in same_place)
    }
    assert offered == Counter(places - answered), "once each; what is answered never again"
    assert not [task for task in after if task.waits and task.pair is None], "strays are closed"
    assert not {task.id for task in tasks if task.answers} & set(changes.reopen)


@given(some_keys, some_tasks)
def test_nothing_is_changed_without_need_and_a_second_time_nothing_at_all(wanted, tasks):
    changes = compare_tasks(wanted, tasks, read)
    state = {task.id: task for task in tasks}
    assert all(not state[number].closed for number in changes.close)
    assert all(state[number].closed for number in changes.reopen)
    assert not set(changes.close) & set(changes.reopen)
    assert compare_tasks(wanted, apply(changes, tasks), read) == ([], [], [])


@given(some_keys, some_tasks, st.randoms())
def test_the_order_of_what_is_listed_does_not_matter(wanted, tasks, random):
    changes = compare_tasks(wanted, tasks, read)
    again = compare_tasks(wanted, random.sample(tasks, len(tasks)), read)
    assert changes == again


@given(some_keys, some_keys, some_tasks, st.data())
def test_cut_off_anywhere_and_run_again_it_ends_the_same(wanted, earlier, tasks, data):
    """A push that was killed has done some of its changes; what is wanted may be new by then."""
    changes = compare_tasks(earlier, tasks, read)
    steps = [("close", n) for n in changes.close] + [("reopen", n) for n in changes.reopen]
    steps += [("add", key) for key in changes.add]
    cut = steps[: data.draw(st.integers(0, len(steps)))]
    part = changes._replace(
        **{name: [what for kind, what in cut if kind == name] for name in changes._fields}
    )
    between = apply(part, tasks)
    after = apply(compare_tasks(wanted, between, read), between)
    offered = Counter(task.pair.identity for task in after if task.waits)
    answered = {task.pair.identity for task in tasks if task.pair and task.answers}
    assert offered == Counter({key.identity for key in wanted} - answered)
    new = Counter(task.pair.identity for task in after[len(tasks) :])
    assert set(new.values()) <= {1}, "nothing is added twice"


def test_of_a_task_that_is_there_twice_the_answered_one_is_kept_else_an_open_else_the_older():
    key = make_key("q", "m")

    def compare(*tasks):
        changes = compare_tasks([key], [Task(*task) for task in tasks], read)
        assert changes.add == []
        return changes.close, changes.reopen

    assert compare((1, key, False, 0), (2, key, False, 1)) == ([1], [])
    assert compare((1, key, True, 0), (2, key, False, 0)) == ([], [])
    assert compare((1, key, False, 0), (2, key, False, 0)) == ([2], [])
    assert compare((1, key, True, 0), (2, key, True, 0)) == ([], [1])


def make_key(query, moment, kind="first", annotator=1):
    return Key(query, moment, annotator, kind, "text", "clip", "1")


def make_keys(annotator):
    return [make_key(f"q{q}", f"m{m}", "first", annotator) for q in range(9) for m in range(7)]


def test_queries_come_in_one_order_for_all_and_their_pairs_in_everybodys_own():
    def pairs(annotator, campaign="c"):
        return [(key.query_id, key.moment_id) for key in shuffle(make_keys(annotator), campaign)]

    orders = [pairs(annotator) for annotator in (1, 2, 3)] + [pairs(1, "d")]
    assert len({tuple(order) for order in orders}) == 4
    queries = [list(dict.fromkeys(query for query, _ in order)) for order in orders]
    assert queries[0] == queries[1] == queries[2] != queries[3], "one order for all of a campaign"
    within = {tuple(m for q, m in orders[0] if q == query) for query in ("q1", "q2", "q3")}
    assert len(within) == 3
    assert orders[0] != sorted(orders[0])


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
    order = shuffle(keys, "c")
    assert sorted(order) == sorted(keys)
    assert order == shuffle(keys[::-1], "c")
    assert mix_checks(order, "c") == order, "a second time changes nothing"
    checks = [key for key in keys if key.kind == "repeat"]
    votes = [key for key in keys if key not in checks]
    assert [key for key in order if key in votes] == shuffle(votes, "c")
    unmarked = [key._replace(kind="first") for key in keys if key in votes]
    places = [key[:2] for key in order if key in votes]
    assert places == [key[:2] for key in shuffle(unmarked, "c")], "gold is where a vote is"
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


def make_pairs(*pairs):
    """Return what push shows, of `(query, moment, text, clip)`."""
    return shown_of(pd.DataFrame(pairs, columns=SHOWN_KEY)).assign(annotator=1)


a_pair = st.tuples(
    st.sampled_from(QUERIES), st.sampled_from(MOMENTS), st.sampled_from("ab"), st.sampled_from("xy")
)


@settings(max_examples=15)
@given(st.lists(st.lists(a_pair, max_size=6, unique_by=lambda pair: pair[:2]), max_size=5))
def test_the_ledger_only_grows_and_a_number_is_for_ever(pushes):
    ledger, last, changes = tables.PAIRS.empty(), {}, 0
    for pairs in pushes:
        grown = append_pairs(ledger, make_pairs(*pairs))
        pd.testing.assert_frame_equal(grown.head(len(ledger)), ledger)
        pd.testing.assert_frame_equal(append_pairs(grown, make_pairs(*pairs)), grown)
        ledger = grown
        changes += sum(last.get(pair[:2]) != pair for pair in pairs)
        last |= {pair[:2]: pair for pair in pairs}
    assert set(last_shown(ledger).itertuples(index=False, name=None)) == set(last.values())
    assert len(ledger) == changes
    assert ledger["pair_id"].tolist() == list(range(len(ledger)))


def test_what_is_again_as_it_was_is_shown_again_though_nobody_is_asked():
    first, second = ("q0", "m0", "a", "x"), ("q0", "m0", "b", "x")
    ledger = tables.PAIRS.empty()
    for push in (first, second):
        assert restored(ledger, make_pairs(push)).empty
        ledger = append_pairs(ledger, make_pairs(push))
    assert restored(ledger, make_pairs(second)).empty
    again = restored(ledger, make_pairs(first))
    ledger = append_pairs(ledger, again)
    assert ledger["query_sha"].tolist() == ["a", "b", "a"]
    assert last_shown(ledger)["query_sha"].tolist() == ["a"]
    assert restored(ledger, make_pairs(first)).empty


def restored(ledger, now, votes=()):
    judged = pd.DataFrame(votes, columns=SHOWN_KEY)
    return find_restored(find_unrecorded(ledger, judged), now)


def test_a_pair_with_votes_whose_row_was_lost_is_recorded_again():
    shown, other = ("q0", "m0", "a", "x"), ("q1", "m1", "a", "x")
    ledger = append_pairs(tables.PAIRS.empty(), make_pairs(other))
    now = make_pairs(shown, other)
    assert restored(ledger, now).empty, "nobody has judged it: it is asked, and recorded then"
    again = restored(ledger, now, [shown, shown, other])
    assert again[SHOWN_KEY].to_numpy().tolist() == [[*shown]]
    assert restored(append_pairs(ledger, again), now, [shown, other]).empty
    changed = make_pairs(("q0", "m0", "b", "x"), other)
    assert restored(ledger, changed, [shown, other]).empty, "its votes are stale"


def test_a_ledger_that_begins_elsewhere_goes_on_from_there():
    first = append_pairs(tables.PAIRS.empty(), make_pairs(("q0", "m0", "a", "x")))
    grown = append_pairs(first.assign(pair_id=41), make_pairs(("q0", "m1", "a", "x")))
    assert grown["pair_id"].tolist() == [41, 42]


def test_the_numbers_of_a_querys_pairs_say_nothing_of_their_ranks():
    ids = [(f"q{query}", f"m{query}{rank}") for query in range(40) for rank in range(20)]
    shown = make_pairs(*((*pair, "a", "x") for pair in ids)).assign(rank=[*range(1, 21)] * 40)
    ledger = append_pairs(tables.PAIRS.empty(), shown.sample(frac=1, random_state=1))
    assert ledger["query_id"].is_monotonic_increasing
    first = ledger.drop_duplicates("query_id")["rank"]
    assert (first == 1).sum() < 10
    assert abs(ledger["rank"].corr(ledger.groupby("query_id").cumcount())) < 0.1
    pd.testing.assert_frame_equal(ledger, append_pairs(tables.PAIRS.empty(), shown))


@pytest.fixture
def sleeps(monkeypatch):
    """Return the seconds of each sleep: time passes only as somebody sleeps."""
    seconds = []
    monkeypatch.setattr(unfinished.time, "sleep", seconds.append)
    return seconds


class Killed(Exception):  # noqa: N818  (it is no error)
    """What happens to a push in the middle."""


def kill_push():
    """Die while tasks are being added."""
    with pytest.raises(Killed), unfinished.pending_write("tasks"):
        raise Killed


def test_after_a_push_that_ended_well_nobody_waits(folder, sleeps):
    with unfinished.pending_write("tasks"):
        assert unfinished.FILE.is_file()
    unfinished.wait_for_pending()
    assert sleeps == []


@pytest.mark.parametrize("age", [-3600, 0, 60, 601, 86_400])
def test_after_one_that_did_not_the_server_is_given_time_once(folder, sleeps, age):
    """Whatever the time is: somebody may have set the clock since."""
    kill_push()
    began = time.time() - age
    os.utime(unfinished.FILE, (began, began))
    for _ in range(2):
        unfinished.wait_for_pending()
    assert sleeps == [unfinished.SETTLE_SECONDS], "once"


def test_the_ledger_refuses_what_breaks_it():
    with pytest.raises(TableError, match=r"pairs\.csv.*query_id"):
        append_pairs(tables.PAIRS.empty(), make_pairs(("", "m0", "a", "x")))


@pytest.mark.parametrize("name", ["pull", "push"])
def test_dvc_never_answers_from_its_cache_instead_of_asking_the_server(repository, name):
    stage = files.read_yaml(repository / "dvc.yaml")["stages"][name]
    assert stage["always_changed"] is True
    outputs = [out for out in stage["outs"] if "datasets/campaign/" in str(out)]
    assert outputs
    for out in outputs:
        [options] = out.values()
        assert options == {"cache": False, "persist": True}, "text in git, never emptied before"


OURS = guideline.current(STANDARD)


def connection(version, sha):
    versions = [OPEN.guidelines[0].model_copy(update={"version": version, "sha": sha})]
    campaign = OPEN.model_copy(update={"guideline": version, "guidelines": versions})
    return Connection(campaign, None, None, Roster([], {}))


@pytest.mark.parametrize(("version", "sha"), [(OURS.version, "another"), ("2", OURS.sha)])
def test_a_guideline_that_is_not_the_campaigns_is_not_shown(version, sha, repository):
    params = load(repository / "params.yaml")
    with pytest.raises(CampaignError, match=r"git restore .*en.md.* open --revise REASON"):
        pushing.push(connection(version, sha), None, params)
