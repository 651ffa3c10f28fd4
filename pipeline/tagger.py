"""Train the builtin tagger of person names, a small Flair tagger, on generated sentences.

reads   datasets/tagger/templates.yaml
writes  datasets/work/tagger/model.pt

One label, PER, over the packaged encoder's frozen token embeddings and character features.
An eighth of the templates and a tenth of the names are held out for the test.
"""

import math
import random
import time
from collections.abc import Sequence

from pipeline.core import cli
from pipeline.core.params import load
from pipeline.core.sections import Tagger
from pipeline.names import grammar, wordlists
from pipeline.names.base import BUILTIN, NameTagger
from pipeline.names.grammar import Example

TEST_SHARE = 0.12
"""The number of test sentences, as a share of the training sentences."""
TEST_TEMPLATES = 8


def examples(rules: grammar.Rules, params: Tagger) -> tuple[list[Example], list[Example]]:
    """Draw training sentences, and test sentences from other templates with other names."""
    rng = random.Random(params.seed)
    train = _draw(rules, params.sentences, rng, held_out=False)
    number = math.ceil(TEST_SHARE * params.sentences)
    return train, _draw(rules, number, rng, held_out=True)


def _draw(rules: grammar.Rules, count: int, rng: random.Random, *, held_out: bool) -> list[Example]:
    templates = [
        text
        for number, text in enumerate(rules[grammar.START])
        if (number % TEST_TEMPLATES == 0) == held_out
    ]
    rules = {**rules, grammar.START: templates}
    words = wordlists.word_lists(rng, held_out=held_out)
    return [grammar.draw(rules, words, rng) for _ in range(count)]


def measure(tagger: NameTagger, test: Sequence[Example]) -> dict[str, float]:
    """Return precision, recall and F1 of whole names: both ends must be right."""
    named = tagger.find([example.text for example in test])
    predicted = {(row, s.start, s.end) for row, spans in enumerate(named) for s in spans}
    true = {(row, *name) for row, example in enumerate(test) for name in example.names}
    right = len(predicted & true)
    return {
        "precision": right / max(len(predicted), 1),
        "recall": right / max(len(true), 1),
        "f1": 2 * right / max(len(predicted) + len(true), 1),
    }


def main() -> None:
    """Train, save, load as users of the tagger do, and measure."""
    from pipeline.names import flair_tagger, training  # noqa: PLC0415  (torch is slow to import)

    params, start = load().tagger, time.monotonic()
    train, test = examples(grammar.read(), params)
    training.save(training.train(train, params.seed, params.epochs), BUILTIN)
    seconds = time.monotonic() - start
    metrics = measure(flair_tagger.load(flair_tagger.locate("builtin", None)), test)
    counts = {"sentences": len(train), "test_sentences": len(test)}
    cli.write_metrics("tagger", {**counts, **metrics, "seconds": round(seconds, 1)})
    cli.log(f"tagger: trained in {seconds:.0f} s; F1 {metrics['f1']:.3f} on held-out sentences")


if __name__ == "__main__":
    cli.run_stage(main)
