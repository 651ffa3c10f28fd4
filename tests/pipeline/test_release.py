"""What is released of hostile, half-made and odd tables; and what is refused."""

import contextlib
import json
import re
import shutil
from xml.etree import ElementTree

import pandas as pd
import pytest
from absl import logging as absl_logging
from checkouts import (
    CLOSED,
    OPEN,
    PAIRS,
    QUERIES,
    VOTES,
    Checkout,
    consensus_rows,
    judgment,
    read_json,
    write,
)
from german import GERMAN
from lazy import Lazy
from project import NAMED, name_collection

from momentrank import formats
from momentrank.cli.main import main as momentrank
from momentrank.formats.validation import describe
from momentrank.ids import decode_id, query_number
from pipeline.campaign.campaign import Campaign
from pipeline.campaign.collection import ReleaseError, select_distinct_texts
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import captions, csv_files, files, tables
from pipeline.core.files import FileError
from pipeline.core.params import load
from pipeline.distribution import facts, settings

mlcroissant, torch = Lazy("mlcroissant"), Lazy("torch")


@pytest.fixture
def checkout(tmp_path, repository):
    return Checkout(tmp_path, repository)


@pytest.fixture(scope="module")
def release(tmp_path_factory, repository):
    """Return the folder of a release of the usual tables."""
    return Checkout(tmp_path_factory.mktemp("released"), repository).release()


def read_rows(folder, name) -> list[list[str]]:
    return [line.split(",") for line in (folder / name).read_text().splitlines()]


# What goes where


def test_a_pair_that_was_shown_anew_counts_as_it_was_last_shown(release):
    [query] = read_json(release, "val.json")
    levels = [(moment["pair_id"], moment["relevance"]) for moment in query["relevant_moment"]]
    assert levels == [(7, 4), (1, 3)]
    assert [row[0] for row in read_rows(release, "pairs.csv")[1:]] == ["1", "2", "3", "4", "5", "7"]


def test_discarded_pairs_are_among_the_votes_and_nowhere_with_a_level(release):
    votes = [[str(cell) for cell in row[:3]] for row in sorted(VOTES) if row[2] is not None]
    assert read_rows(release, "raw_annotation.csv")[1:] == votes
    [query] = read_json(release, "test.json")
    assert [moment["pair_id"] for moment in query["relevant_moment"]] == [3]
    assert (release / "qrels/test.qrels").read_text() == "q2 Q0 v-m2 1.5 3.0 0\n"
    assert (release / "qrels/test.moments.qrels").read_text() == "q2 0 m2 0\n"


def test_votes_without_a_level_stand_apart_with_their_reason(release):
    text = "pair_id,worker,reason\n5,1,broken-clip\n5,2,senseless-query\n"
    assert (release / "cant_judge.csv").read_text() == text


def test_the_exact_mean_stands_beside_the_level(release):
    rows = read_rows(release, "consensus.csv")
    assert rows[0][-3:] == ["voted_level", "voted_outcome", "reported"]
    assert rows[1] == ["1", "3", "2.5", "two", "candidates", "False", "3", "two", "False"]
    assert rows[2] == ["2", "", "", "discarded", "candidates", "False", "", "discarded", "False"]
    assert rows[5][:6] == ["5", "", "", "unjudgeable", "candidates", "False"]
    assert rows[5][6:] == ["", "unjudgeable", "False"]


