"""The tagger of person names in shards: the batches of `FlairTagger`, in other processes too."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from pipeline.core import files
from pipeline.core.engine.text_batches import Batch, map_batches
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
        order, length = flair_tagger.sort_texts(texts), flair_tagger.CHUNK
        work = partial(tag_batches, self.model.absolute())
        facts = f"tagger {files.file_sha256(self.model)}"
        names: dict[str, list[Span]] = {}
        # Flair takes a GPU where it sees one.
        shards = map_batches(self.stage, work, order, length, facts, engine=self.engine, gpus=1)
        for part in shards:
            tagged = files.read_json(part.path)
            for number, batch in zip(part.numbers, tagged, strict=True):
                some = order[number * length : (number + 1) * length]
                names |= zip(
                    some, ([Span(*span) for span in spans] for spans in batch), strict=True
                )
        return [names[text] for text in texts]


def tag_batches(model: Path, batches: Sequence[Batch], path: Path) -> None:
    """Write the spans of each text of each batch, as numbers that read back the same."""
    tagged = _load(model).tag_chunks([list(batch) for batch in batches], workers=1, shown=False)
    files.write_json(path, list(tagged))


@cache
def _load(model: Path) -> flair_tagger.FlairTagger:
    return flair_tagger.load(model)
