"""The limiter: never more in flight, nor per window, than the server allows."""

import asyncio
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.captions.rewriter import OK
from pipeline.llm.limiter import Limiter, RateBudget


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


def test_books_count_a_request_until_a_window_after_its_end():
    clock = Clock()
    budget = RateBudget(2, 1000, window=60, clock=clock)
    budget.enter(10)
    clock.now = 40
    budget.enter(10)
    clock.now = 100
    assert budget.wait(10) == float("inf")  # both are under way: one must end
    budget.end(10, 10)
    assert budget.wait(10) == pytest.approx(61.2)
    clock.now = 161.3
    assert budget.wait(10) <= 0


def test_books_count_more_tokens_than_were_kept_but_never_fewer():
    clock = Clock()
    budget = RateBudget(100, 100, window=60, clock=clock)
    budget.enter(50)
    budget.end(50, 80)
    clock.now = 30
    assert budget.wait(20) <= 0 < budget.wait(21)
    clock.now = 62
    assert budget.wait(100) <= 0


def test_books_let_through_alone_what_passes_the_limit_by_itself():
    clock = Clock()
    budget = RateBudget(100, 100, window=60, clock=clock)
    assert budget.wait(5000) <= 0
    budget.enter(5000)
    assert budget.wait(1) == float("inf")
    budget.end(5000, 5000)
    clock.now = 62
    assert budget.wait(1) <= 0


def test_books_space_requests_and_pause():
    clock = Clock()
    budget = RateBudget(60, 10**9, window=60, clock=clock)
    budget.enter(1)
    assert budget.wait(1) == pytest.approx(1.02, abs=0.06)
    budget.pause(5)
    assert budget.wait(1) == pytest.approx(5)
    budget.pause(1)
    assert budget.wait(1) == pytest.approx(5)


REQUEST = st.tuples(st.floats(0, 3), st.integers(1, 60), st.floats(0, 1), st.floats(0, 2))


@given(st.lists(REQUEST, max_size=40), st.integers(1, 8), st.integers(60, 200))
def test_no_window_of_any_server_ever_passes_a_limit(schedule, requests, tokens):
    """Drive the budget by hand; the server counts each request at any instant it was under way."""
    clock, window = Clock(), 10.0
    budget = RateBudget(requests, tokens, window=window, clock=clock)
    counted, ends = [], []
    for arrival, size, when, duration in schedule:
        clock.now += arrival
        while True:
            for end in sorted(end for end in ends if end[0] <= clock.now):
                budget.end(end[1], end[1])
                ends.remove(end)
            wait = budget.wait(size)
            if wait <= 0:
                break
            clock.now = min([clock.now + wait, *(end[0] for end in ends)])
        budget.enter(size)
        counted.append((clock.now + when * duration, size))
        ends.append((clock.now + duration, size))
    for start, _ in counted:
        inside = [size for at, size in counted if start <= at < start + window]
        assert len(inside) <= requests
        assert sum(inside) <= tokens


def test_no_more_in_flight_than_allowed_and_each_in_its_turn():
    flying = peak = 0
    order = []

    async def request(limiter, number):
        nonlocal flying, peak
        async with limiter.slot(1):
            order.append(number)
            flying += 1
            peak = max(peak, flying)
            await asyncio.sleep(random.random() / 500)
            flying -= 1

    async def run():
        limiter = Limiter(RateBudget(10**9, 10**9), 7)
        await asyncio.gather(*(request(limiter, number) for number in range(200)))

    asyncio.run(run())
    assert peak == 7
    assert order == list(range(200))


def test_a_failed_or_cancelled_request_gives_its_place_back():
    async def run():
        limiter = Limiter(RateBudget(10**9, 10**9), 1)
        with pytest.raises(ValueError, match="broken"):
            async with limiter.slot(1):
                raise ValueError("broken")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), limiter.slot(1):
                await asyncio.sleep(1)
        async with asyncio.timeout(1), limiter.slot(1):
            pass

    asyncio.run(run())


@pytest.mark.parametrize("limit", [{"requests": 20}, {"tokens": 50_000}], ids=str)
@pytest.mark.parametrize("late", [False, True])
def test_not_one_429_is_our_own_fault(serve, rewriter, items, late, limit):
    window = 0.6
    bad_day = {"seed": 6, "faults": 0.1, "kinds": ("500", "cut"), "latency": 0.02}
    server = serve(window=window, fixed=late, at_answer=late, **bad_day, **limit)
    llm = rewriter(
        server,
        per_request=20,
        in_flight=12,
        window=window,
        requests_per_minute=limit.get("requests", 10**6),
        tokens_per_minute=limit.get("tokens", 10**9),
    )
    start = time.monotonic()
    for attempt in (0, 1):  # the second begins in the window of the first
        drafts = list(llm.rewrite(items(600), attempt))
        assert all(draft.outcome == OK for draft in drafts)
    assert server.stats.own_429 == 0
    assert server.stats.requests > 60
    assert time.monotonic() - start > window * 1.5  # the limit was felt
