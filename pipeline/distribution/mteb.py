"""The collection in MTEB's layout: `queries`, `corpus`, `qrels` and `top_ranked`, as Parquet.

A document is a moment. The corpus has every moment of the pool, and no text: a system reads the
videos. The stage `pseudo` writes it, as only the source corpus has the whole pool. `captions` has
the captions of the moments that were shown to people, from the ledger: no system may read it.
"""

from typing import Any

import pyarrow as pa

from pipeline.campaign.collection import Collection
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core.tables import JUDGED_SPLITS
from pipeline.distribution.moment_corpus import COLUMNS, DOCUMENTS, TEXT
from pipeline.distribution.release_files import ReleaseFiles, columns, parquet

BY_SPLIT = {
    "queries": pa.schema({"_id": TEXT, "text": TEXT}),
    "qrels": pa.schema({"query-id": TEXT, "corpus-id": TEXT, "score": pa.int64()}),
    "top_ranked": pa.schema({"query-id": TEXT, "corpus-ids": pa.list_(TEXT)}),
}
CAPTIONS_FILE = "captions/corpus.parquet"
SCHEMAS = {
    CAPTIONS_FILE: DOCUMENTS,
    **{f"{name}/{split}.parquet": BY_SPLIT[name] for name in BY_SPLIT for split in JUDGED_SPLITS},
}
"""The columns of each file that the stage `release` writes."""


def build_mteb_files(collection: Collection) -> ReleaseFiles:
    """Return the tables of the judged moments; all except the captions have a file by split."""
    cells = {CAPTIONS_FILE: _captions(collection)}
    for split in JUDGED_SPLITS:
        for name, table in _split_tables(collection, split).items():
            cells[f"{name}/{split}.parquet"] = table
    return {path: parquet(cells[path], schema) for path, schema in SCHEMAS.items()}


def _captions(collection: Collection) -> list[list[Any]]:
    """Return every moment as it was last shown, by id; its title is the video."""
    moments = collection.pairs.drop_duplicates("moment_id", keep="last").sort_values("moment_id")
    return columns(moments.assign(text=moments["caption"]), *COLUMNS)


def _split_tables(collection: Collection, split: str) -> dict[str, list[list[Any]]]:
    """Return the columns of a split's tables; `top_ranked` has all that was shown, by id."""
    queries = collection.queries[collection.queries["split"] == split]
    judged = collection.judged[collection.judged["split"] == split]
    shown = collection.pairs[collection.pairs["query_id"].isin(queries["query_id"])]
    ranked = shown.sort_values(PAIR_KEY).groupby("query_id")["moment_id"].apply(list)
    return {
        "queries": columns(queries, "query_id", "query"),
        "qrels": columns(judged, "query_id", "moment_id", "level"),
        "top_ranked": [ranked.index.tolist(), ranked.tolist()],
    }
