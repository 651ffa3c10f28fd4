"""Variants of captions by rules: English only, no network."""

from collections.abc import Iterator, Sequence
from itertools import chain

from pipeline.captions.rewriter import OK, Moment, Rewrite
from pipeline.captions.variants.changing import list_changed
from pipeline.captions.variants.shortening import list_more_general, list_shorter
from pipeline.captions.variants.variant_checks import CHANGED, Checks, normalize, share_details

NO_RULE = "no rule applies"


class RulesVarier:
    """The rewriter behind `vary.backend: rules`, for one stratum: it rewrites captions."""

    source = "rules"
    model: str | None = None
    prompt: str | None = None

    def __init__(self, stratum: str, checks: Checks) -> None:
        self._stratum, self._checks = stratum, checks

    def rewrite(self, moments: Sequence[Moment], attempt: int) -> Iterator[Rewrite]:  # noqa: ARG002  (the protocol's)
        """Yield the variant of each moment's caption, the same each time, or none."""
        for moment in moments:
            variant = self._vary(moment.description)
            yield Rewrite(moment.moment_id, variant, OK if variant else NO_RULE)

    def _vary(self, caption: str) -> str | None:
        """Return the first variant that keeps as little, or as much, as wanted."""
        limits = self._checks.limits
        if self._stratum == CHANGED:
            changed = list_changed(caption, limits.seed)
            return next((text for text in changed if self._is_new(text)), None)
        shorter = list(list_shorter(caption))
        general = list_more_general(shorter[-1] if shorter else caption)
        if self._stratum == "gist":  # without details, even where fewer drops would do
            shorter = shorter[-1:]
        most = getattr(limits.max_detail, self._stratum)
        vaguer = (text for text in chain(shorter, general) if share_details(caption, text) <= most)
        return next(vaguer, None)

    def _is_new(self, variant: str) -> bool:
        return normalize(variant) not in self._checks.captions
