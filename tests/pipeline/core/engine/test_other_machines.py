"""Another machine with other code, packages or files: it is told before its work counts."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.core import files
from pipeline.core.engine import code, local, parts, text_chunks
from pipeline.core.engine.parts import EngineError, Input, Task
from pipeline.core.engine.remote import attempt
from pipeline.core.engine.shards import map_shards
from pipeline.corpora import sharded_corpus
from pipeline.corpora.sharded_corpus import hash_portion
from pipeline.corpora.sources import Portion
from pipeline.video.cutter import ClipFormat, Interval, describe_ffmpeg
from pipeline.video.cutting import Shard, cut_shard
from pipeline.video.plan import Job

SOURCE = Path(__file__).name


def write(given, path):
    """Write what a file has, or what was given."""
    path.write_text(given.locate().read_text() if isinstance(given, Input) else str(given))


def damage(given, path):
    """Write a part, and change the one before it."""
    before = sorted(set(path.parent.glob("?" * 32)) - {path})
    write(given, path)
    for other in before:
        other.write_text("damaged")


@pytest.fixture
def alone(engine):
    return engine.model_copy(update={"workers": 1})


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(parts, "VISIBLE_SECONDS", 0.05)


def list_other(change):
    """Return the facts of a machine where some differ."""
    list_facts = code.list_facts
    return lambda work: {k: v for k, v in (list_facts(work) | change).items() if v}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"numpy": "0.1"}, "numpy 0.1 there, "),
        ({"numpy": ""}, "numpy is missing there"),
        ({"extra": "1"}, "extra is missing here"),
        ({SOURCE: 64 * "0"}, f"{SOURCE} differs"),
        ({f"p{n}": "1" for n in range(7)}, "and 3 more"),
    ],
)
def test_other_code_or_packages_are_named(alone, monkeypatch, change, message):
    def run(_, bundles, finish):
        with monkeypatch.context() as there:
            there.setattr(code, "list_facts", list_other(change))
            error = attempt(bundles[0], Path.cwd())
        raise error

    monkeypatch.setattr(local.Processes, "run", run)
    with pytest.raises(EngineError, match="other code or packages") as caught:
        map_shards("s", write, {"a": 1}, alone)
    assert message in str(caught.value)
    assert not [path for path in Path(alone.folder, "s").iterdir() if path.is_file()]


def test_a_part_of_a_machine_whose_code_does_not_compare_is_refused(alone, monkeypatch):
    def run(_, bundles, finish):
        for task in bundles[0]:
            task.path.write_text("1")
            task.seal.write_text(json.dumps({"sha256": parts.files.file_sha256(task.path)}))

    monkeypatch.setattr(local.Processes, "run", run)
    with pytest.raises(EngineError, match="made by other code on another machine"):
        map_shards("s", write, {"a": 1}, alone)


def test_a_part_damaged_before_the_merge_is_told_and_made_again(alone):
    inputs = {"a": 1, "b": 2, "c": 3}
    with pytest.raises(EngineError, match="run it again: only such parts are made again"):
        map_shards("s", damage, inputs, alone)
    for seal in Path(alone.folder, "s").glob("*.json"):
        seal.write_text("")
    paths = map_shards("s", write, inputs, alone)
    assert [path.read_text() for path in paths.values()] == ["1", "2", "3"]


def test_an_input_is_compared_before_its_use(alone, tmp_path):
    shared = Input.share(b"right", tmp_path, ".txt")
    (path,) = map_shards("s", write, {"a": shared}, alone).values()
    assert path.read_text() == "right"
    shared.path.write_text("wrong")
    with pytest.raises(EngineError, match="sees another content"):
        map_shards("s", write, {"b": shared}, alone)
    assert Input.share(b"right", tmp_path, ".txt").locate().read_text() == "right"
    shared.path.unlink()
    with pytest.raises(EngineError, match=r"does not see it\. Set engine\.folder"):
        map_shards("s", write, {"c": shared}, alone)


def test_a_folder_that_is_not_shared_is_told_before_the_work(folder):
    error = attempt([Task(write, 1, folder / "parts/s/part", "digest")], folder)
    assert isinstance(error, EngineError)
    assert "Set engine.folder" in str(error)


def test_another_corpus_other_texts_and_another_video_are_told(tmp_path):
    corpus, texts = tmp_path / "corpus.jsonl", tmp_path / "texts.parquet"
    corpus.write_text("{}\n{}\n")
    portion = Portion(corpus, files.Span(3, 3, 2))
    reading = sharded_corpus.Reading("tvr", portion, {}, hash_portion(portion), ())
    sharded_corpus.write_rows(reading, tmp_path / "part")
    corpus.write_text("{}\n[]\n")
    with pytest.raises(EngineError, match="sees another content"):
        sharded_corpus.write_rows(reading, tmp_path / "part")
    pq.write_table(pa.table({"text": ["a"]}), texts)
    with pytest.raises(EngineError, match="its texts are not those that were written"):
        text_chunks._do(print, text_chunks.Chunk(texts, 0, "0"), tmp_path / "part")
    texts.write_text("damaged")
    with pytest.raises(EngineError, match="not readable"):
        text_chunks._do(print, text_chunks.Chunk(texts, 0, "0"), tmp_path / "part")
    video = tmp_path / "v.mp4"
    video.write_text("another")
    job = Job("c.mp4", video, Interval(0, 1), 1, "0", ClipFormat("mp4", 120))
    with pytest.raises(EngineError, match=r"v\.mp4: .* sees another content"):
        cut_shard(Shard([job], tmp_path, 1, describe_ffmpeg()), tmp_path / "part")


def test_another_ffmpeg_cuts_no_clips(tmp_path):
    shard = Shard([], tmp_path, 1, "ffmpeg version 0.1")
    with pytest.raises(EngineError, match="would cut other clips: it has 'ffmpeg version "):
        cut_shard(shard, tmp_path / "part")
    cut_shard(shard._replace(ffmpeg=describe_ffmpeg()), tmp_path / "part")
