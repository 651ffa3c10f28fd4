"""Which settings in use know a corpus's language, and what to set if one does not."""

from pipeline.core.params import Params
from pipeline.language.detection import ENGLISH, Language, LanguageError, name_of

MAX_OTHER = 0.2
"""Settings that know English only refuse a larger share of texts in other languages."""
MIN_OTHER = 0.05
"""... and one of at least this is worth a remark."""

VARY = "vary.backend: rules"

REMEDIES = {
    "rewrite.backend: rules": "set `openai` (a language model writes {name}), or `none` if no text"
    " names anyone",
    "names.model: builtin": "set a Flair tagger of people's names in {name}: a hub id, and its"
    " commit in names.revision",
    VARY: "set `openai`, or vary.vague, vary.gist and vary.changed to 0",
}
ENCODER = "embed.model: builtin"
"""It compares texts of any language, but poorly: it is mentioned, and nothing is refused."""


def find_english_only(params: Params) -> list[str]:
    """Return the settings that rewriting uses and that know English only."""
    in_use = {
        "rewrite.backend: rules": params.rewrite.backend == "rules",
        "names.model: builtin": params.names.model == "builtin"
        and params.rewrite.backend != "none",
    }
    return [setting for setting, is_used in in_use.items() if is_used]


def refuse(language: Language, settings: list[str]) -> None:
    """Refuse a corpus that is not English if `settings` know English only.

    Raises:
        LanguageError: with a line on what to set for each of them.
    """
    if settings and language.is_outside([ENGLISH], MAX_OTHER):
        raise LanguageError(_refusal(language, settings))


def _refusal(language: Language, settings: list[str]) -> str:
    named = name_of(language.main_outside([ENGLISH]) or language.code)
    advice = [f"  {setting}: {REMEDIES[setting].format(name=named)}" for setting in settings]
    return "\n".join(
        [
            f"the corpus is {language}, and these settings know English only:",
            *advice,
            "If it is English after all, set ingest.language: en",
        ]
    )


def list_remarks(language: Language) -> list[str]:
    """Return what the lead should know about a corpus's language, one line each."""
    lines = [f"the corpus is {language}"]
    if language.shares and language.share_outside([ENGLISH]) >= MIN_OTHER:
        lines.append(
            f"{', '.join([*REMEDIES, ENCODER])} know English only; `openai` and `none` work in any"
            " language, and so do multilingual encoders (docs/corpora.md, Languages)"
        )
    return lines
