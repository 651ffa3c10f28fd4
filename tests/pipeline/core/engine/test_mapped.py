"""Frames that are mapped from a file: the same rows, and texts that are not copied."""

import pandas as pd
import pytest

from pipeline.core.storage import mapped


@pytest.fixture
def frame():
    """Return ten rows, with a null and an empty text."""
    texts = ["a", None, "", "é", "\U0001f600", *"vwxyz"]
    return pd.DataFrame({"text": pd.Series(texts, dtype="str"), "number": range(10)})


@pytest.mark.parametrize("lengths", [[10], [0, 3, 0, 7], [1] * 10])
def test_a_mapped_frame_has_the_rows_of_its_parts(frame, lengths, tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "ROWS", 4)
    ends = pd.Series(lengths).cumsum()
    parts = [frame[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    mapped_frame = mapped.map_frames(tmp_path, parts)
    for path in tmp_path.iterdir():
        path.unlink()  # as the folder of a database does when its stage goes on
    pd.testing.assert_frame_equal(mapped_frame, frame)
    assert [len(block) for block in mapped.blocks(mapped_frame)] == [4, 4, 2]
    pd.testing.assert_frame_equal(pd.concat(mapped.blocks(mapped_frame)), frame)


@pytest.mark.parametrize("wanted", ["v w x y z", "a x z", "", "a"])
def test_rows_are_selected_in_their_order(frame, wanted):
    mask = frame["text"].isin(wanted.split())
    pd.testing.assert_frame_equal(mapped.select(frame, mask), frame[mask])
