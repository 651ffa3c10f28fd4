"""A whole campaign on the real server: `dvc repro`, killed again and again, and simulated people.

At its end no pair was left out or asked twice, and a clone of it can release it again.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter, defaultdict
from random import Random

import numpy as np
import pandas as pd
import pytest
from project import Project, copy_of
from support import hidden_tasks
from support.campaign_folder import set_params
from support.studio import Studio, studio

from annotation.label_studio import keys
from annotation.roster import roster
from annotation.simulation.truth import truth
from annotation.votes.votes import FIRST_VOTES
from pipeline.campaign.campaign import FILE, load_campaign
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import files, tables

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SHARES = (0.4, 1.0)
MOST_ROUNDS = 14
WAITING = 75
KILLS_AT_FIRST, KILLS_A_ROUND, KILLS_AT_LAST, KILLS = 2, 2, 2, 6
FEWEST_BEFORE = 2  # a command may end before it is killed
FROM_THE_CORPUS = {
    *("corpus/corpus.parquet", "video_corpus.json", "train_manifest.json"),
    *("machine_judgments.csv", "machine_card.txt", "machine_manifest.json"),
    *("qrels/val.machine.qrels", "qrels/test.machine.qrels"),
    *("qrels/val.machine.moments.qrels", "qrels/test.machine.moments.qrels"),
}
CORPUS_STAGES = ("sample", "ingest", "tagger", "rewrite", "vary", "split", "embed", "candidates")
CORPUS_STAGES += ("pseudo",)
DATED = ("datasets/work/metrics/", "datasets/work/tagger")
"""Some metrics tell how long it took; Flair's file holds the dates of its tokenizer's."""


class Killer:
    """Kills `dvc repro` at random moments: it alone, so that its stage lives on, or all of it.

    Then it does what docs/troubleshooting.md says, for DVC writes its own files in place.
    """

    def __init__(self, project, random):
        self.project, self.random, self.kills = project, random, 0

    def strike(self, times, usual, *targets, most=KILLS - KILLS_AT_LAST):
        """Kill it so often within about `usual` seconds from its start, `most` times in all."""
        for _ in range(min(times, most - self.kills)):
            child = subprocess.Popen(
                ["dvc", "repro", *targets],
                cwd=self.project.folder,
                env=self.project.env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(self.random.uniform(1.5, usual))
                continue
            alone = self.kills % 2
            (os.kill if alone else os.killpg)(child.pid, signal.SIGKILL)
            child.wait()
            self.kills += 1
            self.project.run("python", "-m", "pipeline.recover")


def change_settings(project):
    """Set many hidden checks, also of what people just judged; and a pool that learns."""
    many = {"plan.gold": "0.3", "plan.repeats": "0.2", "plan.repeat_gap": "0"}
    learned = {"candidates.further": "learned", "candidates.min_yield": "0.05"}
    learned |= {"pool.learned_batch": "2"}
    set_params(many | learned, project.folder / "params.yaml")


def write_gold(project):
    """Write what the last candidates' true levels are, and commit it."""
    with contextlib.chdir(project.folder):
        level, candidates = truth(), tables.CANDIDATES.read()
        last = candidates[candidates["rank"] > candidates["rank"].max() - 3]
        pairs = last[["query_id", "moment_id"]].itertuples(index=False, name=None)
        rows = [(*pair, level(*pair), None) for pair in pairs]
        tables.GOLD.write(tables.GOLD.check(pd.DataFrame(rows, columns=tables.GOLD.columns)))
    project.run("git", "commit", "-qam", "Gold")


@pytest.fixture(scope="module")
def finished_campaign(tmp_path_factory, repository, label_studio):
    """Return a project whose campaign wants nothing more, and its server."""
    folder = tmp_path_factory.mktemp("campaign")
    project = copy_of(repository, folder)
    change_settings(project)
    killer = Killer(project, Random(7))
    killer.strike(KILLS_AT_FIRST, 12)
    project.run("dvc", "repro", "clips", "pseudo")
    with studio(project.folder, label_studio) as lead:
        python = ("python", "-m")
        project.run(*python, "annotation.campaign", "open", "--name", "Test", "--rehearsal",
                    "--people", "6")  # fmt: skip
        write_gold(project)
        began, project.rounds = time.monotonic(), []
        project.repro("push")
        usual = time.monotonic() - began
        assert project.code("python", "-m", "annotation.status") == WAITING
        for number in range(MOST_ROUNDS):
            share = SHARES[min(number, len(SHARES) - 1)]
            project.rounds.append(pd.Timestamp.now("UTC"))
            project.run(*python, "annotation.simulate", "--share", str(share))
            killer.strike(KILLS_A_ROUND, usual, "push")
            project.repro("push")
            if not len(pd.read_parquet(project.folder / "datasets/work/assignments.parquet")):
                break
        assert killer.kills >= FEWEST_BEFORE
        project.repro()
        project.killer = killer
        yield project, lead


