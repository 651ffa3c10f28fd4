"""A finished rehearsal is released: others read what people made, and it is near the truth."""

import contextlib
import hashlib
import json
import re

import numpy as np
import pandas as pd
import pytest
from lazy import Lazy
from opened import OPEN, STANDARD
from support.campaign_cases import NONE_VOIDED
from support.rehearsed import checkout_of, rehearsed

from annotation import consensus, rehearsal
from annotation.label_studio import guideline
from annotation.pooling import published
from annotation.votes import campaign_votes, raw, raw_consensus
from annotation.votes.raw_consensus import Options
from momentrank.cli import main as cli
from momentrank.ids import decode_id
from pipeline import release
from pipeline.campaign.campaign import write_campaign
from pipeline.core import tables
from pipeline.core.cli import write_metrics
from pipeline.distribution import manifest as manifests
from pipeline.distribution.records import RECORDS

mlcroissant = Lazy("mlcroissant")

CAMPAIGN = OPEN.model_copy(
    update={"name": "Rehearsal", "rehearsal": True, "closed_at": "2024-05-02T09:00:00Z"}
)
CHECKED = ["val.json", "test.json"] + [
    f"qrels/{split}{kind}.qrels" for split in ("val", "test") for kind in ("", ".moments")
]
MOMENT = {"pair_id": int, "video_name": str, "timestamp": list, "duration": float}
MOMENT |= {"caption": str, "similarity": float, "relevance": int}
DOCUMENTS = ("manifest.json", "croissant.json", "qrels/levels.json")


def checkout(folder, repository, judgments, ledger, campaign=CAMPAIGN):
    """Write the text files of a campaign, and nothing else, and release; return the folder."""
    with checkout_of(folder, repository, rehearsed().queries, judgments, ledger):
        write_campaign(campaign)
        consensus.main()
        release.main()
    return folder / tables.RELEASE


@pytest.fixture(scope="module")
def release_folder(tmp_path_factory, repository):
    """Return the folder of the release of the finished campaign."""
    finished = rehearsed()
    return checkout(
        tmp_path_factory.mktemp("r") / "c", repository, finished.judgments, finished.ledger
    )


def read_json(folder, name):
    return json.loads((folder / name).read_text())


def moments(folder, *splits):
    """Return the judged moments of some splits, in one frame."""
    rows = [
        {"query_id": query["query_id"], **moment}
        for split in splits or ("val", "test")
        for query in read_json(folder, f"{split}.json")
        for moment in query["relevant_moment"]
    ]
    return pd.DataFrame(rows)


