"""The checks of written queries: what forbids one, what the lead should look at."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.roster.roster import Account, Person, write
from annotation.writing import query_checks
from annotation.writing.query_checks import (
    NEAR,
    check_queries,
    find_equal,
    list_faults,
)
from pipeline.core import tables
from pipeline.core.captions import text_key
from pipeline.core.params import PARAMS, load
from pipeline.core.tables import PRIVATE
from pipeline.distribution.scan import read_private
from pipeline.retrieval.embeddings import Store, distinct
from pipeline.retrieval.similarity import unit_on_grid

PEOPLE = {7: Person(role="annotator", active=True)}
ACCOUNT = Account(email="gil@example.org", name="Gil Hardwick")


@pytest.fixture
def private(folder):
    write(PEOPLE, {7: ACCOUNT})
    return read_private(PRIVATE)


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("a dog barks", None),
        ("?!", "has no word"),
        ("a\u200bdog", "contains U+200B"),
        ("a dog " * 4, "has 24 characters, over ingest.max_characters (20)"),
        ("Gil Hardwick sits", "contains a name from annotators.private.yaml"),
        ("a gil of a fish", None),  # a word that is part of a name only
        ("ask gil@example.org", "contains an address or a password from annotators.private.yaml"),
        ("ask x@y.example", "contains an e-mail address"),
    ],
)
def test_what_forbids_a_query_by_itself(private, query, fault):
    longest = 20 if "characters" in str(fault) else 100
    assert list(list_faults(query, longest, private)) == ([fault] if fault else [])


@given(st.lists(st.tuples(st.sampled_from(["a dog", "A DOG ", "a cat", "dogs"]), st.booleans())))
def test_a_text_is_known_from_the_first_that_was_not_refused(rows):
    queries, earlier = [text for text, _ in rows], [(str(n), c) for n, (_, c) in enumerate(rows)]
    keys = list(text_key(pd.Series(queries, dtype="str")))
    for at, problems in enumerate(find_equal(queries, earlier)):
        before = [n for n in range(at) if keys[n] == keys[at] and rows[n][1]]
        assert problems == [f"is the query of {n}" for n in before[:1]]


ASKED = [
    ("somebody juggles", "open"),
    ("Somebody juggles", "open"),
    ("somebody is juggling", "open"),
    ("a man reads a book", "refused"),
    ("a man reads the book", "open"),
    ("un homme lit un livre dans le jardin", "open"),
    ("Caption: a man sells bread (fresh", "open"),
    ("Nora drinks tea", "open"),
    ("a woman opens the door", "open"),
]
VECTORS = {"juggl": [1, 0, 0, 0], "book": [0, 1, 0, 0], "door": [0, 0, 1, 0]}


class Encoder:
    """Texts with a word in common are equal, others are not alike."""

    def encode(self, texts):
        rows = [next((v for k, v in VECTORS.items() if k in t), None) for t in texts]
        alone = np.eye(20)[4:]
        known = [np.pad(row, (0, 16)) if row else alone[n] for n, row in enumerate(rows)]
        return unit_on_grid(np.array(known))


@pytest.fixture
def checked(folder, repository, tagger_file, monkeypatch):
    """Return the queries above, checked beside a corpus in which Nora lives."""
    text = (repository / PARAMS).read_text()
    (folder / PARAMS).write_text(text.replace("model: builtin  ", f"model: {tagger_file}  ", 1))
    monkeypatch.setattr(query_checks, "load_encoder", lambda params: Encoder())
    acts = ("walks down", "runs along", "crosses", "looks at")
    described = [f"Nora sees that a man {act} the street with his dog." for act in acts]
    ids = [f"m{number}" for number in range(len(described))]
    rows = {"moment_id": ids, "video_id": "v", "start": 0.0, "end": 1.0, "modality": "v"}
    tables.MOMENTS.write(pd.DataFrame(rows | {"description": described}))
    unmade = dict.fromkeys(["model", "prompt", "similarity", "name_score"])
    made = {"moment_id": ids, "source": "rules", "rounds": 0, "status": "passed"}
    captions = pd.DataFrame(made | unmade | {"caption": "A woman opens the door."})
    tables.CAPTIONS.write(captions)
    texts, unique = distinct(list(captions["caption"]))
    Store(tables.WORK / "embeddings", "x").finish(texts, [(texts, Encoder().encode(list(unique)))])
    tables.CAST.write(pd.DataFrame({"name": ["Nora"], "gender": ["female"]}))
    rows = [
        {"query": query, "decision": decision, "source": f"writer {number}", "split": "test"}
        for number, (query, decision) in enumerate(ASKED)
    ]
    empty = dict.fromkeys(["writer", "moment_id", "faults", "doubts", "note"])
    frame = pd.DataFrame(rows).assign(**empty, stratum="person", origin="person")
    asked = tables.ASKED_QUERIES.check(frame.assign(submitted_at=pd.Timestamp.now("UTC")))
    result = tables.ASKED_QUERIES.check(check_queries(asked, load()))
    return result[["query", "faults", "doubts"]].fillna("")


def test_each_query_is_told_what_is_wrong_with_it(checked):
    by_query = checked.set_index("query")
    faults, doubts = by_query["faults"].to_dict(), by_query["doubts"].to_dict()
    assert {query for query, fault in faults.items() if fault} == {ASKED[1][0], "Nora drinks tea"}
    assert faults[ASKED[1][0]] == "is the query of writer 0"
    assert faults["Nora drinks tea"] == "names Nora"
    assert doubts[ASKED[0][0]] == ""
    assert doubts[ASKED[2][0]].startswith('is nearly "')
    assert doubts["a man reads the book"] == "", "a refused one does not count"
    assert doubts[ASKED[5][0]].startswith("is in French")
    assert '"Caption:"' in doubts[ASKED[6][0]]
    assert "is nearly the caption of m0 (1.00)" in doubts["a woman opens the door"]
    assert NEAR < 1


def test_nothing_is_loaded_to_check_nothing(folder):
    nothing = tables.ASKED_QUERIES.empty()
    assert check_queries(nothing, None) is nothing
