"""Show the pipeline's tables, and some queries with their nearest moments.

    python -m pipeline.show [--queries 3] [--top 5] [--seed 1]

Reads the tables under datasets/work/ and writes nothing: run it after `dvc repro`, and
read twenty queries before people are paid to judge them.
"""

import argparse
import sys
from functools import partial

import pandas as pd

from pipeline.core import cli, rng, tables
from pipeline.core.text import reveal


def format_queries(queries: pd.DataFrame, top: int) -> str:
    """Return queries (`query, rank, similarity, caption`) as an indented text for a terminal."""
    lines = []
    for query, rows in queries.groupby("query", sort=False):
        lines.append(f"\n  {query}")
        shown = rows[rows["rank"] <= top].itertuples()
        lines += [f"    {row.rank:>3}  {row.similarity:.3f}  {row.caption}" for row in shown]
    return reveal("\n".join(lines))


def draw_queries(count: int, seed: int) -> pd.DataFrame:
    """Read `count` queries, drawn by `seed`, with their candidates by rank."""
    rows = tables.CANDIDATES.read().merge(tables.CAPTIONS.read()[["moment_id", "caption"]])
    queries = tables.QUERIES.read()[["query_id", "query"]]
    rows = rows.merge(queries, on="query_id").sort_values(["query_id", "rank"])
    ids = rows["query_id"].drop_duplicates()
    some = ids.sample(min(count, len(ids)), random_state=rng.generator("show", seed))
    return rows[rows["query_id"].isin(some)]


def main(options: argparse.Namespace) -> None:
    """Print the tables and some queries."""
    write = sys.stdout.write
    for table in (tables.MOMENTS, tables.CAPTIONS, tables.QUERIES, tables.CANDIDATES):
        write(f"  {len(table.read()):>9,}  {table.path}\n")
    for path in sorted(tables.RELEASE.glob("*.json")):
        write(f"  {path.stat().st_size / 1e6:>6.1f} MB  {path}\n")
    write(format_queries(draw_queries(options.queries, options.seed), options.top) + "\n")


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Reads datasets/ in the current folder.")
    parser.add_argument(
        "--queries", type=cli.parse_positive, default=3, help="number of queries (3)"
    )
    parser.add_argument("--top", type=cli.parse_positive, default=5, help="moments per query (5)")
    parser.add_argument(
        "--seed", type=cli.parse_non_negative, default=1, help="seed of the draw (1)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
