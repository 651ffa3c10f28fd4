"""A collection so small that every figure can be counted by hand; and one that means harm."""

import contextlib
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
from opened import OPEN as OPENED
from support.campaign_cases import write_candidates

from annotation import agreement, calibration, consensus
from pipeline import reference_runs, report
from pipeline.campaign import campaign as opened_campaign
from pipeline.core import csv_files, tables
from pipeline.pages import report_inputs
from pipeline.video.ffmpeg import write_video

REPOSITORY = Path(__file__).parents[3]
HOSTILE = '<script>alert("1")</script>\u202e{{ 7 * 7 }}</title></svg><img src=http://x.invalid/>'
OPEN = OPENED.model_copy(
    update={"name": "Small", "commit": None, "opened_at": "2026-11-22T08:53:12Z"}
)
MOMENTS = [
    ("m1", "v1", 0.0, 2.0, "A man walks in."),
    ("m2", "v1", 5.0, 9.0, "A woman opens the door."),
    ("m3", "v2", 10.0, 14.0, "He sits down."),
    ("m4", "v2", 20.0, 30.0, "She holds a hand out."),
]
SPLIT = {"m1": "val", "m2": "test", "m3": "test", "m4": "train"}
SHOWN = [
    ("m1", "m1", 1, 1.0),
    ("m1", "m2", 2, 0.5),
    ("m2", "m2", 1, 1.0),
    ("m2", "m3", 2, 0.52),
    ("m3", "m3", 1, 1.0),
]
VOTES = {
    ("m1", "m1"): (3, 3),
    ("m1", "m2"): (1, 2),
    ("m2", "m2"): (0, 3, 4, 1),
    ("m2", "m3"): (0, 0),
    ("m3", "m3"): (4,),
}
"""What annotators 1, 2, ... said: level 3; level 2; discarded; level 0; waiting."""


def read() -> report_inputs.Sources:
    """Read what is in the current folder."""
    from pipeline.core.params import load

    return report_inputs.read_sources(load())


def make(folder: Path, campaign=OPEN, votes=VOTES, text: str = "", **fields) -> None:
    """Write the collection into a folder and run what comes before the report."""
    shutil.copy(REPOSITORY / "params.yaml", folder / "params.yaml")
    with contextlib.chdir(folder):
        tables.CAMPAIGN.mkdir(parents=True)
        opened_campaign.FILE.write_text("null\n")
        if campaign:
            opened_campaign.write_campaign(campaign.model_copy(update=fields))
        _corpus(text)
        _campaign(votes if campaign else {}, text)
        _metrics(text)
        consensus.main()
        agreement.main()
        _qrels()
        reference_runs.main()
        calibration.main()


def _corpus(text: str) -> None:
    moments = pd.DataFrame(MOMENTS, columns=["moment_id", "video_id", "start", "end", "caption"])
    moments["caption"] += text
    described = moments.rename(columns={"caption": "description"}).assign(modality="v")
    tables.MOMENTS.write(described)
    videos = {"video_id": ["v1", "v2"], "duration": [20.0, 40.0], "path": ["a", "b"]}
    tables.VIDEOS.write(pd.DataFrame(videos))
    captions = moments[["moment_id", "caption"]].assign(
        source="rules", model=None, prompt=None, rounds=0, similarity=0.9, name_score=0.0,
        status="passed",
    )  # fmt: skip
    tables.CAPTIONS.write(captions)
    queries = captions.rename(columns={"moment_id": "query_id", "caption": "query"})
    queries["split"], queries["moment_id"] = queries["query_id"].map(SPLIT), queries["query_id"]
    tables.QUERIES.write(queries[tables.QUERIES.columns[:4]])
    frozen = queries.loc[queries["split"] != "train", tables.FROZEN_QUERIES.columns[:4]]
    tables.FROZEN_QUERIES.write(frozen)
    for table in (
        *(tables.AUDIT, tables.TOPUP, tables.POOLED_RUNS, tables.VOIDED, tables.GOLD, tables.EXAM),
        *(tables.ADJUDICATIONS, tables.SECOND_LOOK, tables.MACHINE_JUDGMENTS),
    ):
        table.write(table.empty())
    candidates = pd.DataFrame(SHOWN, columns=["query_id", "moment_id", "rank", "similarity"])
    write_candidates(candidates.assign(batch=1))
    clips = {"moment_id": ["m1", "m2"], "clip": [f"{text}1.mp4", "m2.mp4"], "clip_sha": "c"}
    tables.CLIPS.write(pd.DataFrame(clips).assign(seconds=2.0))
    frame = np.full((32, 48, 3), 99, np.uint8)
    write_video(tables.WORK / "clips" / "m2.mp4", [frame] * 24, (48, 32), fps=12)
    failed = pd.DataFrame([("m4", "v2", "unreadable")], columns=tables.FAILED_CLIPS.columns)
    tables.FAILED_CLIPS.write(failed)


