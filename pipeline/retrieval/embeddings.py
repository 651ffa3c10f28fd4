"""Embeddings on disk: one memory-mapped array, addressed by the hash of a text.

`datasets/work/embeddings/` contains `index.json`, which names one array of vectors and one
of text ids (sorted). Every file appears whole or not at all.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core import files, tables
from pipeline.retrieval.similarity import Ints, Vectors

FOLDER = tables.WORK / "embeddings"
ID_LENGTH = 32
COPIED = 65_536
"""Rows copied at a time: an array may be larger than memory."""

Ids = npt.NDArray[np.bytes_]


class EmbeddingsError(MomentRankError):
    """Embeddings are missing, damaged, or lack a text."""


def text_ids(texts: Iterable[str]) -> Ids:
    """Return the ids of texts: the first half of their SHA-256, in hexadecimal."""
    digests = (hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH] for text in texts)
    return np.fromiter(digests, dtype=f"S{ID_LENGTH}")


@dataclass(frozen=True)
class Embeddings:
    """Unit vectors on the grid, (n, d), memory-mapped, and the sorted ids of their texts."""

    ids: Ids
    vectors: Vectors

    @classmethod
    def open(cls, folder: Path = FOLDER) -> "Embeddings":
        """Open the finished embeddings.

        Raises:
            EmbeddingsError: they are missing or damaged.
        """
        if not (folder / "index.json").is_file():
            raise EmbeddingsError(f"{folder}: no embeddings; `dvc repro embed` makes them")
        try:
            index = files.read_json(folder / "index.json")
            ids = np.load(folder / index["ids"], allow_pickle=False)
            vectors = np.load(folder / index["vectors"], mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, KeyError, TypeError, files.FileError) as exc:
            raise EmbeddingsError(
                f"{folder}: damaged ({exc}); delete the folder, then `dvc repro embed`"
            ) from exc
        return cls(ids, vectors)

    def rows(self, texts: pd.Series) -> Ints:
        """Return the row of each text.

        Raises:
            EmbeddingsError: a text has not been embedded.
        """
        found_rows = np.empty(len(texts), dtype=np.int64)
        for first in range(0, len(texts), COPIED):
            some = texts.iloc[first : first + COPIED]
            rows, present = _find_rows(self.ids, text_ids(some))
            if not present.all():
                text = some.iloc[int(np.argmin(present))]
                raise EmbeddingsError(f"no embedding of {text!r}; run `dvc repro embed`")
            found_rows[first : first + COPIED] = rows
        return found_rows


@dataclass(frozen=True)
class Store:
    """The folder while the encoder named by `fingerprint` fills it."""

    folder: Path
    fingerprint: str

    def list_encoded(self) -> Ids:
        """Return the sorted ids of what this encoder has already encoded."""
        finished = self._read()
        return finished.ids if finished else text_ids([])

    def finish(self, ids: Ids, chunks: Iterable[tuple[Ids, Vectors]]) -> None:
        """Assemble the array of exactly `ids` (sorted) from the chunks and the stored vectors.

        Texts that are no longer needed are dropped.
        """
        name = hashlib.sha256(self.fingerprint.encode() + ids.tobytes()).hexdigest()[:16]
        index = {"fingerprint": self.fingerprint}
        index |= {"ids": f"ids-{name}.npy", "vectors": f"vectors-{name}.npy"}
        if not (self.folder / index["vectors"]).is_file():
            with files.unfinished(self.folder / index["ids"], "wb") as stream:
                np.save(stream, ids, allow_pickle=False)
            self._assemble(self.folder / index["vectors"], ids, chunks)
        files.write_json(self.folder / "index.json", index)
        self._clear({"index.json", index["ids"], index["vectors"]})

    def _read(self) -> Embeddings | None:
        """Return the finished embeddings, if they are this encoder's."""
        index = self.folder / "index.json"
        if index.is_file() and files.read_json(index)["fingerprint"] == self.fingerprint:
            return Embeddings.open(self.folder)
        return None

    def _assemble(self, path: Path, ids: Ids, chunks: Iterable[tuple[Ids, Vectors]]) -> None:
        array: Vectors | None = None
        finished = self._read()
        before = [(finished.ids, finished.vectors)] if finished else []
        with files.unfinished(path, "wb") as stream:
            for part_ids, vectors in chain(before, chunks):
                if array is None:
                    array = _allocate(Path(stream.name), (len(ids), vectors.shape[1]))
                rows, wanted = _find_rows(ids, part_ids)
                for first in range(0, len(part_ids), COPIED):
                    some = slice(first, first + COPIED)
                    array[rows[some][wanted[some]]] = vectors[some][wanted[some]]
            if isinstance(array, np.memmap):
                array.flush()

    def _clear(self, needed: set[str]) -> None:
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name not in needed:
                path.unlink()


def _allocate(path: Path, shape: tuple[int, int]) -> Vectors:
    """Map a new array whose disk space is allocated at once.

    Otherwise a disk that fills up later would kill the writing process without a message.

    Raises:
        OSError: the disk is full or not writable.
    """
    array: Vectors = np.lib.format.open_memmap(  # type: ignore[no-untyped-call]  # (numpy has no type for it)
        path, "w+", np.float32, shape
    )
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
    return array


def _find_rows(ids: Ids, wanted: Ids) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the place of each id in sorted `ids`, and whether it is present."""
    rows = np.searchsorted(ids, wanted)
    present = rows < len(ids)
    present[present] = ids[rows[present]] == wanted[present]
    return rows, present


def distinct(texts: Sequence[str]) -> tuple[Ids, list[str]]:
    """Return the sorted ids of the distinct texts, and the texts in the same order."""
    unique = pd.unique(np.asarray(texts, dtype=object))
    ids = text_ids(unique)
    order = np.argsort(ids)
    return ids[order], [str(text) for text in unique[order]]
