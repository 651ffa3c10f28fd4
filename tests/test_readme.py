"""Every command of the README's doors and of their pages, typed by somebody who has just cloned it.

The checkout is a clone without a cache, and none of our variables is in the environment. What is
typed differs from the page only where this file says so: a smaller sample, files of one's own.
"""

import json
import re
import time

import benchmark_files
import pandas as pd
import pytest
from project import make_checkout
from readme import sections, shell

from pipeline.core import files

pytestmark = pytest.mark.integration

PAGES = [
    f"docs/{name}.md"
    for name in (
        *("first-score", "first-collection", "add-corpus", "limits"),
        *("different-number", "host-benchmark"),
    )
]
"""The pages behind the README's doors."""
TYPED_HERE = {
    "You have runs to score",
    "Score",
    "Go on",
    "A campaign in seven steps",
    "What it costs",
    "Your own corpus",
    "TVR, in one line",
    "docs/different-number.md",
    "docs/host-benchmark.md",
}
"""Sections whose commands are typed below, all of them in their order."""

NOT_TYPED = {
    "momentrank board runs --qrels test.qrels --out site 'nDCG(iou=0.5)@10' AxIoU@10\n": "by"
    " tests/momentrank/board",
    "make demo                    # a rehearsal: sample corpus, simulated annotators\n"
    "make campaign DIR=../mine    # a working copy for your own videos\n": "the demo is"
    " test_demo.py's; the second is typed in seven steps",
    "make demo\n": "test_demo.py runs it, and interrupts it",
    "make docs": "test_manual.py",
    "make stop-demo": "test_demo.py",
    "make clean-demo": "test_demo.py",
    "python3 -m venv ../scorer && . ../scorer/bin/activate\n"
    "pip install .      # in a clone; once it is published: pip install momentrank\n": "the README"
    " has it, too",
    "pip wheel --no-deps .": "test_packaging.py builds it, without a network",
    "pip install momentrank-*.whl": "test_packaging.py installs it into an empty environment",
    "momentrank evaluate RELEASE/qrels/test.qrels my.run": "test_demo.py, of its release",
    "momentrank diff OLD NEW": "test_versions.py",
    "momentrank diff OLD NEW RUN...": "test_versions.py",
    "python -m annotation.pool top-up RUN... --depth 10": "test_audit.py",
    "python -m pipeline.publish --to hf owner/name": "test_publish.py, to a hub of its own",
}
"""Commands that are typed elsewhere or nowhere, and why."""
QUICK = 120
"""Seconds to a first score, with an installation from nothing."""

BENCHMARK = re.compile(r"python -m (benchmarks\.\w+)(.*)")
BENCHMARK_IN_TEXT = re.compile(r"`(?:python -m )?(benchmarks\.\w+)([^`]*)`")
"""One whose figure stands on a page."""

TVR = [
    ("s01e01", 20.0, [1.5, 4.0], "A woman waves.", "v", 1),
    ("s01e01", 20.0, [5.0, 9.5], "Two men shake hands.", "v", 2),
    ("s01e02", 30.0, [0.0, 3.0], "A man sits down.", "v", 3),
    ("s01e02", 30.0, [4.0, 6.0], "He says no.", "t", 4),
    ("../../etc/x y", 30.0, [2.0, 3.0], "A dog barks at a cat.", "v", 5),
]
TVR_FIELDS = ("vid_name", "duration", "ts", "desc", "type", "desc_id")
TABLE = """clip,from,to,length,text
v1,0,4,60,A person opens a fridge
v1,5,9,60,A person pours milk into a glass
v2,1,7,40,A person cuts an onion
v2,8,12,40,A person washes a plate
v3,0,9,20,A person stirs a pot of soup
"""
PEOPLE = {
    "annotators.yaml": "annotators:\n"
    + "".join(f"  {n}: {{role: annotator, active: true}}\n" for n in range(1, 5)),
    "annotators.private.yaml": "accounts:\n"
    + "".join(f"  {n}: {{email: p{n}@example.org}}\n" for n in range(1, 5)),
}
WAITING = 75


@pytest.fixture(scope="module")
def page(repository):
    """Return the sections of the README and of the pages behind its doors."""
    pages = {name: sections(repository / name) for name in ("README.md", *PAGES)}
    return {title or name: typed for name, page in pages.items() for title, typed in page.items()}


def test_the_readme_is_short_and_every_door_has_its_commands(repository, page):
    assert len((repository / "README.md").read_text().splitlines()) <= 150
    assert page["You have runs to score"]
    assert page["You have videos and want a collection"]


