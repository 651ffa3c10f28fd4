"""Make a working copy for a campaign: a clone of this checkout that shares its environment.

    make campaign DIR=path [PARAMS=params.paper.yaml] [SET="ingest.corpus=tvr ingest.source=..."]

The copy has its own branch, and a `params.yaml` made from PARAMS and the settings in SET. Relative
paths refer to the folder where the command is typed, and become absolute. Errors leave nothing
behind: the copy appears whole, or not at all.
"""

import argparse
import os
import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from pipeline.core import cli, files
from pipeline.core.params import PARAMS, Params, load
from pipeline.core.strata import count_planned
from tools import clone, settings
from tools.clone import CloneError, git

PATHS = ("ingest.source", "ingest.videos", "rewrite.prompt", "names.model", "embed.model")
"""Keys whose values are paths, or may be."""
WORK = Path("datasets/work")
"""What stages make: such a path belongs to the new copy."""
USAGE = 'make campaign DIR=path [PARAMS=params.paper.yaml] [SET="ingest.corpus=... ..."]'


def make(target: Path, params: str, changes: Mapping[str, str]) -> None:
    """Make the copy; `params` is the file that becomes its params.yaml (empty: the committed one).

    Raises:
        CloneError: the folder exists, or git fails.
        ParamsError, SettingsError: params.yaml would not be valid.
    """
    if os.path.lexists(target):
        raise CloneError(f"{target} already exists: a campaign is never overwritten")
    text = settings.apply(_text(params), _from_here(changes))
    workplace = target.parent / f".{target.name}.new-{os.getpid()}"
    with (
        clone.unfinished(target, workplace, branch="campaign") as folder,
        files.unfinished(folder / PARAMS) as stream,
    ):
        stream.write(text)


def _text(params: str) -> str:
    if not params:
        return git("show", f"HEAD:./{PARAMS}")
    load(Path(params))
    return Path(params).read_text(encoding="utf-8")


def _from_here(changes: Mapping[str, str]) -> dict[str, str]:
    """Make paths that exist from here absolute.

    Raises:
        CloneError: the corpus does not exist.
    """
    changed = dict(changes)
    for key in filter(changes.__contains__, PATHS):
        path = Path(changes[key]).expanduser()
        if WORK in path.parents:
            continue
        if key == "ingest.source" and not path.exists():
            raise CloneError(f"{settings.NAME}: {key}: {path.absolute()}: no such file or folder")
        if "{video_id}" in changes[key] or (path.exists() and not _is_committed(path)):
            changed[key] = str(path.parent.resolve() / path.name)
    return changed


def _is_committed(path: Path) -> bool:
    """Return whether a clone has the path too."""
    inside = os.path.relpath(path)
    outside = path.is_absolute() or inside.startswith(os.pardir)
    return not outside and bool(git("ls-files", "--", f":(literal){inside}"))


def main(options: argparse.Namespace) -> None:
    """Make the copy, and print what comes next."""
    if not options.folder:
        raise CloneError(f"DIR is missing: {USAGE}")
    changes, target = settings.parse(options.settings), Path(options.folder).expanduser()
    make(target, options.params, changes)
    cli.log(f"==> {target} is ready, on its own branch. Next:")
    for step in list_steps(target, load(target / PARAMS), edited="ingest.source" in changes):
        cli.log(f"    {step}")
    if git("status", "--porcelain", "--untracked-files=no"):
        cli.log("    (your uncommitted changes are not in it)")


def list_steps(target: Path, params: Params, *, edited: bool) -> Iterator[str]:
    """Yield what to type in a copy, up to its campaign; no cost arises before an estimate.

    `edited`: the corpus is already set.
    """
    queries, name = count_planned(params), params.release.name or target.name
    yield f"cd {shlex.quote(str(target))} && . .venv/bin/activate"
    if not edited:
        yield "edit params.yaml: ingest.corpus, ingest.source, ingest.videos, split"
    steps = {
        "python -m pipeline.doctor": "what this machine lacks",
        "dvc repro ingest": f"reads {params.ingest.source} ({params.ingest.corpus})",
    }
    if params.rewrite.backend == "openai":
        model = params.rewrite.openai.model
        steps["python -m pipeline.rewrite --estimate"] = f"what {model} will cost"
    steps |= {
        "dvc repro": f"{queries:,} queries, their candidates and clips",
        "python -m pipeline.show --queries 20": "read them before anyone is paid",
        "python -m annotation.estimate": f"hours of judging for {queries:,} queries",
        "make label-studio": "or put another server's address into .env",
        f"python -m annotation.campaign open --name {shlex.quote(name)}": "freezes the queries",
    }
    width = max(map(len, steps))
    yield from (f"{command:{width}}  # {what}" for command, what in steps.items())


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, a checkout.")
    parser.add_argument("folder", help="the new copy's folder; it must not exist")
    parser.add_argument("--params", default="", help="the file that becomes its params.yaml")
    parser.add_argument("--set", default="", dest="settings", help="KEY=VALUE, separated by spaces")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
