"""Videos of which every frame shows its number, and what a clip of them shows."""

import re
import subprocess
from fractions import Fraction

import imageio_ffmpeg
import numpy as np
from PIL import Image
from support.fake_openai.eyes import read_frame_number

from pipeline.sitcom.drawing.strip import paint_strip
from pipeline.video.ffmpeg import ffmpeg, write_video

FPS = 12
SIZE = (192, 108)


def frame(number, size=SIZE):
    image = Image.new("RGB", size, (40, 80, 120))
    paint_strip(image, number, FPS)
    return np.asarray(image)


def write_numbered(path, frames, size=SIZE, first=0):
    write_video(path, (frame(first + number, size) for number in range(frames)), size, FPS)


def convert(source, target, *options, before=()):
    """Make another video of one, with options of ffmpeg's."""
    quiet = [ffmpeg(), "-nostdin", "-v", "error", "-y"]
    subprocess.run([*quiet, "-i", str(source), *before, *options, str(target)], check=True)


def read_size(clip):
    return next(imageio_ffmpeg.read_frames(str(clip)))["size"]


def read_video(path, size):
    """Return every frame of a video of `size` (width, height), none doubled or dropped."""
    raw = ["-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"]
    command = [ffmpeg(), "-nostdin", "-v", "error", "-i", str(path), "-map", "0:v:0", *raw]
    done = subprocess.run(command, capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, size[1], size[0], 3)


def numbers(clip):
    """Return the numbers of the frames that a clip shows."""
    grey = ["-fps_mode", "passthrough", "-f", "image2pipe", "-c:v", "pgm", "pipe:1"]
    command = [ffmpeg(), "-nostdin", "-v", "error", "-i", str(clip), "-map", "0:v:0", *grey]
    pictures = subprocess.run(command, capture_output=True, check=True).stdout
    head = re.match(rb"P5\n(\d+) (\d+)\n255\n", pictures)
    width, height = map(int, head.groups())
    rows = np.frombuffer(pictures, np.uint8).reshape(-1, len(head[0]) + width * height)
    shades = rows[:, len(head[0]) :].reshape(-1, height, width)
    return [read_frame_number(picture) for picture in shades]


def times(clip):
    """Return when each frame of a clip appears, in seconds."""
    command = [ffmpeg(), "-v", "error", "-i", str(clip), "-map", "0:v:0"]
    command += ["-fps_mode", "passthrough", "-enc_time_base", "demux", "-f", "framecrc", "-"]
    framecrc = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    tick = Fraction(re.search(r"#tb 0: (\S+)", framecrc)[1])
    rows = [line.split(",") for line in framecrc.splitlines() if not line.startswith("#")]
    return [int(row[2]) * tick for row in rows]


def watch(clip, instants):
    """Return the numbers of the frames that somebody who watches sees shortly after instants.

    Before the first frame this is the first.
    """
    frames = list(zip(numbers(clip), times(clip), strict=True))
    return [
        max(((at, number) for number, at in frames if at <= time + 1e-6), default=frames[0][::-1])[
            1
        ]
        for time in instants
    ]


def streams(clip):
    """Return the kinds of a clip's streams, as ffmpeg tells them."""
    probe = subprocess.run([ffmpeg(), "-i", str(clip)], capture_output=True, text=True, check=False)
    return re.findall(r"Stream #.*?: (\w+):", probe.stderr)


def select_frames(start, end, there):
    """Return those of the frames `there` that appear in [start, end), to half a microsecond."""
    half = Fraction(1, 2_000_000)
    low, high = Fraction(start), Fraction(end)
    return [number for number in there if low <= Fraction(number, FPS) + half < high]


def thin_frames(start, end, there):
    """Return what three pictures a second show: at each k/3 s the last frame until then."""
    chosen = select_frames(start, end, there)
    pictures = -int(-(Fraction(end) - Fraction(start) - Fraction(1, 10**6)) * 3 // 1)
    half = Fraction(1, 10**6)
    until = (Fraction(start) + Fraction(k, 3) + half for k in range(max(pictures, 1)))
    return [
        max((n for n in chosen if Fraction(n, FPS) <= time), default=chosen[0]) for time in until
    ]


def first_sound(clip):
    """Return the second at which a clip is no longer silent."""
    rate = 8000
    command = [ffmpeg(), "-v", "error", "-i", str(clip), "-f", "s16le", "-ac", "1"]
    command += ["-af", "aresample=async=1:first_pts=0", "-ar", str(rate), "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    [heard] = (abs(np.frombuffer(raw, np.int16)) > 500).nonzero()
    return heard[0] / rate
