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
from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from typing import Any

from pipeline.core import cli, files
from pipeline.core.parallel import cores
from pipeline.core.params import load
from pipeline.core.progress import progress
from pipeline.core.sections import Sample
from pipeline.sitcom.drawing.frame import Painter, frame_size
from pipeline.sitcom.screenplay import Screenplay, load_screenplay
from pipeline.sitcom.staging.schedule import Plot
from pipeline.sitcom.staging.wording import Narrator
from pipeline.sitcom.staging.world import Scene, Take
from pipeline.video.ffmpeg import write_video

OUT = Path("datasets/work/sample")
FACETS = ("people", "action", "object", "place")
FIRST_ID = 10001

Record = dict[str, Any]


def true_level(query: Scene, moment: Scene, script: Screenplay) -> int:
    """Return how relevant a moment truly is to an imprecise query, 0 to 4.

    The query is what its sentence mentions, without the names: people are only woman, man or
    somebody, and their number; a person whose name suggests no gender may be either.

    * 4: the moment shows everything in the query.
    * 3: action and object are right, one detail is not (a person's gender, the place).
    * 2: partly: the action is right, but not its object or several details; or an action
      of the same family with everything else right.
    * 1: loosely: an action of the same family, or of a related one with everything else right.
    * 0: nothing to do with it.

    Source: TVR-Ranking (Liang et al., 2024), Appendix B.1.
    """
    wanted, shown = (script.action(scene.action).family for scene in (query, moment))
    wrong_object = "object" in query.mentions and query.object != moment.object
    details = _wrong_people(query, moment, script)
    details += "place" in query.mentions and query.place != moment.place
    if query.action == moment.action:
        levels = (2, 2, 1) if wrong_object else (4, 3, 2)
        return levels[min(details, 2)]
    all_else_right = not wrong_object and not details
    if wanted == shown:
        return 2 if all_else_right else 1
    return int(all_else_right and shown in script.families[wanted].akin)


def _wrong_people(query: Scene, moment: Scene, script: Screenplay) -> int:
    """Count the people who are missing, too many, or of the wrong gender.

    If two people do the same thing, or something other than the query says, it does not
    matter who is named first.
    """
    if "people" not in query.mentions:
        return 0
    wanted = [script.cast[name].gender for name in query.who]
    shown = [script.cast[name].gender for name in moment.who]
    fixed = query.action == moment.action and script.action(query.action).ordered
    orders = [tuple(shown)] if fixed else list(permutations(shown))
    pairs = (zip(wanted, order, strict=False) for order in orders)
    wrong = min(sum(a != b and "unknown" not in {a, b} for a, b in order) for order in pairs)
    return wrong + abs(len(wanted) - len(shown))


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


def scene_record(scene: Scene) -> Record:
    """Return a scene as a record of `annotations.jsonl`."""
    mentions = [facet for facet in FACETS if facet in scene.mentions]
    return asdict(scene) | {"who": list(scene.who), "mentions": mentions}


def parse_scene(record: Record) -> Scene:
    """Return the scene of a line of `annotations.jsonl`."""
    people, mentions = tuple(record["scene"]["who"]), frozenset(record["scene"]["mentions"])
    return Scene(**record["scene"] | {"who": people, "mentions": mentions})


def render(script: Screenplay, take: Take, height: int, path: Path) -> None:
    """Draw one video."""
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
