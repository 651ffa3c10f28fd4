"""The collection as text retrieval: `queries`, `corpus`, `qrels`, `top_ranked` (MTEB's Parquet).

A document is a moment, its text the caption. The corpus holds the moments that were shown to
people, from the ledger: the whole pool is the source corpus's own.
"""

import pyarrow as pa

from pipeline.campaign.collection import Collection
from pipeline.core.tables import JUDGED_SPLITS
from pipeline.distribution.files import ReleaseFile, ReleaseFiles, parquet

TEXT, TEXTS = pa.string(), pa.list_(pa.string())
QUERIES = pa.schema({"_id": TEXT, "text": TEXT})
CORPUS = pa.schema(
    {
        "_id": TEXT,
        "title": TEXT,
        "text": TEXT,
        "start": pa.float64(),
        "end": pa.float64(),
        "duration": pa.float64(),
    }
)
QRELS = pa.schema({"query-id": TEXT, "corpus-id": TEXT, "score": pa.int64()})
TOP_RANKED = pa.schema({"query-id": TEXT, "corpus-ids": TEXTS})
CORPUS_FILE = "corpus/corpus.parquet"


def build_mteb_files(collection: Collection) -> ReleaseFiles:
    """Return the four tables; all but the corpus have a file for each split."""
    parts: ReleaseFiles = {CORPUS_FILE: _corpus(collection)}
    for split in JUDGED_SPLITS:
        parts[f"queries/{split}.parquet"] = _queries(collection, split)
        parts[f"qrels/{split}.parquet"] = _qrels(collection, split)
        parts[f"top_ranked/{split}.parquet"] = _top_ranked(collection, split)
    return parts


def _corpus(collection: Collection) -> ReleaseFile:
    """Return every moment that was shown, as it was last, by id; its title is the video."""
    moments = collection.pairs.drop_duplicates("moment_id", keep="last").sort_values("moment_id")
    source = {"_id": "moment_id", "title": "video_id", "text": "caption"}
    names = {name: source.get(name, name) for name in CORPUS.names}
    return parquet({name: moments[column].tolist() for name, column in names.items()}, CORPUS)


def _queries(collection: Collection, split: str) -> ReleaseFile:
    queries = collection.queries[collection.queries["split"] == split]
    columns = {"_id": queries["query_id"].tolist(), "text": queries["query"].tolist()}
    return parquet(columns, QUERIES)


def _qrels(collection: Collection, split: str) -> ReleaseFile:
    judged = collection.judged[collection.judged["split"] == split]
    columns = ("query_id", "moment_id", "level")
    names = zip(QRELS.names, columns, strict=True)
    return parquet({name: judged[column].tolist() for name, column in names}, QRELS)


def _top_ranked(collection: Collection, split: str) -> ReleaseFile:
    """Return the moments that were shown for each released query, the most similar first."""
    released = collection.queries.loc[collection.queries["split"] == split, "query_id"]
    shown = collection.pairs[collection.pairs["query_id"].isin(released)]
    ordered = shown.sort_values(["query_id", "rank", "pair_id"])
    lists = ordered.groupby("query_id", sort=True)["moment_id"].apply(list)
    return parquet({"query-id": lists.index.tolist(), "corpus-ids": lists.tolist()}, TOP_RANKED)