def test_levels_from_a_second_look_are_marked_and_counted(checkout):
    with contextlib.chdir(checkout.folder):
        table = tables.CONSENSUS.read().set_index(PAIR_KEY)
        table.loc[("q1", "m2"), ["level", "outcome"]] = 1, "adjudicated"
        table.loc[("q2", "m2"), "outcome"] = "adjudicated"  # looked at, and left at 0
        table.loc[("q2", "m1"), ["level", "outcome"]] = 2, "adjudicated"  # a dispute
        table.loc[[("q1", "m2"), ("q2", "m2")], "mean"] = None
        tables.CONSENSUS.write(tables.CONSENSUS.check(table.reset_index()))
        reports = [("q2", "m2", "a.csv: 3", "reported"), ("q2", "m1", "a.csv: 0", "reported")]
        write(tables.SECOND_LOOK, [*reports, ("q1", "m2", "the door?", "lead")])
    folder = checkout.release()
    cells = {row[0]: row[5:7] for row in read_rows(folder, "consensus.csv")}
    assert (cells["1"], cells["3"]) == (["True", "3"], ["True", "0"])
    assert (cells["2"], cells["7"]) == (["False", ""], ["False", "4"])
    marked = [row[0] for row in read_rows(folder, "consensus.csv") if row[-1] == "True"]
    assert marked == ["3"], "of reported pairs, those that were settled and decided again"
    counts = read_json(folder, "manifest.json")["standing"]
    assert (counts["pairs_reported"], counts["pairs_reported_changed"]) == (1, 0)
    said = "2 pairs whose votes had given a level were decided again"
    for name in ("README.md", "croissant.json"):
        text = (folder / name).read_text()
        assert said in text
        assert "1 levels changed" in text
        assert "reported 1 of them as wrong: 0 of these changed, 1 were confirmed" in text
    metadata = mlcroissant.Dataset(jsonld=folder / "croissant.json").metadata
    assert not metadata.ctx.issues.errors
    assert said in str(metadata.data_annotation_protocol)


def test_card_and_croissant_say_what_hangs_on_each_run(checkout):
    _, query, moment, *_ = PAIRS[1]
    with contextlib.chdir(checkout.folder):
        write(tables.TOPUP, [(query, moment, 99, 0.5, "clip")])
        recorded = [("clip", query, 1, "v-m2", 1.5, 3.0, 1.5, 3.0)]
        write(tables.POOLED_RUNS, recorded)
    folder = checkout.release()
    [test] = [line for line in checkout.card().splitlines() if line.startswith("| Caption sim")]
    # The one test query has level 0 alone: nothing was found, and nothing can fall.
    assert test.split(" | ")[1:4] == ["0", "0", "\u2013"]
    steps = [line for line in checkout.card().splitlines() if line.startswith("| Found by clip")]
    assert steps == ["| Found by clip | 1 | 2 | 3.00 | 1 | 50.0 |"]
    bias = read_json(folder, "croissant.json")["rai:dataBiases"]
    assert "alone found 0 (0.0%)" in bias
    assert "Leave one out" in checkout.card()


def test_a_query_without_any_level_is_counted_and_not_released(release):
    assert (release / "queries.tsv").read_text() == (
        "query_id\tquery\tsplit\tnumber\tstratum\torigin\tnegative\n"
        f"q1\tShe waves.\tval\t{query_number('q1')}\tcaption\tcorpus\t\n"
        f"q2\tHe sits.\ttest\t{query_number('q2')}\tcaption\tcorpus\tyes\n"
    )
    manifest = read_json(release, "manifest.json")
    assert manifest["standing"]["queries_without_level"] == 1
    assert not manifest["complete"], "a pair waits"
    assert "Incomplete." in (release / "README.md").read_text()


@pytest.mark.parametrize(
    ("pairs", "complete"),
    [
        ([PAIRS[1], PAIRS[2], PAIRS[5]], True),
        ([PAIRS[1], PAIRS[2], (4, "q3", "m1", "c", (None, None, [1], "discarded"))], False),
        ([PAIRS[1], PAIRS[2]], False),
    ],
)
def test_complete_is_what_was_closed_with_nothing_given_up_or_left_out(checkout, pairs, complete):
    checkout.write(pairs=pairs)
    assert checkout.manifest()["complete"] is complete
    checkout.campaign(OPEN)
    checkout.private()
    assert checkout.manifest()["complete"] is False


def test_pairs_that_were_given_up_before_anybody_saw_them_leave_it_incomplete(checkout):
    checkout.write(pairs=[PAIRS[1], PAIRS[2], PAIRS[5]])
    checkout.campaign({**CLOSED, "given_up": 3})
    manifest = checkout.manifest()
    assert (manifest["complete"], manifest["standing"]["pairs_given_up"]) == (False, 3)


