"""A released collection as an evaluator needs it: queries, qrels by split, moments, videos.

    collection = mr.load("hf:owner/name", revision="v1.0.0")        # or a folder
    test = collection["test"]
    mr.evaluate(test.qrels, run, ["nDCG(iou=0.5)@10"])

Files are read on first use, and checked against the SHA-256 in the release's manifest.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from momentrank import formats
from momentrank.collection.declarations import MANIFEST, QUERIES, declare_released
from momentrank.collection.versions import refuse_newer
from momentrank.errors import UsageError
from momentrank.formats.source import FormatError, read_source, sha256_of
from momentrank.ids import decode_id
from momentrank.segments import Segments, build_qrels

TRAINING, MACHINE = "train_manifest.json", "machine_manifest.json"
PAIRS, VIDEOS = "pairs.csv", "video_corpus.json"
SMALL_FILES = [
    MANIFEST,
    TRAINING,
    MACHINE,
    QUERIES,
    PAIRS,
    VIDEOS,
    "consensus.csv",
    "qrels/*.qrels",
]
"""Fetched from the hub: not the texts of moments, nor the training sets."""
HUB = "hf:"


class Query(NamedTuple):
    """A query."""

    query_id: str
    text: str


class Qrel(NamedTuple):
    """A judged moment; times are seconds."""

    query_id: str
    video_id: str
    start: float
    end: float
    level: int


class Moment(NamedTuple):
    """A moment that people were shown; times are seconds."""

    video_id: str
    start: float
    end: float


@dataclass(frozen=True, eq=False)
class Split:
    """The queries of a split, and people's judgments."""

    collection: "Collection"
    name: str

    @property
    def queries(self) -> dict[str, str]:
        """The text of each query by its id, in the order of the file."""
        return self.collection.queries_by_split[self.name]

    @property
    def qrels_path(self) -> Path:
        """The file of the judged segments."""
        return self.collection.path(f"qrels/{self.name}.qrels")

    @cached_property
    def judged(self) -> Segments:
        """The segments with the levels that people gave them."""
        path = self.qrels_path
        return formats.load_qrels(path) if path.stat().st_size else build_qrels([], [], [], [], [])

    @cached_property
    def qrels(self) -> Segments:
        """The same for `evaluate`, `compare` and `explain`: all of a negative has level 0."""
        return declare_released(formats.Truth(self.judged), self.collection.folder).segments

    def queries_iter(self) -> Iterator[Query]:
        """Yield the queries."""
        return (Query(*pair) for pair in self.queries.items())

    def qrels_iter(self) -> Iterator[Qrel]:
        """Yield the judged moments."""
        qrels = self.judged
        ids = (qrels.queries[row] for row in qrels.query.tolist())
        times = qrels.start.tolist(), qrels.end.tolist()
        for row in zip(ids, qrels.video, *times, map(int, qrels.value), strict=True):
            yield Qrel(*row)


Fetch = Callable[[Path], None]
"""Gets a file that is not in its folder yet."""


