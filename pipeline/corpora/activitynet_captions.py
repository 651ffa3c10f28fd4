"""ActivityNet Captions (Krishna et al., ICCV 2017): JSON, one object of videos.

`{video: {"duration": s, "timestamps": [[start, end], ...], "sentences": [...]}}`.
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from momentrank.formats.benchmarks.captions import DURATION, SENTENCES, TIMES
from pipeline.core.files import FileError
from pipeline.corpora.rows import Row, interval, stable_id
from pipeline.corpora.sources import Portion, read_document


def read(portion: Portion) -> Iterator[Row]:
    """Yield the moments of a JSON file.

    Raises:
        FileError: the file is not JSON, or not an object.
    """
    path, videos = portion.path, read_document(portion.path)
    if not isinstance(videos, dict):
        raise FileError(
            f"{path}: expected an object of videos, by their names; a folder may contain only"
            " splits (not the lists of ids that come with them)"
        )
    for video, entry in videos.items():
        yield from _rows(path, video, entry)


def _rows(path: Path, video: str, entry: object) -> Iterator[Row]:
    fields = entry if isinstance(entry, dict) else {}
    times, sentences = fields.get(TIMES), fields.get(SENTENCES)
    if not isinstance(times, list) or not isinstance(sentences, list):
        yield Row(file=path.name, item=video, problem="no-timestamps-or-sentences")
        return
    for number, (time, sentence) in enumerate(zip_longest(times, sentences)):
        start, end = interval(time)
        yield Row(
            file=path.name,
            item=f"{video}[{number}]",
            moment_id=stable_id(video, start, end, sentence),
            video_id=video,
            start=start,
            end=end,
            duration=fields.get(DURATION),
            description=sentence,
        )