def test_each_pair_tells_what_brought_it_into_the_collection(checkout):
    number, query, moment, *_ = PAIRS[1]
    with contextlib.chdir(checkout.folder):
        write(tables.TOPUP, [(query, moment, 99, 0.5, "my system")])
    rows = {row[0]: row[4] for row in read_rows(checkout.release(), "consensus.csv")[1:]}
    assert rows.pop(str(number)) == "my system"
    assert set(rows.values()) == {"candidates"}


def test_the_card_counts_the_candidates_of_a_query_and_not_what_was_judged_besides(checkout):
    def row(name):
        lines = checkout.card().splitlines()
        return next(line.split(" | ") for line in lines if line.startswith(f"| {name}"))

    assert row("Candidates of a query")[1:] == ["2.00", "1.00", "1.50 |"]
    with contextlib.chdir(checkout.folder):
        write(tables.AUDIT, [("q1", "m2", 41, 0.5, "deep")])
    assert row("Candidates of a query")[1:] == ["1.00", "1.00", "1.00 |"]
    assert row("Relevant candidates")[1:] == ["1.00", "0.00", "0.50 |"]
    assert [row(part)[4] for part in ("Validation", "Test", "All")] == ["2", "1", "3"]


def test_ids_are_integers_where_all_of_them_are(checkout):
    queries = [("11", "She waves.", "val"), ("9", "He sits.", "test")]
    renamed = [(n, {"q1": "11", "q2": "9"}.get(q, q), *rest) for n, q, *rest in PAIRS]
    checkout.write(queries=queries, pairs=renamed)
    folder = checkout.release()
    assert [read_json(folder, f"{name}.json")[0]["query_id"] for name in ("val", "test")] == [11, 9]
    assert read_json(folder, "manifest.json")["standing"]["pairs_of_other_queries"] == 2


@pytest.mark.parametrize("qrels", ["val.json", "qrels/val.qrels"])
def test_what_a_trainer_predicts_by_the_integers_is_scored_against_json_and_qrels(
    release, tmp_path, capsys, qrels
):
    """The published code makes a tensor of query_id, and writes its predictions by it."""
    queries = read_json(release, "val.json")
    ids = torch.tensor([query["query_id"] for query in queries]).tolist()
    predictions = []
    for number, query in zip(ids, queries, strict=True):
        moments = sorted(query["relevant_moment"], key=lambda moment: -moment["relevance"])
        rows = [[it["video_name"], *it["timestamp"], it["relevance"]] for it in moments]
        predictions.append({"query_id": number, "predictions": rows})
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(predictions))
    assert momentrank(["evaluate", str(release / qrels), str(path), "nDCG(iou=0.7)@20"]) == 0
    output = capsys.readouterr()
    assert "nDCG(iou=0.7)@20\tall\t1.0000" in output.out
    assert "lacks" not in output.err


def test_of_equal_queries_only_the_judged_one_is_released(checkout):
    queries = [*QUERIES, ("q9", " HE sits.", "test", "m9")]
    checkout.write(queries=queries)
    assert [query["query_key"] for query in read_json(checkout.release(), "test.json")] == ["q2"]
    frame = pd.DataFrame(queries, columns=tables.FROZEN_QUERIES.columns[:4])
    assert select_distinct_texts(frame)["query_id"].tolist() == ["q1", "q2", "q3"]


def test_what_is_told_of_settings_is_what_dvc_knows_and_no_path_of_this_machine(repository):
    stages = files.read_yaml(repository / "dvc.yaml")["stages"]
    read = {*settings.USED, "ingest.source", "ingest.language"}
    assert set(stages["release"]["params"]) == read
    params = load(repository / "params.yaml")
    embed = params.embed.model_copy(update={"model": "/home/anna/model-7"})
    local = params.model_copy(update={"embed": embed})
    assert settings.select_settings(local)["embed.model"] == "model-7"
    assert "/home/" not in json.dumps(settings.select_settings(local))


