"""Draw validation and test queries; other captions, all or some, are training queries.

reads   datasets/work/captions.parquet, moments.parquet, datasets/campaign/queries.csv
writes  datasets/work/queries.parquet

Captions of ingest.query_modalities are drawn in the order of SHA-256(seed, text): one
dropped caption moves one query. Queries frozen in queries.csv are taken as they are.
"""

from typing import Any, NamedTuple

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core import cli, rng, tables
from pipeline.core.captions import join_captions, text_key
from pipeline.core.params import load
from pipeline.core.sections import Split


class SplitError(MomentRankError):
    """The queries can't be drawn or used as params.yaml asks."""


class Queries(NamedTuple):
    """The queries table, and its metrics."""

    table: pd.DataFrame
    metrics: dict[str, Any]


def split(captions: pd.DataFrame, frozen: pd.DataFrame, params: Split) -> Queries:
    """Return validation, test and training queries (paper, section 3.1).

    `captions` are the `moment_id, caption` that may become queries; `frozen`, where it has
    rows, is the campaign's own choice of validation and test queries. Texts that are equal
    after trimming and case folding are one validation or test query, that of the smallest
    moment_id (as text); training keeps repeats, but none that equal a drawn text. Where
    `params.train` is a number, so many of them are drawn in the same way.

    Raises:
        SplitError: fewer distinct texts than `val` + `test`, or two frozen queries are equal.
    """
    captions = captions.assign(key=text_key(captions["caption"]))
    distinct = captions.sort_values("moment_id").drop_duplicates("key")
    equal = frozen[text_key(frozen["query"]).duplicated(keep=False)]
    if len(equal):
        ids = ", ".join(equal["query_id"])
        raise SplitError(f"{tables.FROZEN_QUERIES.path}: {ids} have the same text: keep one")
    drawn = frozen if len(frozen) else draw(distinct, params)
    taken = captions["key"].isin(text_key(drawn["query"]))
    own = captions["moment_id"].isin(drawn["query_id"])
    left = captions[~taken & ~own]
    train = left if params.train is None else _shuffle(left, params.seed)[: params.train]
    table = pd.concat([drawn, _as_queries(train, "train")], ignore_index=True)
    return Queries(
        tables.QUERIES.check(table),
        {
            **{name: int((table["split"] == name).sum()) for name in tables.SPLITS},
            "frozen": bool(len(frozen)),
            "captions": len(captions),
            "distinct_texts": len(distinct),
            "train_left_out_as_equal": int((taken & ~own).sum()),
            "train_not_drawn": len(left) - len(train),
        },
    )


def draw(distinct: pd.DataFrame, params: Split) -> pd.DataFrame:
    """Draw `val` and then `test` queries of `moment_id, caption, key` by their texts' hash."""
    wanted = params.val + params.test
    if wanted > len(distinct):
        raise SplitError(
            f"split.val + split.test ask for {wanted} queries, but only {len(distinct)} distinct"
            " captions are available; lower them in params.yaml"
        )
    shuffled = _shuffle(distinct, params.seed)
    val, test = shuffled[: params.val], shuffled[params.val : wanted]
    return pd.concat([_as_queries(val, "val"), _as_queries(test, "test")])


def _shuffle(captions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return captions by the hash of their text; equal ones by moment_id."""
    order = [rng.draw(f"{seed}\n{key}") for key in captions["key"]]
    return captions.assign(order=order).sort_values(["order", "moment_id"])


def _as_queries(captions: pd.DataFrame, name: str) -> pd.DataFrame:
    queries = captions.rename(columns={"moment_id": "query_id", "caption": "query"})
    return queries.assign(split=name)[tables.QUERIES.columns].sort_values("query_id")


def main() -> None:
    """Draw the queries among the captions in use."""
    params = load()
    modalities = params.ingest.query_modalities
    captions = join_captions(tables.CAPTIONS.read(), tables.MOMENTS.read(), modalities)
    queries = split(captions, tables.FROZEN_QUERIES.read(), params.split)
    tables.QUERIES.write(queries.table)
    cli.write_metrics("split", queries.metrics)


if __name__ == "__main__":
    cli.run_stage(main)
