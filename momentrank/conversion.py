"""Convert qrels or a run to another format."""

from collections.abc import Callable
from pathlib import Path

from momentrank.errors import UsageError
from momentrank.formats.write import write_qrels, write_run
from momentrank.segments import Segments

Read = Callable[[Path], Segments]


def convert(  # noqa: PLR0913
    kind: str, source: Path, out: Path, to: str, *, read_qrels: Read, read_run: Read, tag: str
) -> None:
    """Read one file and write the other; `kind` says what the source is, `qrels` or `run`.

    Raises:
        FormatError: the file is malformed, or the format can't express it.
        UsageError: the file is neither, there is no such format, or both files are the same.
    """
    if out.exists() and out.samefile(source):
        raise UsageError(f"{out}: input and output must be different files")
    if kind == "qrels":
        write_qrels(out, read_qrels(source), to)
    elif kind == "run":
        write_run(out, read_run(source), to, tag=tag)
    else:
        raise UsageError(f"{source}: {kind}; only qrels and runs can be converted")
