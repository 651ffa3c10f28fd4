"""Draw validation and test queries; other captions, all or some, are training queries.

reads   datasets/work/captions.parquet, moments.parquet, variants.parquet,
        datasets/campaign/written_queries.csv, queries.csv
writes  datasets/work/queries.parquet

Captions of ingest.query_modalities are drawn in the order of SHA-256(seed, text), so one
dropped caption changes only one query. Accepted queries that are no captions (variants.parquet,
written_queries.csv) are judged too; no caption with such a text, and none whose variant is judged,
is drawn. Queries frozen in queries.csv are used unchanged.

The id of a validation or test query is `q` and the first 12 hexadecimal digits of the SHA-256 of
its text: unlike its moment's id, it tells a system nothing. Two texts with the same id are an error
that names both. A training query has its moment's id. `moment_id` is the moment that a query was
made from; it may be empty in queries.csv.
"""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core import captions, cli, rng, tables
from pipeline.core.captions import name_query, text_key
from pipeline.core.params import load
from pipeline.core.sections import Split
from pipeline.core.storage.database import Database, open_database
from pipeline.core.text import list_unreadable


class SplitError(MomentRankError):
    """The queries can't be drawn or used as params.yaml requires."""


SOURCE = "source"
"""The moment whose caption a variant was made from, even if that no longer answers it."""
NO_OTHERS = tables.QUERIES.empty().assign(**{SOURCE: None})


class Queries(NamedTuple):
    """The queries table, and its metrics."""

    table: pd.DataFrame
    metrics: dict[str, Any]


class LargeQueries(NamedTuple):
    """The rows of a queries table in batches, and its metrics."""

    batches: Iterable[pd.DataFrame]
    metrics: dict[str, Any]


def split(
    pool: pd.DataFrame, frozen: pd.DataFrame, params: Split, others: pd.DataFrame = NO_OTHERS
) -> Queries:
    """Return validation, test and training queries (paper, section 3.1).

    `pool` has the `moment_id, caption` that may become queries; `others` are judged queries that
    are no captions; `frozen`, if it has rows, is the campaign's own choice of validation and test
    queries. Texts that are equal after trimming and case folding are one validation or test query,
    with the smallest moment_id (as text); training keeps repeats, but none that equal a drawn text.
    If `params.train` is a number, that many training queries are drawn in the same way.

    Raises:
        SplitError: fewer distinct texts than `val` + `test`, two frozen queries are equal, or two
            texts have the same id.
    """
    refuse_texts(frozen)
    hashed = _add_hashes(pool, params)
    asked = [*_hashes(others["query"], params)]
    asked += [*hashed.loc[hashed["moment_id"].isin(others[SOURCE]), "hash"]]
    free = hashed[~hashed["hash"].isin(asked)]
    distinct = free.sort_values("moment_id").drop_duplicates("hash")
    drawn = frozen
    if not len(frozen):
        captions_drawn = draw(distinct.sort_values("hash"), len(distinct), params)
        drawn = pd.concat([captions_drawn, others[tables.QUERIES.columns]])
    taken = hashed["hash"].isin(_hashes(drawn["query"], params))
    drawn_here = hashed["moment_id"].isin(_sources(drawn))
    left = hashed[~taken & ~drawn_here]
    train = left
    if params.train is not None:
        train = left.sort_values(["hash", "moment_id"])[: params.train]
    table = pd.concat([drawn, _as_queries(train, "train")], ignore_index=True)
    refuse_same_ids(table)
    counts = {
        "captions": len(pool),
        "distinct_texts": len(distinct),
        "train_left_out_as_equal": int((taken & ~drawn_here).sum()),
        "train_not_drawn": len(left) - len(train),
    }
    return Queries(tables.QUERIES.check(table), _metrics(drawn, len(train), frozen, counts))