def test_every_command_is_typed_by_a_test_or_has_a_reason_why_not(page):
    typed = {command for title in TYPED_HERE for command in page[title]}
    commands = {command for section in page.values() for command in section}
    rest = {command for command in commands - typed if not BENCHMARK.fullmatch(command)}
    assert rest - NOT_TYPED.keys() == set(), "type it in a test here, or say why not"
    assert NOT_TYPED.keys() - commands == set(), "no page says this any more"


def test_the_pages_name_every_benchmark_with_options_that_it_takes(repository):
    pages = [repository / "README.md", *(repository / "docs").glob("*.md")]
    text = " ".join(word for path in pages for word in path.read_text().split())
    named = BENCHMARK_IN_TEXT.findall(text)
    sources = {
        f"benchmarks.{path.stem}": source
        for path in (repository / "benchmarks").glob("*.py")
        if "\nif __name__ ==" in (source := path.read_text())
    }
    assert {module for module, _ in named} == sources.keys()
    for module, arguments in named:
        for option in re.findall(r"--([a-z-]+)", arguments):
            assert f"{option.replace('-', '_')}=" in sources[module], f"{module} --{option}"


class Newcomer:
    """Types commands into one shell, in a clone of a small checkout."""

    def __init__(self, checkout, home):
        self.checkout = checkout
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home)}

    def type(self, commands, *, instead=None, before=None, active=False):
        """Type commands in their order; return what is written.

        `instead` are words of the page and what is typed for them, `before` is done by hand
        before a command; `active`: in the checkout's environment.
        """
        lines = [". .venv/bin/activate"] if active else []
        replaced = set()
        for command in (text for text in commands if text not in NOT_TYPED):
            lines.append((before or {}).get(command, ""))
            for words, replacement in (instead or {}).items():
                if words in command:
                    replaced.add(words)
                    command = command.replace(words, replacement)  # noqa: PLW2901  (as typed)
            lines += [f"cat <<'TYPED'\n$ {command}\nTYPED", command]
        assert replaced == set(instead or {}), "no page says this any more"
        assert set(before or {}) <= set(commands)
        return self.shell("\n".join(lines), self.checkout)

    def shell(self, script, folder):
        return shell(script, folder, self.env)


