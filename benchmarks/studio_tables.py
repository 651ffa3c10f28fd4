"""Creating Label Studio's tables as `migrations.py` does and as Label Studio does: time and result.

    python -m benchmarks.studio_tables

Run it whenever the pinned version of Label Studio changes: both databases must have the same
tables, indexes and rows, but for the times at which they were written.
"""

import os
import re
import resource
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from annotation.local_server import embedded
from annotation.local_server.environment import folder_settings
from annotation.local_server.layout import DATABASE, PROGRAM
from benchmarks.script import parse_arguments

PLAIN = "import label_studio.server as it, sys; sys.argv[0] = 'label-studio'; it.main()"
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+")


def create(folder: Path, *program: str) -> tuple[float, list[str]]:
    """Create the tables in a folder; return the CPU seconds and all that the database contains."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [PROGRAM.with_name("python"), "-I", *program, "version", "--data-dir", folder],
        env={**os.environ, **folder_settings(folder)},
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with closing(sqlite3.connect(folder / DATABASE.name)) as database:
        return seconds, sorted(TIME.sub("", line) for line in database.iterdump())


def main() -> None:
    """Print the CPU seconds of both, their ratio, and whether the databases are equal."""
    parse_arguments(__doc__)
    outcomes = []
    for program in (("-c", PLAIN), (embedded.__file__,)):
        with TemporaryDirectory() as folder:
            outcomes.append(create(Path(folder), *program))
    (plain, expected), (fast, actual) = outcomes
    print(f"    as Label Studio does  {plain:5.1f} CPU s")
    print(f"    by migrations.py      {fast:5.1f} CPU s, {plain / fast:.2f} times as fast")
    print(f"    {len(actual)} statements, {'the same' if actual == expected else 'NOT THE SAME'}")


if __name__ == "__main__":
    main()
