"""The folder of clips: names that say what is shown, and nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.video import recipe, shelf
from pipeline.video.recipe import Stretch, Style
from pipeline.video.shelf import holds, keep_only, name_of

seconds = st.floats(0, 1e6, allow_nan=False)
facts = st.tuples(
    st.text(),
    st.builds(Stretch, seconds, seconds),
    st.builds(Style, st.sampled_from(["mp4", "gif"]), st.integers(16, 4320)),
)


@given(facts, facts)
def test_clips_have_one_name_if_they_show_the_same(one, other):
    assert (name_of(*one) == name_of(*other)) == (one == other)
    assert name_of(*one) == name_of(*one)


@given(facts)
def test_a_name_is_a_hash_whatever_the_video_is_called(one):
    assert re.fullmatch(r"[0-9a-f]{32}\.(mp4|gif)", name_of(*one))


def test_names_are_the_same_on_every_machine():
    """They stand in the ledger: another name makes the judgments of a campaign stale."""
    assert (
        name_of("ab", Stretch(1.5, 4.0), Style("mp4", 480))
        == "3ffadae77b059a9478690142d3629f76.mp4"
    )


def test_another_recipe_is_another_clip(monkeypatch):
    before = name_of("ab", Stretch(1.5, 4.0), Style("mp4", 480))
    monkeypatch.setattr(shelf, "RECIPE", recipe.RECIPE + 1)
    assert name_of("ab", Stretch(1.5, 4.0), Style("mp4", 480)) != before


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"clip")
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / ".b.x7f.mp4").write_bytes(b"half a clip")
    (tmp_path / "lost.mp4").symlink_to(tmp_path / "nowhere")
    return tmp_path


def test_only_a_file_that_holds_something_is_there(folder):
    names = ["a.mp4", "empty.mp4", "lost.mp4", "never.mp4"]
    assert [holds(folder, name) for name in names] == [True, False, False, False]


def test_what_nobody_wants_goes_and_so_do_pieces(folder):
    keep_only(folder, {"a.mp4", "b.mp4"})
    assert [path.name for path in folder.iterdir()] == ["a.mp4"]
