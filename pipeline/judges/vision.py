"""A vision-language model as a judge, behind `judge.backend: openai`.

It sees pictures of the clip that annotators see, their guideline, and the query, but never the
caption. With `judge.blind` the caption replaces the pictures: a model that judges as well without
pictures has not looked at them. What it refuses or fails to judge has no level, but a reason.
"""

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.campaign.guideline import Guideline, locate_guideline, split_guideline
from pipeline.core.params import Params
from pipeline.core.rng import draw
from pipeline.core.sections import LanguageModel
from pipeline.judges.base import Answer, Pair
from pipeline.judges.clip_pictures import Clip, Look, PictureReader
from pipeline.judges.judge_prompt import JudgePrompt
from pipeline.judges.level_requests import JUDGING, Judged, LevelRecipe, Question
from pipeline.llm import outcomes
from pipeline.llm.asker import Access, Asker, Result
from pipeline.llm.prompt import load_prompt
from pipeline.llm.spending import OK

CANT_JUDGE = "cant-judge"
FAILED = "failed"
REASONS = {
    outcomes.REFUSED.name: "refused",
    outcomes.FILTERED.name: "refused",
    outcomes.BROKEN_JSON.name: "malformed",
    outcomes.BAD_LEVEL.name: "malformed",
    outcomes.TRUNCATED.name: "cut",
    outcomes.UNREADABLE.name: "broken-clip",
}
"""Why a pair has no level, by how the request ended; any other end is `FAILED`."""

ESTIMATED_BY = 20
"""How many pairs are asked for an estimate."""


class Options(NamedTuple):
    """How pairs are judged: see `judge` of params.yaml."""

    look: Look
    repeats: int = 1
    blind: bool = False


class Setup(NamedTuple):
    """What a model is asked with; the key and the address come from the environment."""

    settings: LanguageModel
    prompt: JudgePrompt
    guideline: Guideline
    options: Options


class Estimate(NamedTuple):
    """What the `left` requests would take, estimated from `asked` pairs, which were paid for.

    `pairs` are distinct in query and clip; each is asked `judge.repeats` times. Tokens are the
    server's own counts, the cost is in USD.
    """

    pairs: int
    asked: int
    left: int
    tokens_in: int
    tokens_out: int
    cost: float
    seconds: float