# Without a campaign, and in the middle of one


def test_without_a_campaign_the_release_is_empty_and_says_that_it_is_incomplete(checkout):
    checkout.campaign({})
    checkout.write(queries=[], pairs=[], votes=[], judgments=tables.JUDGMENTS.empty())
    folder = checkout.release()
    manifest = read_json(folder, "manifest.json")
    assert not manifest["complete"]
    assert not manifest["rehearsal"]
    assert manifest["campaign"] is manifest["date"] is None
    assert read_json(folder, "val.json") == read_json(folder, "test.json") == []
    assert (folder / "qrels/val.qrels").read_bytes() == b""
    assert pd.read_parquet(folder / "top_ranked/val.parquet").empty
    for name in ("README.md", "croissant.json"):
        assert manifest["warnings"][0] in (folder / name).read_text()
    assert not mlcroissant.Dataset(jsonld=folder / "croissant.json").metadata.ctx.issues.errors


def test_frozen_queries_of_which_nothing_was_shown_yet(checkout):
    checkout.campaign(OPEN)
    checkout.private()
    checkout.write(pairs=[], votes=[], judgments=tables.JUDGMENTS.empty())
    standing = checkout.manifest()["standing"]
    assert (standing["queries"], standing["queries_never_shown"], standing["pairs"]) == (3, 3, 0)


# What is said of it


def test_a_closed_campaign_goes_out_only_with_its_name_and_terms(checkout, repository):
    shutil.copy(repository / "params.yaml", checkout.folder)
    refusal = checkout.refusal()
    for key in NAMED:
        assert f"release.{key}" in refusal
    assert "release.corpus" not in refusal, "the format, or the sample's path, says which it is"
    name_collection(checkout.folder / "params.yaml")
    checkout.change(
        ("corpus: tvr ", "corpus: table "),
        ("source: datasets/work/sample/annotations.jsonl", "source: mine.csv"),
    )
    assert "params.yaml: release.corpus: " in checkout.refusal()
    checkout.change(("corpus: null ", "corpus: My kitchen, on request "))
    assert "My kitchen, on request" in checkout.card()


@pytest.mark.parametrize("campaign", [{}, OPEN, {**CLOSED, "rehearsal": True}])
def test_what_is_not_for_publication_yet_says_what_nobody_gave(checkout, repository, campaign):
    shutil.copy(repository / "params.yaml", checkout.folder)
    checkout.campaign(campaign)
    checkout.private()
    folder = checkout.release()
    for name in ("README.md", "croissant.json", "manifest.json"):
        text = (folder / name).read_text()
        assert "release.name, release.license" in text
        assert "MomentRank sample" not in text
        assert "cc0-" not in text
    assert not mlcroissant.Dataset(jsonld=folder / "croissant.json").metadata.ctx.issues.errors


FACTS = {
    "the corpus": "the sample corpus of MomentRank",
    "the encoder": "all-MiniLM-L6-v2",
    "how many people": "4 people",
    "alpha": "0.512",
    "kappa": "0.250 (0.375",
    "drift": "-0.12 levels from the earlier votes (95% interval -0.25 to +0.03)",
    "the candidates that are judged": "20 per query, up to 40",
    "captions are not for systems": "`text` in `captions/`",
}


def test_card_manifest_and_croissant_say_how_it_was_made(release):
    for name in ("README.md", "croissant.json", "manifest.json"):
        text = " ".join((release / name).read_text().split())
        for what, words in FACTS.items():
            assert words in text, (name, what)
        for value in NAMED.values():
            assert (value if isinstance(value, str) else value[0]) in text
    metadata = mlcroissant.Dataset(jsonld=release / "croissant.json").metadata
    assert not metadata.ctx.issues.errors
    assert not metadata.ctx.issues.warnings
    assert "favoured" in str(metadata.data_biases)


