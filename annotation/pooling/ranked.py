"""The whole pool in order of similarity, a query at a time; exact (docs/exactness.md)."""

from collections.abc import Iterator

import pandas as pd

from pipeline.core.progress import progress
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.ranking import Pool
from pipeline.retrieval.search import Execution, nearest

ONE_QUERY = Execution(query_block=1)


def rank_pool(
    queries: pd.DataFrame, moments: pd.DataFrame, embedded: Embeddings
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each query's id and the pool's `moment_id, rank, similarity, place`, best first.

    `queries` has `query_id, query`, `moments` is as returned by `captions.join_captions`. Moments
    of the same video, start and end are one `place` (its number in `ranking.places`), represented
    by the moment with the best caption: ranks are those of the candidates, continued.

    Raises:
        PoolError: there are no moments.
        EmbeddingsError: a text or caption has not been embedded.
    """
    pool = Pool.build(moments, embedded.rows(moments["caption"]), len(moments))
    rankings = nearest(embedded.vectors, embedded.rows(queries["query"]), pool, ONE_QUERY)
    ids = moments["moment_id"].to_numpy()
    bar = progress("audit", rankings, total=len(queries), unit="queries")
    for query_id, ranking in zip(queries["query_id"].tolist(), bar, strict=True):
        columns = {
            "moment_id": ids[ranking.moment],
            "rank": ranking.rank,
            "similarity": ranking.similarity,
        }
        yield query_id, pd.DataFrame({**columns, "place": pool.places[ranking.moment]})
