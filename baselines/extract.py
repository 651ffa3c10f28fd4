"""Make the features of a release, or check those provided.

reads   the release's JSON files, its videos (`features.videos`)
writes  `features.folder`/{video,sub,queries}.h5, where `features.{video,sub,queries}` is a model;
        datasets/work/baselines/features.json

Stage `features` of baselines/dvc.yaml. It always runs, but only checks what already exists. A
killed run resumes.
"""

from functools import partial
from pathlib import Path

from baselines.collection.release import Query, Release, read_release
from baselines.core import cli, files, paths
from baselines.core.devices import choose_device
from baselines.core.params import load
from baselines.core.sections import Params
from baselines.features.inputs import is_file, open_inputs, path_of
from baselines.features.parts import extract
from baselines.features.pictures import PictureExtractor
from momentrank.errors import UsageError

KINDS = ("video", "sub", "queries")


def extract_videos(params: Params, release: Release) -> None:
    """Write features of all videos, unless the parameters name files.

    Raises:
        UsageError: they do not say where the videos are, or name a frame model for subtitles.
    """
    settings, described = params.features, release.described_videos()
    asked = {kind: getattr(settings, kind) for kind in ("video", "sub")}
    targets = {kind: path_of(params, kind) for kind, name in asked.items() if not is_file(name)}
    if not targets:
        return
    if settings.videos is None:
        raise UsageError("features.videos: must say where the videos are, to make their features")
    if small := {kind: path for kind, path in targets.items() if asked[kind] == "builtin"}:
        load_pictures = partial(PictureExtractor, settings.videos, settings.clip_seconds)
        extract(described, load_pictures, small, f"24x16, {settings.clip_seconds} s")
    if "sub" in targets and asked["sub"] != "builtin":
        raise UsageError("features.sub: must be builtin, null, or a file of features (.h5)")
    if "video" in targets and asked["video"] != "builtin":
        from baselines.features.frames import FrameExtractor  # noqa: PLC0415  (--help needs none)

        device = choose_device(params.train.device)
        model = str(asked["video"])
        load_frames = partial(FrameExtractor, settings.videos, settings.clip_seconds, model, device)
        name = f"{model}, {settings.clip_seconds} s"
        extract(described, load_frames, {"video": targets["video"]}, name)


def extract_queries(params: Params, queries: list[Query]) -> None:
    """Write the token features of all queries, if the parameters name a model."""
    from baselines.features.tokens import TokenExtractor  # noqa: PLC0415  (--help needs none)

    settings, path = params.features, path_of(params, "queries")
    if is_file(settings.queries):
        return
    texts = dict(queries)
    device = choose_device(params.train.device)
    load_encoder = partial(TokenExtractor, settings.queries, texts, settings.max_tokens, device)
    extract(
        texts, load_encoder, {"queries": path}, f"{settings.queries}, {settings.max_tokens} tokens"
    )


def _stamp(path: Path) -> tuple[int, float]:
    """Return a file's size and time: published features are too large to be hashed each time."""
    status = path.stat()
    return status.st_size, status.st_mtime


def main() -> None:
    """Run the stage."""
    params = load()
    release = read_release(Path(params.train.release))
    queries = release.all_queries(params.train.top)
    Path(params.features.folder).mkdir(parents=True, exist_ok=True)  # DVC requires it, even empty
    extract_videos(params, release)
    extract_queries(params, queries)
    inputs = open_inputs(params, queries)
    counts = inputs.row_counts()
    for number in range(len(inputs.names)):
        inputs.video(number)  # it refuses NaN and infinity
    for query in queries:
        inputs.tokens.read(query.query_id)
    files_given = {k: path_of(params, k) for k in KINDS if is_file(getattr(params.features, k))}
    figures = {
        "release": release.hashes(params.train.top),
        "given": {kind: [str(path), *_stamp(path)] for kind, path in files_given.items()},
        "videos": len(inputs.names),
        "rows": int(counts.sum()),
        "queries": len(queries),
        "widths": [*inputs.widths.streams, inputs.widths.tokens],
    }
    files.write_json(paths.RECEIPT, figures)
    cli.log(f"features: {len(inputs.names)} videos, {counts.sum()} rows, {len(queries)} queries")


if __name__ == "__main__":
    cli.parser().parse_args()
    cli.run_command(main)
