"""Descriptions that end without a caption: why, told once per reason, with what may help."""

import logging
from collections import Counter

from pipeline.llm.outcomes import CallFailed, LLMError, Outcome

_log = logging.getLogger(__name__)


class Unsettled:
    """How many descriptions ended without a caption in a run, by reason."""

    def __init__(self) -> None:
        """Begin with none."""
        self._count: Counter[Outcome] = Counter()
        self._said: dict[Outcome, str] = {}

    def heard(self, failure: CallFailed) -> None:
        """Remember what the server said, the first time of each kind."""
        self._said.setdefault(failure.outcome, str(failure))

    def add(self, outcome: Outcome, descriptions: int) -> None:
        """Count descriptions that are given up, and tell of the first of each kind."""
        if outcome not in self._count:
            _log.warning("no captions: %s", self._told(outcome))
        self._count[outcome] += descriptions

    def nothing_answered(self) -> LLMError:
        """Return the error for a run without any answer, by the commonest reason."""
        commonest = max(self._count, key=lambda outcome: (self._count[outcome], outcome.name))
        return LLMError(f"{self._told(commonest)}; nothing at all was answered")

    def _told(self, outcome: Outcome) -> str:
        return f"{self._said.get(outcome, outcome.name)} ({outcome.hint})"
