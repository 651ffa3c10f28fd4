"""A finished rehearsal is released: others read what people made, and it is near the truth."""

import contextlib
import hashlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from campaign_cases import NONE_VOIDED
from lazy import Lazy
from opened import OPEN
from project import name_collection
from rehearsed import rehearsed

from annotation import consensus
from annotation.pooling import published
from annotation.votes import raw, raw_consensus
from annotation.votes.raw_consensus import Options
from momentrank import formats
from momentrank.cli import main as cli
from momentrank.ids import decode_id
from pipeline import release
from pipeline.campaign.campaign import write_campaign
from pipeline.core import files, tables
from pipeline.distribution.records import RECORDS

mlcroissant = Lazy("mlcroissant")

CAMPAIGN = OPEN.model_copy(
    update={"name": "Rehearsal", "rehearsal": True, "closed_at": "2024-05-02T09:00:00Z"}
)
CHECKED = ["val.json", "test.json"] + [
    f"qrels/{split}{kind}.qrels" for split in ("val", "test") for kind in ("", ".moments", ".skill")
]
MOMENT = {"pair_id": int, "video_name": str, "timestamp": list, "duration": float}
MOMENT |= {"caption": str, "similarity": float, "relevance": int}
DOCUMENTS = ("manifest.json", "croissant.json", "qrels/levels.json")


def checkout(folder, repository, judgments, ledger, campaign=CAMPAIGN):
    """Write the text files of a campaign, and nothing else, and release; return the folder."""
    (folder / "annotation").mkdir(parents=True)
    shutil.copytree(repository / "annotation/guideline", folder / "annotation/guideline")
    shutil.copy(repository / "params.yaml", folder)
    name_collection(folder / "params.yaml")
    with contextlib.chdir(folder):
        tables.FROZEN_QUERIES.write(rehearsed().queries)
        tables.JUDGMENTS.write(judgments)
        tables.PAIRS.write(ledger)
        tables.AUDIT.write(tables.AUDIT.empty())
        tables.TOPUP.write(tables.TOPUP.empty())
        for table in (tables.VOIDED, tables.GOLD, tables.EXAM, tables.ADJUDICATIONS):
            table.write(table.empty())
        write_campaign(campaign)
        consensus.main()
        release.main()
    return folder / tables.RELEASE


@pytest.fixture(scope="module")
def released(tmp_path_factory, repository):
    """Return the folder of the release of the finished campaign."""
    made = rehearsed()
    return checkout(tmp_path_factory.mktemp("r") / "c", repository, made.judgments, made.ledger)


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


def test_validate_accepts_everything_that_is_scored_or_trained_on(released, capsys):
    assert cli.main(["validate", *(str(released / name) for name in CHECKED)]) == 0
    told = capsys.readouterr().out
    assert told.count("qrels (tvr-ranking)") == told.count("qrels (trec)") == 2
    assert told.count("release 0.1.0") == len(CHECKED), "the manifest names each"
    assert cli.main(["validate", *(str(released / name) for name in DOCUMENTS)]) == 0
    told = capsys.readouterr().out
    assert "levels (json): 5 levels" in told
    assert told.count("files, all with matching SHA-256") == 2


def test_json_and_qrels_say_the_same(released):
    for split in ("val", "test"):
        names = (f"{split}.json", f"qrels/{split}.qrels")
        pd.testing.assert_frame_equal(*(formats.read_qrels(released / name) for name in names))


def test_the_published_training_code_finds_what_it_reads(released):
    """What it expects of its files, as asserts.

    Training and evaluation data are lists; moments are objects of their own, with whole numbers
    for ids and levels, and times in seconds.
    """
    for name in ("val.json", "test.json"):
        queries = read_json(released, name)
        assert isinstance(queries, list)
        assert queries
        for query in queries:
            types = {name: type(value) for name, value in query.items()}
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


