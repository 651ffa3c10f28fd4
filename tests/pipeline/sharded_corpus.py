"""A tiny corpus, and all stages that work in shards, by any engine."""

import json
import shutil
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd
import shard_work
from support.params_file import set_params

from pipeline import candidates, embed, ingest, pseudo
from pipeline.captions.rules.gender import Genders
from pipeline.captions.rules.rules_rewriter import Rules, find_rows
from pipeline.core import tables
from pipeline.core.engine.shards import clear_parts
from pipeline.core.engine.text_rows import RowMap
from pipeline.core.files import file_sha256
from pipeline.corpora import sources
from pipeline.names.evidence.cast import Cast
from pipeline.retrieval import embeddings
from pipeline.retrieval.chunks import Encoding
from pipeline.retrieval.similarity import unit_on_grid
from pipeline.video.cutter import ClipFormat, Interval
from pipeline.video.cutting import cut_all
from pipeline.video.plan import Job

MOMENTS, TEXTS, VIDEOS = 400, 150, 30


def write_corpus(repository):
    """Write tables and embeddings of 400 moments, with ties and repeats, into this folder."""
    random = np.random.default_rng(7)
    texts = [f"caption {number}" for number in range(TEXTS)]
    place = random.integers(0, 300, size=MOMENTS)
    frame = pd.DataFrame(
        {
            "moment_id": [f"{number:03}" for number in random.permutation(MOMENTS)],
            "video_id": [f"video {number % VIDEOS}" for number in place],
            "start": place * 0.5,
            "end": place * 0.5 + 3.0,
            "description": "It happens.",
            "modality": "v",
            "caption": [texts[number] for number in random.integers(0, TEXTS, size=MOMENTS)],
        }
    )
    tables.MOMENTS.write(frame[tables.MOMENTS.columns])
    facts = {"source": "none", "model": "", "prompt": "", "rounds": 0, "status": "passed"}
    facts |= {"similarity": None, "name_score": None}
    tables.CAPTIONS.write(frame[["moment_id", "caption"]].assign(**facts)[tables.CAPTIONS.columns])
    names = sorted(set(frame["video_id"]))
    tables.VIDEOS.write(pd.DataFrame({"video_id": names, "duration": 200.0, "path": None}))
    queries = frame.drop_duplicates("caption")[["moment_id", "caption"]]
    queries = queries.set_axis(["query_id", "query"], axis=1)
    split = np.where(np.arange(len(queries)) < 40, "test", "train")
    tables.QUERIES.write(queries.assign(split=split, moment_id=queries["query_id"]))
    centres = random.standard_normal((12, 24))
    ids, _ = embeddings.distinct(texts)
    noise = random.choice([0, 1e-6, 1e-2], size=(len(ids), 1))
    vectors = centres[random.integers(12, size=len(ids))]
    store = embeddings.Store(embeddings.FOLDER, "made up")
    store.finish(
        ids, [(ids, unit_on_grid(vectors + noise * random.standard_normal(vectors.shape)))]
    )
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(repository / name, name)
    set_params("ingest", source="corpus.jsonl", videos=None, max_rejected=0.1)
    rows = frame.to_dict("records")
    rows[7::40] = [row | {"end": row["start"]} for row in rows[7::40]]  # which are rejected
    Path("corpus").mkdir()
    Path("corpus/corpus.jsonl").write_text("".join(map(_line, rows)))


def _line(row):
    times = [row["start"], row["end"]]
    return json.dumps({"vid_name": row["video_id"], "duration": 200.0, "ts": times, "type": "v",
                       "desc": row["description"], "desc_id": row["moment_id"]}) + "\n"  # fmt: skip


def ingest_corpus(monkeypatch):
    """Run ingest on portions of 9 KB; return the bytes of all that it writes."""
    monkeypatch.setattr(sources, "PORTION_BYTES", 9_000)
    shutil.copy("params.yaml", "corpus")
    with chdir("corpus"):
        ingest.main()
        written = read_all("datasets")
        shutil.rmtree("datasets")
        assert read_all(".cache") == {}, "parts go when the stage has ended"
    return written


def read_all(folder):
    """Return the bytes of all files."""
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def run_stages(engine, video, monkeypatch):
    """Let an engine write candidates, training sets, embeddings and clips; return their bytes.

    And the tables of a corpus past memory, and what the rules find in texts.
    """
    set_params("engine", **engine.model_dump() | {"table_memory": 1e-6})
    ingested = ingest_corpus(monkeypatch)
    set_params("engine", table_memory=engine.table_memory)
    candidates.main()
    pseudo.main()
    shutil.rmtree("store", ignore_errors=True)
    encoding = Encoding(shard_work.HashEncoder, "by hash", 8)
    texts = [f"text {number}" * (number % 5) for number in range(60)]
    embed.embed(texts, encoding, embeddings.Store(Path("store"), "by hash"), engine)
    shutil.rmtree("clips", ignore_errors=True)
    Path("clips").mkdir()
    jobs, sha, small = [], file_sha256(video), ClipFormat("mp4", 120)
    for number in range(4):
        copy = Path(f"{number}.mp4").absolute()
        shutil.copy(video, copy)
        jobs.append(Job(f"{number}.mp4", copy, Interval(number, number + 0.5), number, sha, small))
    lacking = cut_all(jobs, Path("clips").absolute(), 1, engine)
    assert lacking == {}
    rules = Rules(Genders(names=frozenset({"rook"})), Cast())
    descriptions = [(f"rook sits, and number {number} meets Mary Poe.", []) for number in range(40)]
    names = RowMap("rewrite", engine, few=0)(find_rows, rules, descriptions)
    clear_parts("rewrite", engine)
    assert read_all(".cache") == {}, "parts go when a stage has ended"
    return {place: read_all(place) for place in ("datasets", "store", "clips")} | {
        "names": names,
        "ingested": ingested,
    }
