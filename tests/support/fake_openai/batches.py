"""Files and batches.

The script sets how each batch ends: `completed`; `partial` (every third line fails, the others are
in reverse order); `no-output` (every line fails, and there is no output file); `expired` (the
second half of the lines is not run); `nothing` (expired before the first line); `failed`;
`cancelled` (after the first half).
"""

import asyncio
import json
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from support.fake_openai.script import OK, Json, Reply, Script, Stats, error, of_json

Answer = Callable[[Json, str], Reply]
_STATUS = {"partial": "completed", "no-output": "completed", "nothing": "expired"}


class Batches:
    """The files and batches of one account."""

    def __init__(self, stats: Stats, answer: Answer) -> None:
        """Start without batches; `answer` answers their lines."""
        self._stats, self._answer = stats, answer
        self.script = Script()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Json] = {}
        self._looks: dict[str, int] = {}

    async def reply(self, method: str, path: str, content: bytes) -> Reply:
        """Answer a request under /files or /batches."""
        parts = urlsplit(path)
        match method, *parts.path.removeprefix("/v1/").split("/"):
            case "POST", "files":
                return of_json({"id": self._file(_parse_upload(content)), "object": "file"})
            case "GET", "files", file_id, "content" if file_id in self.files:
                return Reply(200, self.files[file_id])
            case "POST", "batches":
                batch = self._create(json.loads(content))
                await asyncio.sleep(self.script.create_delay)
                return of_json(batch)
            case "GET", "batches":
                return of_json(self._list(parse_qs(parts.query)))
            case "GET", "batches", batch_id if batch_id in self.batches:
                return of_json(self._poll(batch_id))
        return error(404, "not_found", f"No such thing: {method} {path}")

    def _file(self, content: bytes) -> str:
        file_id = f"file-{len(self.files)}"
        self.files[file_id] = content
        return file_id

    def _create(self, request: Json) -> Json:
        number = len(self.batches)
        batch = {
            "id": f"batch_{number}",
            "object": "batch",
            "endpoint": request["endpoint"],
            "completion_window": request["completion_window"],
            "input_file_id": request["input_file_id"],
            "metadata": request.get("metadata"),
            "created_at": int(time.time()),
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
        }
        self.batches[batch["id"]] = batch
        self._looks[batch["id"]] = 0
        return batch

    def _list(self, query: dict[str, list[str]]) -> Json:
        """Return a page of the batches, the newest first."""
        batches = list(self.batches.values())[::-1]
        ids = [batch["id"] for batch in batches]
        start = ids.index(query["after"][0]) + 1 if "after" in query else 0
        page = batches[start : start + 2]  # small pages, so that tests need several
        return {"object": "list", "data": page, "has_more": start + 2 < len(batches)}

    def _poll(self, batch_id: str) -> Json:
        batch = self.batches[batch_id]
        self._looks[batch_id] += 1
        if self._looks[batch_id] == self.script.polls:
            self._end(batch)
        elif self._looks[batch_id] < self.script.polls:
            batch["status"] = "in_progress"
        return batch

    def _end(self, batch: Json) -> None:
        number, ends = int(batch["id"].split("_")[1]), self.script.batches
        end = ends[number] if number < len(ends) else "completed"
        batch["status"] = _STATUS.get(end, end)
        if end == "failed":
            problem = {"code": "token_limit_exceeded", "message": "Too much", "line": None}
            batch["errors"] = {"object": "list", "data": [problem]}
            return
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        output, errors = self._run(lines, end)
        done = {"completed": len(output), "failed": len(errors)}
        batch["request_counts"] = {"total": len(lines), **done}
        batch["output_file_id"] = self._file(_lines(output)) if output else None
        batch["error_file_id"] = self._file(_lines(errors)) if errors else None

    def _run(self, lines: list[Json], end: str) -> tuple[list[Json], list[Json]]:
        output: list[Json] = []
        errors: list[Json] = []
        for number, line in enumerate(lines):
            late = number >= len(lines) // 2
            if end == "nothing" or (end in {"expired", "cancelled"} and late):
                errors.append(_expire(line["custom_id"]))
                continue
            fails = end == "no-output" or (end == "partial" and number % 3 == 0)
            result = self._result(line, "500" if fails else "")
            (errors if result["response"]["status_code"] != OK else output).append(result)
        return output[::-1], errors

    def _result(self, line: Json, fault: str) -> Json:
        reply = self._answer(line["body"], fault)
        self._stats.note(reply)
        if reply.status == OK:
            self._stats.batched[line["custom_id"]] += 1
        response = {"status_code": reply.status, "body": json.loads(reply.body)}
        return {"id": "r", "custom_id": line["custom_id"], "response": response, "error": None}


def _expire(custom_id: str) -> Json:
    problem = {"code": "batch_expired", "message": "This request could not be executed in time."}
    return {"id": "r", "custom_id": custom_id, "response": None, "error": problem}


def _lines(rows: list[Json]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _parse_upload(form: bytes) -> bytes:
    """Return the file in a multipart form."""
    boundary = form.split(b"\r\n", 1)[0]
    for part in form.split(boundary):
        head, _, content = part.partition(b"\r\n\r\n")
        if b"filename=" in head:
            return content.removesuffix(b"\r\n")
    return b""
