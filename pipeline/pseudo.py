"""Write the pseudo training sets: for each training query the N most similar moments.

reads   datasets/work/{queries,captions,moments,videos}.parquet, embeddings/
writes  datasets/release/train_topNN.json and .parquet for each N of pseudo.top,
        corpus/corpus.parquet, video_corpus.json, train_manifest.json

The JSON has the shape that the published TVR-Ranking training code reads. The Parquet has the same
content and is what the dataset card offers for loading. Captions are empty where they would show
which moment a validation or test query was made from. The corpus has every moment of the pool, and
no captions.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from momentrank.errors import UsageError
from pipeline.core import captions, cli, files, tables
from pipeline.core.files import ManifestEntry, manifest_json
from pipeline.core.params import load
from pipeline.core.progress import progress
from pipeline.core.storage.database import read_rows
from pipeline.core.storage.mapped import select
from pipeline.distribution.moment_corpus import CORPUS_FILE, write_corpus
from pipeline.distribution.training_sets import (
    Suffix,
    Training,
    find_hidden,
    number_queries,
    training_path,
    write_training_sets,
)
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.sharded_search import ShardedSearch

VIDEO_CORPUS = tables.RELEASE / "video_corpus.json"
MANIFEST = tables.RELEASE / "train_manifest.json"


def paths(sizes: Sequence[int]) -> list[Path]:
    """Return the files of the training sets."""
    return [training_path(size, suffix) for size in sizes for suffix in get_args(Suffix)]


def video_corpus(videos: pd.DataFrame) -> dict[str, tuple[float, int]]:
    """Return `{video name: (duration, index)}`, in the order of the names."""
    ordered = videos.sort_values("video_id")
    pairs = zip(ordered["video_id"], ordered["duration"], strict=True)
    return {name: (duration, index) for index, (name, duration) in enumerate(pairs)}


def manifest(rows: Mapping[Path, int]) -> dict[str, Any]:
    """Return hash, size and number of rows of each file."""
    entries = {
        path.relative_to(tables.RELEASE).as_posix(): ManifestEntry(
            files.file_sha256(path), path.stat().st_size, count
        )
        for path, count in rows.items()
    }
    return {"files": manifest_json(entries)}


def refuse_undeclared(sizes: Sequence[int], dag: Path = cli.DAG) -> None:
    """Stop before the work if dvc.yaml does not declare the files of `pseudo.top`.

    Raises:
        UsageError: the stage's outs are not the files that it would write.
    """
    outs = files.read_yaml(dag)["stages"]["pseudo"]["outs"]
    declared = {out for out in outs if isinstance(out, str) and "train_top" in out}
    written = {str(path) for path in paths(sizes)}
    for path in sorted(written ^ declared):
        verb = "add it to" if path in written else "remove it from"
        raise UsageError(f"pseudo.top and dvc.yaml differ in {path}: {verb} the outs of `pseudo`")


def main() -> None:
    """Search the pool for every training query and write the release's training files."""
    params = load()
    sizes = params.pseudo.top
    refuse_undeclared(sizes)
    modalities, memory = params.ingest.pool_modalities, params.engine.table_memory
    queries, videos = read_rows(tables.QUERIES, memory), tables.VIDEOS.read()
    captions.refuse_shared_texts(queries, tables.QUERIES.path)
    number_queries(queries["query_id"])  # in all splits, as no two may share a number
    train = select(queries, queries["split"] == "train")
    moments = captions.read_pool(modalities, memory)
    sharded = ShardedSearch("pseudo", params.engine, params.embed.device)
    neighbours = sharded.search(train["query"], moments, Embeddings.open(), max(sizes))
    durations = videos.set_index("video_id")["duration"]
    hidden = find_hidden(moments, select(queries, queries["split"] != "train"))
    training = Training.from_frames(train, moments, durations, hidden)
    with progress("pseudo", total=len(train), unit="queries") as bar:
        written = write_training_sets(training, neighbours, sizes, bar.update)
    files.write_json(VIDEO_CORPUS, video_corpus(videos))
    write_corpus(moments, durations)
    rows = dict.fromkeys(paths(sizes), written)
    rows |= {VIDEO_CORPUS: len(videos), tables.RELEASE / CORPUS_FILE: len(moments)}
    files.write_json(MANIFEST, manifest(rows))
    metrics = {"queries": written, "sizes": sizes, "pool": len(moments), "videos": len(videos)}
    cli.write_metrics("pseudo", metrics)
    sharded.clear()


if __name__ == "__main__":
    cli.run_stage(main)
