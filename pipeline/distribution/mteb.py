"""The collection as text retrieval: `queries`, `corpus`, `qrels`, `top_ranked` (MTEB's Parquet).

A document is a moment, its text is the caption. The corpus has the moments that were shown to
people, from the ledger: the whole pool belongs to the source corpus.
"""

from typing import Any

import pyarrow as pa

from pipeline.campaign.collection import Collection
from pipeline.core.tables import JUDGED_SPLITS
from pipeline.distribution.release_files import ReleaseFiles, columns, parquet

TEXT, SECONDS = pa.string(), pa.float64()
BY_SPLIT = {
    "queries": pa.schema({"_id": TEXT, "text": TEXT}),
    "qrels": pa.schema({"query-id": TEXT, "corpus-id": TEXT, "score": pa.int64()}),
    "top_ranked": pa.schema({"query-id": TEXT, "corpus-ids": pa.list_(TEXT)}),
}
CORPUS_FILE = "corpus/corpus.parquet"
SCHEMAS = {
    CORPUS_FILE: pa.schema(
        dict.fromkeys(("_id", "title", "text"), TEXT)
        | dict.fromkeys(("start", "end", "duration"), SECONDS)
    ),
    **{f"{name}/{split}.parquet": BY_SPLIT[name] for name in BY_SPLIT for split in JUDGED_SPLITS},
}
"""The columns of each file."""


def build_mteb_files(collection: Collection) -> ReleaseFiles:
    """Return the four tables; all except the corpus have a file for each split."""
    cells = {CORPUS_FILE: _corpus(collection)}
    for split in JUDGED_SPLITS:
        for name, table in _split_tables(collection, split).items():
            cells[f"{name}/{split}.parquet"] = table
    return {path: parquet(cells[path], schema) for path, schema in SCHEMAS.items()}


def _corpus(collection: Collection) -> list[list[Any]]:
    """Return every moment as it was last shown, by id; its title is the video."""
    moments = collection.pairs.drop_duplicates("moment_id", keep="last").sort_values("moment_id")
    return columns(moments, "moment_id", "video_id", "caption", "start", "end", "duration")


def _split_tables(collection: Collection, split: str) -> dict[str, list[list[Any]]]:
    """Return the columns of a split's tables; `top_ranked` has all that was shown, by rank."""
    queries = collection.queries[collection.queries["split"] == split]
    judged = collection.judged[collection.judged["split"] == split]
    shown = collection.pairs[collection.pairs["query_id"].isin(queries["query_id"])]
    ordered = shown.sort_values(["query_id", "rank", "pair_id"])
    ranked = ordered.groupby("query_id", sort=True)["moment_id"].apply(list)
    return {
        "queries": columns(queries, "query_id", "query"),
        "qrels": columns(judged, "query_id", "moment_id", "level"),
        "top_ranked": [ranked.index.tolist(), ranked.tolist()],
    }
