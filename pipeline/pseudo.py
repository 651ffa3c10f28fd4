"""Write the pseudo training sets: for each training query the N most similar moments.

reads   datasets/work/{queries,captions,moments,videos}.parquet, embeddings/
writes  datasets/release/train_topNN.json for each N of pseudo.top, video_corpus.json,
        train_manifest.json

The shapes are those that the published TVR-Ranking training code reads (DESIGN.md,
section 4). The files are written side by side as a stream, one query a line.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson
import pandas as pd
from tqdm import tqdm

from momentrank.errors import UsageError
from momentrank.ids import as_integers
from pipeline import files, neighbours, pool, stage, tables
from pipeline.embeddings import Embeddings
from pipeline.params import load
from pipeline.ranking import Neighbours
from pipeline.releasing.entries import Entry, listed

VIDEO_CORPUS = tables.RELEASE / "video_corpus.json"
MANIFEST = tables.RELEASE / "train_manifest.json"

Record = dict[str, Any]


def training_path(size: int) -> Path:
    """Return where the training set of the `size` most similar moments lies."""
    return tables.RELEASE / f"train_top{size:02}.json"


def entries(moments: pd.DataFrame, durations: pd.Series) -> list[Record]:
    """Return the release's form of each moment, without a similarity."""
    lengths = moments["video_id"].map(durations)
    columns = [moments[name] for name in ("video_id", "start", "end", "caption")]
    return [
        {"video_name": video, "timestamp": [start, end], "duration": length, "caption": caption}
        for video, start, end, caption, length in zip(*columns, lengths, strict=True)
    ]


def training_sets(
    queries: pd.DataFrame, found: Iterator[Neighbours], moments: Sequence[Record]
) -> Iterator[Record]:
    """Yield each query (`query_id, query`) with its moments, the most similar first."""
    ids, texts = as_integers(queries["query_id"].tolist()), queries["query"].tolist()
    for block in found:
        similar = [
            {**moments[moment], "similarity": similarity}
            for moment, similarity in zip(
                block.moment.tolist(), block.similarity.tolist(), strict=True
            )
        ]
        starts = np.flatnonzero(block.rank == 1).tolist()
        for first, last in zip(starts, [*starts[1:], len(similar)], strict=True):
            query = int(block.query[first])
            relevant = similar[first:last]
            yield {"query_id": ids[query], "query": texts[query], "relevant_moment": relevant}


def write_training_sets(records: Iterable[Record], sizes: Sequence[int]) -> int:
    """Write the records once per size, cut to it; return how many there were."""
    count = 0
    with ExitStack() as stack:
        streams: list[tuple[int, IO[bytes]]] = [
            (size, stack.enter_context(files.atomic(training_path(size), "wb"))) for size in sizes
        ]
        for record in records:
            for size, stream in streams:
                cut = {**record, "relevant_moment": record["relevant_moment"][:size]}
                stream.write((b",\n" if count else b"[\n") + orjson.dumps(cut))
            count += 1
        for _, stream in streams:
            stream.write(b"\n]\n" if count else b"[]\n")
    return count


def video_corpus(videos: pd.DataFrame) -> dict[str, tuple[float, int]]:
    """Return `{video name: (duration, index)}`, in the order of the names."""
    ordered = videos.sort_values("video_id")
    pairs = zip(ordered["video_id"], ordered["duration"], strict=True)
    return {name: (duration, index) for index, (name, duration) in enumerate(pairs)}


def manifest(rows: Mapping[Path, int]) -> dict[str, Any]:
    """Return hash, size and number of rows of each file."""
    told = {
        path.name: Entry(files.file_sha256(path), path.stat().st_size, count)
        for path, count in rows.items()
    }
    return {"files": listed(told)}


def refuse_undeclared(sizes: Sequence[int], dag: Path = stage.DAG) -> None:
    """Stop before the work where dvc.yaml does not expect the files of `pseudo.top`.

    Raises:
        UsageError: the stage's outs are not the ones that it is about to write.
    """
    outs = files.read_yaml(dag)["stages"]["pseudo"]["outs"]
    declared = {out for out in outs if isinstance(out, str) and "train_top" in out}
    written = {str(training_path(size)) for size in sizes}
    for path in sorted(written ^ declared):
        verb = "add it to" if path in written else "take it out of"
        raise UsageError(f"pseudo.top and dvc.yaml differ in {path}: {verb} the outs of `pseudo`")


def main() -> None:
    """Search the pool for every training query and write the release's training files."""
    params = load()
    sizes = params.pseudo.top
    refuse_undeclared(sizes)
    queries, videos = tables.QUERIES.read(), tables.VIDEOS.read()
    pool.refuse_shared(queries, tables.QUERIES.path)
    train = queries[queries["split"] == "train"]
    modalities = params.ingest.pool_modalities
    moments = pool.described(tables.CAPTIONS.read(), tables.MOMENTS.read(), modalities)
    found = neighbours.search(train["query"], moments, Embeddings.open(), max(sizes))
    durations = videos.set_index("video_id")["duration"]
    records = training_sets(train, found, entries(moments, durations))
    progress = tqdm(records, total=len(train), desc="pseudo", unit=" queries", disable=None)
    written = write_training_sets(progress, sizes)
    files.write_json(VIDEO_CORPUS, video_corpus(videos))
    rows = {training_path(size): written for size in sizes} | {VIDEO_CORPUS: len(videos)}
    files.write_json(MANIFEST, manifest(rows))
    stage.write_metrics(
        "pseudo", {"queries": written, "sizes": sizes, "pool": len(moments), "videos": len(videos)}
    )


if __name__ == "__main__":
    stage.run(main)