def test_croissant_is_valid_as_1_1_with_responsible_ai_and_every_warning_an_error(
    release, monkeypatch
):
    log = []
    for level in ("warning", "error"):
        monkeypatch.setattr(absl_logging, level, lambda text, *words: log.append(text))
    metadata = mlcroissant.Dataset(jsonld=release / "croissant.json").metadata
    assert (log, metadata.ctx.issues.errors, metadata.ctx.issues.warnings) == ([], set(), set())
    assert metadata.ctx.is_v1_1()
    assert metadata.conforms_to[1] == "http://mlcommons.org/croissant/RAI/1.0"
    assert [creator.name for creator in metadata.creators] == NAMED["creators"]
    fields = {name for name in vars(metadata) if name.startswith(("annot", "machine", "personal"))}
    fields |= {name for name in vars(metadata) if name.startswith("data_")}
    unused = {name for name in fields if not getattr(metadata, name)}
    assert unused == {"data_manipulation_protocol"}, "captions are told of as preprocessing"
    assert metadata.annotator_demographics == [NAMED["rai.annotators"]]
    document = read_json(release, "croissant.json")
    assert document["rai:hasSyntheticData"] is False
    assert "sitcom" in document["prov:wasDerivedFrom"]


def test_each_word_of_the_lead_is_asked_for_and_none_is_invented(checkout):
    checkout.change((json.dumps(NAMED["rai.social_impact"]), "null"))
    assert "params.yaml: release.rai.social_impact: " in checkout.refusal()
    checkout.campaign({**CLOSED, "rehearsal": True})
    document = read_json(checkout.release(), "croissant.json")
    assert "rai:dataSocialImpact" not in document
    assert document["rai:hasSyntheticData"] is True, "its judgments may be simulated"


def test_the_card_shows_the_figures_that_are_beside_it(release, checkout):
    card = (release / "README.md").read_text()
    figures = re.findall(r"!\[[^\]]+\]\((figures/[\w-]+\.svg)\)", card)
    assert {f"figures/{path.name}" for path in (release / "figures").iterdir()} == set(figures)
    for path in figures:
        root = ElementTree.parse(release / path).getroot()  # noqa: S314  (our own)
        texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert "Queries" in texts or "Share of pairs" in texts
    assert "size_categories:\n- n<1K\n" in card
    checkout.campaign({})
    checkout.write(queries=[], pairs=[], votes=[], judgments=tables.JUDGMENTS.empty())
    folder = checkout.release()
    assert len(list((folder / "figures").iterdir())) == len(figures), "the stage's out is there"
    assert "](figures/" not in (folder / "README.md").read_text(), "nothing is to be seen yet"


def test_a_language_model_is_named_with_its_prompt_and_so_is_another_corpus(checkout):
    checkout.change(
        ("backend: rules ", "backend: openai "),
        ("source: datasets/work/sample/", "source: ../tvr/"),
    )
    card = " ".join(checkout.card().split())
    assert "gpt-4o-mini-2024-07-18" in card
    assert "prompts/rewrite-" in card
    assert "TVR (Lei et al., 2020)" in card
    assert "../tvr" not in card


# Hostile texts

HOSTILE = 'a\tb\nc\r"d", =1+1 | #é\u2028x'


