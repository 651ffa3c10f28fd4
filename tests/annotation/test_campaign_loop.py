"""A whole campaign on the real server: `dvc repro` and simulated annotators, in turn."""

import json
from collections import Counter, defaultdict

import pandas as pd
import pytest
from project import SMALL, copy_of
from studio import studio

from annotation import keys, opened, roster

pytestmark = [pytest.mark.integration, pytest.mark.slow]

FEW = SMALL | {r"val: \d+": "val: 1", r"test: \d+": "test: 3"}
MOST_ROUNDS = 8
WAITING = 75


@pytest.fixture(scope="module")
def ended(tmp_path_factory, repository):
    """Return a project whose campaign wants nothing more, and its server."""
    project = copy_of(repository, tmp_path_factory.mktemp("campaign"), FEW)
    project.repro()
    with studio(project.folder, repository) as lead:
        python = ("python", "-m")
        project.run(*python, "annotation.campaign", "open", "--name", "Test", "--rehearsal",
                    "--people", "6")  # fmt: skip
        project.repro()
        assert project.code("python", "-m", "annotation.status") == WAITING
        for share in ["0.4"] + ["1"] * MOST_ROUNDS:
            project.run(*python, "annotation.simulate", "--share", share)
            project.repro()
            if not len(pd.read_parquet(project.folder / "datasets/work/assignments.parquet")):
                break
        yield project, lead


def answers(project, lead):
    """Return `(annotator, account, key)` of every answer on the server, project by project."""
    env = (project.folder / ".env").read_text()
    secret = dict(line.split("=", 1) for line in env.split())[keys.SECRET]
    campaign = opened.current(project.folder / opened.FILE)
    signer = keys.Signer(campaign.id, secret)
    found = []
    for one in lead.api("GET", "/api/projects/?page_size=100")["results"]:
        assert campaign.id in one["description"]
        for task in lead.tasks(one["id"]):
            key = signer.read(task["data"]["pair"])
            found += [(one["id"], answer["completed_by"], key) for answer in task["annotations"]]
    return found


def test_every_pair_has_two_or_four_blind_judgments_by_different_people(ended):
    project, lead = ended
    found = answers(project, lead)
    people = defaultdict(list)
    for _, _, key in found:
        people[key.query_id, key.moment_id].append(key.annotator)
    assert {len(who) for who in people.values()} <= {2, 3, 4}  # three: one could not judge
    assert all(len(set(who)) == len(who) for who in people.values())
    authors = defaultdict(set)
    for one, account, key in found:
        authors[one].add((account, key.annotator))
    assert all(len(who) == 1 for who in authors.values()), "a project holds one person's answers"
    ledger = pd.read_csv(project.folder / "datasets/campaign/pairs.csv", dtype=str)
    assert set(zip(ledger["query_id"], ledger["moment_id"], strict=True)) == set(people)


def test_every_pair_has_a_consensus_or_is_discarded(ended):
    project, _ = ended
    table = pd.read_parquet(project.folder / "datasets/work/consensus.parquet")
    outcomes = Counter(table["outcome"])
    assert outcomes["two"] > 0
    assert set(outcomes) <= {"two", "four", "discarded", "unjudgeable"}
    for row in table[table["outcome"] == "two"].itertuples():
        assert max(row.scores) - min(row.scores) <= 1


def test_a_further_run_adds_nothing(ended):
    project, lead = ended
    before = [one["task_number"] for one in lead.api("GET", "/api/projects/")["results"]]
    ledger = (project.folder / "datasets/campaign/pairs.csv").read_bytes()
    assert project.repro() == []
    receipt = json.loads((project.folder / "datasets/work/push_receipt.json").read_text())
    assert (receipt["added"], receipt["closed"], receipt["reopened"]) == (0, 0, 0)
    assert [one["task_number"] for one in lead.api("GET", "/api/projects/")["results"]] == before
    assert (project.folder / "datasets/campaign/pairs.csv").read_bytes() == ledger


def test_no_caption_and_no_secret_leaves_the_house(ended):
    project, lead = ended
    captions = pd.read_parquet(project.folder / "datasets/work/captions.parquet")["caption"]
    queries = set(pd.read_csv(project.folder / "datasets/campaign/queries.csv")["query"])
    hidden = [caption for caption in captions if caption not in queries]
    shown = json.dumps(
        [lead.tasks(one["id"]) for one in lead.api("GET", "/api/projects/")["results"]]
    )
    assert [caption for caption in hidden if json.dumps(caption)[1:-1] in shown] == []
    env = (project.folder / ".env").read_text()
    values = dict(line.split("=", 1) for line in env.split())
    committed = project.run("git", "grep", "-lF", values[keys.SECRET], fails=True)
    assert committed == ""
    for name in ("work/push_receipt.json", "work/campaign_state.json", "campaign/judgments.csv"):
        assert lead.token not in (project.folder / "datasets" / name).read_text()


def test_the_invitations_name_everybody_and_the_status_says_that_it_is_done(ended):
    project, lead = ended
    invited = project.run("python", "-m", "annotation.people", "invite")
    private = roster.accounts(project.folder / roster.PRIVATE)
    assert [account.email for account in private.values() if account.email not in invited] == []
    assert invited.count("Judge here: http://127.0.0.1:") >= 4
    assert project.code("python", "-m", "annotation.status") == 0
    told = json.loads(project.run("python", "-m", "annotation.status", "--json"))
    assert told["wanted"] == 0
    assert sum(who["done"] for who in told["annotators"].values()) == len(answers(project, lead))


def test_closing_commits_what_people_made_and_freezes_the_loop(ended):
    project, _ = ended
    project.run("python", "-m", "annotation.campaign", "close")
    assert opened.current(project.folder / opened.FILE).closed
    assert project.run("git", "status", "--porcelain", "datasets/campaign", "dvc.yaml") == ""
    told = project.run("dvc", "repro")
    assert "Running stage 'pull'" not in told
    assert "Running stage 'push'" not in told
    figures = json.loads((project.folder / "datasets/work/metrics/consensus.json").read_text())
    assert (figures["closed"], figures["outcomes"]["waiting"]) == (True, 0)
