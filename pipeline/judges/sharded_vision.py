"""A vision-language model that several processes ask in parallel, as `engine` configures.

They ask the same questions as one process would, each with its share of the account's limits and
its own cache inside the cache's folder. So a kill loses only what is in flight. The lead takes
over what they bought, then judges as if it had asked alone: it finds the answers stored.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

from pipeline.campaign.guideline import locate_guideline, split_guideline
from pipeline.core import files
from pipeline.core.engine.parts import part_key
from pipeline.core.engine.shards import clear_parts, map_shards
from pipeline.core.parallel import cores
from pipeline.core.params import Params
from pipeline.core.progress import progress
from pipeline.core.sections import Engine, LanguageModel
from pipeline.judges.base import Answer, Pair
from pipeline.judges.clip_pictures import Look
from pipeline.judges.judge_prompt import JudgePrompt
from pipeline.judges.level_requests import Judged
from pipeline.judges.vision import Options, Setup, Turn, VisionJudge
from pipeline.llm.answer_cache import SHARDS
from pipeline.llm.asker import Attempt, Unanswered
from pipeline.llm.prompt import load_prompt
from pipeline.llm.request import Request

STAGE = "judge"
LOOK = 5.0
"""Seconds between updates of how many answers have arrived."""


class Shard(NamedTuple):
    """What one process asks, and how: with its share of the limits, and its own cache.

    `is_useful`: the model has given usable answers before.
    """

    setup: Setup
    turns: list[Turn]
    is_useful: bool


class ShardedVisionJudge(VisionJudge):
    """A `VisionJudge` that asks what is not stored, in as many processes as can run in parallel."""

    def __init__(self, setup: Setup, engine: Engine) -> None:
        """Send nothing yet.

        Raises:
            UsageError: the environment's address or key is not valid.
        """
        super().__init__(setup)
        self._engine = engine

    def judge(self, pairs: Sequence[Pair]) -> Iterator[Answer]:
        """Yield one answer for each pair and repeat.

        Raises:
            LLMError, CacheError, UsageError: as in `VisionJudge.judge`, here or in one process.
            EngineError: a process was killed; what it bought is kept.
        """
        with self._asker.cache.lock():
            if self._engine.shards > 1:
                self._ask_in_shards(pairs)
            yield from super().judge(pairs)

    def _ask_in_shards(self, pairs: Sequence[Pair]) -> None:
        """Ask what is not stored, if that is more than one process can have in flight."""
        questions = [self._question(pair) for pair in pairs]
        turns, attempts = list[Turn](), list[Attempt[Judged]]()
        requests = list[Request]()
        for repeat in range(self._options.repeats):
            recipe = self._recipe(questions, repeat)
            attempts.append(self._asker.attempt(recipe, list(recipe.questions), 1))
            missing = attempts[-1].missing()
            requests += missing
            texts = (text for request in missing for text in request.asked.values())
            turns.append(Turn(repeat, recipe.name, [recipe.questions[text] for text in texts]))
        if len(requests) <= self._settings.in_flight:
            return
        largest = max(request.most for request in requests)
        shares = divide(turns, count_shards(self._engine, self._settings, largest))
        if len(shares) == 1:
            return
        self._asker.endpoint.require_key()
        is_useful = any(attempt.was_useful for attempt in attempts)
        given = {
            part_key(
                STAGE, *(question.text for turn in share for question in turn.questions)
            ): share
            for share in shares
        }
        folder, clear = self._asker.cache.folder / SHARDS, partial(clear_parts, STAGE, self._engine)
        settings = share_limits(self._settings, len(shares))
        caches = {key: settings.model_copy(update={"cache": str(folder / key)}) for key in given}
        shards = {
            key: Shard(self._setup._replace(settings=caches[key]), share, is_useful)
            for key, share in given.items()
        }
        clear()  # what failed earlier may be answered now
        with watch(folder, len(requests)):
            paths = map_shards(STAGE, ask_shard, shards, self._engine).values()
        unanswered = [Unanswered(**files.read_json(path)) for path in paths]
        clear()
        self._asker.merge_worker_results(attempts, unanswered)


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
    return ShardedVisionJudge(Setup(settings.openai, prompt, guideline, options), params.engine)


def ask_shard(shard: Shard, path: Path) -> None:
    """Ask a shard's questions into its cache; write what was not answered."""
    unanswered = VisionJudge(shard.setup).ask(shard.turns, is_useful=shard.is_useful)
    path.write_text(json.dumps(unanswered._asdict()))  # ASCII, whatever a server has sent


def count_shards(engine: Engine, settings: LanguageModel, largest: int) -> int:
    """Return how many processes to use: each must be able to send a request of `largest` tokens.

    If there were more than can run in parallel, those that wait would not use their share of the
    limits.
    """
    tokens = settings.tokens_per_minute // largest
    limits = (settings.in_flight, settings.requests_per_minute, tokens)
    return max(1, min(count_at_once(engine), *limits))


def count_at_once(engine: Engine) -> int:
    """Return how many shards run in parallel; on a cluster without `workers`, all of them."""
    workers = engine.workers or (cores() if engine.kind == "local" else engine.shards)
    return min(engine.shards, workers)


def share_limits(settings: LanguageModel, number: int) -> LanguageModel:
    """Return the settings of one of `number` processes, which together respect the limits."""
    names = ("in_flight", "requests_per_minute", "tokens_per_minute")
    return settings.model_copy(update={name: getattr(settings, name) // number for name in names})


def divide(turns: Sequence[Turn], number: int) -> list[list[Turn]]:
    """Divide the questions among at most `number` processes; one gets all those about a clip."""
    counts = Counter(question.clip.sha for turn in turns for question in turn.questions)
    order = sorted(counts, key=lambda sha: (-counts[sha], sha))
    number = max(1, min(number, len(order)))
    share_of = {sha: rank % number for rank, sha in enumerate(order)}
    return [
        [
            turn._replace(questions=[q for q in turn.questions if share_of[q.clip.sha] == share])
            for turn in turns
        ]
        for share in range(number)
    ]


@contextmanager
def watch(folder: Path, total: int) -> Iterator[None]:
    """Show how many answers have arrived in the caches below a folder."""
    ended, sizes = Event(), Counter[Path]()

    def look() -> None:
        with progress(STAGE, total=total, unit="answers") as bar:
            is_over = False
            while not is_over:
                is_over = ended.wait(LOOK)
                bar.update(sum(_count_new(path, sizes) for path in folder.glob("*/*.jsonl")))

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _count_new(path: Path, sizes: Counter[Path]) -> int:
    with suppress(OSError), path.open("rb") as stream:
        stream.seek(sizes[path])
        content = stream.read()
        sizes[path] += len(content)
        return content.count(b"\n")
    return 0