def test_levels_are_near_the_truth(released):
    found = moments(released)
    ledger = pd.read_csv(released.parent / "campaign/pairs.csv", dtype={"moment_id": str})
    moment = ledger.set_index("pair_id")["moment_id"]
    truth = [
        rehearsed().truth(str(query), moment[pair])
        for query, pair in zip(found["query_id"], found["pair_id"], strict=True)
    ]
    assert (abs(found["relevance"] - truth) <= 1).mean() >= 0.97


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_consensus_is_closer_to_the_truth_than_one_annotator(seed):
    """The exact mean is; the level, which is rounded up, errs less often by more than 1."""
    made = rehearsed(seed=seed)
    agreed = consensus.consensus(made.judgments, made.ledger, NONE_VOIDED, closed=True).dropna(
        subset="level"
    )
    single = made.judgments.dropna(subset="level")

    def errors(table, column):
        truth = [made.truth(*pair) for pair in table[["query_id", "moment_id"]].to_numpy()]
        return abs(table[column].astype(float) - np.array(truth))

    of_all = errors(single, "level")
    of_mean, of_level = errors(agreed, "mean"), errors(agreed, "level")
    assert of_mean.mean() < of_all.mean()
    assert (of_mean**2).mean() < 0.7 * (of_all**2).mean()
    assert (of_level <= 1).mean() >= max(0.97, (of_all <= 1).mean())


def test_the_raw_votes_give_the_released_levels_again(released, tmp_path):
    options = Options(released / "raw_annotation.csv", tmp_path / "levels.csv")
    raw_consensus.run(options)
    again = pd.read_csv(tmp_path / "levels.csv").dropna(subset="level").set_index("pair_id")
    told = pd.read_csv(released / "consensus.csv").dropna(subset="level").set_index("pair_id")
    pd.testing.assert_series_equal(again["level"], told["level"], check_dtype=False)
    pd.testing.assert_series_equal(again["mean"], told["mean"])
    relevance = moments(released).set_index("pair_id")["relevance"]
    assert relevance.to_dict() == told["level"].astype(int).to_dict()
    judged = published.read_judged(released / f"{split}.json" for split in ("val", "test"))
    found = published.compare_levels(raw.read(released / "raw_annotation.csv"), judged)
    assert found.pop("same") == len(told)
    assert set(found.values()) == {0}


def test_the_same_inputs_are_the_same_bytes_in_whatever_order(released, tmp_path, repository):
    made = rehearsed()
    shuffled = (frame.sample(frac=1, random_state=3) for frame in (made.judgments, made.ledger))
    again = checkout(tmp_path / "c", repository, *shuffled)
    assert hashes(again) == hashes(released)


def test_a_pair_keeps_its_number_in_a_later_release(released, tmp_path, repository):
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
        for frame in (moments(early), moments(released))
    )
    assert 0 < len(before) < len(after)
    both = before.index.intersection(after.index)
    assert len(both) > 0.9 * len(before)
    pd.testing.assert_frame_equal(before.loc[both], after.loc[both])
    first, last = (pd.read_csv(folder / "pairs.csv") for folder in (early, released))
    pd.testing.assert_frame_equal(first, last.head(len(first)))
    told = read_json(early, "manifest.json")
    assert (told["complete"], told["standing"]["campaign"]) == (False, "open")
    assert told["standing"]["pairs_waiting"] > 0


def test_a_rehearsal_says_so_on_every_page(released):
    assert read_json(released, "manifest.json")["rehearsal"] is True
    said = "This is a rehearsal: its judgments may be simulated"
    for name in ("README.md", "manifest.json", "croissant.json"):
        assert said in (released / name).read_text()
    assert "(rehearsal)" in read_json(released, "croissant.json")["name"]
    head = (released / "README.md").read_text().split("---\n")[1]
    assert "- rehearsal\n" in head


