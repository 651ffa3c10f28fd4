"""Feature files: HDF5 with a table for each name, as TVR published them.

Videos: a row per clip of fixed length, keyed by video name. Queries: a row per token, keyed by
`desc_id` (TVR) or `query_id` (TVR-Ranking). In files that `baselines.extract` made, an
attribute of each table says what it was made from: the video's seconds, or the query's text.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt

from baselines.core import files
from momentrank.errors import MomentRankError

Rows = npt.NDArray[np.float32]
"""(rows, width)."""
MADE_OF = "made_of"
SAMPLED = 512
"""Sequences that a file's digest covers."""
EPSILON = 1e-5
"""Added to a row's length before division by it, as in the published code."""


class FeatureError(MomentRankError):
    """Features that are missing, of another width, or not numbers."""


class FeatureFile:
    """An open feature file.

    Args:
        path: the HDF5 file.
        limit: longer sequences are cut (`averaged=False`) or averaged to this many rows.
        normalize: whether each row is divided by its length.
        averaged: see `limit`.

    Raises:
        FeatureError: it is missing, not HDF5, or empty.
    """

    def __init__(self, path: Path, limit: int, *, normalize: bool, averaged: bool) -> None:
        self.path, self.limit = path, limit
        self._normalize, self._averaged = normalize, averaged
        try:
            self._file = h5py.File(path, "r")
        except FileNotFoundError as exc:
            raise FeatureError(
                f"{path}: no such features; type: dvc repro baselines/dvc.yaml:features"
            ) from exc
        except OSError as exc:
            raise FeatureError(f"{path}: not an HDF5 file ({exc})") from exc
        first = self._file.visititems(lambda name, item: name if _is_table(item) else None)
        if first is None:
            raise FeatureError(f"{path}: contains no features")
        self.width = int(self._shape(first)[1])

    def length(self, name: str) -> int:
        """Return the number of rows in the file."""
        return int(self._shape(name)[0])

    def read(self, name: str, length: int | None = None) -> Rows:
        """Return a sequence, or its first `length` rows, as at most `limit` rows.

        Raises:
            FeatureError: it is missing, or has a value that is NaN or infinite.
        """
        self._shape(name)
        rows: Rows = self._file[name][:length].astype(np.float32)
        if not np.isfinite(rows).all():
            raise FeatureError(f"{self.path}: {name!r} has a value that is NaN or infinite")
        rows = shorten(rows, self.limit) if self._averaged else rows[: self.limit]
        if self._normalize:
            rows = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + EPSILON)
        return rows

    def digest(self) -> str:
        """Return a digest of the names and some sequences, to identify the features.

        Published files take gigabytes: of more than `SAMPLED` sequences, every nth is read.
        """
        names = _names(self._file)
        digest = hashlib.sha256("\n".join(names).encode())
        for name in names[:: -(-len(names) // SAMPLED)]:
            digest.update(self._file[name][:].tobytes())
        return digest.hexdigest()

    def check(self, described: Mapping[str, str], what: str) -> None:
        """Check that all names are present, with rows of one width, made from the right content.

        Args:
            described: by name, the video's seconds or the query's text.
            what: "video" or "query", for errors.

        Raises:
            FeatureError: features are missing, of another width, or of another release.
        """
        missing = [name for name in described if name not in self._file]
        if missing:
            others = f", nor have {len(missing) - 1} others" if len(missing) > 1 else ""
            raise FeatureError(f"{self.path}: {what} {missing[0]!r} has no features{others}")
        for name, expected in described.items():
            rows, width = self._shape(name)
            if width != self.width:
                raise FeatureError(
                    f"{self.path}: {what} {name!r} has {width} values per row, others {self.width}"
                )
            if not rows:
                raise FeatureError(f"{self.path}: {what} {name!r} has no rows")
            made_of = self._file[name].attrs.get(MADE_OF, expected)
            if made_of != expected:
                raise FeatureError(
                    f"{self.path}: the features of {what} {name!r} are of another release (made"
                    f" from {made_of!r}, now {expected!r}); type: dvc repro"
                    " baselines/dvc.yaml:features"
                )

    def _shape(self, name: str) -> tuple[int, int]:
        if name not in self._file:
            raise FeatureError(f"{self.path}: {name!r} has no features")
        match getattr(self._file[name], "shape", None):
            case (int(rows), int(width)):
                return rows, width
        raise FeatureError(f"{self.path}: {name!r} is not a table of rows")


def shorten(rows: Rows, limit: int) -> Rows:
    """Average a sequence to `limit` rows, each of equally many neighbours, give or take one.

    As in the published code, row i is the mean from `round(i n / limit)` to the next row's start.
    """
    count = len(rows)
    if count <= limit:
        return rows
    edges = np.minimum(np.round(np.arange(limit + 1) / limit * count).astype(int), count - 1)
    means = (
        rows[first:last].mean(axis=0) if first < last else rows[first]
        for first, last in itertools.pairwise(edges)
    )
    return np.stack(list(means))


def write_features(
    path: Path, sequences: Iterable[tuple[str, Rows]], described: Mapping[str, str], model: str
) -> None:
    """Write a feature file, whole or not at all.

    Args:
        path: the file.
        sequences: names and their rows.
        described: by name, what the rows were made from: the video's seconds, the query's text.
        model: what made them.
    """
    with files.unfinished(path) as unfinished_path, h5py.File(unfinished_path, "w") as file:
        for name, rows in sequences:
            table = file.create_dataset(name, data=rows.astype(np.float32))
            table.attrs[MADE_OF] = described[name]
        file.attrs["model"] = model


def is_made_of(path: Path, described: Mapping[str, str], model: str) -> bool:
    """Return whether a file has the features of exactly these videos or queries, by this model."""
    if not path.is_file() or not h5py.is_hdf5(path):
        return False
    with h5py.File(path, "r") as file:
        made_of = {name: file[name].attrs.get(MADE_OF) for name in _names(file)}
        return file.attrs.get("model") == model and made_of == dict(described)


def read_all(path: Path) -> Iterator[tuple[str, Rows]]:
    """Yield all sequences of a file."""
    with h5py.File(path, "r") as file:
        for name in _names(file):
            yield name, file[name][:]


def _names(file: h5py.File) -> list[str]:
    """Return the names of all tables; one with a slash is in an HDF5 group."""
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if _is_table(item) else None)
    return names


def _is_table(item: object) -> bool:
    return isinstance(item, h5py.Dataset)
