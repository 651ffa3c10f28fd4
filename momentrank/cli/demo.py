"""Score and explain a tiny run, before you have files of your own.

    momentrank demo --write example

Prints two files (what people judged, and what a system returned), the commands that score and
explain the run, and their output. Keeps nothing, unless --write names a folder for the files.
"""

import argparse
import contextlib
import shlex
import sys
import tempfile
from pathlib import Path

from momentrank.errors import UsageError

QRELS = """\
q1 Q0 kitchen 12.5 18 4
q1 Q0 garden 5 12 3
q1 Q0 kitchen 40 46 2
q2 Q0 garden 60 66 3
"""
RUN = """\
q1 Q0 kitchen 12 18 1 0.93 demo
q1 Q0 kitchen 13 19 2 0.88 demo
q1 Q0 garden 8 20 3 0.71 demo
q1 Q0 kitchen 41 46 4 0.64 demo
q2 Q0 kitchen 10 15 1 0.90 demo
q2 Q0 garden 59 66 2 0.52 demo
"""
FILES = {"demo.qrels": QRELS, "demo.run": RUN}
FIELDS = {
    "demo.qrels": "query, Q0, video, start, end (seconds), level",
    "demo.run": "query, Q0, video, start, end (seconds), rank, score, name of the run",
}
COMMANDS = (
    "momentrank evaluate demo.qrels demo.run 'nDCG(iou=0.5)@10' 'R@1,IoU>=0.5' AxIoU@10",
    "momentrank explain demo.qrels demo.run q1",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", type=Path, metavar="FOLDER",
                        help="write the two files there, to try more on them")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    from momentrank.cli.main import main  # which imports this module when the verb is typed

    with tempfile.TemporaryDirectory() as temporary:
        folder = options.write or Path(temporary)
        write(folder)
        for name, text in FILES.items():
            sys.stdout.write(f"$ cat {name}    # {FIELDS[name]}\n{text}\n")
        with contextlib.chdir(folder):
            for command in COMMANDS:
                sys.stdout.write(f"$ {command}\n")
                if code := main(shlex.split(command)[1:]):
                    return code
                sys.stdout.write("\n")
    if options.write:
        sys.stdout.write(f"{' and '.join(FILES)} are in {options.write}\n")
    else:
        sys.stdout.write("to keep the two files: momentrank demo --write FOLDER\n")
    return 0


def write(folder: Path) -> None:
    """Write the files.

    Raises:
        UsageError: one of them exists already, with another content.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise UsageError(f"{path}: exists already, and is another file; name another folder")
        path.write_text(text, encoding="utf-8")