@pytest.fixture(scope="module")
def newcomer(repository, tmp_path_factory):
    """Return somebody who has a clone, with the environment that `make setup` would make."""
    parent, home = tmp_path_factory.mktemp("newcomer"), tmp_path_factory.mktemp("home")
    project = make_checkout(repository, parent)
    assert not (project.folder / ".dvc/cache").exists()
    (home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
    return Newcomer(project.folder, home)


def read_stages(output):
    return re.findall(r"Running stage '([^']+)'", output)


def test_what_it_costs_is_what_the_command_says(page, newcomer):
    [transcript, estimate] = page["What it costs"]
    command, _, expected = transcript.partition("\n")
    output = newcomer.shell(
        f". .venv/bin/activate\n{command.removeprefix('$ ')}", newcomer.checkout
    )
    assert re.findall(r"\d[\d,.]*", output) == re.findall(r"\d[\d,.]*", expected)
    assert estimate in page["A campaign in seven steps"]


@pytest.mark.slow
def test_from_nothing_to_a_first_score_in_two_minutes(page, newcomer, tmp_path):
    benchmark_files.write(tmp_path)
    started = time.monotonic()
    output = newcomer.type(
        page["You have runs to score"],
        instead={
            "val.jsonl": str(tmp_path / "highlight_val_release.jsonl"),
            "submission.jsonl": str(tmp_path / "hl_val_submission.jsonl"),
        },
    )
    assert time.monotonic() - started < QUICK
    assert "nDCG" in output
    assert "MR-full-R1@0.5\tall\t100" in output


def test_the_first_score(repository, page, newcomer, tmp_path):
    benchmark_files.write(tmp_path)
    output = newcomer.type(
        ["cd FOLDER", *page["Score"], *page["Go on"]],
        instead={
            "cd FOLDER": f"cd '{tmp_path}'",
            "val.jsonl": "highlight_val_release.jsonl",
            "submission.jsonl": "hl_val_submission.jsonl",
            "validate FILE": "validate test.qrels",
            "momentrank convert": "momentrank convert --help",
            "momentrank compare": "momentrank compare --help",
        },
        active=True,
    )
    assert "nDCG(iou=0.5)@10\tall\t" in output
    assert "AxIoU@10\tall\t" in output
    text = (repository / "docs/first-score.md").read_text()
    shown = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    assert shown in output, "what the page says that explain prints"


def test_why_a_number_differs_and_hosting_a_benchmark(page, newcomer, tmp_path):
    copies = "mkdir runs; cp my.run runs/a.run; cp my.run runs/b.run"
    asked, hosted = page["docs/different-number.md"], page["docs/host-benchmark.md"]
    output = newcomer.type(
        ["cd FOLDER", *page["Score"], copies, *asked, *hosted],
        instead={
            "cd FOLDER": f"cd '{tmp_path}'",
            "QRELS": "test.qrels",
            "RUN": "my.run",
            "QUERY": "q1",
        },
        active=True,
    )
    assert "| runs/a.run |" in output


@pytest.mark.slow
def test_a_corpus_in_one_line(page, newcomer, tmp_path):
    source = tmp_path / "tvr_val_release.jsonl"
    rows = (dict(zip(TVR_FIELDS, row, strict=True)) for row in TVR)
    source.write_text("\n".join(map(json.dumps, rows)))
    output = newcomer.type(
        page["TVR, in one line"],
        instead={
            "/path/to/tvr_val_release.jsonl": str(source),
            "split.val=100 split.test=400": "split.val=1 split.test=1"
            " 'ingest.pool_modalities=[v, t]'",
            "make campaign DIR=../paper": "cd ../checkout && make campaign DIR=../paper",
        },
    )
    assert "sample" not in read_stages(output)
    assert "1.000" in output.split("$ python -m pipeline.show")[-1]
    paper = newcomer.checkout.parent / "paper"
    assert files.read_yaml(paper / "params.yaml")["split"]["test"] == 2781

    copy = newcomer.checkout.parent / "tvr"
    candidates = pd.read_parquet(copy / "datasets/work/candidates.parquet")
    assert set(candidates["moment_id"]) == {"1", "2", "3", "4", "5"}
    queries = pd.read_parquet(copy / "datasets/work/queries.parquet")
    assert "4" not in set(queries["moment_id"])
    trained = files.read_json(copy / "datasets/release/train_top40.json")
    assert {query["query_id"] for query in trained} < {1, 2, 3, 5}
    captions = {moment["caption"] for query in trained for moment in query["relevant_moment"]}
    assert "He says no." in captions
    videos = pd.read_parquet(copy / "datasets/work/videos.parquet")
    assert videos["path"].isna().all()


@pytest.mark.slow
def test_a_corpus_of_ones_own_runs_to_the_end_and_draws_no_sample(page, newcomer, tmp_path):
    source = tmp_path / "my moments.csv"
    source.write_text(TABLE)
    columns = "{video_id: clip, start: from, end: to, duration: length, description: text}"
    output = newcomer.type(
        page["Your own corpus"],
        before={
            "dvc repro": 'python -m tools.settings params.yaml "ingest.corpus=table'
            f" ingest.source='{source}' 'ingest.columns={columns}' ingest.videos=null"
            ' split.val=1 split.test=1"'
        },
    )
    assert {"sample", "ingest", "clips", "report"} <= set(read_stages(output))
    copy = newcomer.checkout.parent / "my-campaign"
    assert list((copy / "datasets/work/sample").iterdir()) == []
    assert not files.read_json(copy / "datasets/work/metrics/sample.json")["drawn"]
    assert (copy / "datasets/report/index.html").is_file()
    again = newcomer.shell(". .venv/bin/activate && dvc repro && dvc plots show", copy)
    assert set(read_stages(again)) == {"pull", "pool", "push"}


@pytest.mark.slow
def test_a_campaign_in_seven_steps(page, newcomer, label_studio, tmp_path):
    for name, text in PEOPLE.items():
        (tmp_path / name).write_text(text)
    copy = newcomer.checkout.parent / "mine"
    try:
        output = newcomer.type(
            page["A campaign in seven steps"],
            before={
                "dvc repro ingest": 'python -m tools.settings params.yaml "release.name=Kitchen'
                " release.license=cc-by-4.0 release.url=https://example.org release.citation=Ann"
                " release.creators=[Ann] release.rai.annotators=Ann release.rai.use_cases=none"
                " release.rai.personal_information=none release.rai.social_impact=none"
                ' release.rai.maintenance=Ann"',
                'python -m annotation.campaign open --name "Kitchen videos"': "cp"
                f" '{tmp_path}'/annotators*.yaml datasets/campaign/",
            },
            instead={
                "python -m annotation.status": "python -m annotation.status"
                f" || test $? = {WAITING}",
                "campaign close": "campaign close --give-up --unaudited",  # nobody has judged
            },
        )
    finally:
        if copy.exists():
            newcomer.shell(". .venv/bin/activate && python -m annotation.server stop", copy)
    assert read_stages(output).count("ingest") == 1
    assert {"plan", "consensus", "agreement", "release", "report"} <= set(read_stages(output))
    for number in range(1, 5):
        assert f"To: p{number}@example.org" in output
    campaign = files.read_yaml(copy / "datasets/campaign/campaign.yaml")
    assert campaign["name"] == "Kitchen videos"
    assert campaign["closed_at"]
    assert (copy / "datasets/release/manifest.json").is_file()
    assert (copy / "datasets/report/index.html").is_file()
