"""The tagger of person names in shards: the batches of `FlairTagger`, in other processes too."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path

from pipeline.core import files
from pipeline.core.engine import text_chunks
from pipeline.core.engine.parts import Input
from pipeline.core.sections import Engine
from pipeline.names import flair_tagger
from pipeline.names.base import Span


@dataclass(frozen=True)
class ShardedTagger:
    """A `NameTagger` that finds what the tagger of a file finds, to the last bit of a score."""

    model: Path
    stage: str
    engine: Engine

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the names of each text, in the order of the text; each distinct text once."""
        order = flair_tagger.sort_texts(texts)
        length = text_chunks.BATCHES * flair_tagger.CHUNK
        model = Input(self.model.absolute(), files.file_sha256(self.model))
        work = partial(tag_batches, model)
        facts = f"tagger {model.sha256}"
        # Flair takes a GPU where it sees one.
        paths = text_chunks.map_texts(
            self.stage, work, order, length, facts, engine=self.engine, gpus=1
        )
        tagged = chain.from_iterable(map(files.read_json, paths))
        names = {
            text: [Span(*span) for span in spans] for text, spans in zip(order, tagged, strict=True)
        }
        return [names[text] for text in texts]


def tag_batches(model: Input, texts: list[str], path: Path) -> None:
    """Write the spans of each text, as numbers that read back the same.

    Raises:
        EngineError: this machine sees another model, or none.
    """
    batches = text_chunks.cut(texts, flair_tagger.CHUNK)
    tagged = _load(model.locate()).tag_chunks(batches, workers=1, shown=False)
    files.write_json(path, list(chain.from_iterable(tagged)))


@cache
def _load(model: Path) -> flair_tagger.FlairTagger:
    return flair_tagger.load(model)
