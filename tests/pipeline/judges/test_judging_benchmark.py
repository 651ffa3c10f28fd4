"""The benchmark of judging, small: killed runs buy nothing again, pictures hold up no request."""

from argparse import Namespace

import pytest

from benchmarks.judge import measure_faults

SIZE = {"pairs": 24, "in_flight": 4, "frames": 6, "height": 180}
KILLS = {"kills": 2, "faults": 0.1, "latency": 0.2}


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 2])
def test_a_killed_run_buys_nothing_again(world, tmp_path, shards):
    """The second kill is that of a shard, where there are several."""
    options = Namespace(**SIZE, **KILLS, shards=shards, workers=shards, engine="local")
    ends = measure_faults(world, options, tmp_path, world.write_truth(tmp_path / "truth.json"))
    assert ends["right"] + ends["refused"] + ends["cut"] == options.pairs
    assert ends["wrong"] == 0


def test_pictures_are_taken_beside_the_requests_in_flight(serve, judge, world):
    server = serve(latency=0.5)
    list(judge(server, in_flight=6).judge(world.pairs()))
    assert server.stats.max_in_flight == 6
