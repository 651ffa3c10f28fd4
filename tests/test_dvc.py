"""Real DVC in a clone: what runs, and what does not run again."""

import json
import re
import shutil

import pandas as pd
import pytest
from project import RAN, Project
from support.fake_openai.answers import caption_of
from support.fake_openai.process import serving

pytestmark = [pytest.mark.integration, pytest.mark.slow]

STAGES = (
    *("sample", "ingest", "tagger", "rewrite", "vary", "split", "embed", "candidates", "clips"),
    *(
        "pseudo",
        "plan",
        "consensus",
        "agreement",
        "judge",
        "release",
        "reference_runs",
        "calibration",
    ),
    "report",
)
ENDS = ("calibration", "judge", "reference_runs", "release", "report")


@pytest.fixture(scope="module")
def project(tmp_path_factory, first_run):
    """Return a small project in which everything has run once."""
    folder = tmp_path_factory.mktemp("project") / "copy"
    shutil.copytree(first_run, folder, symlinks=True)
    project = Project(folder)
    project.first_run = json.loads((folder / RAN).read_text())
    return project


def test_one_command_runs_every_stage_and_makes_what_it_promises(project):
    assert sorted(project.first_run) == sorted(STAGES)
    folder = project.folder / "datasets"
    candidates = pd.read_parquet(folder / "work" / "candidates.parquet")
    assert candidates.groupby("query_id")["rank"].apply(list).tolist() == [list(range(1, 9))] * 4
    assert (candidates.loc[candidates["rank"] == 1, "similarity"] == 1.0).all()
    clips = pd.read_csv(folder / "work" / "clips.csv")
    assert set(clips["moment_id"].astype(str)) == set(candidates["moment_id"])
    assert {path.name for path in (folder / "work" / "clips").iterdir()} == set(clips["clip"])
    trained = json.loads((folder / "release" / "train_top20.json").read_text())
    assert {len(query["relevant_moment"]) for query in trained} == {20}


def test_every_released_qrels_run_and_json_file_is_valid(project):
    release = project.folder / "datasets/release"
    files = [*release.rglob("*.json"), *release.rglob("*.qrels")]
    files += (project.folder / "datasets/work/runs").iterdir()
    assert {path.name for path in files} >= {"manifest.json", "croissant.json", "val.qrels"}
    output = project.run("momentrank", "validate", *map(str, files))
    assert output.count("files, all with matching SHA-256") == 4


def test_nothing_is_left_for_git_but_what_is_committed(project):
    assert project.run("git", "status", "--porcelain") == ""


def test_metrics_and_plots_are_where_dvc_looks(project):
    metrics = json.loads(project.run("dvc", "metrics", "show", "--json"))[""]["data"]
    measured = {name for name, content in metrics.items() if "error" not in content}
    stages = {*STAGES, "pull"} - {"plan"}
    assert measured == {f"datasets/work/metrics/{name}.json" for name in stages}
    assert {name.split("/")[2] for name in metrics.keys() - measured} <= {"baselines"}
    assert "similarity_by_rank" in project.run("dvc", "plots", "show", "--json", "-o", ".git/plots")


def test_a_second_run_asks_label_studio_and_does_nothing_else_whatever_the_page_says(project):
    project.change("README.md", r"\Z", "changed\n")
    assert project.repro() == []


@pytest.mark.parametrize(
    ("name", "pattern", "text", "stages"),
    [
        ("params.yaml", r"top: 8 ", "top: 7 ", ["candidates", "clips", "plan", *ENDS]),
        (
            "annotation/reliability/alpha.py",
            r"\Z",
            "# changed\n",
            ["agreement", "calibration", "consensus", "plan"],
        ),
        ("pipeline/sitcom/screenplay.py", r"\Z", "# changed\n", ["sample"]),
    ],
)
def test_a_stage_reruns_only_when_its_inputs_code_or_keys_change(
    project, name, pattern, text, stages
):
    project.change(name, pattern, text)
    assert sorted(project.repro()) == sorted(stages)
    if text == "top: 7 ":
        assert re.search(r"clips: 0 of \d+ clips cut", project.output + project.errors)


def test_a_stage_is_out_of_date_only_for_its_own_keys(project):
    before, text = list_outdated(project), (project.folder / "params.yaml").read_text()
    for old, new, stages in (
        (r"padding: 0.0 ", "padding: 0.5 ", {"clips", "release"}),
        (r"top: \[1, 20, 40\]", "top: [40, 20, 1]", {"pseudo", "release"}),
        (r"version: 0.1.0 ", "version: 0.1.1 ", {"release"}),
        (r"backend: similarity", "backend: none", {"judge"}),
        (r"pool_top: 0 ", "pool_top: 5 ", {"clips", "judge"}),
    ):
        project.change("params.yaml", old, new)
        assert list_outdated(project) - before == stages
        (project.folder / "params.yaml").write_text(text)


def list_outdated(project):
    """Return the stages that DVC would run first."""
    return set(json.loads(project.run("dvc", "status", "--json")))


def test_frozen_queries_take_the_place_of_drawn_ones(project):
    moments = pd.read_parquet(project.folder / "datasets/work/moments.parquet")
    own = moments["moment_id"].iloc[0]
    with (project.folder / "datasets/campaign/queries.csv").open("a") as stream:
        stream.write(f"q1,Somebody does what nobody described.,val,{own},caption,corpus\n")
    redone = {"agreement", "candidates", "clips", "consensus", "embed", "plan", "pseudo", "split"}
    redone |= set(ENDS)
    assert set(project.repro()) == redone
    # DVC would have emptied the folders before the run, were it not for `persist`.
    assert re.search(r"embed: 1 of \d+ texts encoded", project.output + project.errors)
    candidates = pd.read_parquet(project.folder / "datasets/work/candidates.parquet")
    assert set(candidates["query_id"]) == {"q1"}
    queries = pd.read_parquet(project.folder / "datasets/work/queries.parquet")
    assert own not in set(queries["query_id"])
    project.run("git", "checkout", "-q", ".")


def test_a_language_model_rewrites_through_dvc_and_is_paid_once(project):
    project.change("params.yaml", "backend: rules", "backend: openai")
    project.run("dvc", "repro", "rewrite", fails=True, OPENAI_API_KEY="")
    [message] = [line for line in project.errors.splitlines() if "OPENAI_API_KEY" in line]
    assert message.startswith("error: OPENAI_API_KEY is not set: export OPENAI_API_KEY=")

    folder = project.folder / "datasets/work"
    with serving(latency=0.0) as url:
        env = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        project.run("dvc", "repro", "rewrite", **env)
        captions = pd.read_parquet(folder / "captions.parquet").set_index("moment_id")
        moments = pd.read_parquet(folder / "moments.parquet").set_index("moment_id")
        assert set(captions["source"]) == {"llm"}
        assert captions["prompt"].str.startswith("rewrite-v2").all()
        assert captions["caption"].to_dict() == moments["description"].map(caption_of).to_dict()
        figures = json.loads((folder / "metrics/rewrite.json").read_text())["llm"]
        assert figures["requests"] > 0
        project.run("dvc", "repro", "-f", "-s", "rewrite", **env)
    again = json.loads((folder / "metrics/rewrite.json").read_text())["llm"]
    assert (again["requests"], again["cost_usd"]) == (0, 0)
    project.run("git", "checkout", "-q", ".")