class Collection:
    """A release in a folder."""

    def __init__(self, folder: Path, fetch: Fetch | None = None) -> None:
        """Read the manifest; `fetch`, if given, gets files that are not in the folder.

        Raises:
            FormatError: it is missing or malformed.
            UsageError: it can't be fetched.
        """
        self.folder, self._fetch = folder, fetch
        self._hashes: dict[str, str] = {}
        self.manifest = self._list(MANIFEST)
        if self.manifest.get("training") == TRAINING:
            self._ensure(TRAINING)
        for other in (TRAINING, MACHINE):
            if (folder / other).exists():
                self._list(other)

    def __repr__(self) -> str:
        return f"<{self.name} {self.version}: {', '.join(self.splits)}>"

    @property
    def name(self) -> str:
        """The collection's name."""
        return str(self.manifest.get("name"))

    @property
    def version(self) -> str:
        """The release's version."""
        return str(self.manifest.get("version"))

    @property
    def splits(self) -> list[str]:
        """The splits that have queries."""
        return list(self.queries_by_split)

    def __getitem__(self, split: str) -> Split:
        if split not in self._splits:
            raise UsageError(f"{split!r} is not a split of {self!r}")
        return self._splits[split]

    @cached_property
    def _splits(self) -> dict[str, Split]:
        return {name: Split(self, name) for name in self.queries_by_split}

    @cached_property
    def queries_by_split(self) -> dict[str, dict[str, str]]:
        """The text of each query by split and id."""
        by_split: dict[str, dict[str, str]] = {}
        _, *lines = read_source(self.path(QUERIES)).text.splitlines()
        for line in lines:
            query, text, split, *_ = line.split("\t")
            by_split.setdefault(split, {})[decode_id(query)] = text
        return by_split

    @cached_property
    def moments(self) -> list[Moment]:
        """The moments that people were shown, each once."""
        with self.path(PAIRS).open(encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(stream)
            shown = {(row["video_name"], float(row["start"]), float(row["end"])) for row in rows}
        return [Moment(*moment) for moment in sorted(shown)]

    @cached_property
    def videos(self) -> dict[str, float]:
        """The seconds of each video to search."""
        durations: dict[str, float] = formats.read_corpus(self.path(VIDEOS)).durations
        return durations

    @property
    def corpus_path(self) -> Path | None:
        """The file of videos, which names a run's video indices; None if missing."""
        return self.path(VIDEOS) if VIDEOS in self._hashes else None

    def path(self, name: str) -> Path:
        """Return a file of the release.

        Raises:
            FormatError: it is missing, or not the one that the manifest lists.
            UsageError: the release has no such file, or it can't be fetched.
        """
        if name not in self._hashes and self._fetch and "machine" in name:
            self._list(MACHINE)  # only now: not every release has one
        if name not in self._hashes:
            raise UsageError(f"{self.folder}: no manifest lists {name!r}")
        path = self._ensure(name)
        if not path.is_file():
            raise FormatError(f"{path}: no such file, but the manifest lists it")
        if (sha256 := sha256_of(path)) != self._hashes[name]:
            raise FormatError(f"{path}: not the release's file: its SHA-256 is {sha256}")
        return path

    def _list(self, name: str) -> dict[str, Any]:
        """Return a manifest, and add its files to those listed."""
        manifest = _read_manifest(self._ensure(name))
        self._hashes |= {path: entry["sha256"] for path, entry in manifest["files"].items()}
        return manifest

    def _ensure(self, name: str) -> Path:
        path = self.folder / name
        if self._fetch and not path.is_file():
            self._fetch(path)
        return path


def load(source: Path | str, revision: str | None = None) -> Collection:
    """Return a released collection, from a folder or the hub (`hf:owner/name`).

    >>> collection = mr.load("release")
    >>> collection, collection["test"].queries
    (<Kitchens 1.0.0: test>, {'q1': 'She waves.'})

    On the hub, `revision` is a tag (`v1.0.0`), a branch or a commit; the default is the newest.
    Name one to keep results comparable.

    Raises:
        FormatError: it is not a release, or a file is missing or differs.
        UsageError: the hub's library is not installed, or can't fetch it.
    """
    if str(source).startswith(HUB):
        return _load_from_hub(str(source).removeprefix(HUB), revision)
    if revision is not None:
        raise UsageError(f"{source}: revision is only for the hub: {HUB}owner/name")
    if not (Path(source) / MANIFEST).is_file():
        raise FormatError(f"{source}: not the folder of a release: it has no {MANIFEST}")
    return Collection(Path(source))


def _load_from_hub(repository: str, revision: str | None) -> Collection:
    """Fetch the small files at one revision; files missing later are fetched from it, too.

    Without a connection the library may return an incomplete, interrupted download.
    """
    try:
        from huggingface_hub import hf_hub_download, snapshot_download
    except ImportError as exc:
        raise UsageError(
            f"{HUB}{repository}: needs huggingface_hub: pip install huggingface_hub"
        ) from exc
    with _explain(f"{HUB}{repository}: can't be fetched"):
        options: Mapping[str, Any] = {"repo_type": "dataset", "allow_patterns": SMALL_FILES}
        folder = Path(snapshot_download(repository, revision=revision, **options))

    def fetch(path: Path) -> None:
        name = path.relative_to(folder).as_posix()
        failed = f"{HUB}{repository}: {name} is not in the cache, and can't be fetched"
        with _explain(f"{failed} (load it again with a connection)"):
            hf_hub_download(repository, name, repo_type="dataset", revision=folder.name)

    return Collection(folder, fetch)


@contextmanager
def _explain(failed: str) -> Iterator[None]:
    """Turn what the hub's library raises into an error that says what failed."""
    try:
        yield
    except Exception as exc:  # by version: requests' errors, httpx's or another client's
        reason = " ".join(f"{type(exc).__name__}: {exc}".split())
        raise UsageError(f"{failed}: {reason}") from exc


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(read_source(path).text)
        listed = manifest["files"]
        valid = all(isinstance(entry["sha256"], str) for entry in listed.values())
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise FormatError(f"{path}: not the manifest of a release ({exc!r})") from exc
    if not valid:
        raise FormatError(f"{path}: files: each must have its sha256, as a string")
    refuse_newer(path, manifest)
    return dict(manifest)
