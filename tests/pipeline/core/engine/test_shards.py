import numpy as np
import pytest

from pipeline.core.engine import parts
from pipeline.core.engine.shards import assign_shards, map_shards


def double(number, path):
    """Write twice the number."""
    path.write_text(str(2 * number))


def refuse(number, path):
    """Fail on 2."""
    if number == 2:
        raise ValueError("two")
    double(number, path)


def key_numbers(numbers):
    return {parts.part_key("double", number): number for number in numbers}


@pytest.mark.parametrize("content", [None, b"", b"damaged"])
def test_what_is_finished_is_not_done_again_and_a_damaged_part_is(engine, content):
    engine = engine.model_copy(update={"workers": 1})
    with pytest.raises(ValueError, match="two"):
        map_shards("double", refuse, key_numbers([1, 2, 3]), engine)
    times = {path: path.stat().st_mtime_ns for path in list_parts(engine)}
    assert len(times) == 1
    paths = map_shards("double", double, key_numbers([1, 2, 3]), engine)
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    first = next(iter(paths.values()))
    first.unlink()
    if content is not None:
        first.write_bytes(content)
    assert [
        p.read_text() for p in map_shards("double", double, key_numbers([1]), engine).values()
    ] == ["2"]


def list_parts(engine):
    from pathlib import Path

    return [path for path in Path(engine.folder).rglob("*") if path.suffix == "" and path.is_file()]


def test_a_text_is_in_one_shard_whatever_comes_with_it():
    texts = [f"video {number}" for number in range(300)]
    shards = assign_shards(texts, 8)
    assert np.array_equal(assign_shards(texts[::-1], 8)[::-1], shards)
    assert set(shards) == set(range(8))
    assert set(assign_shards(texts, 1)) == {0}
