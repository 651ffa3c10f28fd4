"""Names, rules and checks in shards by the hash of a text: the same captions and checks."""

import numpy as np
import pandas as pd
import pytest
from support.taggers import Eager

from pipeline.captions.checks import Limits, check
from pipeline.captions.rules.gender import Genders
from pipeline.captions.rules.rules_rewriter import Rules, RulesRewriter, find_rows
from pipeline.core.engine.text_rows import IN_PROCESS, RowMap
from pipeline.names.evidence.cast import Cast
from pipeline.names.finder import NameFinder
from pipeline.retrieval.similarity import unit_on_grid

PEOPLE = ("Okonkwo", "Mary", "Dr. Quill", "Nora Lee", "rook", "Will", "Caf\u00e9", "James")
DEEDS = ("waves to {}.", "takes his hat, and {} smiles.", "lifts her bag. It is in {}.")
CAST = Cast(frozenset({("nora", "lee")}), frozenset({("will",)}))
GENDERS = {"Nora Lee": "woman", "Rook": "man"}
LIMITS = Limits(0.85, 0.8, 0.6, masked=True)


def score_length(text):
    return 0.7 + len(text) / 1000


class Lengths:
    """An encoder to which texts are alike that share letters."""

    def encode(self, texts):
        counts = [[text.lower().count(letter) + 0.1 for letter in "aeiostnr"] for text in texts]
        return unit_on_grid(np.array(counts))


def texts():
    every = [
        f"{actor} {deed.format(target)}" for actor in PEOPLE for deed in DEEDS for target in PEOPLE
    ]
    return [
        *every,
        "A long way. " * 100 + "Okonkwo waves.",
        "the will of a man",
        "It is in Lower Quay.",
    ]


def work(map_rows):
    """Return all that the stage asks of names, rules and checks, of three attempts."""
    finder = NameFinder(Eager(score_length), texts(), CAST, map_rows=map_rows)
    rules = RulesRewriter.for_corpus(texts(), finder.find, GENDERS, CAST, map_rows)
    done = []
    for attempt in range(3):
        captions = rules.rewrite_texts(texts(), attempt)
        checks = check(
            captions,
            texts()[::-1],  # others' descriptions: not all are alike
            finder,
            Lengths(),
            LIMITS,
            find_described=rules.find_names,
            map_rows=map_rows,
        )
        done.append((captions, checks.to_dict("list"), finder.doubts(captions)))
    return done, rules.find_names(texts())


@pytest.fixture(scope="module")
def whole():
    done = work(IN_PROCESS)
    captions, checks, doubts = done[0][0]
    assert captions != texts()
    assert any(doubts)
    assert len(set(checks["similarity"])) > len(PEOPLE)
    return done


@pytest.fixture
def rows(engine):
    """Return a function that makes the `RowMap` of an engine, which shares however few rows."""

    def make(shards, workers):
        changes = {"shards": shards, "workers": workers}
        return RowMap("rewrite", engine.model_copy(update=changes), few=0)

    return make


@pytest.mark.parametrize("shards", [1, 3, 8])
def test_shards_rewrite_and_check_the_same(whole, rows, tmp_path, shards):
    assert repr(work(rows(shards, workers=1))) == repr(whole)
    assert len(list((tmp_path / "parts/rewrite").glob("*.sha256.json"))) >= shards


def test_other_processes_do_the_same(rows):
    rules = Rules(Genders(names=frozenset({"rook"})), CAST)
    inputs = [(text, []) for text in texts()]
    results = rows(2, workers=2)(find_rows, rules, inputs)
    assert results == find_rows(rules, inputs)


def test_an_empty_corpus_has_nothing_to_share():
    finder = NameFinder(Eager(), [], CAST)
    rules = RulesRewriter.for_corpus([], finder.find)
    assert rules.rewrite_texts([]) == []
    assert pd.DataFrame(check([], [], finder, Lengths(), LIMITS)).empty