def split_large(
    database: Database, frozen: pd.DataFrame, params: Split, others: pd.DataFrame = NO_OTHERS
) -> LargeQueries:
    """Do what `split` does for a `pool` that is a table or view of a database."""
    refuse_texts(frozen)
    pool = database.frames("select moment_id, caption from pool")
    database.load("hashed", (_add_hashes(some, params) for some in pool))
    asked = others[[SOURCE]].assign(hash=_hashes(others["query"], params))
    database.load("asked", [asked])
    database.run(
        "create view texts as select distinct hash from hashed where hash not in ("
        "select hash from asked union"
        " select hash from hashed where moment_id in (select source from asked))"
    )
    distinct = database.value("select count(*) from texts")
    drawn = frozen
    if not len(frozen):
        captions_drawn = draw(_first_texts(database, params), distinct, params)
        drawn = pd.concat([captions_drawn, others[tables.QUERIES.columns]])
    taken = {"moment_id": _sources(drawn), "hash": _hashes(drawn["query"], params)}
    database.load("taken", [drawn[["query_id"]].assign(**taken)])
    database.run(
        "create view others as select *, hash in (select hash from taken) as is_taken from hashed"
        " where moment_id not in (select moment_id from taken)"
    )
    left = database.value("select count(*) from others where not is_taken")
    train = left if params.train is None else min(left, params.train)
    if train == left:
        database.run("create view chosen as from others where not is_taken")
    else:
        database.run(
            "create table chosen as from others where not is_taken"
            " order by hash, moment_id limit $train",
            train=train,
        )
    same = "select * from chosen where moment_id in (select query_id from taken)"
    refuse_same_ids(pd.concat([drawn, _as_queries(database.frame(same), "train")]))
    ordered = database.frames("select * from chosen order by moment_id")
    batches = (_as_queries(rows, "train") for rows in ordered)
    counts = {
        "captions": database.value("select count(*) from hashed"),
        "distinct_texts": distinct,
        "train_left_out_as_equal": database.value("select count(*) from others where is_taken"),
        "train_not_drawn": left - train,
    }
    return LargeQueries(chain([drawn], batches), _metrics(drawn, train, frozen, counts))


def _first_texts(database: Database, params: Split) -> pd.DataFrame:
    """Return as many texts as are drawn, by hash, each with its smallest moment_id."""
    return database.frame(
        "select min(moment_id) as moment_id, arg_min(caption, moment_id) as caption"
        " from hashed where hash in (from texts order by hash limit $wanted)"
        " group by hash order by hash",
        wanted=params.val + params.test,
    )


def refuse_texts(queries: pd.DataFrame, path: Path = tables.FROZEN_QUERIES.path) -> None:
    """Stop if a query of a file can't be read as it is, or two have the same text.

    Raises:
        SplitError: so it is; it names their ids.
    """
    for name, query in zip(queries["query_id"], queries["query"], strict=True):
        if marks := list_unreadable(query):
            raise SplitError(f"{path}: {name} contains {marks[0]}: remove it")
    equal = queries[text_key(queries["query"]).duplicated(keep=False)]
    if len(equal):
        ids = ", ".join(equal["query_id"])
        raise SplitError(f"{path}: {ids} have the same text ({equal['query'].iloc[0]!r}): keep one")


def refuse_same_ids(queries: pd.DataFrame) -> None:
    """Stop if two queries have the same id.

    Raises:
        SplitError: they do; it names their texts.
    """
    same = queries[queries["query_id"].duplicated(keep=False)]
    if len(same):
        rows = same.sort_values(["query_id", "query"])[:2]
        first, second = rows["query"]
        raise SplitError(
            f"the query id {rows['query_id'].iloc[0]} stands for two texts, {first!r} and"
            f" {second!r}: reword one in {tables.REVIEW.path},"
            f" or change the id in {tables.FROZEN_QUERIES.path} if it is yours"
        )