def test_hostile_texts_and_ids_come_through_whole(checkout):
    query, moment, video = f"#q {HOSTILE}", f"=1+1 {HOSTILE}", f"-v {HOSTILE}"
    queries = [(query, f"=1+1\t{HOSTILE}", "val"), ("q2", "He sits.", "test")]
    pairs = [
        (0, query, moment, "c", (3, 2.5, [2, 3], "two")),
        (1, query, "m2", "c", (0, 0.0, [0, 0], "two")),
    ]
    checkout.write(queries, pairs, [(0, 1, 2, None)], videos={moment: video, "m2": "m2"})
    folder = checkout.release()

    [record] = read_json(folder, "val.json")
    assert (record["query_key"], record["query"]) == (query, queries[0][1])
    assert record["relevant_moment"][0]["video_name"] == video
    for name in ("val.json", "qrels/val.qrels"):
        read = formats.read_qrels(folder / name)
        assert set(read["query_id"]) == {query}
        assert read["video_id"].tolist() == [video, "m2"]
    lines = (folder / "qrels/val.moments.qrels").read_text().removesuffix("\n").split("\n")
    ids = [[decode_id(field) for field in line.split(" ")[:3:2]] for line in lines]
    assert ids == [[query, moment], [query, "m2"]]
    assert describe(folder / "qrels/val.moments.qrels").levels == {0: 1, 3: 1}

    lines = (folder / "queries.tsv").read_bytes().decode().split("\n")
    assert len(lines) == 3
    name, text, split, number, *_ = lines[1].split("\t")
    assert (decode_id(name), split, int(number)) == (query, "val", query_number(query))
    assert text == '=1+1 a b c "d", =1+1 | #é x'

    for read_csv in (pd.read_csv, csv_files.read_csv):
        assert read_csv(folder / "pairs.csv")["query_id"].tolist() == [query, query]
    corpus = pd.read_parquet(folder / "captions/corpus.parquet").set_index("_id")
    assert corpus.loc[moment, "title"] == video


def test_a_language_is_text_to_readers_of_older_yaml(checkout):
    checkout.change(("  language: null", "  language: 'no'"))
    assert 'language:\n- "no"\n' in checkout.card()


def test_the_language_of_a_release_is_that_of_its_queries():
    params = load()
    assert facts.choose_language(GERMAN, params) == "de"
    assert facts.choose_language(["She waves at the man across the street."], params) == "en"

    def change(**keys):
        release = params.release.model_copy(update=keys)
        return params.model_copy(update={"release": release})

    assert facts.choose_language(GERMAN, change(language="de")) == "de"
    assert facts.choose_language(GERMAN[:1], change(language="en")) == "en"  # too few to be certain
    with pytest.raises(ReleaseError, match=r"release\.language is en, but the queries are German"):
        facts.choose_language(GERMAN, change(language="en"))


def test_how_a_closed_campaign_was_made_can_not_be_told_otherwise_later(checkout):
    params = load(checkout.folder / "params.yaml")
    checkout.campaign({**CLOSED, "settings": settings.select_fixed_settings(params)})
    checkout.change(("resamples: 1000", "resamples: 999"))
    shutil.rmtree(checkout.release())  # that made nothing that people judged
    checkout.change(("rewrite:\n  backend: rules ", "rewrite:\n  backend: none "))
    assert "rewrite.backend is 'none', but was 'rules'" in checkout.refusal()


def test_a_closed_campaign_is_compared_by_the_keys_that_it_and_the_code_know(checkout):
    params = load(checkout.folder / "params.yaml")
    known = settings.select_fixed_settings(params)
    plan = {key: value for key, value in known["plan"].items() if key != "max_wrong"}
    older = known | {"plan": plan | {"removed": 1}, "removed": {"section": 1}}
    settings.refuse_changes(Campaign(**CLOSED, settings=older), params)
    changed = older | {"plan": plan | {"min_mean": 3.0}}
    with pytest.raises(ReleaseError, match=r"^params\.yaml: plan\.min_mean is 2\.0, but was 3\.0 "):
        settings.refuse_changes(Campaign(**CLOSED, settings=changed), params)


def test_a_hostile_name_stays_text_in_the_card(checkout):
    params = files.read_yaml(checkout.folder / "params.yaml")
    name = "x: [1]\n---\n# Two | three"
    params["release"]["name"] = name
    (checkout.folder / "params.yaml").write_text(json.dumps(params))
    card = checkout.card()
    head = checkout.folder / "head.yaml"
    head.write_text(card.split("\n---\n\n")[0].removeprefix("---\n"))
    assert files.read_yaml(head)["pretty_name"] == name
    assert "\n# x: [1] --- # Two \\| three 0.1.0\n" in card


# Refusals


