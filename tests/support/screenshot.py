"""Make docs/annotation.png: the annotator's page with a clip of the sample corpus.

    PYTHONPATH=tests python -m support.screenshot

Starts a Label Studio of its own in a folder that is thrown away (make label-studio installs it).
"""

import tempfile
from pathlib import Path

from support.browser import annotator, campaign_page
from support.studio import studio

from annotation.local_server import layout
from pipeline.core.params import load
from pipeline.sitcom.drawing.frame import Painter, frame_size
from pipeline.sitcom.screenplay import Screenplay, load_screenplay
from pipeline.sitcom.staging.schedule import Plot
from pipeline.video.ffmpeg import write_video

OUT = Path("docs/annotation.png")
HEIGHT, FIRST_SECOND, LAST_SECOND = 480, 8, 12
QUERY = "Two people hold a letter each by the open cupboard, and a man in a blue cap looks on."


def draw(script: Screenplay, path: Path) -> None:
    """Draw a few seconds of the first video of the sample corpus."""
    params = load().sample
    take = next(iter(Plot(script, params.seed, params.fps).takes(1)))
    painter = Painter(script, take, HEIGHT)
    frames = map(painter.frame, range(FIRST_SECOND * take.fps, LAST_SECOND * take.fps))
    write_video(path, frames, frame_size(HEIGHT), take.fps)


def main() -> None:
    """Take the picture."""
    script, out = load_screenplay(), OUT.absolute()
    with tempfile.TemporaryDirectory() as folder:
        clip = Path(folder, "clip.mp4")
        draw(script, clip)
        with (
            studio(Path(folder), Path(layout.PROGRAM.parts[0]).absolute()) as lead,
            annotator(lead.url) as person,
        ):
            (lead.media / "clips").mkdir()
            clip.rename(lead.media / "clips/clip.mp4")
            person.sign_up(lead.invite(), "annotator@example.org")
            person.begin(campaign_page(lead, "clip.mp4", [QUERY]))
            person.sees(QUERY)
            person.page.wait_for_function("document.querySelector('video').currentTime > 0.7")
            person.press("3")
            person.page.wait_for_timeout(500)
            person.page.screenshot(path=out)


if __name__ == "__main__":
    main()