@pytest.fixture(scope="module")
def closed_project(finished_campaign):
    """Return the project, its campaign closed and released."""
    project, _ = finished_campaign
    project.run("python", "-m", "annotation.campaign", "close", "--unaudited")
    while project.killer.kills < KILLS:
        project.killer.strike(1, 8, most=KILLS)
    project.transcript = project.run("dvc", "repro")
    project.run("git", "commit", "-qam", "Release")
    return project


def read_corpus_hashes(project):
    """Return the hashes of what the stages before the campaign have made, by path."""
    stages = files.read_yaml(project.folder / "dvc.lock")["stages"]
    outs = [out for name in CORPUS_STAGES for out in stages[name]["outs"]]
    return {out["path"]: out["md5"] for out in outs if not out["path"].startswith(DATED)}


def make_signer(project):
    """Return what reads the keys of the project's campaign."""
    env = (project.folder / ".env").read_text()
    secret = dict(line.split("=", 1) for line in env.split())[keys.SECRET]
    return keys.Signer(load_campaign(project.folder / FILE).id, secret)


def read_answers(project, lead):
    """Return `(annotator, account, key)` of every answer on the server, project by project."""
    campaign, signer = load_campaign(project.folder / FILE), make_signer(project)
    answers = []
    for server_project in lead.projects():
        assert campaign.id in server_project["description"]
        for task in lead.tasks(server_project["id"]):
            key = signer.read(task["data"]["pair"])
            answers += [
                (server_project["id"], answer["completed_by"], key)
                for answer in task["annotations"]
            ]
    return answers


def test_every_pair_has_two_or_four_blind_judgments_by_different_people(finished_campaign):
    project, lead = finished_campaign
    server_answers = read_answers(project, lead)
    people = defaultdict(list)
    for _, _, key in server_answers:
        if key.kind in tables.VOTING:
            people[key.query_id, key.moment_id].append(key.annotator)
    assert {len(who) for who in people.values()} <= {2, 3, 4}  # three: one could not judge
    assert all(len(set(who)) == len(who) for who in people.values())
    authors = defaultdict(set)
    for number, account, key in server_answers:
        authors[number].add((account, key.annotator))
    assert all(len(who) == 1 for who in authors.values()), "a project holds one person's answers"
    ledger = pd.read_csv(project.folder / "datasets/campaign/pairs.csv", dtype=str)
    assert set(zip(ledger["query_id"], ledger["moment_id"], strict=True)) == set(people)


def test_batches_were_learned_and_each_is_chosen_again_alike(finished_campaign):
    project, _ = finished_campaign
    with contextlib.chdir(project.folder):
        pool, judgments = tables.POOL.read(), tables.JUDGMENTS.read()
        first = tables.CANDIDATES.read().query("batch == 1")
    learned = pool[pool["channel"] == "learned"]
    assert {2, 3} <= set(learned["batch"])
    assert set(pool.loc[pool["batch"] == 1, "moment_id"]) == set(first["moment_id"])
    assert not pool.duplicated(PAIR_KEY).any()
    votes = judgments[judgments["kind"].isin(tables.VOTING)]
    assert len(learned[PAIR_KEY].merge(votes[PAIR_KEY].drop_duplicates())) == len(learned)
    project.run("python", "-m", "annotation.pool", "check")


def test_hidden_checks_were_asked_and_their_kind_is_pulled(finished_campaign):
    project, lead = finished_campaign
    counts = Counter((key.annotator, key.kind) for _, _, key in read_answers(project, lead))
    with contextlib.chdir(project.folder):
        judgments = tables.JUDGMENTS.read()
        figures = pd.read_csv(tables.WORK / "lead/checks.csv").set_index("annotator")
    pulled = Counter(judgments[["annotator", "kind"]].itertuples(index=False, name=None))
    assert pulled == counts
    assert {kind for _, kind in counts} >= {"gold", "repeat"}  # how many is drawn
    for (who, kind), number in counts.items():
        if kind == "repeat":
            assert figures.loc[who, "repeats"] == figures.loc[who, "same"] <= number


