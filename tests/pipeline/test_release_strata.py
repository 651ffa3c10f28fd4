"""What a release says of strata, and of queries without an answer."""

import contextlib
import re

import pandas as pd
import pytest
from checkouts import Checkout, read_json

from pipeline.campaign import design, negatives
from pipeline.campaign.collection import ReleaseError
from pipeline.core import tables
from pipeline.pages import collection_section

QUERIES = [(f"q{n}", f"Query number {n}.", "test", "m1" if n < 4 else None) for n in range(8)]
STRATA = ["caption"] * 4 + ["changed"] * 4
NEAR = range(21, 27)


def make_pairs():
    """Return two ranks of each query: captions have answers, of the changed ones q4 alone."""
    level = {"q0": (4, 3), "q1": (4, 2), "q2": (4, 3), "q3": (3, 2), "q4": (2, 0)}
    pairs = []
    for query, *_ in QUERIES:
        for moment, own in zip(("m1", "m2"), level.get(query, (0, 1)), strict=True):
            pairs.append((len(pairs), query, moment, "c", (own, float(own), [own, own], "two")))
    return pairs


@pytest.fixture
def checkout(tmp_path, repository):
    made = Checkout(tmp_path, repository)
    pairs = make_pairs()
    votes = [(number, who, row[4][0], None) for number, row in enumerate(pairs) for who in (1, 2)]
    made.write(QUERIES, pairs, votes)
    with contextlib.chdir(tmp_path):
        shown = tables.PAIRS.read()
        tables.PAIRS.write(shown.assign(rank=shown["moment_id"].str[1:].astype(int)))
        frozen = tables.FROZEN_QUERIES.read().assign(stratum=STRATA)
        origin = frozen["stratum"].map({"caption": "corpus", "changed": "model"})
        tables.FROZEN_QUERIES.write(frozen.assign(origin=origin))
    return made


def audit(checkout, judged=True, **changes):
    """Draw an audit of four queries; people find nothing in it."""
    fields = {"seed": 1, "queries": 8, "drawn": 4, "pool": 30, "depth": 30, "near": 6, "deep": 0}
    with contextlib.chdir(checkout.folder):
        design.write(design.Design(**fields | changes))
        drawn = [
            (q, f"m{rank}", rank, 0.1, "near") for q in ("q0", "q1", "q4", "q5") for rank in NEAR
        ]
        audited = pd.DataFrame(drawn, columns=tables.AUDIT.columns)
        tables.AUDIT.write(audited)
        key = ["query_id", "moment_id"]
        tables.AUDIT_STRATA.write(audited[key].assign(stratum="unjudged", size=8))
        if judged:
            shown, levels = tables.PAIRS.read(), tables.CONSENSUS.read()
            new = audited[[*key, "rank"]].assign(**shown.iloc[0].drop([*key, "rank"]))
            new["video_id"] = "v-" + new["moment_id"]
            new["pair_id"] = range(100, 100 + len(new))
            tables.PAIRS.write(pd.concat([shown, new[shown.columns]]))
            zero = audited[key].assign(level=0, mean=0.0, outcome="two", voted_level=0)
            zero = zero.assign(voted_outcome="two", scores=[[0, 0]] * len(zero))
            tables.CONSENSUS.write(tables.CONSENSUS.check(pd.concat([levels, zero])))


def test_card_and_manifest_have_each_figure_by_stratum(checkout):
    folder = checkout.release()
    manifest, card = read_json(folder, "manifest.json"), (folder / "README.md").read_text()
    assert manifest["strata"] == {
        "caption": {"queries": 4, "negatives": 0, "origins": {"corpus": 4}},
        "changed": {"queries": 4, "negatives": 3, "origins": {"model": 4}},
    }
    rows = [line.strip("| ").split(" | ") for line in card.splitlines()]
    counted = {name: row for name, *row in rows if len(row) == len(collection_section.COUNTS)}
    names = ("Validation", "Test", "All", "Stratum caption", "Stratum changed")
    assert [counted[name][0] for name in names] == ["0", "8", "8", "4", "4"]
    own = {name: row for name, *row in rows}
    assert own["Relevant candidates of a query"][-2:] == ["2.00", "1.00"]
    assert [row[:3] for row in rows if row[0] in {"caption", "changed"} and len(row) == 12] == [
        ["caption", "4", "0"], ["changed", "4", "3"],
    ]  # fmt: skip
    assert "`changed`, 4 queries (made from captions)" in card
    assert "Leave one out by stratum" in card


def test_the_card_claims_a_bound_with_an_audit_alone(checkout):
    assert f"is not known: {negatives.NO_AUDIT}" in checkout.card()
    audit(checkout)
    manifest, card = checkout.manifest(), checkout.card()
    told = manifest["negatives"]
    # Of 5 answers that are no own moments (q0, q1 and q4 are audited), none was missed.
    assert (told["found"], told["later"], told["negative"]) == (1, 0, 3)
    assert told["by_stratum"]["changed"]["at_most"] == told["at_most"]
    assert 0 < told["at_most"] <= 1
    assert re.search(r"at most [\d.]+% of the negatives have an answer", card)
    assert "q5" in (checkout.folder / tables.RELEASE / "queries.tsv").read_text()


def test_what_an_audit_finds_makes_a_query_no_negative(checkout):
    audit(checkout)
    with contextlib.chdir(checkout.folder):
        levels = tables.CONSENSUS.read().set_index(["query_id", "moment_id"])
        levels.loc[("q5", "m25"), ["level", "voted_level"]] = 3
        tables.CONSENSUS.write(tables.CONSENSUS.check(levels.reset_index()))
    told = checkout.manifest()["negatives"]
    assert (told["found"], told["later"], told["negative"]) == (1, 1, 2)
    assert told["missed"] > 0
    listed = (checkout.folder / tables.RELEASE / "queries.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in listed if line.endswith("\tyes")] == ["q6", "q7"]


def test_an_audit_that_is_not_drawn_whole_tells_nothing(checkout):
    audit(checkout, judged=False, drawn=5)
    assert checkout.manifest()["negatives"]["unknown"] == negatives.AUDITING


def test_an_audit_without_its_strata_is_refused(checkout):
    audit(checkout)
    (checkout.folder / tables.AUDIT_STRATA.path).unlink()
    with pytest.raises(ReleaseError, match=r"audit_strata.csv: lacks pairs of .*audit.csv"):
        checkout.release()


def test_with_one_stratum_and_an_answer_to_each_query_nothing_is_said(checkout):
    with contextlib.chdir(checkout.folder):
        frozen = tables.FROZEN_QUERIES.read().assign(stratum="caption")
        tables.FROZEN_QUERIES.write(frozen)
        levels = tables.CONSENSUS.read()
        levels.loc[levels["moment_id"] == "m1", "level"] = 3
        tables.CONSENSUS.write(levels)
    folder = checkout.release()
    assert not {"strata", "negatives"} & read_json(folder, "manifest.json").keys()
    assert "| Mean | Validation | Test | All |\n" in (folder / "README.md").read_text()
