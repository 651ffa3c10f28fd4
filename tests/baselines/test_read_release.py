"""A release as an outsider reads it: ours and TVR-Ranking's, and what is wrong in it."""

import json

import pytest

from baselines.collection.release import ReleaseError, read_release
from baselines.core.files import FileError


def test_the_tiny_release_is_read(tiny):
    release = read_release(tiny / "datasets/release")
    assert release.videos["v3"] == 6.0
    assert [query.query_id for query in release.read_queries("val")] == ["100", "101", "102", "103"]
    pairs = release.read_pairs(2)
    assert (len(pairs.queries), len(pairs.query)) == (8, 16)
    assert len(release.all_queries([2])) == 16


def test_tvr_ranking_has_seconds_alone(tiny):
    folder = tiny / "datasets/release"
    (folder / "video_corpus.json").write_text(json.dumps({"a": 61.5}))
    assert read_release(folder).videos == {"a": 61.5}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"similarity": 0.8', '"s": 1', "query 108: a moment has no 'similarity'"),
        ('"similarity": 0.8', '"similarity": -1', "query 108: a similarity is below 0"),
        ('"video_name": "v0"', '"video_name": "v9"', "query 108: a moment's video"),
        ('"timestamp": [0.0, 2.0]', '"timestamp": [2.0, 2.0]', "[start, end]"),
        ('"query_id": 108', '"query_id": null', "query 1: 'query_id' must be"),
        ('"relevant_moment": [', '"relevant_moment": [1, ', "must be a list of objects"),
    ],
)
def test_a_wrong_training_set_is_one_line_with_its_query(tiny, old, new, message):
    path = tiny / "datasets/release/train_top02.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ReleaseError) as error:
        read_release(path.parent).read_pairs(2)
    assert message in str(error.value)
    assert "train_top02.json" in str(error.value)


@pytest.mark.parametrize("corpus", ["[]", "{}", '{"a": 0}', '{"a": ["x", 1]}', '{"a": true}'])
def test_a_corpus_must_have_seconds(tiny, corpus):
    (tiny / "datasets/release/video_corpus.json").write_text(corpus)
    with pytest.raises(ReleaseError, match=r"video_corpus\.json"):
        read_release(tiny / "datasets/release")


def test_a_missing_or_broken_file_is_named(tiny):
    release = read_release(tiny / "datasets/release")
    with pytest.raises(FileError, match=r"train_top40\.json: no such file"):
        release.read_pairs(40)
    (release.folder / "val.json").write_text("[1,")
    with pytest.raises(FileError, match=r"val\.json, line 1"):
        release.read_queries("val")


def test_one_query_has_one_text(tiny):
    path = tiny / "datasets/release/test.json"
    path.write_text(path.read_text().replace('"query_id": 104', '"query_id": 100'))
    with pytest.raises(ReleaseError, match="query 100 has two"):
        read_release(path.parent).all_queries([2])
