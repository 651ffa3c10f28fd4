"""The circuit breaker: it stops when the server is unreachable or its answers are unusable."""

from collections import Counter
from typing import Any

from pipeline.llm import outcomes
from pipeline.llm.answers import Answer, Reading
from pipeline.llm.outcomes import CallFailed, LLMError, Next, Outcome, Purpose

IN_A_ROW = {Next.WAIT: 5, Next.HALVE: 50}
"""Requests in a row that ended so, without an answer in between, after which the run stops.

Refused requests may come in a row by chance, so more of them are needed than of failures to
reach the server.
"""

FIRST_ANSWERS = 20
"""A run is stopped if this many first answers are all unusable: each of them was paid for.

A model that can't answer in the required form would be asked up to `attempt.upper_bound` times for
every request. Fewer answers prove too little: they may be about texts that no model can answer for.
"""

_SHOWN = 200  # characters of an unusable answer


class Breaker:
    """Counts how requests end over all attempts of a run, and stops the run when needed."""

    def __init__(self, purpose: Purpose) -> None:
        """Begin with empty counts."""
        self._purpose = purpose
        self._refused_subjects, self._answered_subjects = set[str](), set[str]()
        self._in_a_row = Counter[Next]()
        self._answers = 0
        self._is_usable = False
        self._unusable = Counter[Outcome]()
        self._shown = ""

    def count_failure(self, failure: CallFailed, subject: str | None = None) -> None:
        """Count a request that got no answer; a refused subject counts once.

        Raises:
            LLMError: the run must stop.
        """
        outcome = failure.outcome
        if outcome.next is Next.GIVE_UP or self._is_known_subject(outcome, subject):
            return
        self._in_a_row[outcome.next] += 1
        unreachable = outcome is outcomes.CONNECTION and not self._answers
        if unreachable or self._in_a_row[outcome.next] >= IN_A_ROW.get(outcome.next, 1):
            raise self._purpose.stop(failure) from failure

    def _is_known_subject(self, outcome: Outcome, subject: str | None) -> bool:
        """Return whether the server refused, and has refused a request on this subject before."""
        if subject is None or outcome.next is not Next.HALVE:
            return False
        was_refused = subject in self._refused_subjects
        self._refused_subjects.add(subject)
        return was_refused

    def mark_usable(self) -> None:
        """Note that the model has answered in the required form before, in any run."""
        self._is_usable = True

    def count_answer(
        self, answer: Answer, reading: Reading[Any], subject: str | None = None
    ) -> None:
        """Count an answer that was paid for, and whether any of it can be used.

        Several answers about one subject count once: the subject itself may be to blame.
        """
        self._in_a_row.clear()
        self._answers += subject is None or subject not in self._answered_subjects
        self._answered_subjects |= set() if subject is None else {subject}
        self._is_usable = self._is_usable or bool(reading.found)
        if reading.outcome:
            self._unusable[reading.outcome] += 1
            self._shown = self._shown or " ".join((answer.content or answer.refusal or "").split())

    def check(self) -> None:
        """Stop if all answers so far are unusable.

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
