"""A released campaign is reopened: what was judged stays, what is new is listed, by files alone."""

import json
import shutil
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from opened import OPEN
from support.campaign_cases import decisions_of, make_judgments, voided_of
from support.campaign_folder import set_params
from support.rehearsed import checkout_of, rehearsed, write_made

from annotation import campaign, consensus
from annotation.answers.history import _judgments
from annotation.answers.judgments import SortedAnswers
from annotation.answers.pulling import merge_history
from annotation.writing import asked_queries
from momentrank.cli import main as cli_of_scorer
from pipeline import release
from pipeline.campaign.campaign import CampaignError, load_campaign, write_campaign
from pipeline.campaign.collection import ReleaseError
from pipeline.campaign.freezing import freeze, is_frozen, unfreeze
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.campaign.phases import find_state
from pipeline.campaign.reopening import BASES, keep_shown
from pipeline.core import cli, files, git, tables

CLOSED = OPEN.model_copy(update={"rehearsal": True, "closed_at": "2024-05-02T09:00:00Z"})
LATER = pd.Timestamp("2024-05-03T08:00:00Z")
ADDED = 5
"""Queries that only the second version has."""


def parts():
    """Return queries, judgments and ledger of the first version, and of the whole."""
    whole = rehearsed()
    last = whole.queries["query_id"][-ADDED:]
    first = [
        rows[~rows["query_id"].isin(last)].reset_index(drop=True)
        for rows in (whole.queries, whole.judgments, whole.ledger)
    ]
    late = whole.ledger[whole.ledger["query_id"].isin(last)]
    numbers = range(first[2]["pair_id"].max() + 1, first[2]["pair_id"].max() + 1 + len(late))
    ledger = pd.concat([first[2], late.assign(pair_id=numbers)], ignore_index=True)
    return first, [whole.queries, whole.judgments, ledger]


def release_now():
    consensus.main()
    release.main()


def close_again(**changes):
    now = load_campaign().model_copy(update=changes)
    write_campaign(now.model_copy(update={"closed_at": "2024-05-09T09:00:00Z"}))
    freeze()


def raise_version(version="0.2.0"):
    set_params({"release.version": version})


@pytest.fixture(scope="module")
def released(tmp_path_factory, repository):
    """Return a folder with the first version, released and committed."""
    folder = tmp_path_factory.mktemp("first")
    for name in ("dvc.yaml", ".gitignore"):
        shutil.copy(repository / name, folder)
    with checkout_of(folder, repository, *parts()[0]):
        write_campaign(CLOSED)
        freeze()
        release_now()
        for words in ("init -q", "add -A", "commit -qm released"):
            git.run(*words.split())
    return folder


@pytest.fixture
def reopened(released, tmp_path, monkeypatch):
    """Be in a copy of it that was reopened, with what people have judged since; not closed."""
    shutil.copytree(released, tmp_path / "c")
    monkeypatch.chdir(tmp_path / "c")
    campaign.main(Namespace(do="reopen", reason="five | further queries"))
    write_made(*parts()[1])


def read(name):
    return (tables.RELEASE / name).read_text().splitlines()


