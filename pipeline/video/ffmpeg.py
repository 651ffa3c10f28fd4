"""Which ffmpeg cuts: the system's where it can, else the packaged one."""

import subprocess
from functools import cache

from pipeline.video.probe import ffmpeg, system_ffmpeg
from pipeline.video.recipe import Stretch, Style


@cache
def program() -> str:
    """Return the ffmpeg that cuts: the system's, if it can do all that is asked, else the packaged.

    IMAGEIO_FFMPEG_EXE, where it is set, names another.

    Raises:
        VideoError: there is none.
    """
    system = system_ffmpeg()
    return system if system and _able(system) else ffmpeg()


def _able(program_: str) -> bool:
    """Try it: some have no H.264, and those before 5.1 do not know all of the options."""
    style = Style("mp4", 16)
    source = ("-nostdin", "-f", "lavfi", "-i", "color=s=16x16:d=0.1")
    cutting = ("-vf", style.filters(Stretch(0, 1)), *style.codec(), "-f", "null", "-")
    trial = subprocess.run(  # noqa: S603  (our own command line)
        [program_, *source, *cutting], capture_output=True, check=False
    )
    return trial.returncode == 0
