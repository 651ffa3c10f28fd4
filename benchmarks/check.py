"""How well the caption checks separate correct captions from wrong ones.

    python -m benchmarks.check DESCRIPTIONS [--sample 500]

DESCRIPTIONS has one description per line. The captions that `rules` writes for them count as
correct; a sample of them is corrupted by one change each, drawn from the same corpus with a seed.
It prints two tables: for each score, how often a correct caption scores above a wrong one (area
under the ROC curve); and the share of each kind that a setting rejects: the paper's, that of
params.yaml, and each of its parts.
"""

import random
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.script import parse_arguments, run
from pipeline.captions import details
from pipeline.captions.checks import Limits, check, load_encoder, load_finder, read_limits
from pipeline.captions.rules.rules_rewriter import RulesRewriter
from pipeline.core.params import load
from pipeline.language import syntax
from pipeline.names import truecase
from pipeline.names.evidence.cast import Cast

SEED = 2024
RIGHT = "right"
PAPER = 0.4
VAGUE = "Someone does something."
JOINTS = frozenset({"and", "while", "then", "before", "after", "as", "when"})
"""Words at which a second clause may begin."""


class Corruption(NamedTuple):
    """A wrong caption, its kind, and the number of the correct one."""

    kind: str
    number: int
    caption: str


class _Caption(NamedTuple):
    text: str
    verb: truecase.Word | None
    noun: truecase.Word | None
    """The last word that is neither a verb nor a function word."""


def corrupt(captions: Sequence[str], seed: int) -> Iterator[Corruption]:
    """Yield every corruption that a caption allows, caption by caption."""
    rng = random.Random(seed)
    parsed = [_read(text) for text in captions]
    verbs = [caption.verb.key for caption in parsed if caption.verb]
    nouns = [caption.noun.key for caption in parsed if caption.noun]
    for number, caption in enumerate(parsed):
        another = parsed[rng.randrange(len(parsed))].text
        options = {
            "another description's": another,
            "object swapped": _swap(caption.text, caption.noun, rng.choice(nouns)),
            "verb swapped": _swap(caption.text, caption.verb, rng.choice(verbs)),
            "clause lost": _shorten(caption.text),
            "a thing made someone": _swap(caption.text, caption.noun, "someone"),
            "a thing made vague": _swap(caption.text, caption.noun, "something"),
            "negated": _negate(caption),
            "all vague": VAGUE,
        }
        for kind, text in options.items():
            if text and text != caption.text:
                yield Corruption(kind, number, text)


def _read(text: str) -> _Caption:
    words = [
        word
        for word in truecase.words(text)
        if word.is_lower and word.key not in details.NO_DETAILS
    ]
    verbs = [word for word in words if syntax.is_singular_verb(word.key) and word.key[-1] == "s"]
    nouns = [word for word in words if word not in verbs and not word.key.endswith(("ing", "ly"))]
    return _Caption(text, verbs[0] if verbs else None, nouns[-1] if nouns else None)


def _swap(text: str, word: truecase.Word | None, new: str) -> str:
    if word is None or details.details(new) == details.details(word.key):
        return ""
    return text[: word.start] + new + text[word.end :]


def _negate(caption: _Caption) -> str:
    return (
        f"{caption.text[: caption.verb.start]}never {caption.text[caption.verb.start :]}"
        if caption.verb
        else ""
    )


def _shorten(text: str) -> str:
    """Return the first of several clauses, if both have details."""
    for word in truecase.words(text):
        left, right = text[: word.start].rstrip(" ,"), text[word.end :]
        if word.key in JOINTS and details.details(left) and details.details(right):
            return f"{left}."
    return ""


def pairs(descriptions: Sequence[str], captions: Sequence[str], size: int) -> pd.DataFrame:
    """Return `kind, description, caption`: all correct ones, and the wrong ones of a sample."""
    numbers = sorted(random.Random(SEED).sample(range(len(captions)), min(size, len(captions))))
    right = pd.DataFrame({"kind": RIGHT, "description": descriptions, "caption": captions})
    wrong = [
        (kind, descriptions[numbers[number]], text)
        for kind, number, text in corrupt([captions[number] for number in numbers], SEED)
    ]
    return pd.concat([right, pd.DataFrame(wrong, columns=list(right))], ignore_index=True)


def areas(table: pd.DataFrame, score: str) -> pd.Series:
    """Return the area under the ROC curve of each wrong kind against the correct captions."""
    right = table.loc[table["kind"] == RIGHT, score].astype(float)
    wrong = table[table["kind"] != RIGHT]
    return wrong.groupby("kind")[score].apply(
        lambda scores: roc_auc_score(
            [1] * len(right) + [0] * len(scores), [*right, *scores.astype(float)]
        )
    )


def main() -> None:
    """Print both tables."""
    options = parse_arguments(__doc__, "descriptions", sample=500)
    lines = options.descriptions.read_text(encoding="utf-8").splitlines()
    texts = list(dict.fromkeys(filter(str.strip, lines)))
    params = load()
    finder, encoder = load_finder(params, texts, Cast()), load_encoder(params)
    rules = RulesRewriter.for_corpus(texts, finder.find)
    table = pairs(texts, rules.rewrite_texts(texts), options.sample)
    look = partial(check, list(table["caption"]), list(table["description"]), finder, encoder)
    limits = read_limits(params)
    raw = look(Limits(PAPER, limits.max_name_score))
    masked = look(limits._replace(masked=True, min_detail=limits.min_detail or 0.0))
    scores = {"raw": raw["similarity"], "masked": masked["similarity"], "detail": masked["detail"]}
    table = table.assign(**scores)
    print(pd.DataFrame({name: areas(table, name) for name in scores}).round(3).to_string())
    fails = {
        f"raw < {PAPER}": ~raw["similarity_ok"],
        f"masked < {limits.min_similarity}": ~masked["similarity_ok"],
        f"detail < {limits.min_detail}": ~masked["detail_ok"],
        "damage": ~masked["damage_ok"],
        "any but raw": ~(masked["similarity_ok"] & masked["detail_ok"] & masked["damage_ok"]),
    }
    shares = table[["kind"]].assign(**fails).groupby("kind").mean().astype(float)
    print(shares.assign(captions=table["kind"].value_counts()).round(4).to_string())


if __name__ == "__main__":
    run(main)