def test_old_rows_are_the_same_bytes_and_new_ones_are_listed(reopened, capsys):
    base = BASES / "0.1.0"
    close_again()
    with pytest.raises(ReleaseError, match=r"release.version is 0.1.0, .* set it to 0.2.0 \(minor"):
        release_now()
    raise_version()
    release_now()
    for name in ("pairs.csv", "consensus.csv", "raw_annotation.csv"):
        before = (base / name).read_text().splitlines()
        assert read(name)[: len(before)] == before
        assert len(read(name)) > len(before)
    for split in ("val", "test"):
        old = (base / f"qrels/{split}.qrels").read_text().splitlines()
        assert [line for line in read(f"qrels/{split}.qrels") if line in {*old}] == old
    changes = files.read_json(tables.RELEASE / "changes.json")
    added = [query for split in changes["splits"].values() for query in split["queries_added"]]
    assert len(added) == ADDED
    assert all(not split["levels"] for split in changes["splits"].values())
    capsys.readouterr()
    assert cli_of_scorer.main(["diff", str(base), str(tables.RELEASE), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == changes | {"scores": []}
    manifest = files.read_json(tables.RELEASE / "manifest.json")
    assert {"changes.json"} < manifest["files"].keys()
    assert manifest["campaign"]["reopenings"][0]["version"] == "0.1.0"
    card = " ".join((tables.RELEASE / "README.md").read_text().split())
    assert "Changes since version 0.1.0" in card
    assert f"{ADDED} queries and" in card
    assert "five \\| further queries" in card


def test_reopening_again_compares_with_the_newest_version(reopened):
    close_again()
    raise_version()
    release_now()
    campaign.main(Namespace(do="reopen", reason="nothing new"))
    assert [again.version for again in load_campaign().reopenings] == ["0.1.0", "0.2.0"]
    close_again()
    raise_version("0.2.1")
    release_now()
    changes = files.read_json(tables.RELEASE / "changes.json")
    assert (changes["old"], changes["required"]) == ("0.2.0", "0.2.1")
    assert {change["part"] for change in changes["files"]} == {"patch"}


def change_levels():
    judgments = tables.JUDGMENTS.read()
    judgments.loc[0, "level"] = (judgments.loc[0, "level"] + 2) % 5
    tables.JUDGMENTS.write(judgments)


def drop_a_vote():
    tables.JUDGMENTS.write(tables.JUDGMENTS.read()[1:].reset_index(drop=True))


def vote_before_all_others():
    judgments = tables.JUDGMENTS.read()
    early = judgments[:1].assign(annotator=6, origin="late@a", level=0)
    early["submitted_at"] -= pd.Timedelta(days=1)
    tables.JUDGMENTS.write(pd.concat([judgments, early], ignore_index=True))


def number_anew():
    ledger = tables.PAIRS.read()
    tables.PAIRS.write(ledger.assign(pair_id=ledger["pair_id"].max() - ledger["pair_id"]))


def show_again():
    """As if the video of a pair with a level had changed, and the pair been shown again."""
    ledger, levels = tables.PAIRS.read(), tables.CONSENSUS.read().dropna(subset="level")
    pair = ledger.merge(levels[:1][["query_id", "moment_id"]])
    again = pair.assign(pair_id=ledger["pair_id"].max() + 1, clip_sha="another")
    tables.PAIRS.write(pd.concat([ledger, again], ignore_index=True))


def round_otherwise():
    set_params({"consensus.rounding": "nearest"})


def reword():
    queries = tables.FROZEN_QUERIES.read()
    queries.loc[0, "query"] += ", or so"
    tables.FROZEN_QUERIES.write(queries)


def decide(when=LATER):
    """Write a decision on the first pair with a level by votes that is not 4."""
    levels = tables.CONSENSUS.read().query("level < 4")[:1]
    shown = tables.PAIRS.read().merge(levels[["query_id", "moment_id"]])
    tables.ADJUDICATIONS.write(decisions_of(shown, 4, at=when))


def decide_before_the_close():
    decide(pd.Timestamp("2024-05-02T08:00:00Z"))


@pytest.mark.parametrize(
    ("move", "file"),
    [
        (change_levels, "raw_annotation.csv"),
        (drop_a_vote, "raw_annotation.csv"),
        (vote_before_all_others, "raw_annotation.csv"),
        (number_anew, "pairs.csv"),
        (show_again, "pairs.csv"),
        (round_otherwise, "consensus.csv"),
        (decide_before_the_close, "consensus.csv"),
        (reword, "queries.tsv"),
    ],
)
def test_what_nothing_explains_is_refused_with_pair_and_file(reopened, move, file):
    consensus.main()
    close_again()
    raise_version()
    move()
    before = {path: path.read_bytes() for path in tables.RELEASE.rglob("*") if path.is_file()}
    named = r"q[0-9a-f]{12}" if file == "queries.tsv" else r"pair \d+ of q"
    with pytest.raises(ReleaseError, match=rf"{file}: {named}.*0\.1\.0 .* is final"):
        release_now()
    assert before == {path: path.read_bytes() for path in before}


def void_somebody():
    tables.VOIDED.write(voided_of((3, "2024-01-01T00:00:00Z", None, "always 2")))


def test_a_voided_vote_explains_no_other_persons_change(reopened):
    consensus.main()
    close_again()
    raise_version()
    void_somebody()
    judgments = tables.JUDGMENTS.read()
    pairs = judgments.set_index(SHOWN_KEY)
    of_voided = pairs.index.isin(pairs.index[pairs["annotator"] == 3])
    first = judgments[of_voided & (judgments["annotator"] != 3) & (judgments["kind"] == "first")]
    judgments.loc[first.index[0], "level"] = (first["level"].iloc[0] + 2) % 5
    tables.JUDGMENTS.write(judgments)
    with pytest.raises(ReleaseError, match=r"raw_annotation.csv: pair \d+ of q.* lacks the vote"):
        release_now()


@pytest.mark.parametrize("explain", [void_somebody, decide])
def test_voided_people_and_an_experts_decisions_may_move_levels(reopened, explain):
    consensus.main()
    close_again()
    raise_version()
    explain()
    release_now()
    splits = files.read_json(tables.RELEASE / "changes.json")["splits"].values()
    moved = sum(len(split["levels"]) + len(split["pairs_removed"]) for split in splits)
    assert moved == 1 if explain is decide else moved > 5


def test_settings_that_levels_depend_on_are_those_of_the_closing(reopened):
    earlier = {"split": {"val": 99}, "plan": {"queue": 1}}
    now = load_campaign().model_copy(update={"settings": earlier})
    with pytest.raises(ReleaseError, match=r"split.val is \d+, but was 99 when"):
        campaign.close_campaign(now, give_up=True, offline=True)
    close_again(settings=earlier | {"split": {}})
    with pytest.raises(ReleaseError, match=r"plan.queue is \d+, but was 1 when"):
        release_now()


def test_a_base_that_was_changed_is_refused(reopened):
    (BASES / "0.1.0/pairs.csv").write_text("pair_id,query_id,video_name,start,end\n")
    close_again()
    with pytest.raises(Exception, match=r"released/0.1.0/pairs.csv: not the release's file"):
        release_now()


@pytest.mark.parametrize("fails", ["unfreeze", "write_campaign", "git.commit"])
def test_an_interrupted_reopening_is_finished(released, tmp_path, monkeypatch, fails):
    shutil.copytree(released, tmp_path / "c")
    monkeypatch.chdir(tmp_path / "c")

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(f"annotation.campaign.{fails}", stop)
        with pytest.raises(KeyboardInterrupt):
            campaign.main(Namespace(do="reopen", reason="late"))
    campaign.main(Namespace(do="reopen", reason="late"))
    assert find_state(load_campaign()) == "reopened"
    assert not is_frozen()
    assert git.run("status", "--porcelain").stdout == ""
    assert [again.reason for again in load_campaign().reopenings] == ["late"]
    with pytest.raises(CampaignError, match="is open"):
        campaign.main(Namespace(do="reopen", reason="late"))


def test_only_the_stages_that_ask_people_are_freed_again(reopened, repository):
    text = (repository / "dvc.yaml").read_text()
    for stage in ("rewrite", "vary"):
        text = text.replace(f"\n  {stage}:\n", f"\n  {stage}:\n    frozen: true\n")
    assert cli.DAG.read_text() == text
    freeze()
    whole = cli.DAG.read_text()
    assert is_frozen()
    unfreeze()
    assert cli.DAG.read_text() == text
    for _ in range(2):
        freeze()
        assert cli.DAG.read_text() == whole


def test_an_answer_that_was_released_stays_whatever_the_server_has_now():
    """Changed since, taken back, lost, or as it was: and one given since counts as ever."""
    final = make_judgments(
        [{"query_id": "q", "moment_id": f"m{n}", "level": 1, "annotator": 1} for n in range(4)]
    )
    final = final.assign(origin=[f"{n}@a" for n in range(4)], updated_at=final["submitted_at"])
    before = tables.JUDGMENT_HISTORY.check(final.assign(state="stands"))
    closed = before["submitted_at"].max() + pd.Timedelta(hours=1)
    later = closed + pd.Timedelta(hours=1)
    changed = before[:1].assign(level=4, updated_at=later, submitted_at=later)
    new = before[:1].assign(moment_id="m9", origin="9@a", submitted_at=later, updated_at=later)
    current = pd.concat([changed, before[3:], new])
    taken_back = {"origin": "1@a", "updated_at": str(later), "takes_back": "all"}
    taken_back |= {"reason": "skipped"}
    rows = SortedAnswers(current.to_dict("records"), [], [taken_back], [])
    merged = merge_history(before, rows, closed.to_pydatetime())
    assert merged.vanished.empty
    levels = merged.judgments.set_index("moment_id")["level"].to_dict()
    assert levels == {"m0": 1, "m1": 1, "m2": 1, "m3": 1, "m9": 1}
    assert _judgments(merged.versions).equals(merged.judgments)
    free = merge_history(before, rows)
    assert free.judgments.set_index("moment_id")["level"].to_dict() != levels


def test_accepted_queries_join_the_frozen_ones_for_good():
    frozen = rehearsed().queries
    texts = [frozen["query"].iloc[0].upper(), "somebody waters a plant"]
    rows = [(text, "test", "other", "person", "mine.csv") for text in texts]
    written = pd.DataFrame(rows, columns=tables.WRITTEN_QUERIES.columns)
    both = asked_queries.freeze(frozen, tables.WRITTEN_QUERIES.check(written))
    pd.testing.assert_frame_equal(both[: len(frozen)], frozen)
    assert both["query"][len(frozen) :].tolist() == texts[1:]
    assert asked_queries.freeze(both, written).equals(both)
    with pytest.raises(CampaignError, match="plant'"):
        asked_queries.refuse_frozen(written[1:], both)


def test_what_is_shown_of_judged_pairs_is_what_was_shown(released, tmp_path):
    ledger, base = rehearsed().ledger, tmp_path
    levels = pd.read_csv(released / tables.RELEASE / "consensus.csv")
    levels.to_csv(base / "consensus.csv", index=False)
    with_level = set(levels.dropna(subset="level")["pair_id"])
    cut_again = ledger.assign(clip_sha="another")[SHOWN_KEY]
    kept = keep_shown(cut_again[10:], ledger, base).merge(ledger, on=["query_id", "moment_id"])
    same = kept["clip_sha_x"] == kept["clip_sha_y"]
    expected = kept["pair_id"].isin(with_level) | kept["pair_id"].isin(ledger["pair_id"][:10])
    assert (same == expected).all()
    assert np.unique(same).tolist() == [False, True]
    assert len(kept) == len(ledger)
