"""The demo's clone of this checkout, `.demo`: made once, and updated to each new commit.

    python -m tools.demo ['KEY=VALUE KEY=VALUE ...']

It has the code of the last commit, its own settings for a smaller sample (or those of the command
line), some of the sample's written queries, and the campaign and `dvc.lock` that it has made. If
killed, it leaves nothing half-made: run it again.
"""

import argparse
from functools import partial
from pathlib import Path

from pipeline.core import cli, files
from pipeline.core.params import PARAMS
from tools import clone, settings
from tools.clone import git, succeeds

DEMO = Path(".demo")
WORKPLACE = Path(".demo.new")
RESTORED = ("datasets/campaign", "dvc.lock")
SMALLER = (
    "split.val=4 split.test=5 vary.vague=2 vary.gist=2 vary.changed=3"
    " sample.videos=40 tagger.sentences=2500"
    " exam.required=true exam.queries=2 exam.top=8 plan.queue=400"
    " candidates.further=learned candidates.top=30"
)
"""Settings of a sample with queries of all strata, and of a pool that learns from judgments."""
SAMPLE_QUERIES = Path("datasets/sample/written_queries.csv")
WRITTEN_QUERIES = Path("datasets/campaign/written_queries.csv")
BY_PERSON = 4
"""The sample's written queries that the demo uses, unless it has other settings."""
USER = {"user.name": "Demo", "user.email": "demo@example.org"}
"""The committer if git has none configured."""


def create(smaller: str) -> None:
    """Make the clone.

    Raises:
        CloneError: git fails.
    """
    with clone.unfinished(DEMO, WORKPLACE, branch="demo") as folder:
        for key, value in USER.items():
            if not succeeds("config", key, folder=folder):
                git("config", key, value, folder=folder)
        (folder / ".dvc/config.local").write_text("[core]\n    autostage = true\n", "utf-8")
        _make_smaller(folder, smaller)
        if smaller == SMALLER:
            _use_written_queries(folder)
        _commit("A smaller sample than usual", folder)


def update(smaller: str) -> None:
    """Update the clone to the last commit; keep the demo's campaign and dvc.lock.

    Raises:
        CloneError: git fails.
    """
    if (DEMO / ".git/MERGE_HEAD").exists():  # a killed update: what the demo made is committed
        git("reset", "--quiet", "--hard", folder=DEMO)
    git("fetch", "--quiet", str(Path.cwd()), "HEAD", folder=DEMO)
    if succeeds("merge-base", "--is-ancestor", "FETCH_HEAD", "HEAD", folder=DEMO):
        return
    git("add", "--all", folder=DEMO)
    _commit("What the demo has made", DEMO)
    git("merge", "--quiet", "--strategy=ours", "--no-commit", "FETCH_HEAD", folder=DEMO)
    git("read-tree", "-u", "--reset", "FETCH_HEAD", folder=DEMO)
    git("checkout", "--quiet", "HEAD", "--", *RESTORED, folder=DEMO)
    _make_smaller(DEMO, smaller)
    git("commit", "--quiet", "--all", "-m", "The code of the last commit", folder=DEMO)


def _make_smaller(folder: Path, smaller: str) -> None:
    path = folder / PARAMS
    text = settings.apply(path.read_text(encoding="utf-8"), settings.parse(smaller))
    with files.unfinished(path) as stream:
        stream.write(text)


def _use_written_queries(folder: Path) -> None:
    lines = (folder / SAMPLE_QUERIES).read_text(encoding="utf-8").splitlines(keepends=True)
    with files.unfinished(folder / WRITTEN_QUERIES) as stream:
        stream.writelines(lines[: 1 + BY_PERSON])


def _commit(message: str, folder: Path) -> None:
    """Commit all changes of tracked files, if there are any."""
    if not succeeds("diff", "--quiet", "HEAD", folder=folder):
        git("commit", "--quiet", "--all", "-m", message, folder=folder)


def main(smaller: str) -> None:
    """Make the clone, or update it to the last commit."""
    if not DEMO.exists():
        create(smaller)
    update(smaller)
    cli.log(f"==> {DEMO}/ is a clone of the last commit; your checkout and campaign are untouched")
    if not succeeds("diff", "--quiet", "HEAD"):
        cli.log("    (uncommitted changes are not in it)")


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, a checkout.")
    parser.add_argument("settings", nargs="?", help="KEY=VALUE, separated by spaces")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments().settings or SMALLER))
