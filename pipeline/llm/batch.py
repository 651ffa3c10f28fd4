"""The Batch API: half the price, and answers within a day.

A job, the requests of one batch, is saved under `<cache>/batches/` before it is submitted, and
its key is in the batch's metadata. So after a kill, the next run finds the batch in the folder or
in the server's list, and submits nothing twice. Answers go into the same cache as online ones.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from openai.types import Batch

from pipeline.core import cli
from pipeline.llm import answers, outcomes
from pipeline.llm.answers import Found
from pipeline.llm.cache import Entry
from pipeline.llm.dispatcher import Session
from pipeline.llm.jobs import Job, Jobs
from pipeline.llm.outcomes import CallFailed, LLMError, Next
from pipeline.llm.request import Body, Request
from pipeline.llm.spending import BATCH_SHARE

T = TypeVar("T")

POLL = 30.0
"""Seconds between two polls of a batch."""

MAX_REQUESTS, MAX_BYTES = 50_000, 190_000_000  # the API's limits are 50,000 and 200 MB
_METADATA = "momentrank"
_LISTED = 1000  # the account's newest batches: ours is among them, or long gone
_FRUITLESS = 3  # batches in a row without an answer
_TRANSFER = 900.0  # seconds to transfer a file
_FINAL = {"completed", "expired", "cancelled", "failed"}


class Upload(NamedTuple):
    """The requests of one batch, and their file."""

    requests: list[Request]
    content: bytes


class Batches(Generic[Found]):
    """Gets answers into the cache through the Batch API."""

    def __init__(self, session: Session[Found], *, max_tokens: int, poll: float) -> None:
        """Keep at most `max_tokens` queued, and poll every `poll` seconds."""
        self._session, self._sdk = session, session.client.sdk
        self._cache, self._spent = session.cache, session.spent
        self._max_tokens, self._poll = max_tokens, poll
        self._jobs = Jobs(session.cache.folder / "batches", session.purpose)
        self._section = f"{session.purpose.section}.openai"
        self._skipped: set[str] = set()  # no batch will answer these
        self._stop: CallFailed | None = None

    async def fill(self, requests: Sequence[Request]) -> None:
        """Get the answer to every request into the cache, unless the server refuses it.

        What a batch leaves open (it expired, a line failed) is submitted again. Requests that
        batches keep leaving open, although others were answered, are left to be sent one by one.

        Raises:
            LLMError: a batch failed or was cancelled, or batches bring no answers, or none that
                can be used.
        """
        try:
            await self._finish_earlier({request.key for request in self._missing(requests)})
            fruitless = 0
            while missing := self._missing(requests):
                group = first_group(missing, self._max_tokens)
                await self._finish(group)
                self._session.breaker.check()  # before the next one is paid for
                fruitless = fruitless + 1 if len(self._missing(requests)) == len(missing) else 0
                if fruitless == _FRUITLESS:
                    self._skip(group)
                    fruitless = 0
        except CallFailed as failure:
            raise self._session.purpose.stop(failure) from failure

    def _skip(self, group: Sequence[Request]) -> None:
        reason = f"{_FRUITLESS} batches in a row brought no answer"
        if not self._spent.was_answered:
            raise LLMError(
                f"{reason}; check the provider's site, or set {self._section}.mode: online"
            )
        cli.log(f"{reason}: their {len(group)} requests are sent one by one, at full price")
        self._skipped |= {request.key for request in group}

    def _missing(self, requests: Sequence[Request]) -> list[Request]:
        left = (request for request in requests if request.key not in self._skipped)
        return [request for request in left if self._cache.get(request) is None]

    async def _finish_earlier(self, wanted: set[str]) -> None:
        """Wait for an earlier run's batches if they have anything that is wanted now."""
        for job in self._jobs.open_jobs():
            if wanted & job.requests.keys() and (
                batch_id := job.batch or await self._retry(partial(self._find, job))
            ):
                await self._bring(job, batch_id)

    async def _finish(self, requests: Sequence[Request]) -> None:
        """Submit requests, in as many batches as their size needs, and wait for all of them."""
        started = [await self._start(upload) async for upload in self._uploads(requests)]
        ends = await asyncio.gather(
            *(self._bring(job, batch) for job, batch in started), return_exceptions=True
        )
        for end in ends:
            if isinstance(end, BaseException):
                raise end

    async def _start(self, upload: Upload) -> tuple[Job, str]:
        """Return the job of some requests and its batch, submitted unless the server has it."""
        job = self._jobs.restore(Job.from_requests(upload.requests))
        job.is_open = True
        self._jobs.save(job)  # from here on a killed run knows what may have been submitted
        there = await self._retry(partial(self._find, job))
        job.batch = there or await self._submit(job, upload.content)
        self._jobs.save(job)
        return job, job.batch

    async def _uploads(self, requests: Sequence[Request]) -> AsyncIterator[Upload]:
        """Yield request files; requests whose pictures can't be read are left out."""
        lines, group, size = list[bytes](), list[Request](), 0
        for request in requests:
            try:
                line = request_line(request, await request.load())
            except CallFailed as failure:
                self._count_failure(request.key, failure)
                continue
            if group and (size + len(line) > MAX_BYTES or len(group) == MAX_REQUESTS):
                yield Upload(group, b"".join(lines))
                lines, group, size = [], [], 0
            lines.append(line)
            group.append(request)
            size += len(line)
        if group:
            yield Upload(group, b"".join(lines))

    async def _find(self, job: Job) -> str | None:
        """Return the id of this job's batch on the server that was not collected yet, if any."""
        left = _LISTED
        async for batch in self._sdk.batches.list(limit=100):
            if (batch.metadata or {}).get(_METADATA) == job.key and batch.id not in job.done:
                return batch.id
            if (left := left - 1) == 0:
                break
        return None

    async def _submit(self, job: Job, content: bytes) -> str:
        upload = partial(self._sdk.files.create, file=("requests.jsonl", content), purpose="batch")
        sent = await self._retry(upload, _TRANSFER)

        async def find_or_create() -> str:
            # A call that seems to have failed may have reached the server.
            if there := await self._find(job):
                return there
            batch = await self._sdk.batches.create(
                input_file_id=sent.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={_METADATA: job.key},
            )
            return batch.id

        return await self._retry(find_or_create)

    async def _bring(self, job: Job, batch_id: str) -> None:
        """Wait for a batch to end, keep its answers, and close the job.

        The job is closed whatever went wrong: left open, it would end every later run the same way.
        """
        try:
            batch = await self._wait(batch_id)
        except CallFailed as failure:
            if failure.outcome is not outcomes.NOT_FOUND:
                raise
            self._close(job, batch_id)  # deleted, or another account's
            return
        for file_id in (batch.output_file_id, batch.error_file_id):
            if file_id:
                await self._collect(job, file_id)
        self._close(job, batch_id)
        if self._stop:
            raise self._stop
        if batch.status in {"failed", "cancelled"}:
            raise LLMError(self._reason(batch))

    def _close(self, job: Job, batch_id: str) -> None:
        job.is_open, job.batch, job.done = False, None, [*job.done, batch_id]
        self._jobs.save(job)

    async def _wait(self, batch_id: str) -> Batch:
        status = ""
        while True:
            batch = await self._retry(lambda: self._sdk.batches.retrieve(batch_id))
            if batch.status != status:
                cli.log(f"batch {batch.id}: {batch.status}")
            status = batch.status
            if status in _FINAL:
                return batch
            await asyncio.sleep(self._poll)

    async def _collect(self, job: Job, file_id: str) -> None:
        """Keep the answers in one result file; they come in any order."""
        content = await self._download(file_id)
        for key, end in answers.read_results(content, self._session.recipe.watched):
            if (request := job.requests.get(key)) is None:
                continue  # not of this job
            if isinstance(end, CallFailed):
                self._count_failure(key, end)
            elif self._cache.put_new(
                request["recipe"], key, Entry(request["asked"], end, BATCH_SHARE)
            ):
                self._spent.requests += 1
                self._spent.pay(end, partial(int, request["tokens_in"]), BATCH_SHARE)
                reading = self._session.recipe.read(end, request["asked"])
                self._spent.count(reading.outcome)
                self._session.breaker.count_answer(end, reading)

    async def _download(self, file_id: str) -> bytes:
        """Return a result file, empty if it is gone: its requests are submitted again."""
        try:
            return (await self._retry(lambda: self._sdk.files.content(file_id), _TRANSFER)).content
        except CallFailed as failure:
            if failure.outcome is outcomes.NOT_FOUND:
                return b""
            raise

    def _count_failure(self, key: str, failure: CallFailed) -> None:
        self._spent.count_failure(failure.outcome)
        if failure.outcome.next is Next.STOP:
            self._stop = self._stop or failure  # the rest of the file may contain answers
        elif failure.outcome.next is not Next.WAIT:
            self._skipped.add(key)

    def _reason(self, batch: Batch) -> str:
        errors = (batch.errors.data or []) if batch.errors else []
        reason = "; ".join(f"{error.code}: {error.message}" for error in errors[:3])
        if any(error.code == "token_limit_exceeded" for error in errors):
            reason += (
                f" (lower {self._section}.batch_tokens, or wait until other batches have ended)"
            )
        kept = "its answers are kept; the next run submits the rest"
        return f"batch {batch.id} {batch.status}{': ' if reason else ''}{reason}; {kept}"

    async def _retry(self, operation: Callable[[], Awaitable[T]], timeout: float = 0) -> T:
        session = self._session
        return await session.policy.call(lambda: session.client.call(operation, timeout))


def request_line(request: Request, body: Body) -> bytes:
    """Return a line of the request file, with its line break."""
    line = {"custom_id": request.key, "method": "POST", "url": "/v1/chat/completions"}
    return json.dumps({**line, "body": body}).encode() + b"\n"


def first_group(requests: Sequence[Request], max_tokens: int) -> list[Request]:
    """Return as many of the first requests as may be queued, but at least one."""
    group: list[Request] = []
    tokens = 0
    for request in requests:
        tokens += request.most_in
        if group and tokens > max_tokens:
            break
        group.append(request)
    return group
