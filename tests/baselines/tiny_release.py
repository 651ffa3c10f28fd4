"""A tiny release with features that say what happens: learnt in seconds."""

import json
import re
import subprocess
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from baselines.features.store import write_features

KINDS, VIDEOS, ROWS = 4, 8, 12
REPOSITORY = Path(__file__).parent.parent.parent
SMALL = {
    "hidden: 128": "hidden: 16",
    "heads: 4": "heads: 2",
    "max_rows: 96": "max_rows: 12",
    "min_rows: 5": "min_rows: 2",
    "nms: 0.5": "nms: null",
    "epochs: 8": "epochs: 3",
    "batch_size: 128": "batch_size: 6",
    "save_every: 100": "save_every: 2",
    r"top: \[0, 20\]": "top: [2]",
    "device: auto": "device: cpu",
    "videos: 100 ": "videos: 5 ",
    "row_block: 8192": "row_block: 30",
    "rounds: 10000": "rounds: 200",
    r"seconds: \[3.0, 4.0, 6.0\]": "seconds: [2.0]",
}


def video_rows(rng, happens, count):
    """Return rows (count, 6) in which what happens in a third of the video can be read."""
    rows = rng.normal(0, 0.1, (count, 6)).astype(np.float32)
    for place, kind in enumerate(happens):
        rows[place * 4 : place * 4 + 4, kind] += 1
    return rows


def write_tiny(folder):
    """Write the release: 8 videos, 3 moments each; queries ask for one of 4 kinds."""
    rng = np.random.default_rng(7)
    release, features = folder / "datasets/release", folder / "features"
    release.mkdir(parents=True)
    happens = {f"v{n}": [n % KINDS, (n + 1) % KINDS, (n * 3 + 2) % KINDS] for n in range(VIDEOS)}
    counts = {name: ROWS - n % 3 for n, name in enumerate(happens)}
    videos = {name: video_rows(rng, kinds, counts[name]) for name, kinds in happens.items()}
    ends = {name: count / 2 for name, count in counts.items()}
    moments = [
        (name, place * 2.0, min(place * 2.0 + 2.0, ends[name]), kind)
        for name, kinds in happens.items()
        for place, kind in enumerate(kinds)
    ]
    queries = {100 + n: n % KINDS for n in range(16)}
    tokens = {}
    for query, kind in queries.items():
        rows = rng.normal(0, 0.1, (3, 5)).astype(np.float32)
        rows[1, kind] += 1
        tokens[str(query)] = rows
    corpus = {name: [ends[name], n] for n, name in enumerate(happens)}
    (release / "video_corpus.json").write_text(json.dumps(corpus))

    def entry(query, listed, **more):
        return {
            "query_id": query,
            "query": f"kind {queries[query]} ({query})",
            "relevant_moment": [
                {"video_name": name, "timestamp": [start, end], **more}
                for name, start, end, _ in listed
            ],
        }

    for split, chosen in (("val", range(100, 104)), ("test", range(104, 108))):
        records = []
        for query in chosen:
            listed = [moment for moment in moments if moment[3] == queries[query]]
            records.append(entry(query, listed, pair_id=1, relevance=3))
        (release / f"{split}.json").write_text(json.dumps(records))
    training = [
        entry(
            query, [moment for moment in moments if moment[3] == queries[query]][:2], similarity=0.8
        )
        for query in range(108, 116)
    ]
    (release / "train_top02.json").write_text(json.dumps(training))
    texts = {str(query): f"kind {kind} ({query})" for query, kind in queries.items()}
    seconds = {name: f"{end:g} s" for name, end in ends.items()}
    write_features(features / "video.h5", videos.items(), seconds, "test")
    write_features(features / "sub.h5", ((n, -r) for n, r in videos.items()), seconds, "test")
    write_features(features / "queries.h5", tokens.items(), texts, "test")
    write_params(folder)


def write_params(folder, **changes):
    """Write the parameters for the tiny release; `changes` are replaced keys."""
    text = (REPOSITORY / "baselines/params.yaml").read_text()
    for old, new in SMALL.items():
        text = re.sub(old, new, text)
    for kind in ("video", "sub", "queries"):
        text = re.sub(rf"  {kind}: builtin", f"  {kind}: features/{kind}.h5", text)
    for key, value in changes.items():
        text, count = re.subn(rf"(?m)^  {key}: \S+", f"  {key}: {value}", text)
        assert count, key
    (folder / "baselines").mkdir(exist_ok=True)
    (folder / "baselines/params.yaml").write_text(text)


def draw_video(path, colours):
    """Draw a video of 8 frames a second, each of them in one colour."""
    raw = np.broadcast_to(colours[:, None, None], (len(colours), 32, 48, 3)).tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "rawvideo", "-pix_fmt"]
    command += ["rgb24", "-s", "48x32", "-r", "8", "-i", "-", "-c:v", "libx264", str(path)]
    subprocess.run(command, input=raw, check=True)
