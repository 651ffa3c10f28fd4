"""Make the sample corpus: described moments of a drawn sitcom, with videos that show them.

reads   datasets/sample/screenplay.yaml
writes  datasets/work/sample/annotations.jsonl (TVR's format, with each moment's scene), videos/

It is drawn only if `ingest.source` is inside its folder: with your own corpus, this stage makes an
empty folder. The two scenes of a query-moment pair determine its true relevance level, by the
guideline of the paper (Appendix B.1); simulated annotators and tests judge by it. The same seed
gives the same corpus.
"""

import json
import multiprocessing
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from pipeline.core import cli, files
from pipeline.core.parallel import cores
from pipeline.core.params import load
from pipeline.core.progress import progress
from pipeline.core.sections import Sample
from pipeline.sitcom.screenplay import Screenplay, load_screenplay
from pipeline.sitcom.staging.schedule import Plot
from pipeline.sitcom.staging.wording import Narrator
from pipeline.sitcom.staging.world import Take
from pipeline.sitcom.true_levels import OUT, Record, scene_record
from pipeline.video.ffmpeg import write_video

FIRST_ID = 10001


def annotate(script: Screenplay, takes: Iterable[Take], seed: int) -> Iterator[Record]:
    """Yield each moment in order of time: the fields of TVR, and its scene.

    `ts` is the half-open interval [start, end) in seconds.
    """
    narrator = Narrator(script, seed)
    number = FIRST_ID
    for take in takes:
        for step in take.steps:
            if step.cue is None:
                continue
            text, scene = narrator.tell(step.cue, take.place)
            yield {
                "vid_name": take.name,
                "duration": round(take.seconds, 2),
                "ts": [round(step.first / take.fps, 2), round(step.last / take.fps, 2)],
                "desc": text,
                "type": "v",
                "desc_id": number,
                "scene": scene_record(scene),
            }
            number += 1


def render(script: Screenplay, take: Take, height: int, path: Path) -> None:
    """Draw one video."""
    from pipeline.sitcom.drawing.frame import Painter, frame_size  # noqa: PLC0415  (--help needs none)

    painter = Painter(script, take, height)
    frames = (painter.frame(number) for number in range(take.frames))
    write_video(path, frames, frame_size(height), take.fps)


def render_all(script: Screenplay, takes: list[Take], height: int, folder: Path) -> None:
    """Draw all videos, one process per core, and show the progress."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores(), context) as pool:
        done = [
            pool.submit(render, script, take, height, folder / f"{take.name}.mp4") for take in takes
        ]
        for future in progress("videos", done, unit="videos"):
            future.result()


def draw(params: Sample) -> dict[str, float]:
    """Write the corpus into `OUT`, which is empty; return its figures."""
    script = load_screenplay()
    takes = list(Plot(script, params.seed, params.fps).takes(params.videos))
    records = list(annotate(script, takes, params.seed))
    render_all(script, takes, params.height, OUT / "videos")
    with files.unfinished(OUT / "annotations.jsonl") as stream:
        stream.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    seconds = round(sum(take.seconds for take in takes), 1)
    return {"videos": len(takes), "moments": len(records), "seconds": seconds}


def main() -> None:
    """Run the stage."""
    params = load()
    asked_for = Path(params.ingest.source).resolve().is_relative_to(OUT.resolve())
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    metrics = draw(params.sample) if asked_for else {"videos": 0, "moments": 0, "seconds": 0.0}
    cli.write_metrics("sample", {"drawn": asked_for, **metrics})
    if not asked_for:
        cli.log("sample: not drawn, as ingest.source is another corpus")


if __name__ == "__main__":
    cli.run_stage(main)
