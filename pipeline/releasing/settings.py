"""The settings that made the collection, as the manifest tells them: none of this machine's."""

from pathlib import PurePath
from typing import Any

from pipeline.params import Params

USED = (
    "ingest.corpus",
    "ingest.query_modalities",
    "ingest.pool_modalities",
    "names",
    "rewrite.backend",
    "rewrite.prompt",
    "rewrite.rounds",
    "rewrite.similarity",
    "rewrite.min_similarity",
    "rewrite.min_detail",
    "rewrite.max_name_score",
    "rewrite.openai.model",
    "split",
    "embed.model",
    "embed.revision",
    "embed.pooling",
    "embed.precision",
    "embed.max_tokens",
    "candidates",
    "clips.format",
    "clips.height",
    "clips.padding",
    "plan",
    "pseudo",
    "consensus",
    "release",
)
"""The keys of params.yaml that the manifest holds."""
READ = ("ingest.corpus", "ingest.source", "ingest.language", *USED[1:])
"""The keys that the stage reads, as dvc.yaml names them: a corpus may be on this machine alone."""


def used(params: Params) -> dict[str, Any]:
    """Return the settings by key; of a path on this machine only the name."""
    content = params.model_dump()
    return {key: _public(_at(content, key)) for key in USED}


def _at(content: Any, key: str) -> Any:  # noqa: ANN401  (whatever the key holds)
    for name in key.split("."):
        content = content[name]
    return content


def _public(value: Any) -> Any:  # noqa: ANN401  (whatever a key holds)
    if isinstance(value, dict):
        return {name: _public(inner) for name, inner in value.items()}
    is_local = isinstance(value, str) and PurePath(value).is_absolute()
    return PurePath(value).name if is_local else value