def test_nothing_that_the_api_tells_an_annotator_gives_a_hidden_check_away(finished_campaign):
    project, lead = finished_campaign
    accounts = roster.read_accounts(project.folder / tables.PRIVATE)
    mine = {key: project_id for project_id, _, key in read_answers(project, lead)}
    parts, marks, rounds = [], [], []
    signer = make_signer(project)
    for number in sorted({key.annotator for key in mine}):
        token = lead.token_of(accounts[number].email, accounts[number].password)
        [own] = {project_id for key, project_id in mine.items() if key.annotator == number}
        with contextlib.closing(Studio(lead.url, token, lead.media)) as person:
            tasks = [
                person.api("GET", f"/api/tasks/{task['id']}/") | task for task in person.tasks(own)
            ]
        parts.append(hidden_tasks.features(tasks))
        ordered = sorted(tasks, key=lambda task: task["id"])
        marks += [signer.read(task["data"]["pair"]).kind not in tables.VOTING for task in ordered]
        created = pd.to_datetime([task["created_at"] for task in ordered])
        rounds += [(number, at) for at in np.searchsorted(project.rounds, created)]
    table, checks = pd.concat(parts, ignore_index=True).fillna(-1), np.array(marks)
    for result in hidden_tasks.classify(table, checks, rounds=pd.Series(rounds)):
        assert result.area < result.limit
    leak = hidden_tasks.classify(table.assign(kind=checks * 1.0), checks)
    assert all(result.area > result.limit for result in leak), "it would have been found"


def count_tasks(lead):
    return [project["task_number"] for project in lead.api("GET", "/api/projects/")["results"]]


def test_a_further_run_adds_nothing(finished_campaign):
    project, lead = finished_campaign
    before = count_tasks(lead)
    ledger = (project.folder / "datasets/campaign/pairs.csv").read_bytes()
    assert project.repro() == []
    receipt = json.loads((project.folder / "datasets/work/push_receipt.json").read_text())
    assert (receipt["added"], receipt["closed"], receipt["reopened"]) == (0, 0, 0)
    assert count_tasks(lead) == before
    assert (project.folder / "datasets/campaign/pairs.csv").read_bytes() == ledger


def test_no_caption_and_no_secret_leaves_the_house(finished_campaign):
    project, lead = finished_campaign
    captions = pd.read_parquet(project.folder / "datasets/work/captions.parquet")["caption"]
    queries = set(pd.read_csv(project.folder / "datasets/campaign/queries.csv")["query"])
    hidden = [caption for caption in captions if caption not in queries]
    task_text = json.dumps([lead.tasks(server_project["id"]) for server_project in lead.projects()])
    assert [caption for caption in hidden if json.dumps(caption)[1:-1] in task_text] == []
    env = (project.folder / ".env").read_text()
    values = dict(line.split("=", 1) for line in env.split())
    committed = project.run("git", "grep", "-lF", values[keys.SECRET], fails=True)
    assert committed == ""
    for name in ("work/push_receipt.json", "work/campaign_state.json", "campaign/judgments.csv"):
        assert lead.token not in (project.folder / "datasets" / name).read_text()


def read_release(folder):
    """Return what a release is made of but for what needs the corpus, by file."""
    paths = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        str(name): path.read_bytes()
        for name, path in paths.items()
        if not name.name.startswith("train_top") and name.as_posix() not in FROM_THE_CORPUS
    }


def test_closing_commits_what_people_made_and_freezes_the_loop(closed_project):
    assert load_campaign(closed_project.folder / FILE).closed
    assert closed_project.run("git", "status", "--porcelain") == ""
    assert "Running stage 'pull'" not in closed_project.transcript
    assert "Running stage 'push'" not in closed_project.transcript
    figures = json.loads(
        (closed_project.folder / "datasets/work/metrics/consensus.json").read_text()
    )
    assert (figures["closed"], figures["outcomes"]["waiting"]) == (True, 0)


def test_kills_leave_no_pair_out_and_add_no_vote(closed_project):
    with contextlib.chdir(closed_project.folder):
        judgments, candidates = tables.JUDGMENTS.read(), tables.CANDIDATES.read()
    first = candidates.loc[candidates["batch"] == 1, PAIR_KEY]
    votes = judgments[judgments["kind"] == "first"].merge(first, on=PAIR_KEY)
    levels = votes.groupby(PAIR_KEY)["level"].count()
    assert set(levels.index) == set(first.itertuples(index=False, name=None))
    assert (levels == FIRST_VOTES).all()


def test_a_fresh_clone_without_corpus_server_key_or_cache_releases_it_again(
    closed_project, tmp_path
):
    clone = Project(tmp_path / "clone")
    closed_project.run("git", "clone", "-q", ".", str(clone.folder))
    shutil.rmtree(clone.folder / "datasets/sample")
    assert not (clone.folder / ".env").exists()
    clone.run("dvc", "repro", "--force", "--single-item", "consensus", "release")
    release = read_release(clone.folder / tables.RELEASE)
    assert release == read_release(closed_project.folder / tables.RELEASE)
    assert {"val.json", "test.json", "manifest.json", "qrels/test.qrels"} <= release.keys()


def test_what_was_made_of_the_corpus_is_that_of_a_project_without_kills(closed_project, first_run):
    assert read_corpus_hashes(closed_project) == read_corpus_hashes(Project(first_run))