def _campaign(votes, text: str) -> None:
    moments = pd.DataFrame(MOMENTS, columns=["moment_id", "video_id", "start", "end", "caption"])
    candidates = pd.DataFrame(SHOWN, columns=["query_id", "moment_id", "rank", "similarity"])
    candidates = candidates.iloc[: len(candidates) if votes else 0].merge(
        moments, on="moment_id", how="left"
    )
    ledger = candidates.assign(
        pair_id=range(len(candidates)), query_sha="q", clip_sha="c",
        duration=candidates["video_id"].map({"v1": 20.0, "v2": 40.0}),
        caption=candidates["caption"] + text,
    )  # fmt: skip
    tables.PAIRS.write(ledger[tables.PAIRS.columns])
    rows = [
        (*pair, who, level, None, f"2026-11-22T08:00:{who:02}Z", 10.0 * who, f"{who}@{pair}", "1",
         "first", "q", "c")
        for pair, levels in votes.items()
        for who, level in enumerate(levels, start=1)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=tables.JUDGMENTS.columns)
    tables.JUDGMENTS.write(frame if rows else tables.JUDGMENTS.empty())
    refused = [("m1", "m1", 1, "bad-level", "9@x", "2026-11-22T08:00:00Z", None, "annotator 1")]
    columns = tables.REJECTED_JUDGMENTS.columns
    tables.REJECTED_JUDGMENTS.write(pd.DataFrame(refused, columns=columns))


def _metrics(text: str) -> None:
    folder = tables.WORK / "metrics"
    folder.mkdir(exist_ok=True)
    (folder / "ingest.json").write_text(json.dumps({"rows": 100, "rejected": 2}))
    checked = {
        "round": 0, "distinct_descriptions": 98, "passed": 97, "failed_names": 0,
        "failed_similarity": 1, "failed_detail": 0, "failed_damage": 0, "failed_form": 0,
        "without_draft": 0, "share_passed": 0.989796,
    }  # fmt: skip
    rewrite = {
        "backend": "rules", "moments": 98, "moments_in_use": 96, "rounds": {"0": checked},
        "moments_by_status": {"passed": 96, "failed": 1, "dropped": 1},
    }  # fmt: skip
    (folder / "rewrite.json").write_text(json.dumps(rewrite))
    tables.STATE.write_text(json.dumps({"campaign": None}))
    words = pd.DataFrame({"word": ["man", f"a{text}"], "gender": ["man", None], "count": [3, 1]})
    csv_files.write_csv(report_inputs.REPLACEMENTS, words)
    review = {"moment_id": ["m7", "m8"], "status": ["failed", "repaired"], "check": "similarity"}
    csv_files.write_csv(report_inputs.REWRITE_REVIEW, pd.DataFrame(review))
    refused = {"line": [3, 9], "reason": ["no-duration", f"no-id{text}"]}
    csv_files.write_csv(report_inputs.REJECTED_MOMENTS, pd.DataFrame(refused))


def _qrels() -> None:
    """Write what stands for the stage `release`: its qrels alone."""
    levels = read_levels()
    reference_runs.QRELS.mkdir(parents=True)
    for split in ("val", "test"):
        rows = levels[levels["split"] == split]
        lines = [
            f"{row.query_id} Q0 {row.video_id} {row.start} {row.end} {row.level}\n"
            for row in rows.itertuples()
        ]
        (reference_runs.QRELS / f"{split}.qrels").write_text("".join(lines))


def read_levels() -> pd.DataFrame:
    levels = tables.CONSENSUS.read().dropna(subset=["level"])
    pairs = tables.PAIRS.read().merge(levels[["query_id", "moment_id", "level"]])
    return pairs.assign(split=pairs["query_id"].map(SPLIT))


def pages(folder: Path) -> tuple[str, str]:
    """Run the report; return both pages."""
    with contextlib.chdir(folder):
        report.main()
    names = (report.REPORT / "index.html", report.LEAD_PAGE)
    return tuple((folder / name).read_text(encoding="utf-8") for name in names)
