"""Damage in the middle of a video, out of what ffmpeg says while it decodes.

ffmpeg goes on after an error: it patches a broken frame from its neighbours, and the following
ones smear until the next keyframe. Two kinds of messages mean that. Others look alike and are
harmless: a decoder misses references that lie before the place it was sent to.
"""

import re

from pipeline.video.timeline import Timeline

_PATCHED = re.compile(
    "corrupt decoded frame|Error submitting packet to decoder|Error while decoding stream"
)
_LOST = re.compile(
    r"^\[(?:in#\d|(?:mov|matroska|avi|mpegts|mpeg|flv|ogg|asf)[, ])[^]]*\] \[(?:error|fatal)\]"
    r"(?! File ended prematurely)|corrupt input packet in stream",
    re.MULTILINE,
)
"""A container that could not find its next packet, or found a broken one; newer versions of
ffmpeg call it `in#0`."""


def is_damaged(told: str, timeline: Timeline) -> bool:
    """Tell whether frames that ffmpeg decoded were patched, or lost by the container.

    `told` is what it wrote with `-loglevel level+info` and the filter `showinfo`. A container is
    read ahead by a thread of its own, so its complaint may stand anywhere in that, and counts
    only where the `timeline` has a gap or nothing.
    """
    return bool(_PATCHED.search(told) or (_LOST.search(told) and timeline.has_gap()))
