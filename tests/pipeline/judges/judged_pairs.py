"""A small checkout in which people have judged candidates, for the tests of machines' judgments."""

from pathlib import Path

import numpy as np
from checkouts import write
from opened import OPEN

from pipeline.campaign.campaign import write_campaign
from pipeline.campaign.pairs import query_sha
from pipeline.core import files, tables
from pipeline.retrieval.embeddings import FOLDER, text_ids
from pipeline.retrieval.similarity import unit_on_grid

REPOSITORY = Path(__file__).parents[3]
MOMENTS = [f"m{number}" for number in range(12)]
QUERIES = {"v1": "val", "v2": "val", "v3": "val", "t1": "test"}
TOP, POOL_TOP = 10, 2
"""Only a machine judges the last two of the twelve moments."""


def _similarity(query, number):
    return round(0.9 - 0.05 * number - 0.01 * list(QUERIES).index(query), 6)


def rank_moments(query, numbers, *more):
    """Return rows of pairs with rank and similarity."""
    return [(query, MOMENTS[n], n + 1, _similarity(query, n), *more) for n in numbers]


def make_people_levels():
    """Return the level of each candidate, by query and number."""
    return {(query, n): max(0, 4 - n // 2) for query in QUERIES for n in range(8)}


def write_levels(levels, **changed_shas):
    """Write what people came to, and the ledger of what they were shown."""
    sha = {query: query_sha(f"Text of {query}.") for query in QUERIES} | changed_shas
    write(tables.PAIRS, [
        (at, q, MOMENTS[n], f"v-{MOMENTS[n]}", 1.0, 3.5, 60.0, "A man waves.", 0.5, n + 1, sha[q],
         f"c-{MOMENTS[n]}")
        for at, (q, n) in enumerate(levels)
    ])  # fmt: skip
    write(tables.CONSENSUS, [
        (q, MOMENTS[n], level, float(level), [level, level], "two", level, "two")
        for (q, n), level in levels.items()
    ])  # fmt: skip


def write_checkout(folder):
    """Write the tables that the stage reads into the current folder, `folder`."""
    text = (REPOSITORY / "params.yaml").read_text()
    text = text.replace("  top: 40 ", f"  top: {TOP} ").replace(
        "pool_top: 0 ", f"pool_top: {POOL_TOP} "
    )
    (folder / "params.yaml").write_text(text)
    asked = (None, tables.CAPTION, "corpus")
    texts = [(query, f"Text of {query}.", split, *asked) for query, split in QUERIES.items()]
    write(tables.QUERIES, texts)
    write(tables.FROZEN_QUERIES, texts)
    write(tables.MOMENTS, [(m, f"v-{m}", 1.0, 3.5, "He waves.", "v") for m in MOMENTS])
    write(tables.CAPTIONS, [
        (m, f"Caption {m}.", "rules", None, None, 0, 0.9, 0.0, "passed") for m in MOMENTS
    ])  # fmt: skip
    write(tables.CLIPS, [(m, f"c-{m}.mp4", f"c-{m}", 2.5) for m in MOMENTS if m != "m11"])
    rest = (1, "similarity", None, None)
    write(tables.POOL, [row for q in QUERIES for row in rank_moments(q, range(8), *rest)])
    write(tables.NEIGHBOURS, [row for q in QUERIES for row in rank_moments(q, range(12))])
    write(tables.AUDIT, rank_moments("v1", (0, 8), "near"))
    write(tables.TOPUP, rank_moments("t1", (9,), "run"))
    write(tables.POOLED_RUNS, [])
    write(tables.SECOND_LOOK, [])
    write(tables.EXTEND, [])
    write_campaign(OPEN)
    write_levels(make_people_levels())


def write_votes(levels):
    """Write two votes for each level of people's, and nothing that the lead decided."""
    write(tables.JUDGMENTS, [
        (q, MOMENTS[n], who, level, None, f"2024-05-03T12:{at:02}:0{who}Z", 3.0, f"{at}@{who}", "1",
         "first", query_sha(f"Text of {q}."), f"c-{MOMENTS[n]}")
        for at, ((q, n), level) in enumerate(levels.items()) for who in (1, 2)
    ])  # fmt: skip
    for table in (tables.VOIDED, tables.ADJUDICATIONS):
        write(table, [])


def write_embeddings():
    """Write embeddings by which the candidates of each query are the first moments."""
    texts = [*(f"Text of {query}." for query in QUERIES), *(f"Caption {m}." for m in MOMENTS)]
    angles = [*np.arange(len(QUERIES)) * 0.01, *np.arange(len(MOMENTS)) * 0.1 + 0.5]
    vectors = unit_on_grid(np.stack([np.cos(angles), np.sin(angles)], 1))
    ids, rows = np.unique(text_ids(texts), return_index=True)
    FOLDER.mkdir()
    np.save(FOLDER / "ids.npy", ids)
    np.save(FOLDER / "vectors.npy", vectors[rows])
    files.write_json(FOLDER / "index.json", {"ids": "ids.npy", "vectors": "vectors.npy"})
