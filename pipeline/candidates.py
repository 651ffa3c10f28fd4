"""Find the candidate moments that people will judge: the most similar captions per query.

reads   datasets/work/{queries,captions,moments}.parquet, embeddings/
writes  datasets/work/candidates.parquet, neighbours.parquet, plots/similarity_by_rank.csv

The search is exact over the whole pool (ingest.pool_modalities), and the same on any machine and
with any number of shards. Batch 1 is ranks 1 to candidates.batch; batch 2 is the ranks after it, up
to candidates.top. The first candidates.depth ranks go to neighbours.parquet: among them, an audit
looks for what the candidates left out, and a machine may judge the first judge.pool_top others.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from pipeline.core import captions, cli, csv_files, tables
from pipeline.core.params import load
from pipeline.core.progress import progress
from pipeline.core.sections import Candidates
from pipeline.core.storage.database import read_rows
from pipeline.retrieval import search
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.ranking import Neighbours
from pipeline.retrieval.sharded_search import ShardedSearch

Search = Callable[[pd.Series, pd.DataFrame, Embeddings, int], Iterator[Neighbours]]
"""From texts, moments, embeddings and k to each text's k nearest moments."""
SIMILARITY_BY_RANK = tables.WORK / "plots" / "similarity_by_rank.csv"


def rank(
    queries: pd.DataFrame,
    moments: pd.DataFrame,
    embedded: Embeddings,
    top: int,
    find: Search = search.search,
) -> pd.DataFrame:
    """Return the first `top` ranks of `queries` (`query_id, query`) among described `moments`.

    The columns are `query_id, moment_id, rank, similarity`.

    Raises:
        PoolError: there are no moments to search.
    """
    blocks = [tables.NEIGHBOURS.empty()]
    with progress("candidates", total=len(queries), unit="queries") as bar:
        for query, moment, ranks, similarity in find(queries["query"], moments, embedded, top):
            query_id = queries["query_id"].to_numpy()[query]
            moment_id = moments["moment_id"].array.take(moment)
            block = pd.DataFrame({"query_id": query_id, "moment_id": moment_id, "rank": ranks})
            blocks.append(block.assign(similarity=similarity))
            bar.update(len(np.unique(query)))
    return pd.concat(blocks, ignore_index=True)


def candidates(ranked: pd.DataFrame, params: Candidates) -> pd.DataFrame:
    """Return the candidates, in their batches: the first ranks of `ranked`."""
    first = ranked[ranked["rank"] <= params.top]
    table = first.assign(batch=1 + (first["rank"] > params.batch))
    return tables.CANDIDATES.check(table.reset_index(drop=True))


def similarity_by_rank(table: pd.DataFrame) -> pd.DataFrame:
    """Return how similar candidates are at each rank: `rank, mean, p10, p90` over queries."""
    by_rank = table.groupby("rank")["similarity"]
    columns = {"mean": by_rank.mean(), "p10": by_rank.quantile(0.1), "p90": by_rank.quantile(0.9)}
    return pd.DataFrame(columns).round(6).reset_index()


def _is_judged(queries: pd.DataFrame) -> pd.Series:
    return queries["split"] != "train"


def main() -> None:
    """Search the pool for every validation and test query."""
    params = load()
    judged = read_rows(tables.QUERIES, params.engine.table_memory, _is_judged)
    modalities = params.ingest.pool_modalities
    moments = captions.read_pool(modalities, params.engine.table_memory)
    sharded = ShardedSearch("candidates", params.engine, params.embed.device)
    ranked = rank(judged, moments, Embeddings.open(), params.candidates.depth, sharded.search)
    table = candidates(ranked, params.candidates)
    tables.CANDIDATES.write(table)
    tables.NEIGHBOURS.write(ranked)
    csv_files.write_csv(SIMILARITY_BY_RANK, similarity_by_rank(table))
    per_query = table.groupby("query_id").size()
    metrics = {
        "queries": len(judged),
        "pool": len(moments),
        "pairs": len(table),
        "pairs_of_batch_1": int((table["batch"] == 1).sum()),
        "queries_with_fewer_than_top": int((per_query < params.candidates.top).sum()),
    }
    cli.write_metrics("candidates", metrics)
    sharded.clear()


if __name__ == "__main__":
    cli.run_stage(main)