def draw(shuffled: pd.DataFrame, distinct: int, params: Split) -> pd.DataFrame:
    """Draw `val`, then `test` queries from `moment_id, caption` with `distinct` texts in all.

    Raises:
        SplitError: there are fewer texts, or two of those drawn have the same id.
    """
    wanted = params.val + params.test
    if wanted > distinct:
        raise SplitError(
            f"split.val + split.test ask for {wanted} queries, but only {distinct} distinct"
            " captions are available; lower them in params.yaml"
        )
    val, test = shuffled[: params.val], shuffled[params.val : wanted]
    drawn = pd.concat([_as_queries(val, "val"), _as_queries(test, "test")])
    refuse_same_ids(drawn)
    return drawn


def _add_hashes(pool: pd.DataFrame, params: Split) -> pd.DataFrame:
    return pool[["moment_id", "caption"]].assign(hash=_hashes(pool["caption"], params))


def _hashes(texts: pd.Series, params: Split) -> pd.Series:
    """Return the hash of each text; its order is that of the draw, and equal texts share it."""
    hashes = [rng.draw(f"{params.seed}\n{key}") for key in text_key(texts)]
    return pd.Series(hashes, texts.index, dtype="str")


def _sources(drawn: pd.DataFrame) -> pd.Series:
    """Return the moments of the drawn queries: without `moment_id`, the id may be its moment's."""
    return drawn["moment_id"].fillna(drawn["query_id"])


def _as_queries(captions: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return captions as queries of a split; those for training have their moments' ids."""
    queries = captions.rename(columns={"caption": "query"}).assign(split=name)
    queries = queries.assign(stratum=tables.CAPTION, origin="corpus")
    if name != "train":
        return _name(queries)
    queries["query_id"] = queries["moment_id"]
    return queries[tables.QUERIES.columns].sort_values("query_id")


def _name(queries: pd.DataFrame) -> pd.DataFrame:
    """Return judged queries with ids, and sorted by them."""
    named = queries.assign(query_id=queries["query"].map(name_query).astype("str"))
    return named[tables.QUERIES.columns].sort_values("query_id")


def select_others(variants: pd.DataFrame, written: pd.DataFrame) -> pd.DataFrame:
    """Return the judged queries that are no captions, with the moment that each is made from.

    They are variants that passed, and accepted queries; a variant with the text of one of these is
    left out. A query that was changed has no `moment_id`.

    Raises:
        SplitError: two accepted queries have the same text, or characters that nobody sees.
    """
    written = written.assign(query_id=written["query"].map(name_query), moment_id=None)
    refuse_texts(written, tables.WRITTEN_QUERIES.path)
    passed = variants[variants["status"] == "passed"].assign(split="test", origin="model")
    passed = passed[~text_key(passed["query"]).isin(text_key(written["query"]))]
    sources = [*_name(passed)["moment_id"], *[None] * len(written)]
    passed["moment_id"] = passed["moment_id"].where(passed["stratum"] != "changed")
    both = pd.concat([_name(passed), _name(written)], ignore_index=True)
    return tables.QUERIES.check(both).assign(**{SOURCE: sources})


def _metrics(
    drawn: pd.DataFrame, train: int, frozen: pd.DataFrame, counts: dict[str, int]
) -> dict[str, Any]:
    sizes = {name: int((drawn["split"] == name).sum()) for name in tables.JUDGED_SPLITS}
    return {**sizes, "train": train, "frozen": bool(len(frozen)), **counts}


def main() -> None:
    """Draw the queries among the captions in use."""
    params = load()
    memory, modalities = params.engine.table_memory, params.ingest.query_modalities
    frozen = tables.FROZEN_QUERIES.read()
    others = select_others(tables.VARIANTS.read(), tables.WRITTEN_QUERIES.read())
    if captions.fits_in_memory(memory):
        pool = captions.read_pool(modalities, memory)
        table, metrics = split(pool, frozen, params.split, others)
        tables.QUERIES.write(table)
    else:
        with open_database(memory) as database:
            captions.load_pool(database, modalities)
            batches, metrics = split_large(database, frozen, params.split, others)
            tables.QUERIES.write_batches(batches)
    cli.write_metrics("split", metrics)


if __name__ == "__main__":
    cli.run_stage(main)
