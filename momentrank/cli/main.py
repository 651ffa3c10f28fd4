"""momentrank: score ranked lists of video moments.

    momentrank evaluate test.qrels my.run 'nDCG(iou=0.5)@10' 'AxIoU@10'

A file's format is detected from its content; files may be gzipped. Exit codes: 0 (success),
1 (bad data), 2 (bad command line), 130 (interrupted).
"""

import argparse
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from momentrank import __version__
from momentrank.errors import MomentRankError, explain_argument
from momentrank.ids import reveal

VERBS = (
    *("evaluate", "compare", "board", "meta", "explain", "reconcile"),
    *("validate", "convert", "diff", "demo"),
)
STOPPED = 130
WIDTH = 100
"""Columns of --help; asking the terminal costs more imports than the rest of the parser."""


def command() -> NoReturn:
    """Run the command as its own process, and end the process.

    It is short, and what it reads is in use to the end. So numpy starts no threads, and no time
    goes into collecting garbage, or into freeing millions of values before the system does.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
    gc.disable()
    try:
        code = main(end=_end_process)
    except SystemExit as exc:  # from argparse, which has printed why
        code = exc.code if isinstance(exc.code, int) else 0
    _end_process(code)


def _end_process(code: int) -> NoReturn:
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None, *, end: Callable[[int], int] = int) -> int:
    """Run the command in this process; return its exit code.

    `end` is called with it while `options` and their data are still in memory.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # any terminal can show any id
    options = _options(sys.argv[1:] if arguments is None else arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
    except MomentRankError as exc:
        return _fail(str(exc), exc.exit_code)
    except BrokenPipeError:  # as in `momentrank evaluate ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as exc:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _fail(f"{exc.filename or 'output'}: {(exc.strerror or str(exc)).lower()}", 1)
    except MemoryError:
        return _fail("not enough memory for these files", 1)
    except KeyboardInterrupt:
        return _fail("stopped", STOPPED)
    return end(code)


def _fail(message: str, code: int) -> int:
    for line in message.split("\n"):
        sys.stderr.write(f"momentrank: {reveal(line)}\n")
    return code


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with the message; say what was meant, or how to write what looks like an option."""
        explained = explain_argument(message, self.format_help())
        if explained == message and ("QUERY" in message or "unrecognized" in message):
            explained += " (a name that begins with - comes last, after --)"
        super().error(explained)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse unknown options here, where those that may be meant are known."""
        options, rest = super().parse_known_args(args, namespace)
        if any(word.startswith("-") for word in rest):
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return options, rest


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; names may come before and after options."""
    parser = _parser([verb for verb in VERBS if verb in arguments[:1]] or VERBS)
    options, rest = parser.parse_known_args(arguments)
    if rest and not hasattr(options, "names"):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.names = [*options.names, *rest]
    return options


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    form = partial(argparse.RawDescriptionHelpFormatter, width=WIDTH)
    parser = _Parser("momentrank", description=__doc__, formatter_class=form)
    parser.add_argument("--version", action="version", version=f"momentrank {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for name in names:
        module = import_module(f"momentrank.cli.{name}")
        doc = module.__doc__ or ""
        verb = verbs.add_parser(
            name, help=doc.split("\n")[0], description=doc, formatter_class=form
        )
        module.add_arguments(verb)
        verb.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    command()
