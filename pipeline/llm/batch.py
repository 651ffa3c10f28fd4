"""The Batch API: half the price, and an answer within a day.

A batch is remembered under `<cache>/batches/` before it is submitted, and carries the job's key
as metadata: a killed run finds it again, there or in the server's list, and submits nothing
twice. Answers go into the same cache as those that came one by one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from openai.types import Batch

from pipeline.llm import answers, outcomes, results
from pipeline.llm.breaker import Breaker
from pipeline.llm.cache import Cache, Entry
from pipeline.llm.client import Client
from pipeline.llm.jobs import Job, Jobs
from pipeline.llm.outcomes import CallFailed, LLMError, Next
from pipeline.llm.request import Request
from pipeline.llm.retry import Policy
from pipeline.llm.spending import Spending
from pipeline.llm.tokens import BATCH_SHARE

T = TypeVar("T")
Tell = Callable[[str], object]

POLL = 30.0
"""Seconds between two looks at a batch."""

_METADATA = "momentrank"
_SCANNED = 1000  # the newest batches of the account: ours is among them or long gone
_FRUITLESS = 3  # batches in a row without one answer
_TRANSFER = 900.0  # seconds for a file
_ENDED = {"completed", "expired", "cancelled", "failed"}


class Batches:
    """Brings answers into the cache by the Batch API."""

    def __init__(  # noqa: PLR0913  (what it is made of, all needed)
        self,
        client: Client,
        cache: Cache,
        policy: Policy,
        spent: Spending,
        *,
        breaker: Breaker,
        max_tokens: int,
        poll: float,
        tell: Tell,
    ) -> None:
        """Keep at most `max_tokens` queued, look every `poll` seconds, and tell how it goes."""
        self._client, self._cache, self._policy, self._spent = client, cache, policy, spent
        self._breaker = breaker
        self._max_tokens, self._poll, self._tell = max_tokens, poll, tell
        self._jobs = Jobs(cache.folder / "batches")
        self._aside: set[str] = set()  # no batch will bring these
        self._stop: CallFailed | None = None

    async def fill(self, requests: Sequence[Request]) -> None:
        """Bring the answer to every request into the cache, but where the server refuses one.

        What a batch leaves open (it expired, a line failed) is submitted again, but what
        batches never bring, though they brought something, is left to be asked one by one.

        Raises:
            LLMError: a batch failed or was cancelled, or batches bring no answers at all, or
                none that can be used.
        """
        try:
            await self._finish_former({request.key for request in self._missing(requests)})
            fruitless = 0
            while missing := self._missing(requests):
                group = results.first_group(missing, self._max_tokens)
                await self._finish(group)
                self._breaker.check()  # before the next one is paid for
                fruitless = fruitless + 1 if len(self._missing(requests)) == len(missing) else 0
                if fruitless == _FRUITLESS:
                    self._set_aside(group)
                    fruitless = 0
        except CallFailed as failure:
            raise LLMError.stopped(failure) from failure

    def _set_aside(self, group: Sequence[Request]) -> None:
        said = f"{_FRUITLESS} batches in a row brought no answer"
        if not self._spent.was_answered:
            raise LLMError(f"{said}; see why at the provider, or set rewrite.openai.mode: online")
        self._tell(f"{said}: their {len(group)} requests go on one by one, at the full price")
        self._aside |= {request.key for request in group}

    def _missing(self, requests: Sequence[Request]) -> list[Request]:
        return [
            request
            for request in requests
            if request.key not in self._aside and self._cache.get(request) is None
        ]

    async def _finish_former(self, wanted: set[str]) -> None:
        """Wait for batches of a former run that bring something that is wanted now."""
        for job in self._jobs.under_way():
            if not wanted & job.requests.keys():
                continue
            if batch_id := job.batch or await self._retried(partial(self._find, job)):
                await self._bring(job, batch_id)

    async def _finish(self, requests: Sequence[Request]) -> None:
        job = self._jobs.remembered(Job.of(requests))
        job.is_open = True
        self._jobs.save(job)  # from here on a killed run knows what may have been submitted
        found = await self._retried(partial(self._find, job))
        job.batch = found or await self._submit(job, requests)
        self._jobs.save(job)
        await self._bring(job, job.batch)

    async def _find(self, job: Job) -> str | None:
        """Return the id of a batch for this job that the server has and nobody collected."""
        seen = 0
        async for batch in self._client.sdk.batches.list(limit=100):
            if (batch.metadata or {}).get(_METADATA) == job.key and batch.id not in job.done:
                return batch.id
            if (seen := seen + 1) == _SCANNED:
                break
        return None

    async def _submit(self, job: Job, requests: Sequence[Request]) -> str:
        content = "".join(results.line_of(request) for request in requests).encode()
        upload, create = self._client.sdk.files.create, self._client.sdk.batches.create
        sent = await self._retried(
            lambda: upload(file=("requests.jsonl", content), purpose="batch"), _TRANSFER
        )

        async def found_or_created() -> str:
            # A call that seems to have failed may have been heard.
            if found := await self._find(job):
                return found
            batch = await create(
                input_file_id=sent.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={_METADATA: job.key},
            )
            return batch.id

        return await self._retried(found_or_created)

    async def _bring(self, job: Job, batch_id: str) -> None:
        """Wait for a batch to end and keep its answers; then the job is done.

        Whatever went wrong in it: a job left open would end every later run the same way.
        """
        try:
            batch = await self._ended(batch_id)
        except CallFailed as failure:
            if failure.outcome is outcomes.NOT_FOUND:  # deleted, or another account's
                self._close(job, batch_id)
                return
            raise
        for file_id in (batch.output_file_id, batch.error_file_id):
            if file_id:
                await self._collect(job, file_id)
        self._close(job, batch_id)
        if self._stop:
            raise self._stop
        if batch.status in {"failed", "cancelled"}:
            raise LLMError(_why(batch))

    def _close(self, job: Job, batch_id: str) -> None:
        job.is_open, job.batch, job.done = False, None, [*job.done, batch_id]
        self._jobs.save(job)

    async def _ended(self, batch_id: str) -> Batch:
        told = ""
        while True:
            batch = await self._retried(lambda: self._client.sdk.batches.retrieve(batch_id))
            if batch.status != told:
                self._tell(f"batch {batch.id}: {batch.status}")
            told = batch.status
            if told in _ENDED:
                return batch
            await asyncio.sleep(self._poll)

    async def _collect(self, job: Job, file_id: str) -> None:
        """Keep the answers in one result file; it holds them in any order."""
        for result in results.read(await self._content(file_id)):
            if (request := job.requests.get(result.key)) is None:
                continue  # not of this job
            if isinstance(result.ended, CallFailed):
                self._note(result.key, result.ended)
                continue
            entry = Entry(request["asked"], result.ended, BATCH_SHARE)
            if self._cache.put_new(request["recipe"], result.key, entry):
                self._spent.requests += 1
                self._spent.paid(result.ended, partial(int, request["tokens_in"]), BATCH_SHARE)
                reading = answers.read(result.ended, request["asked"])
                self._spent.ended(reading.outcome)
                self._breaker.count_answer(result.ended, reading)

    async def _content(self, file_id: str) -> bytes:
        """Return a result file, empty where it is gone: what it held is submitted again."""
        read = self._client.sdk.files.content
        try:
            return (await self._retried(lambda: read(file_id), _TRANSFER)).content
        except CallFailed as failure:
            if failure.outcome is outcomes.NOT_FOUND:
                return b""
            raise

    def _note(self, key: str, failure: CallFailed) -> None:
        self._spent.ended(failure.outcome)
        if failure.outcome.next is Next.STOP:
            self._stop = self._stop or failure  # the rest of the file may hold answers
        elif failure.outcome.next is not Next.WAIT:
            self._aside.add(key)

    async def _retried(self, operation: Callable[[], Awaitable[T]], timeout: float = 0) -> T:
        return await self._policy.call(lambda: self._client.call(operation, timeout))


def _why(batch: Batch) -> str:
    errors = (batch.errors.data or []) if batch.errors else []
    said = "; ".join(f"{error.code}: {error.message}" for error in errors[:3])
    if any(error.code == "token_limit_exceeded" for error in errors):
        said += " (lower rewrite.openai.batch_tokens, or wait until other batches have ended)"
    kept = "what it answered is kept, the next run submits the rest"
    return f"batch {batch.id} {batch.status}{': ' if said else ''}{said}; {kept}"
