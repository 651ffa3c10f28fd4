"""QVHighlights' official numbers compared with ours, cell by cell, for anyone with the files.

    python -m benchmarks.official FOLDER

FOLDER has the ground truth, `val.jsonl` or `val.jsonl.gz`; the runs, `NAME.jsonl` or
`NAME.jsonl.gz`; and `official.json`, which maps the name of each run to the output of the
benchmark's own script. It prints for each run how many cells differ, and which; it fails if any do,
or if an output has fewer cells than our table.
"""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.script import assert_size, parse_arguments, run, time_call
from momentrank import conventions
from momentrank.formats.read import load_qrels, load_run

GROUND_TRUTH = "val"


def flatten(metrics: dict[str, Any]) -> dict[str, float]:
    """Return the script's nested output by our cells' names, which its `brief` uses too."""
    cells: dict[str, float] = dict(metrics.get("brief", {}))
    for length in ("full", "short", "middle", "long"):
        for name, by_threshold in metrics[length].items():
            for threshold, value in by_threshold.items():
                at = "" if threshold == "average" else f"@{threshold}"
                cells[f"MR-{length}-{name.removeprefix('MR-')}{at}"] = value
    return cells


def find(folder: Path, name: str) -> Path:
    """Return the file with a name, compressed or not."""
    paths = [folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"]
    existing = [path for path in paths if path.exists()]
    if not existing:
        raise SystemExit(f"{paths[0]}: no such file, nor {paths[1].name}")
    return existing[0]


def main() -> None:
    """Compare every run of the folder."""
    folder = parse_arguments(__doc__, "folder").folder
    convention = conventions.get("qvhighlights")
    qrels = load_qrels(find(folder, GROUND_TRUTH))
    official = json.loads((folder / "official.json").read_text(encoding="utf-8"))
    total = wrong = 0
    for name, metrics in official.items():
        run = load_run(find(folder, name))
        theirs = flatten(metrics)
        seconds, shares = time_call(partial(convention.table, qrels, run))
        ours = {cell: convention.rounded(share) for cell, share in shares.items()}
        assert_size(f"official cells of {name}", len(theirs), len(ours))
        differ = {cell: value for cell, value in theirs.items() if ours.get(cell) != value}
        total, wrong = total + len(theirs), wrong + len(differ)
        print(f"{name}: {len(theirs)} cells, {len(differ)} differ, {seconds:.2f} s")
        for cell, value in differ.items():
            print(f"  {cell}: official {value}, ours {ours.get(cell)}")
    print(f"{len(official)} runs, {total} cells, {wrong} differ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    run(main)
