"""Cut the release that the notebooks of docs/ read from the demo: `make pictures`.

docs/sample/release/ has the first test queries of the demo's release with all that was judged of
them, and docs/sample/ the first results of three reference runs.
"""

import json
import shutil
from pathlib import Path

import pandas as pd

from momentrank.formats.source import sha256_of
from pipeline.core import files

QUERIES, RESULTS = 8, 10
RUNS = ("captions", "jittered", "random")
OF_MANIFEST = ("name", "version", "date", "rehearsal")


def write_sample(demo: Path, out: Path) -> None:
    """Write the sample of a finished demo's folder; what is at `out` is replaced."""
    release = demo / "datasets/release"
    queries = pd.read_csv(release / "queries.tsv", sep="\t", dtype=str, keep_default_na=False)
    queries = queries[queries["split"] == "test"].head(QUERIES)
    chosen = set(queries["query_id"])
    pairs = pd.read_csv(release / "pairs.csv", dtype=str)
    pairs = pairs[pairs["query_id"].isin(chosen)]
    shutil.rmtree(out, ignore_errors=True)
    target = out / "release"
    (target / "qrels").mkdir(parents=True)
    queries.to_csv(target / "queries.tsv", sep="\t", index=False)
    pairs.to_csv(target / "pairs.csv", index=False)
    for name in ("consensus.csv", "raw_annotation.csv"):
        rows = pd.read_csv(release / name, dtype=str, keep_default_na=False)
        rows[rows["pair_id"].isin(pairs["pair_id"])].to_csv(target / name, index=False)
    qrels = (release / "qrels/test.qrels").read_text().splitlines(keepends=True)
    (target / "qrels/test.qrels").write_text(
        "".join(line for line in qrels if line.split()[0] in chosen)
    )
    shutil.copy(release / "video_corpus.json", target)
    manifest = files.read_json(release / "manifest.json")
    manifest = {name: manifest[name] for name in OF_MANIFEST if name in manifest}
    manifest["files"] = {
        str(path.relative_to(target)): {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        for path in sorted(target.rglob("*"))
        if path.is_file()
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    for name in RUNS:
        lines = (demo / f"datasets/work/runs/{name}.test.run").read_text().splitlines(keepends=True)
        first = (line for line in lines if line.split()[0] in chosen)
        (out / f"{name}.run").write_text(
            "".join(line for line in first if int(line.split()[5]) <= RESULTS)
        )
