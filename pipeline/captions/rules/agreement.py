"""The verb after several people: `Ann and Bea walks` is mended while at it."""

import re

from pipeline.language.syntax import NO_VERBS

_IRREGULAR = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't"}
_VERB = re.compile(r"(\s+(?:(?:both|then|also|each|just|\w+ly)\s+)?)([a-z']+)\b(?!')")
_SINGULAR = re.compile(r"[a-z]{2,}(?<!s)s")
_LIES = 4  # letters: lies, dies and ties lose their s alone, carries becomes carry


def plural_verb(right: str) -> tuple[int, int, str] | None:
    """Return the place and the plural of the singular verb that `right` begins with, if any."""
    found = _VERB.match(right)
    if not found:
        return None
    verb = found[2]
    plural = _IRREGULAR.get(verb) or _without_s(verb)
    return (*found.span(2), plural) if plural != verb else None


def _without_s(verb: str) -> str:
    if verb in NO_VERBS or not _SINGULAR.fullmatch(verb):
        return verb
    if verb.endswith("ies") and len(verb) > _LIES:
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]
