"""The circuit breaker: the server is away, or nothing that it answers can be used."""

from collections import Counter
from typing import Any

from pipeline.llm import outcomes
from pipeline.llm.answers import Answer, Reading
from pipeline.llm.outcomes import CallFailed, LLMError, Next, Outcome, Purpose

IN_A_ROW = {Next.WAIT: 5, Next.HALVE: 50}
"""After so many requests in a row that ended so, and no answer between, the server is given up.

What it refuses may well stand together; a server that is away is away.
"""

FIRST_ANSWERS = 20
"""A run whose first so many answers are all unusable is stopped: each of them was paid for.

A model that can't answer in the asked form would be asked as often as `round.upper_bound` says for
every request. Fewer answers prove less: a few descriptions that no model answers for are no reason.
"""

_SHOWN = 200  # characters of an unusable answer


class Breaker:
    """Counts how asking ends over all rounds of a run, and says when to stop."""

    def __init__(self, purpose: Purpose) -> None:
        """Begin with nothing heard."""
        self._purpose = purpose
        self._refused_subjects, self._answered_subjects = set[str](), set[str]()
        self._in_a_row = Counter[Next]()
        self._answers = 0
        self._is_usable = False
        self._unusable = Counter[Outcome]()
        self._shown = ""

    def count_failure(self, failure: CallFailed, subject: str | None = None) -> None:
        """Count a request that brought no answer; one refused subject counts once.

        Raises:
            LLMError: it is useless to go on.
        """
        outcome = failure.outcome
        if outcome.next is Next.GIVE_UP or self._is_known_subject(outcome, subject):
            return
        self._in_a_row[outcome.next] += 1
        unreachable = outcome is outcomes.CONNECTION and not self._answers
        if unreachable or self._in_a_row[outcome.next] >= IN_A_ROW.get(outcome.next, 1):
            raise self._purpose.stop(failure) from failure

    def _is_known_subject(self, outcome: Outcome, subject: str | None) -> bool:
        """Tell whether a server that refuses what a request is about has done so before."""
        if subject is None or outcome.next is not Next.HALVE:
            return False
        known = subject in self._refused_subjects
        self._refused_subjects.add(subject)
        return known

    def prove(self) -> None:
        """Remember that the model has answered in the asked form before, in whatever run."""
        self._is_usable = True

    def count_answer(
        self, answer: Answer, reading: Reading[Any], subject: str | None = None
    ) -> None:
        """Count an answer that was paid for, and whether any of it can be used.

        Several about one subject count once: what shows it may be to blame.
        """
        self._in_a_row.clear()
        self._answers += subject is None or subject not in self._answered_subjects
        self._answered_subjects |= set() if subject is None else {subject}
        self._is_usable = self._is_usable or bool(reading.found)
        if reading.outcome:
            self._unusable[reading.outcome] += 1
            self._shown = self._shown or " ".join((answer.content or answer.refusal or "").split())

    def check(self) -> None:
        """Stop where all that was paid for is unusable.

        Raises:
            LLMError: the first answers are all unusable.
        """
        if self._is_usable or self._answers < FIRST_ANSWERS:
            return
        kinds = ", ".join(f"{outcome.name} {n}" for outcome, n in self._unusable.most_common())
        [(commonest, _)] = self._unusable.most_common(1)
        shown = f"; one of them begins: {self._shown[:_SHOWN]}" if self._shown else ""
        answers = f"the first {self._answers} answers are all unusable"
        raise LLMError(f"{answers} ({kinds}): {self._purpose.hint(commonest)}{shown}")
