"""momentrank: score ranked lists of video moments.

    momentrank evaluate test.qrels my.run 'nDCG(iou=0.5)@10' 'AxIoU@10'

A file's format is detected from its content; files may be gzipped. Exit codes: 0 (success),
1 (bad data), 2 (bad command line), 130 (interrupted).
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence

from momentrank import __version__
from momentrank.cli import compare, convert, evaluate, explain, validate
from momentrank.errors import MomentRankError

VERBS = (evaluate, compare, explain, validate, convert)
STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # any terminal can show any id
    options = _options(arguments)
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
    return code


def _fail(message: str, code: int) -> int:
    for line in message.splitlines():
        sys.stderr.write(f"momentrank: {line}\n")
    return code


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments; names may come before and after options."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and (not hasattr(options, "names") or any(name.startswith("-") for name in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.names = [*options.names, *rest]
    return options


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("momentrank", description=__doc__, formatter_class=form)
    parser.add_argument("--version", action="version", version=f"momentrank {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for module in VERBS:
        name = module.__name__.rpartition(".")[2]
        doc = module.__doc__ or ""
        verb = verbs.add_parser(
            name, help=doc.split("\n")[0], description=doc, formatter_class=form
        )
        module.add_arguments(verb)
        verb.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
