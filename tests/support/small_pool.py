"""A small checkout whose pool learns: true levels follow a direction of the captions' vectors."""

from pathlib import Path

import numpy as np
import pandas as pd
from opened import OPEN
from support.campaign_cases import write_empty

from annotation import pool
from pipeline.campaign.campaign import write_campaign
from pipeline.campaign.pairs import PAIR_KEY, query_sha
from pipeline.core import tables
from pipeline.retrieval import embeddings
from pipeline.retrieval.similarity import unit_on_grid

QUERIES, MOMENTS, WIDTH = 8, 60, 6
FIRST, SIZE, TOP = 6, 3, 15
START = pd.Timestamp("2026-01-02T08:00:00Z")
SETTINGS = {
    "top: 40": f"top: {TOP}",
    "batch: 20": f"batch: {FIRST}",
    "further: similarity": "further: learned",
    "learned_batch: 10": f"learned_batch: {SIZE}",
    "depth: 1000": "depth: 50",
}


class SmallPool:
    """Its tables in the current folder, and what happens to them."""

    def __init__(self, params: str) -> None:
        for old, new in SETTINGS.items():
            assert f"  {old} " in params, old
            params = params.replace(f"  {old} ", f"  {new} ")
        self.write_params(params)
        rng = np.random.default_rng(3)
        moments = [f"m{number:02}" for number in range(MOMENTS)]
        self.texts = dict(zip(moments, [f"They do {m}." for m in moments], strict=True))
        vectors = unit_on_grid(rng.standard_normal((MOMENTS, WIDTH)))
        self._embed(list(self.texts.values()), vectors)
        wanted = rng.standard_normal((QUERIES, WIDTH))
        self.truth = {
            (f"q{q}", moment): int(np.clip(np.rint(1.5 + 2 * vectors[n] @ wanted[q]), 0, 4))
            for q in range(QUERIES)
            for n, moment in enumerate(moments)
        }
        similarity = 0.3 + 0.1 * vectors @ wanted.T + rng.normal(0, 0.1, (MOMENTS, QUERIES))
        self._write_tables(moments, similarity.round(6))
        self.open_campaign()
        pool.run()

    def write_params(self, text):
        """Write params.yaml."""
        self.params = text
        Path("params.yaml").write_text(text)

    def _embed(self, texts, vectors):
        keys = embeddings.text_ids(texts)
        order = np.argsort(keys)
        store = embeddings.Store(embeddings.FOLDER, "drawn")
        store.finish(keys[order], [(keys[order], vectors[order])])

    def _write_tables(self, moments, similarity):
        rows = []
        for q in range(QUERIES):
            best = np.argsort(-similarity[:, q], kind="stable")
            rows += [
                (f"q{q}", moments[n], rank, similarity[n, q]) for rank, n in enumerate(best, 1)
            ]
        ranked = pd.DataFrame(rows, columns=tables.NEIGHBOURS.columns)
        tables.NEIGHBOURS.write(ranked[ranked["rank"] <= 50])
        first = ranked[ranked["rank"] <= TOP]
        tables.CANDIDATES.write(first.assign(batch=1 + (first["rank"] > FIRST)))
        rest = ("none", None, None, 0, 1.0, 0.0, "passed")
        captions = [(moment, text, *rest) for moment, text in self.texts.items()]
        tables.CAPTIONS.write(pd.DataFrame(captions, columns=tables.CAPTIONS.columns))
        shown = [(moment, "v", 0.0, 5.0, text, "v") for moment, text in self.texts.items()]
        tables.MOMENTS.write(pd.DataFrame(shown, columns=tables.MOMENTS.columns))
        asked = [(f"q{q}", f"Text of q{q}", "test", None) for q in range(QUERIES)]
        tables.FROZEN_QUERIES.write(pd.DataFrame(asked, columns=tables.FROZEN_QUERIES.columns[:4]))
        write_empty(tables.FAILED_CLIPS)

    def open_campaign(self, **changes):
        """Write a campaign.yaml."""
        write_campaign(OPEN.model_copy(update={"rehearsal": True, "further": "learned"} | changes))

    def judge(self, pairs=None, level_of=None, minute=None):
        """Show pairs (all of the pool), and have two people give each its true level."""
        wanted = tables.POOL.read() if pairs is None else pairs
        ledger, judgments = tables.PAIRS.read(), tables.JUDGMENTS.read()
        known = set(ledger[PAIR_KEY].itertuples(index=False, name=None))
        asked = wanted[PAIR_KEY].itertuples(index=False, name=None)
        new = [pair for pair in asked if pair not in known]
        level_of = level_of or (lambda query, moment: self.truth[query, moment])
        minute = len(ledger) if minute is None else minute
        shown, given = [], []
        for at, (query, moment) in enumerate(sorted(new), len(ledger)):
            shas = query_sha(f"Text of {query}"), f"c-{moment}"
            shown.append((at, query, moment, "v", 0.0, 5.0, 60.0, "Words.", 0.5, 1, *shas))
            if (level := level_of(query, moment)) is None:
                continue
            for who in (1, 2):
                when = START + pd.Timedelta(minutes=minute, seconds=who)
                rest = (who, level, None, when, 3.0, f"{at}@{who}", "1", "first", *shas)
                given.append((query, moment, *rest))
        more = pd.DataFrame(shown, columns=tables.PAIRS.columns)
        tables.PAIRS.write(tables.PAIRS.check(pd.concat([ledger, more], ignore_index=True)))
        rows = pd.DataFrame(given, columns=tables.JUDGMENTS.columns)
        both = pd.concat([judgments, rows.astype({"level": "Int64"})], ignore_index=True)
        tables.JUDGMENTS.write(tables.JUDGMENTS.check(both))

    def next_round(self):
        """Judge what is there, and let the stage choose."""
        self.judge()
        pool.run()
        return tables.POOL.read()