def test_the_manifest_holds_every_file(released):
    told = read_json(released, "manifest.json")
    found = hashes(released)
    del found["manifest.json"]
    assert {path: one["sha256"] for path, one in told["files"].items()} == found
    assert told["files"]["pairs.csv"]["rows"] == len(rehearsed().ledger)
    assert told["files"]["val.json"]["rows"] == 10
    assert told["complete"] is True
    assert told["date"] == "2024-05-02"


def test_the_croissant_is_valid_and_its_records_are_the_tables(released):
    dataset = mlcroissant.Dataset(jsonld=released / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings

    def records(name):
        return [
            {key.rpartition("/")[2]: value for key, value in record.items()}
            for record in dataset.records(name)
        ]

    raw = pd.read_csv(released / "raw_annotation.csv")
    assert records("raw_annotation") == raw.to_dict("records")
    numbers = rehearsed().ledger["pair_id"].tolist()
    assert [int(row["pair_id"]) for row in records("pairs")] == numbers
    levels = pd.read_csv(released / "consensus.csv")["level"]
    read = pd.Series([row["level"] for row in records("consensus")], dtype="float64")
    assert read.equals(levels.astype("float64"))
    qrels = (
        f"{row['query-id'].decode()} 0 {row['corpus-id'].decode()} {row['score']}\n"
        for row in records("qrels_test")
    )
    assert "".join(qrels) == (released / "qrels/test.moments.qrels").read_text()
    rows = read_json(released, "manifest.json")["files"]
    for path in RECORDS:
        found = records(path.rpartition(".")[0].replace("/", "_"))
        assert len(found) == rows[path]["rows"]


def test_the_parquet_tables_belong_together(released):
    corpus = pd.read_parquet(released / "corpus/corpus.parquet")
    for split in ("val", "test"):
        queries, qrels, top = (
            pd.read_parquet(released / f"{name}/{split}.parquet")
            for name in ("queries", "qrels", "top_ranked")
        )
        assert list(queries) == ["_id", "text"]
        assert list(qrels) == ["query-id", "corpus-id", "score"]
        assert set(qrels["query-id"]) == set(queries["_id"]) == set(top["query-id"])
        assert set(qrels["corpus-id"]) <= set(corpus["_id"])
        shown = {row["query-id"]: list(row["corpus-ids"]) for row in top.to_dict("records")}
        for query, moment in zip(qrels["query-id"], qrels["corpus-id"], strict=True):
            assert moment in shown[query]
        ledger = rehearsed().ledger.sort_values(["query_id", "rank"])
        for query, ids in shown.items():
            assert ids == ledger.loc[ledger["query_id"] == query, "moment_id"].tolist()
        tsv = [line.split("\t") for line in (released / "queries.tsv").read_text().splitlines()[1:]]
        assert dict(zip(queries["_id"], queries["text"], strict=True)) == {
            decode_id(query): text for query, text, own, _ in tsv if own == split
        }


def test_the_cards_head_names_files_that_are_there(released):
    head = (released / "README.md").read_text().split("---\n")[1]
    path = released.parent / "head.yaml"
    path.write_text(head)
    configs = {one["config_name"]: one["data_files"] for one in files.read_yaml(path)["configs"]}
    assert {"queries", "corpus", "qrels", "top_ranked", "train_top20"} <= set(configs)
    named = {one["path"] for name, listed in configs.items() for one in listed if "top" in name}
    own = {
        one["path"] for listed in configs.values() for one in listed if "train" not in one["path"]
    }
    assert {"train_top01.parquet", "train_top20.parquet", "train_top40.parquet"} <= named
    assert all((released / path).is_file() for path in own)


def test_levels_mean_what_the_guideline_says(released):
    told = read_json(released, "qrels/levels.json")
    assert told["guideline"] == "1"
    assert told["levels"]["4"]["name"] == "Perfect match"
    assert list(told["levels"]) == ["0", "1", "2", "3", "4"]
