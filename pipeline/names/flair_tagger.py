"""The adapter to Flair's SequenceTagger as a tagger of person names.

`names.model` is the trained `builtin`, a local file or folder, or a hub id with its commit,
as flair/ner-english-large: all three end in the same `SequenceTagger.load` of a local file.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pickle import UnpicklingError

import flair
from flair.data import Sentence
from flair.models import SequenceTagger
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from momentrank.errors import MomentRankError
from pipeline.core.parallel import cores, one_thread
from pipeline.core.progress import progress
from pipeline.names import characters as _characters  # noqa: F401  (Flair must know the class)
from pipeline.names.base import BUILTIN, Span

FILE_NAMES = ("model.pt", "pytorch_model.bin", "final-model.pt", "best-model.pt")
HUB_FILE = "pytorch_model.bin"
COMMIT = re.compile(r"[0-9a-f]{40}")
PERSONS = frozenset({"PER", "PERSON"})
GLUED = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof)\.(?=\w)")
CHUNK = 128
"""Texts in one call of Flair's `predict`, which clears *all* of them after every batch."""
MAX_WORKERS = 8
UNREADABLE = (
    *(OSError, EOFError, UnpicklingError, ImportError, AttributeError),
    *(KeyError, TypeError, ValueError, RuntimeError),
)
"""What unpickling and building a model from a file of another kind can raise."""


# `Sentence` removes these before it counts: zero-width characters, line and paragraph separators,
# and codes that the code page Windows-1252 does not define. Its tokenizer removes line ends after
# a hyphen; other control characters mean no more than a space.
_REMOVED = str.maketrans(
    dict.fromkeys("\u200b\u200c\ufe0f\ufeff\u2028\u2029\x81\x8d\x8f\x90", " ")
    | dict.fromkeys(map(chr, [*range(0x20), 0x7F, 0x85]), " ")
)


class TaggerError(MomentRankError):
    """A name tagger can't be loaded as params.yaml requires."""


class FlairTagger:
    """A Flair tagger with the label PER, as OntoNotes' PERSON."""

    def __init__(self, model: SequenceTagger, batch_size: int = 32) -> None:
        self._model = model
        self._batch_size = batch_size

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the names of each text, in the order of the text; each distinct text once."""
        order = sort_texts(texts)
        chunks = [order[first : first + CHUNK] for first in range(0, len(order), CHUNK)]
        names: dict[str, list[Span]] = {}
        for chunk, spans in zip(chunks, self.tag_chunks(chunks), strict=True):
            names |= zip(chunk, spans, strict=True)
        return [names[text] for text in texts]

    def tag_chunks(
        self, chunks: Sequence[list[str]], workers: int = MAX_WORKERS, *, shown: bool = True
    ) -> Iterator[list[list[Span]]]:
        """Yield the names of each chunk's texts, with progress `shown`."""
        total = sum(map(len, chunks)) if shown else 0
        with (
            one_thread(),
            _workers(workers) as pool,
            progress("names", total=total, unit="texts") as bar,
        ):
            self._tag(["A word."])  # the first call sets up the tokenizer: in one thread only
            for chunk, spans in zip(chunks, pool.map(self._tag, chunks), strict=True):
                yield spans
                bar.update(len(chunk))

    def _tag(self, texts: list[str]) -> list[list[Span]]:
        sentences = [sentence(text) for text in texts]
        for tagged in sentences:
            tagged.is_document_boundary = True  # else its neighbours in the list are its context
        self._model.predict(
            sentences, mini_batch_size=self._batch_size, embedding_storage_mode="none"
        )
        return [self._spans(*pair) for pair in zip(texts, sentences, strict=True)]

    def _spans(self, text: str, tagged: Sentence) -> list[Span]:
        return [
            _span(text, entity.start_position, entity.end_position, entity.score)
            for entity in tagged.get_spans(self._model.label_type)
            if entity.tag in PERSONS
        ]


def sort_texts(texts: Sequence[str]) -> list[str]:
    """Return the distinct texts in the order in which chunks are cut from them."""
    return sorted(dict.fromkeys(texts), key=lambda text: (-len(text), text))


def _workers(most: int) -> ThreadPoolExecutor:
    """Return a worker for each core, `most` at most, or one where there is a GPU."""
    return ThreadPoolExecutor(min(cores(), most) if flair.device.type == "cpu" else 1)


def _span(text: str, start: int, end: int, score: float) -> Span:
    """Return a span without the title that Flair's tokenizer leaves on it: `Dr.Lee`."""
    title = GLUED.match(text, start, end)
    start = title.end() if title else start
    return Span(start, end, text[start:end], score)


def locate(model: str, revision: str | None) -> Path:
    """Return the file of a tagger: `builtin`, a file or folder, or a hub id's local copy.

    Raises:
        TaggerError: it is missing, can't be fetched from the hub, or its commit is not named:
            such a file is unpickled, and can run any code.
    """
    if model == "builtin":
        if not BUILTIN.is_file():
            raise TaggerError(f"{BUILTIN} is missing; `dvc repro tagger` trains it")
        return BUILTIN
    path = Path(model)
    if path.is_file():
        return path
    if path.is_dir():
        if not (existing := [path / name for name in FILE_NAMES if (path / name).is_file()]):
            raise TaggerError(f"names.model: {path} contains no {' or '.join(FILE_NAMES)}")
        return existing[0]
    if not COMMIT.fullmatch(revision or ""):
        raise TaggerError(
            f"names.revision: name the commit (40 hex digits) of {model!r}, not {revision!r}:"
            " a tagger's file can run code, so load only what you have inspected"
        )
    try:
        return Path(hf_hub_download(model, HUB_FILE, revision=revision))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as exc:
        raise TaggerError(
            f"names.model: {model!r} is not a file or folder, and can't be fetched from the hub"
            f" ({str(exc).splitlines()[0]}); name a file, or `builtin`"
        ) from exc


def load(path: Path) -> FlairTagger:
    """Load a tagger from its file.

    Raises:
        TaggerError: the file is not a sequence tagger, or has no label for persons.
    """
    logging.getLogger("flair").setLevel(logging.WARNING)
    try:
        model = SequenceTagger.load(path)
    except UNREADABLE as exc:
        raise TaggerError(f"names.model: {path} is not a Flair tagger ({exc!r:.200})") from exc
    tags = {tag.partition("-")[2] or tag for tag in model.label_dictionary.get_items()}
    if not tags & PERSONS:
        raise TaggerError(f"names.model: {path} has no label PER, only {sorted(tags)}")
    return FlairTagger(model)


def sentence(text: str) -> Sentence:
    """Return the tokens of a text; each starts in it at its `start_position`."""
    return Sentence(text.translate(_REMOVED))
