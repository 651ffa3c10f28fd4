"""The settings recorded in the manifest, without local paths."""

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import getitem
from pathlib import PurePath
from typing import Any

from pipeline.campaign.campaign import FILE, Campaign
from pipeline.campaign.collection import ReleaseError
from pipeline.core.params import Params

_USED = """
ingest.corpus ingest.query_modalities ingest.pool_modalities names
rewrite.backend rewrite.prompt rewrite.rounds rewrite.similarity rewrite.min_similarity
rewrite.min_detail rewrite.max_name_score rewrite.openai.model split
embed.model embed.revision embed.pooling embed.precision embed.max_tokens
candidates clips.format clips.height clips.padding plan pseudo consensus release
"""
USED = tuple(_USED.split())
"""The keys of params.yaml that the manifest records."""
LATER = {"pseudo", "consensus", "release"}
"""Of these, those that may change after a campaign: what people judged does not depend on them."""


def select_settings(params: Params) -> dict[str, Any]:
    """Return the settings by key; of local paths only the name."""
    content = params.model_dump()
    return {key: _public(reduce(getitem, key.split("."), content)) for key in USED}


def select_fixed_settings(params: Params) -> dict[str, Any]:
    """Return the settings that what people judged depends on; others may change afterwards."""
    return {key: value for key, value in select_settings(params).items() if key not in LATER}


def refuse_changes(campaign: Campaign | None, params: Params) -> None:
    """Refuse settings that differ from those a closed campaign was run with.

    Only keys that both have are compared: the code may have got or lost some since. In a reopened
    one, how the work is planned may change.

    Raises:
        ReleaseError: one of them was changed since it was closed.
    """
    before = dict(campaign.settings) if campaign else {}
    if campaign and not campaign.closed:
        before.pop("plan", None)
    now = select_fixed_settings(params)
    for key, old, new in _find_changes(before, now):
        raise ReleaseError(
            f"params.yaml: {key} is {new!r}, but was {old!r} when the campaign was closed ({FILE});"
            " set it back, since the release records it"
        )


def _find_changes(
    before: Mapping[str, Any], now: Mapping[str, Any], above: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path and both values of each key that differs; a key of only one side does not."""
    for name in sorted(before.keys() & now.keys()):
        old, new = before[name], now[name]
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _find_changes(old, new, f"{above}{name}.")
        elif old != new:
            yield f"{above}{name}", old, new


def _public(value: Any) -> Any:  # noqa: ANN401  (whatever a key holds)
    if isinstance(value, dict):
        return {name: _public(inner) for name, inner in value.items()}
    is_local = isinstance(value, str) and PurePath(value).is_absolute()
    return PurePath(value).name if is_local else value
