"""Repair DVC's own files that a killed or interrupted `dvc repro` left half-written.

    python -m pipeline.recover

DVC writes `dvc.lock` and `.dvc/tmp/rwlock` in place. If it is killed while writing, its next start
reports that `dvc.lock` is not valid, or that the JSON of the RWLock-file is corrupted. This command
keeps the complete stages of `dvc.lock` (the others run again), and removes a truncated rwlock.
Complete files are not touched; no table is ever half-written.
"""

from pipeline.core import cli
from pipeline.core.dvc_files import recover


def main() -> None:
    """Repair, and report what was repaired."""
    for line in recover() or ["DVC's files are complete"]:
        cli.log(line)


if __name__ == "__main__":
    cli.parser("Works in the current folder.").parse_args()
    cli.run_command(main)
