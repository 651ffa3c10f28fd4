"""Search without training: windows against loops, ties, short videos, and both spaces."""

import json
import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazy import Lazy
from slow_formulas import cosine
from tiny_release import draw_video, write_params

from baselines import zero_shot
from baselines.core import paths
from baselines.core.params import ParamsError, load
from baselines.inference import windows
from momentrank.errors import UsageError
from momentrank.formats import read_run

torch = Lazy("torch")


def brute_force(rows, query, sizes):
    """Return (score, video, first, size) of all windows."""
    found = set()
    for video, part in enumerate(rows):
        for size in sizes:
            width = min(size, len(part))
            for first in range(len(part) - width + 1):
                inside = [cosine(row, query) for row in part[first : first + width]]
                found.add((sum(inside) / width, video, first, width))
    return found


@given(
    counts=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    seed=st.integers(0, 99),
)
def test_scores_are_those_of_all_windows(counts, sizes, seed):
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(count, 5)).astype(np.float32) for count in counts]
    queries = rng.normal(size=(2, 5)).astype(np.float32)
    listed = windows.list_windows(np.array(counts), sizes)
    keys = list(zip(*(column.tolist() for column in listed), strict=True))
    assert keys == sorted(set(keys))
    for query, line in zip(queries, windows.score_windows(rows, queries, listed), strict=True):
        expected = {
            key: score for score, *key in brute_force(rows, query, sizes) for key in [(*key,)]
        }
        assert expected.keys() == set(keys)
        np.testing.assert_allclose(line, [expected[key] for key in keys], atol=1e-6)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(1, 14))
def test_the_best_are_those_of_a_stable_sort(scores, count):
    best = windows.select_best(np.array(scores, dtype=float), count)
    assert best.tolist() == sorted(range(len(scores)), key=lambda i: -scores[i])[:count]


@pytest.fixture
def params(tiny):
    write_params(tiny, seconds="[1.0,2.0]", moments="3", nms="0.3")
    return load()  # rows of 0.5 s


def found(rows, seconds, params):
    query = np.array([[1.0, 0.0]], dtype=np.float32)
    ranked = windows.search_windows(rows, np.array(seconds), query, params)
    return list(zip(ranked.video, ranked.start, ranked.end, strict=True)), ranked.score


def test_equal_windows_are_ordered_by_video_and_time(params):
    row = np.array([0.3, 0.1], dtype=np.float32)
    moments, scores = found([np.tile(row, (4, 1)), np.tile(row * 7, (6, 1))], [2.0, 3.0], params)
    assert moments == [(0, 0.0, 1.0), (0, 1.0, 2.0), (1, 0.0, 1.0)]
    assert len(set(scores.tolist())) == 1


def test_a_video_shorter_than_all_windows_is_one_window(params):
    short, other = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]] * 2)
    moments, scores = found([other, short], [1.0, 0.4], params)
    assert moments == [(1, 0.0, 0.4), (0, 0.0, 1.0)]
    np.testing.assert_allclose(scores, [1, 0])


def test_windows_end_with_their_video(params):
    rows = np.array([[0.0, 1.0]] * 4 + [[1.0, 0.0]] * 2)  # ffmpeg gave a row too many
    moments, _ = found([rows], [2.3], params)
    assert moments[0] == (0, 1.5, 2.3)


def test_the_worse_of_overlapping_windows_is_dropped(params):
    rows = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2], [0.0, 1.0]])
    moments, _ = found([rows], [2.0], params)  # an IoU of a third is above 0.3
    assert moments == [(0, 0.0, 1.0), (0, 1.0, 2.0)]


@pytest.fixture
def coloured(tiny):
    """Two videos of three colours each, and queries that ask for one."""
    colours = {
        "a": [(250, 0, 0), (0, 0, 0), (255, 255, 255)],
        "b": [(40, 90, 200)] * 2 + [(0, 0, 0)],
    }
    for name, parts in colours.items():
        frames = np.repeat(np.array(parts, dtype=np.uint8), 16, axis=0)
        draw_video(tiny / f"datasets/work/sample/videos/{name}.mp4", frames)
    release = tiny / "datasets/release"
    (release / "video_corpus.json").write_text(json.dumps({"a": [6.0, 0], "b": [6.0, 1]}))
    for split, query in (("val", "a red wall"), ("test", "something blue")):
        record = {"query_id": split, "query": query, "relevant_moment": []}
        (release / f"{split}.json").write_text(json.dumps([record]))
    return tiny


def best(split):
    run = read_run(paths.RUNS / f"zero_shot/{split}.run")
    return run.iloc[0][["video_id", "start", "end"]].tolist()


def test_colours_are_found_by_their_names(coloured):
    zero_shot.main()
    assert best("val") == ["a", 0, 2]
    assert best("test") == ["b", 0, 2]
    made = coloured / paths.WORK / "zero_shot/video.h5"
    stamp = made.stat().st_mtime_ns
    zero_shot.main()
    assert made.stat().st_mtime_ns == stamp


def test_an_open_clip_model_embeds_frames_and_texts(coloured, monkeypatch):
    class Model(torch.nn.Module):
        visual = types.SimpleNamespace(image_size=(8, 8))

        def encode_image(self, pictures):
            return pictures.mean(dim=(2, 3))

        def encode_text(self, tokens):
            return tokens.float()

    library, constants = types.ModuleType("open_clip"), types.ModuleType("open_clip.constants")
    library.create_model = lambda name, pretrained: {("Small", "tiny"): Model()}[name, pretrained]
    words = {"a red wall": [1, 0, 0], "something blue": [0, 0, 1]}
    library.get_tokenizer = lambda name: lambda texts: torch.tensor([words[t] for t in texts])
    constants.OPENAI_DATASET_MEAN, constants.OPENAI_DATASET_STD = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    for module in (library, constants):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    write_params(coloured, model="open_clip:Small/tiny")
    zero_shot.main()
    assert best("val") == ["a", 0, 2]
    assert best("test") == ["b", 0, 2]


def refuse_videos(folder):
    path = folder / "baselines/params.yaml"
    path.write_text(path.read_text().replace("datasets/work/sample/videos/{video_id}.mp4", "null"))


def test_without_a_model_there_is_no_run_and_without_videos_an_error(coloured):
    write_params(coloured)
    refuse_videos(coloured)
    with pytest.raises(UsageError, match=r"zero_shot\.model: needs features\.videos"):
        zero_shot.main()
    write_params(coloured, model="null")
    refuse_videos(coloured)
    zero_shot.main()
    assert list((coloured / paths.RUNS / "zero_shot").iterdir()) == []
    write_params(coloured, model="timm:resnet18")
    with pytest.raises(ParamsError, match=r"zero_shot\.model"):
        load()
