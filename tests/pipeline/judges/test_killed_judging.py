"""Judging that is killed buys nothing again; pictures hold up no request."""

import os

import pytest
from support.fake_openai.process import read_stats
from support.killed_judging import count_ends, judge_and_kill

KILLS, IN_FLIGHT, PAIRS = 2, 4, 24
FAULTS = ("refused", "broken-json", "truncated", "429", "500", "cut", "missing")


@pytest.mark.slow
def test_a_killed_run_buys_nothing_again(world, serve, settings, tmp_path, repository, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{repository}{os.pathsep}{repository / 'tests'}")
    server = serve(latency=0.2, faults=0.1, kinds=FAULTS, hang=5.0)
    own = settings.model_copy(update={"in_flight": IN_FLIGHT, "cache": str(tmp_path / "cache")})
    answers = judge_and_kill(world, own, server.url, tmp_path, KILLS)
    ends, stats = count_ends(world, answers), read_stats(server.url)
    assert ends["right"] + ends["refused"] + ends["cut"] == len(answers) == PAIRS
    assert ends["wrong"] == 0
    assert stats["answers"] - stats["distinct"] <= KILLS * IN_FLIGHT, "those in flight at the kills"


def test_pictures_are_taken_beside_the_requests_in_flight(serve, judge, world):
    server = serve(latency=0.5)
    list(judge(server, in_flight=6).judge(world.pairs()))
    assert server.stats.max_in_flight == 6