class VisionJudge:
    """The judge behind `judge.backend: openai`."""

    def __init__(self, setup: Setup, access: Access | None = None) -> None:
        """Send nothing yet.

        Raises:
            UsageError: the environment's address or key is not valid.
        """
        settings, prompt, guideline, options = setup
        self.model: str = settings.model
        self.prompt: str | None = prompt.label
        self.guideline: str | None = guideline.head.version
        self._settings, self._prompt, self._options = settings, prompt, options
        self._instructions = prompt.instructions(guideline)
        self._reader = PictureReader(options.look, settings.in_flight)
        self._asker = Asker(settings, JUDGING, access)
        self._counts = Counter[str]()

    def judge(self, pairs: Sequence[Pair]) -> Iterator[Answer]:
        """Yield one answer for each pair and repeat.

        Raises:
            LLMError: the account is empty, the key or model is wrong, the server is unreachable,
                or it sends no answers, or none that can be used.
            CacheError: another run is using the cache.
            UsageError: a key is needed, but missing.
        """
        questions = [self._question(pair) for pair in pairs]
        for repeat in range(self._options.repeats):
            results = self._resolve(self._recipe(questions, repeat))
            for pair, question in zip(pairs, questions, strict=True):
                answer = self._answer(pair, question, repeat, results[question.text])
                self._counts[answer.reason or OK] += 1
                yield answer

    def metrics(self) -> Mapping[str, object]:
        """Return what judging took, and the number of answers by reason (`ok`: with a level)."""
        spent = self._asker.spent.metrics()
        del spent["reused_captions"]
        return {"answers": dict(sorted(self._counts.items())), "llm": spent}

    def estimate(self, pairs: Sequence[Pair]) -> Estimate:
        """Ask about a few pairs that were not asked before, and return what the others will take.

        Their answers are kept, so nothing is paid for twice.

        Raises:
            LLMError, CacheError, UsageError: as in `judge`.
        """
        questions = [self._question(pair) for pair in pairs]
        repeats = range(self._options.repeats)
        recipe, *others = [self._recipe(questions, repeat) for repeat in repeats]
        texts = list(recipe.questions)
        attempts = [self._asker.attempt(asked, texts, 1) for asked in (recipe, *others)]
        requests = [attempt.missing() for attempt in attempts]
        missing = [text for request in requests[0] for text in request.asked.values()]
        shuffled = sorted(missing or texts, key=lambda text: draw("estimate", text))
        sample = shuffled[:ESTIMATED_BY]
        start = time.monotonic()
        self._asker.resolve(recipe, sample, 1, "pairs")
        took = time.monotonic() - start if missing else 0.0
        left = sum(map(len, requests)) - (len(sample) if missing else 0)
        return self._extrapolate(len(texts), left, len(sample), took)

    def _extrapolate(self, pairs: int, left: int, asked: int, took: float) -> Estimate:
        """Return what `left` requests would take, given what `asked` took."""
        settings, prices, used = (
            self._settings,
            self._asker.spent.prices,
            self._asker.spent.metrics(),
        )
        share = left / max(1, asked)
        tokens_in = round(used["result_tokens_in"] * share)
        tokens_out = round(used["result_tokens_out"] * share)
        at_once = min(settings.in_flight, max(1, asked))
        seconds = (
            took * at_once * share / settings.in_flight,
            60 * left / settings.requests_per_minute,
            60 * (tokens_in + tokens_out) / settings.tokens_per_minute,
        )
        return Estimate(
            pairs=pairs,
            asked=asked,
            left=left,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=prices.cost(tokens_in, tokens_out),
            seconds=math.ceil(max(seconds)),
        )

    def _resolve(self, recipe: LevelRecipe) -> Mapping[str, Result[Judged]]:
        return self._asker.resolve(recipe, list(recipe.questions), 1, "pairs").results

    def _question(self, pair: Pair) -> Question:
        clip = Clip(pair.clip, pair.clip.stem, pair.seconds)
        return Question(pair.query, clip, pair.caption if self._options.blind else None)

    def _recipe(self, questions: Sequence[Question], repeat: int) -> LevelRecipe:
        """Return a recipe for the distinct questions, by clip: a server may reuse what it read."""
        settings = self._settings
        ordered = sorted(questions, key=lambda question: (question.clip.sha, question.query))
        return LevelRecipe(
            url=self._asker.endpoint.url,
            model=settings.model,
            prompt=self._prompt,
            max_output_tokens=settings.max_output_tokens,
            attempt=repeat,
            output_limit=settings.output_limit,
            extra=settings.extra,
            instructions=self._instructions,
            look=self._options.look,
            blind=self._options.blind,
            questions={question.text: question for question in ordered},
            reader=self._reader,
        )

    def _answer(
        self, pair: Pair, question: Question, repeat: int, result: Result[Judged]
    ) -> Answer:
        judged, outcome = result
        frames = 0 if self._options.blind else len(self._options.look.times(question.clip))
        if judged is None:
            why = REASONS.get(outcome, FAILED)
            return Answer(pair.query_id, pair.moment_id, repeat, reason=why, frames=frames)
        reason = CANT_JUDGE if judged.level is None else None
        return Answer(
            pair.query_id, pair.moment_id, repeat,
            judged.level, judged.expected, reason, judged.remark, frames,
        )  # fmt: skip


def make_vision_judge(params: Params) -> VisionJudge:
    """Return the model that looks at clips.

    Raises:
        GuidelineError: the guideline is missing or not valid.
        PromptError: the prompt is not valid.
        UsageError: the environment's address or key is not valid.
    """
    settings, path = params.judge, locate_guideline(params.annotation)
    guideline = split_guideline(path.read_text(encoding="utf-8"), path)
    prompt = load_prompt(JudgePrompt, Path(settings.prompt))
    look = Look(settings.frames, settings.height)
    options = Options(look, settings.repeats, settings.blind)
    return VisionJudge(Setup(settings.openai, prompt, guideline, options))