@pytest.mark.parametrize(
    ("column", "cell", "what"),
    [
        ("origin", "anna.berg@example.org", "an e-mail address"),
        ("origin", "5 by LEAD@localhost", "an address or a password"),
        ("origin", "task_of_anna_7", "a name"),
        ("guideline", "by Jose\u0301 Nu\u0301n\u0303ez-O\u0301", "a name"),
        ("query_id", "two@example.org", "an address or a password"),
    ],
)
def test_what_tells_who_somebody_is_is_refused_with_its_place(checkout, column, cell, what):
    checkout.private()
    rows = pd.concat([judgment(), judgment(annotator=2), judgment(**{column: cell}, annotator=3)])
    checkout.write(judgments=rows)
    refusal = checkout.refusal()
    assert refusal.startswith(f"datasets/campaign/judgments.csv: line 4, {column}: contains {what}")
    assert cell not in refusal


def test_the_campaigns_own_name_is_looked_through(checkout):
    checkout.private()
    checkout.campaign({**CLOSED, "name": "Kitchens (ask Berg)"})
    assert checkout.refusal().startswith("datasets/campaign/campaign.yaml: line 4, name: contains")
    checkout.campaign({**CLOSED, "name": "Kitchens (ask ann@example.org)"})
    assert "an e-mail address" in checkout.refusal()


def test_texts_of_the_corpus_may_hold_names_but_no_annotators_address(checkout):
    checkout.private()
    checkout.write(queries=[("q1", "Anna waves at x@example.org.", "val", "m1"), *QUERIES[1:]])
    shutil.rmtree(checkout.release())
    checkout.write(queries=[("q1", "Anna writes to Two@Example.org.", "val", "m1"), *QUERIES[1:]])
    assert checkout.refusal().startswith("datasets/campaign/queries.csv: line 2, query: contains")


def test_settings_may_hold_an_authors_name_but_no_annotators_address(checkout):
    checkout.private()
    usual, own = f"citation: {json.dumps(NAMED['citation'])}", "citation: Anna Berg, a@example.org"
    checkout.change((usual, own))
    shutil.rmtree(checkout.release())
    checkout.change((own, "citation: Berg (lead@localhost)"))
    refusal = checkout.refusal()
    assert re.match(r"params\.yaml: line \d+, citation: contains an address", refusal)


@pytest.mark.parametrize("name", ["Bergamot kitchens", "Susanna's Kitchen", "Kitchen 878@2024"])
def test_what_only_looks_like_a_name_is_none(checkout, name):
    checkout.private()
    checkout.campaign({**CLOSED, "name": name})
    checkout.release()


def test_an_open_campaign_is_not_released_without_the_list_of_names(checkout):
    checkout.campaign(OPEN)
    assert "annotators.private.yaml: no such file" in checkout.refusal()
    checkout.private()
    checkout.release()


def test_a_list_of_names_that_cant_be_read_is_refused(checkout):
    checkout.private("accounts: {1: {name: [}\n")
    with pytest.raises(FileError, match=r"annotators\.private\.yaml, line 1"):
        checkout.release()


def test_a_text_that_is_validation_and_test_is_refused(checkout):
    checkout.write(queries=[*QUERIES, ("q4", " she WAVES.", "test", "m5")])
    with pytest.raises(captions.SharedError, match=r"queries\.csv: .*q1 \(val\) and q4 \(test\)"):
        checkout.release()


def test_a_consensus_of_another_ledger_is_refused(checkout):
    with contextlib.chdir(checkout.folder):
        write(tables.CONSENSUS, consensus_rows(PAIRS[:3]))
    assert "lacks pairs of datasets/campaign/pairs.csv" in checkout.refusal()


def test_levels_of_another_guideline_are_refused(checkout):
    checkout.campaign({**CLOSED, "guideline": "2"})
    assert "is version 1, but people judged by 2" in checkout.refusal()
    (checkout.folder / "annotation/guideline/en.md").write_text("---\nversion: '2'\n---\n")
    assert "annotation/guideline/en.md: levels: this key is missing\n" in checkout.refusal()
