"""Five machine judges that look at the sample's clips, and `calibration`'s verdict on each.

    cd .demo && python -m benchmarks.sample_judges        (after `make demo`)

In a copy of a working copy whose campaign on the sample is judged, the stages `judge` (openai) and
`calibration` run for each judge. The stand-in server looks at the pictures that it is sent, finds
the moment by the numbers painted on them, and answers with the pair's true level as that judge sees
it; pictures of another clip, or at times other than stated, get no level. `refusing` is the good
judge with a tenth of its answers refused and some broken.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from annotation.simulate import truth
from benchmarks.judge import serving
from benchmarks.script import parse_arguments
from pipeline.core import tables
from pipeline.core.params import load
from pipeline.judges.pairs import join_shown, read_tables, select_pairs
from tools import settings

JUDGES: dict[str, dict[str, Any]] = {
    "good": {"judge": "good"},
    "lenient": {"judge": "lenient"},
    "similarity": {"judge": "similarity"},
    "three": {"judge": "three"},
    "refusing": {
        "judge": "good",
        "faults": 0.15,
        "kinds": ("refused", "refused", "broken-json"),
    },
}
COPIED = (
    "annotation",
    "benchmarks",
    "datasets",
    "momentrank",
    "pipeline",
    "prompts",
    "params.yaml",
)


def write_truth(path: Path) -> None:
    """Write what the stand-in needs to know about the sample in the current folder."""
    source, level = read_tables(), truth()
    pairs = join_shown(select_pairs(source), source)
    similar = tables.MACHINE_JUDGMENTS.read().merge(pairs[["query_id", "moment_id", "query"]])
    videos = tables.VIDEOS.read().set_index("video_id")["path"]
    of_clips = pairs["moment_id"].unique()
    moments = source.moments[source.moments["moment_id"].isin(of_clips)]
    content = {
        "fps": load().sample.fps,
        "paths": {video: str(Path(videos[video]).resolve()) for video in moments["video_id"]},
        "moments": moments[["moment_id", "video_id", "start", "end"]].to_numpy().tolist(),
        "levels": _nest(
            pairs.assign(
                level=[
                    level(*pair) for pair in zip(pairs["query_id"], pairs["moment_id"], strict=True)
                ]
            )
        ),
        "similar": _nest(similar),
    }
    path.write_text(json.dumps(content), encoding="utf-8")


def _nest(rows: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return the level by query and moment."""
    return {
        str(query): dict(zip(group["moment_id"], group["level"].astype(int), strict=True))
        for query, group in rows.groupby("query")
    }


def calibrate(name: str, script: dict[str, Any], truth_file: Path) -> dict[str, Any]:
    """Judge and calibrate in the current folder; return the metrics of both stages."""
    text = Path("params.yaml").read_text(encoding="utf-8")
    chosen = {
        "judge.backend": "openai",
        "judge.openai.model": name,
        "judge.openai.cache": f".cache/{name}",
        "judge.openai.requests_per_minute": "1000000",
        "judge.openai.tokens_per_minute": "10000000000",
    }
    Path("params.yaml").write_text(settings.apply(text, chosen), encoding="utf-8")
    with serving(truth=str(truth_file), latency=0.05, **script) as (url, _):
        names = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        for stage in ("pipeline.judge", "annotation.calibration"):
            subprocess.run(
                [sys.executable, "-m", stage],
                env=os.environ | names, check=True, capture_output=True,
            )  # fmt: skip
    metrics = tables.WORK / "metrics"
    figures: dict[str, Any] = json.loads((metrics / "calibration.json").read_bytes())
    return figures | {"judge": json.loads((metrics / "judge.json").read_bytes())}


def main() -> None:
    """Print the verdict on each judge."""
    parse_arguments(__doc__)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for name_copied in COPIED:
            source = Path(name_copied)
            if source.is_dir():
                shutil.copytree(source, folder / name_copied, symlinks=True)
            else:
                shutil.copyfile(source, folder / name_copied)
        with chdir(folder):
            write_truth(folder / "truth.json")
            for judge, script in JUDGES.items():
                begin = time.monotonic()
                figures = calibrate(judge, script, folder / "truth.json")
                without = figures["judge"]["without_level"]
                print(
                    f"{judge:12}{time.monotonic() - begin:5.0f} s;"
                    f" {figures['judge']['with_level']} of {figures['judge']['judgments']} have a"
                    f" level{', without: ' + str(without) if without else ''}; alternative"
                    f" annotator test {figures['alternative_test']['passed']}"
                )
                for verdict in figures["verdicts"]:
                    print(f"            {verdict['text']}", flush=True)


if __name__ == "__main__":
    main()
