"""A synthetic corpus of millions of moments, in its own folder: as a file, or as tables."""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.candidates import random_units
from benchmarks.scaling import CHANGES, PER_VIDEO, QUERIES, REPOSITORY, WORDS
from benchmarks.script import Option
from pipeline.core import tables
from pipeline.retrieval import embeddings
from pipeline.retrieval.similarity import Vectors

BLOCK, LENGTH = 100_000, 10
SECONDS = 60.0
"""Moments of a video."""


def write_params(engine: Mapping[str, Option]) -> None:
    """Write params.yaml, and the other files that the stages read, into the current folder."""
    text = (REPOSITORY / "params.yaml").read_text(encoding="utf-8")
    above, heading, section = text.partition("\nengine:")
    for pattern, new in CHANGES.items():
        above = re.sub(pattern, new, above, count=1)
    for name, value in engine.items():
        section = re.sub(rf"\n  {name}: \S+", f"\n  {name}: {value}", section, count=1)
    Path("params.yaml").write_text(above + heading + section, encoding="utf-8")
    shutil.copytree(REPOSITORY / "datasets/campaign", "datasets/campaign")
    Path("dvc.yaml").symlink_to(REPOSITORY / "dvc.yaml")


def describe(number: int) -> Iterator[list[str]]:
    """Yield distinct descriptions of `LENGTH` words and a number, `BLOCK` at a time."""
    random, words = np.random.default_rng(0), np.array(WORDS)
    for first in range(0, number, BLOCK):
        block = words[random.integers(0, len(words), (min(BLOCK, number - first), LENGTH))]
        yield [
            f"{' '.join(words_drawn)} {moment}."
            for moment, words_drawn in enumerate(block.tolist(), first)
        ]


def write_corpus(path: Path, number: int) -> None:
    """Write `number` moments of videos of one minute."""
    with path.open("w", encoding="utf-8") as stream:
        for place, texts in enumerate(describe(number)):
            for moment, text in enumerate(texts, place * BLOCK):
                start = 10.0 * (moment % PER_VIDEO)
                stream.write(
                    f'{{"vid_name": "show_{moment // PER_VIDEO:07}", "duration": 60.0,'
                    f' "ts": [{start}, {start + 8.0}], "desc": "{text}",'
                    f' "type": "v", "desc_id": {moment}}}\n'
                )


def write_captions() -> None:
    """Write a caption for each moment: its description."""
    tables.CAPTIONS.write_batches(map(_caption, tables.MOMENTS.read_batches()))


def _caption(moments: pd.DataFrame) -> pd.DataFrame:
    same = moments[["moment_id"]].assign(caption=moments["description"], source="none")
    same = same.assign(model=None, prompt=None, rounds=0, similarity=None, name_score=None)
    return same.assign(status="passed")


def write_vectors(dimensions: int) -> None:
    """Write a random vector for each caption, in place of `embed`'s output."""
    batches = tables.CAPTIONS.read_batches()
    ids = np.concatenate([embeddings.text_ids(batch["caption"]) for batch in batches])
    ids.sort()

    def chunks() -> Iterator[tuple[embeddings.Ids, Vectors]]:
        for seed, first in enumerate(range(0, len(ids), BLOCK)):
            some = ids[first : first + BLOCK]
            yield some, random_units(len(some), dimensions, seed)

    embeddings.Store(embeddings.FOLDER, "random").finish(ids, chunks())


def write_tables(number: int) -> None:
    """Write what `ingest`, `rewrite` and `split` would make from such a corpus, but faster."""
    tables.MOMENTS.write_batches(_moments(number))
    names = [f"show_{video:07}" for video in range(-(-number // PER_VIDEO))]
    tables.VIDEOS.write(pd.DataFrame({"video_id": names, "duration": SECONDS, "path": None}))
    write_captions()
    judged = np.random.default_rng(1).choice(number, sum(QUERIES.values()), replace=False)
    tables.QUERIES.write_batches(_queries(set(map(str, judged))))


def _moments(number: int) -> Iterator[pd.DataFrame]:
    for place, texts in enumerate(describe(number)):
        moment = np.arange(place * BLOCK, place * BLOCK + len(texts))
        start = 10.0 * (moment % PER_VIDEO)
        ids, videos = map(str, moment), (f"show_{video:07}" for video in moment // PER_VIDEO)
        row = {"moment_id": list(ids), "video_id": list(videos), "start": start, "end": start + 8}
        yield pd.DataFrame(row | {"description": texts, "modality": "v"})


def _queries(judged: set[str]) -> Iterator[pd.DataFrame]:
    renamed = {"moment_id": "query_id", "description": "query"}
    for split in ("test", "train"):
        for batch in tables.MOMENTS.read_batches():
            rows = batch[batch["moment_id"].isin(judged) == (split == "test")]
            yield rows.rename(columns=renamed)[[*renamed.values()]].assign(split=split)
