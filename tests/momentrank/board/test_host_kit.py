"""The host's kit: each step of its workflows, and its script, run here in bash on a repository."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import momentrank as mr
from momentrank.formats import load_qrels

pytestmark = pytest.mark.integration

DOCS = Path(__file__).parents[3] / "docs"
KIT, PAGE = DOCS / "host", DOCS / "host-benchmark.md"
QUERIES, VIDEOS = [f"q{n}" for n in range(60)], [f"v{n}" for n in range(5)]
KEY = "correct horse battery"
ENTRY = (
    "name: {0}\nauthors: Team {0}\nlink: https://example.org/{0}\n"
    "date: 2026-11-27\nreads: [video]\n"
)
UNSAFE = {"pull_request_target", "workflow_run", "issue_comment"}


def write_run(path, rank=0):
    """Write two results a query; with `rank` 0 the first is the relevant one."""
    order = [(0, 2), (1, 2)] if rank == 0 else [(1, 2), (0, 2)]
    lines = [
        f"{query} Q0 {VIDEOS[(n + step) % 5]} 1 {end} {place} {9 - place} x\n"
        for n, query in enumerate(QUERIES)
        for place, (step, end) in enumerate(order, 1)
    ]
    path.write_text("".join(lines))
    path.with_suffix(".yaml").write_text(ENTRY.format(path.stem))


def write_release(folder):
    """Write the part of a release with levels; its last query is negative."""
    files = {
        "queries.tsv": "query_id\tquery\tsplit\tnumber\tstratum\torigin\tnegative\n"
        + "".join(f"{q}\tx\ttest\t{q[1:]}\tcaption\tperson\t\n" for q in QUERIES[:-1])
        + f"{QUERIES[-1]}\tx\ttest\t59\tcaption\tperson\tyes\n",
        "qrels/test.qrels": "".join(
            f"{query} Q0 {VIDEOS[n % 5]} 1 2 {1 if query == QUERIES[-1] else 3}\n"
            for n, query in enumerate(QUERIES)
        ),
    }
    hashes = {p: {"sha256": hashlib.sha256(t.encode()).hexdigest()} for p, t in files.items()}
    manifest = {"name": "Kit", "version": "1.0.0", "format": 2, "files": hashes}
    for path, text in {**files, "manifest.json": json.dumps(manifest)}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


class Host:
    """A board's repository, and a shell that has what a workflow's job has."""

    def __init__(self, folder):
        self.folder, self.temp = folder / "board", folder / "temp"
        (self.folder / "submissions").mkdir(parents=True)
        self.temp.mkdir()
        self.secret = write_release(folder / "release") / "qrels/test.qrels"
        first = [f"{query} Q0 {VIDEOS[0]} 0 1 1\n" for query in QUERIES]
        others = [f"{QUERIES[0]} Q0 {video} 0 1 1\n" for video in VIDEOS[1:]]
        (self.folder / "public.qrels").write_text("".join([*first, *others]))
        self.git("init", "-qb", "main")
        self.git("config", "user.email", "host@example.org")
        self.git("config", "user.name", "host")
        encrypt = re.search(r"```bash\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
        encrypt = encrypt.replace("-C release", f"-C '{folder}/release'")
        assert self.shell(["bash", "-c", encrypt], QRELS_KEY=KEY).returncode == 0
        self.commit()

    def git(self, *words):
        command = ["git", "-C", str(self.folder), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "x")
        return self.git("rev-parse", "HEAD")

    def follow(self, name, base=""):
        """Run the steps of a workflow as its job does; return the output and the last status."""
        known = {
            "${{ github.event.pull_request.base.sha }}": base,
            "${{ secrets.QRELS_KEY }}": KEY,
        }
        (job,) = read(name)["jobs"].values()
        output = ""
        for step in job["steps"]:
            if "run" not in step or step["run"].startswith("pip install"):
                continue
            env = {key: known[value] for key, value in step.get("env", {}).items()}
            done = self.shell(["bash", "-eo", "pipefail", "-c", step["run"]], **env)
            output += done.stdout + done.stderr
            if done.returncode:
                return output, done.returncode
        return output, 0

    def shell(self, command, **env):
        env = os.environ | {"RUNNER_TEMP": str(self.temp)} | env
        return subprocess.run(
            command, cwd=self.folder, env=env, capture_output=True, text=True, check=False
        )


def read(name):
    """Return a workflow; YAML reads its key `on` as True."""
    return yaml.safe_load((KIT / name).read_text())


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_no_workflow_gives_a_secret_to_what_a_pull_request_has():
    for path in KIT.glob("*.yml"):
        events = set(read(path.name)[True])
        assert not events & UNSAFE
        if "pull_request" in events:
            assert "secrets." not in path.read_text().replace("no secret", "")
            assert read(path.name)["permissions"] == {"contents": "read"}
        text = path.read_text()
        for script in re.findall(r"run: \|\n((?: {10}.*\n)+)", text):
            assert "${{" not in script, "an expression in a script is code of whoever wrote it"


def test_a_right_submission_passes_and_is_scored(host):
    base = host.git("rev-parse", "HEAD")
    write_run(host.folder / "submissions/good.run")
    host.commit()
    output, status = host.follow("submission.yml", base)
    assert status == 0, output
    write_run(host.folder / "submissions/worse.run", rank=1)
    host.commit()
    output, status = host.follow("board.yml")
    assert status == 0, output
    page = (host.folder / "site/index.html").read_text()
    assert "good" in page
    assert "worse" in page
    assert not (host.temp / "release").exists()
    data = (host.folder / "site/board.json").read_text()
    assert not re.findall(r"\d\.\d{3,}", data), "more than is shown"
    assert hashlib.sha256(host.secret.read_bytes()).hexdigest() not in data + page
    for path in (host.folder / "site").rglob("*"):
        assert not re.search(r"\bq\d+\b", path.read_text()), "a query's id"


WRONG = {
    "an unknown query": lambda f: _append(f, "q99 Q0 v1 1 2 1 1 x\n"),
    "a time that is no number": lambda f: _append(f, "q1 Q0 v1 one 2 1 1 x\n"),
    "changes nothing else": lambda f: (f.parents[1] / "public.qrels").write_text(""),
    "adds NAME.run": lambda f: (f.parents[1] / "submissions/run.sh").write_text("exit"),
    "and NAME.yaml": lambda f: f.with_name("b.run").symlink_to("/etc/hostname"),
}


def _append(path, line):
    path.write_text(path.read_text() + line)


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_submission_fails_with_a_message(host, what):
    base = host.git("rev-parse", "HEAD")
    write_run(host.folder / "submissions/bad.run")
    WRONG[what](host.folder / "submissions/bad.run")
    host.commit()
    output, status = host.follow("submission.yml", base)
    assert status != 0
    expected = {
        "an unknown query": "not in the qrels",
        "a time that is no number": r"bad\.run, line 121",
    }
    assert re.search(expected.get(what, what), output), output


def test_an_earlier_run_stays_as_it_is(host):
    write_run(host.folder / "submissions/mine.run")
    base = host.commit()
    write_run(host.folder / "submissions/mine.run", rank=1)
    host.commit()
    output, status = host.follow("submission.yml", base)
    assert status != 0
    assert "changes nothing else" in output


def test_a_link_among_the_submissions_is_not_read(host):
    (host.folder / "submissions/x.run").symlink_to("../release.enc")
    output, status = host.follow("board.yml")
    assert status != 0
    assert "a link, not a file" in output


def test_what_fails_with_the_levels_is_not_in_the_public_log(host):
    write_run(host.folder / "submissions/bad.run")
    (host.folder / "submissions/bad.run").write_text("q1 Q0 unknown 1 2 1 1 x\n")
    output, status = host.follow("board.yml")
    assert status != 0
    assert "run the command yourself" in output
    assert not set(VIDEOS) & set(re.findall(r"\w+", output))


def test_uploads_are_taken_or_get_a_log(host):
    uploads, accepted = host.temp / "uploads", host.temp / "accepted"
    uploads.mkdir()
    accepted.mkdir()
    for name, rank in (
        ("good", 0),
        ("worse", 1),
        ("bad", 0),
        ("link", 0),
        ("half", 0),
        ("pipe", 0),
    ):
        write_run(uploads / f"{name}.run", rank)
    _append(uploads / "bad.run", "q99 Q0 v1 1 2 1 1 x\n")
    (uploads / "link.run").unlink()
    (uploads / "link.run").symlink_to(host.secret)
    (uploads / "half.run").unlink()
    (uploads / "pipe.run").unlink()
    os.mkfifo(uploads / "pipe.run")
    (uploads / "bad.log").symlink_to(host.secret)
    (uploads / "half.log").mkdir()
    secret = host.secret.read_bytes()
    paths = [uploads, accepted, host.folder / "public.qrels", host.secret, host.temp / "site"]
    done = host.shell(["bash", str(KIT / "collect.sh"), *map(str, paths)])
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in accepted.glob("*.run")) == ["good.run", "worse.run"]
    logs = {path.stem: path.read_text() for path in uploads.glob("*.log") if path.is_file()}
    assert host.secret.read_bytes() == secret
    assert "not in the qrels" in logs["bad"]
    assert "not a regular file" in logs["link"]
    assert logs.keys() == {"bad", "link", "pipe"}
    page = (host.temp / "site/index.html").read_text()
    assert "Team good" in page
    assert "Team bad" not in page
    write_run(uploads / "good.run", rank=1)
    before = (accepted / "good.run").read_bytes()
    host.shell(["bash", str(KIT / "collect.sh"), *map(str, paths)])
    assert (accepted / "good.run").read_bytes() == before
    assert "taken" in (uploads / "good.log").read_text()


def test_the_public_qrels_have_all_queries_and_videos(tmp_path):
    release = DOCS.parent / "tests/fixtures/releases/2-strata"
    command = [sys.executable, KIT / "public_qrels.py", release]
    subprocess.run(command, cwd=tmp_path, check=True)
    made = load_qrels(tmp_path / "public.qrels")
    collection = mr.load(release)
    assert set(made.queries) == set(collection["test"].queries)
    assert set(made.video) == set(collection.videos)
    assert set(made.value) == {1}