def hashes(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_validate_accepts_everything_that_is_scored_or_trained_on(release_folder, capsys):
    assert cli.main(["validate", *(str(release_folder / name) for name in CHECKED)]) == 0
    output = capsys.readouterr().out
    assert output.count("qrels (tvr-ranking)") == output.count("qrels (trec)") == 2
    assert output.count("release 0.1.0") == len(CHECKED), "the manifest names each"
    assert cli.main(["validate", *(str(release_folder / name) for name in DOCUMENTS)]) == 0
    output = capsys.readouterr().out
    assert "levels (json): 5 levels" in output
    assert output.count("files, all with matching SHA-256") == 2


def test_the_published_training_code_finds_what_it_reads(release_folder):
    """What it expects of its files, as asserts.

    Training and evaluation data are lists; moments are objects of their own, with whole numbers
    for ids and levels, and times in seconds.
    """
    for name in ("val.json", "test.json"):
        queries = read_json(release_folder, name)
        assert isinstance(queries, list)
        assert queries
        for query in queries:
            types = {name: type(value) for name, value in query.items()}
            assert types.pop("query_key") is str, "the id in all other files; not read"
            assert types == {"query_id": int, "query": str, "relevant_moment": list}
            assert query["relevant_moment"], "an empty list would be a query without ground truth"
            for moment in query["relevant_moment"]:
                assert {name: type(value) for name, value in moment.items()} == MOMENT
                start, end = moment["timestamp"]
                assert isinstance(start, float)
                assert 0 <= start < end <= moment["duration"] + 1
                assert 0 <= moment["relevance"] <= 4, "it is sorted, and an exponent of 2"
                assert -1 <= moment["similarity"] <= 1
        ids = [query["query_id"] for query in queries]
        assert len(set(map(str, ids))) == len(ids)


def test_a_rehearsal_ends_with_the_agreement_of_the_card(release_folder):
    card = " ".join((release_folder / "README.md").read_text().split())
    with contextlib.chdir(release_folder.parent.parent):
        write_metrics("reference_runs", {"test": {"runs": {}}})
        [line] = [line for line in rehearsal.outcome().splitlines() if "agreement" in line]
    near, alpha = re.search(
        r"([\d.]+) % within 1, ordinal alpha ([\d.]+) \(first two", line
    ).groups()
    assert f"ordinal alpha {alpha}, " in card
    assert f"{near}% at most one level apart" in card


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_consensus_is_closer_to_the_truth_than_one_annotator(seed):
    """The exact mean is; the level, which is rounded up, errs less often by more than 1."""
    finished = rehearsed(seed=seed)
    agreed = campaign_votes.consensus(
        finished.judgments, finished.ledger, NONE_VOIDED, closed=True
    ).dropna(subset="level")
    single = finished.judgments.dropna(subset="level")

    def errors(table, column):
        truth = [finished.truth(*pair) for pair in table[["query_id", "moment_id"]].to_numpy()]
        return abs(table[column].astype(float) - np.array(truth))

    single_errors = errors(single, "level")
    mean_errors, level_errors = errors(agreed, "mean"), errors(agreed, "level")
    assert mean_errors.mean() < single_errors.mean()
    assert (mean_errors**2).mean() < 0.7 * (single_errors**2).mean()
    assert (level_errors <= 1).mean() >= max(0.97, (single_errors <= 1).mean())


def test_the_raw_votes_give_the_released_levels_again(release_folder, tmp_path):
    options = Options(release_folder / "raw_annotation.csv", tmp_path / "levels.csv")
    raw_consensus.run(options)
    actual = pd.read_csv(tmp_path / "levels.csv").dropna(subset="level").set_index("pair_id")
    expected = (
        pd.read_csv(release_folder / "consensus.csv").dropna(subset="level").set_index("pair_id")
    )
    pd.testing.assert_series_equal(actual["level"], expected["level"], check_dtype=False)
    pd.testing.assert_series_equal(actual["mean"], expected["mean"])
    relevance = moments(release_folder).set_index("pair_id")["relevance"]
    assert relevance.to_dict() == expected["level"].astype(int).to_dict()
    judged = published.read_judged(release_folder / f"{split}.json" for split in ("val", "test"))
    counts = published.compare_levels(raw.read(release_folder / "raw_annotation.csv"), judged)
    assert counts.pop("same") == len(expected)
    assert set(counts.values()) == {0}


def test_the_same_inputs_are_the_same_bytes_in_whatever_order(release_folder, tmp_path, repository):
    finished = rehearsed()
    shuffled = (
        frame.sample(frac=1, random_state=3) for frame in (finished.judgments, finished.ledger)
    )
    again = checkout(tmp_path / "c", repository, *shuffled)
    assert hashes(again) == hashes(release_folder)


def test_a_pair_keeps_its_number_in_a_later_release(release_folder, tmp_path, repository):
    judgments, ledger = rehearsed().rounds[0]
    half = judgments.iloc[: len(judgments) * 2 // 3]
    running = CAMPAIGN.model_copy(update={"closed_at": None})
    private = tmp_path / "c/datasets/campaign/annotators.private.yaml"
    private.parent.mkdir(parents=True)
    private.write_text("accounts: {}\n")
    early = checkout(tmp_path / "c", repository, half, ledger, running)
    key = ["query_id", "video_name", "timestamp"]
    before, after = (
        frame.astype({"timestamp": str}).set_index("pair_id")[key]
        for frame in (moments(early), moments(release_folder))
    )
    assert 0 < len(before) < len(after)
    both = before.index.intersection(after.index)
    assert len(both) > 0.9 * len(before)
    pd.testing.assert_frame_equal(before.loc[both], after.loc[both])
    first, last = (pd.read_csv(folder / "pairs.csv") for folder in (early, release_folder))
    pd.testing.assert_frame_equal(first, last.head(len(first)))
    manifest = read_json(early, "manifest.json")
    assert (manifest["complete"], manifest["standing"]["campaign"]) == (False, "open")
    assert manifest["standing"]["pairs_waiting"] > 0


def test_a_rehearsal_says_so_on_every_page(release_folder):
    assert read_json(release_folder, "manifest.json")["rehearsal"] is True
    for name in ("README.md", "manifest.json", "croissant.json"):
        assert manifests.SIMULATED[:-1] in " ".join((release_folder / name).read_text().split())
    assert "(rehearsal)" in read_json(release_folder, "croissant.json")["name"]
    head = (release_folder / "README.md").read_text().split("---\n")[1]
    assert "- rehearsal\n" in head


def test_the_manifest_holds_every_file(release_folder):
    manifest = read_json(release_folder, "manifest.json")
    checksums = hashes(release_folder)
    del checksums["manifest.json"]
    assert {path: entry["sha256"] for path, entry in manifest["files"].items()} == checksums
    assert manifest["files"]["pairs.csv"]["rows"] == len(rehearsed().ledger)
    assert manifest["files"]["val.json"]["rows"] == 10
    assert manifest["complete"] is True
    assert manifest["date"] == "2024-05-02"


def test_the_croissant_is_valid_and_its_records_are_the_tables(release_folder):
    dataset = mlcroissant.Dataset(jsonld=release_folder / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings

    def records(name):
        return [
            {key.rpartition("/")[2]: value for key, value in record.items()}
            for record in dataset.records(name)
        ]

    raw = pd.read_csv(release_folder / "raw_annotation.csv")
    assert records("raw_annotation") == raw.to_dict("records")
    numbers = rehearsed().ledger["pair_id"].tolist()
    assert [int(row["pair_id"]) for row in records("pairs")] == numbers
    levels = pd.read_csv(release_folder / "consensus.csv")["level"]
    read = pd.Series([row["level"] for row in records("consensus")], dtype="float64")
    assert read.equals(levels.astype("float64"))
    qrels = (
        f"{row['query-id'].decode()} 0 {row['corpus-id'].decode()} {row['score']}\n"
        for row in records("qrels_test")
    )
    assert "".join(qrels) == (release_folder / "qrels/test.moments.qrels").read_text()
    rows = read_json(release_folder, "manifest.json")["files"]
    for path in RECORDS:
        file_records = records(path.rpartition(".")[0].replace("/", "_"))
        assert len(file_records) == rows[path]["rows"]


def test_the_parquet_tables_belong_together(release_folder):
    corpus = pd.read_parquet(release_folder / "captions/corpus.parquet")
    for split in ("val", "test"):
        queries, qrels, top = (
            pd.read_parquet(release_folder / f"{name}/{split}.parquet")
            for name in ("queries", "qrels", "top_ranked")
        )
        assert list(queries) == ["_id", "text"]
        assert list(qrels) == ["query-id", "corpus-id", "score"]
        assert set(qrels["query-id"]) == set(queries["_id"]) == set(top["query-id"])
        assert set(qrels["corpus-id"]) <= set(corpus["_id"])
        top_moments = {row["query-id"]: list(row["corpus-ids"]) for row in top.to_dict("records")}
        for query, moment in zip(qrels["query-id"], qrels["corpus-id"], strict=True):
            assert moment in top_moments[query]
        ledger = rehearsed().ledger.sort_values(["query_id", "moment_id"])
        for query, ids in top_moments.items():
            assert ids == ledger.loc[ledger["query_id"] == query, "moment_id"].tolist()
        tsv = [
            line.split("\t")
            for line in (release_folder / "queries.tsv").read_text().splitlines()[1:]
        ]
        assert dict(zip(queries["_id"], queries["text"], strict=True)) == {
            decode_id(query): text for query, text, own, *_ in tsv if own == split
        }


def test_no_id_and_no_order_shows_the_moment_that_a_query_was_made_from(release_folder):
    """In no file is it the first, or the last, of its query's moments more often than by chance."""
    queries, ledger = rehearsed().queries, rehearsed().ledger
    moment = dict(zip(queries["query_id"], queries["moment_id"], strict=True))
    assert not set(queries["query_id"]) & set(ledger["moment_id"])
    by_pair = ledger.set_index("pair_id")["moment_id"]
    found = {"pairs.csv": {}, "json": {}, "qrels": {}, "top_ranked": {}}
    listed = pd.read_csv(release_folder / "pairs.csv")
    for query, rows in listed.groupby("query_id"):
        found["pairs.csv"][query] = rows["pair_id"].map(by_pair).tolist()
    for split in ("val", "test"):
        for query in read_json(release_folder, f"{split}.json"):
            pairs = [by_pair[pair["pair_id"]] for pair in query["relevant_moment"]]
            found["json"][query["query_key"]] = pairs
        qrels = pd.read_parquet(release_folder / f"qrels/{split}.parquet")
        found["qrels"] |= qrels.groupby("query-id")["corpus-id"].apply(list).to_dict()
        top = pd.read_parquet(release_folder / f"top_ranked/{split}.parquet")
        found["top_ranked"] |= dict(zip(top["query-id"], top["corpus-ids"].map(list), strict=True))
    for name, moments in found.items():
        places = [
            ids.index(moment[query]) / (len(ids) - 1)
            for query, ids in moments.items()
            if moment[query] in ids
        ]
        assert len(places) > 30, name
        assert 0.35 < np.mean(places) < 0.65, name
        assert np.mean([place == 0 for place in places]) < 0.25, name


def test_levels_mean_what_the_guideline_says(release_folder):
    document = read_json(release_folder, "qrels/levels.json")
    assert document["guideline"] == "1"
    guide = guideline.current(STANDARD)
    assert document["levels"]["4"]["name"] == guide.levels[4].name
    assert list(document["levels"]) == ["0", "1", "2", "3", "4"]
