import pytest
import shard_work

from pipeline.core.engine import parts
from pipeline.core.engine.shards import assign_shards, map_shards

NUMBERS = range(24)


class Squares:
    """A stage that squares numbers in shards; `starts` counts how often each part was begun."""

    def __init__(self, folder):
        self.log = folder / "log"
        self.log.touch()

    def make(self, engine, shards, work=shard_work.write_squares, **extra):
        """Return what the stage makes of its parts."""
        shard_of = assign_shards([str(number) for number in NUMBERS], shards)
        inputs = {
            parts.part_key("squares", shard, shards): {
                "numbers": [n for n in NUMBERS if shard_of[n] == shard],
                "log": str(self.log),
                **extra,
            }
            for shard in range(shards)
        }
        paths = map_shards("squares", work, inputs, engine)
        squares = [int(square) for path in paths.values() for square in path.read_text().split()]
        return " ".join(map(str, sorted(squares)))

    @property
    def starts(self):
        lines = self.log.read_text().splitlines()
        keys = [line.split()[0] for line in lines]
        return {key: keys.count(key) for key in keys}

    @property
    def processes(self):
        return {int(line.split()[1]) for line in self.log.read_text().splitlines()}


@pytest.fixture
def squares(tmp_path):
    return Squares(tmp_path)
