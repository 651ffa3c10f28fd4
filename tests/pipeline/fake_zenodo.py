"""A local server that behaves as Zenodo's REST API does."""

import hashlib
import json
import re
from urllib.parse import unquote

from fake_server import Answer, FakeServer, as_json

TOKEN = "z" * 40
LICENSES = {"cc-by-4.0", "cc0-1.0"}


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


class FakeZenodo(FakeServer):
    """Depositions with buckets; what is published can't change."""

    def __init__(self) -> None:
        self.records = {}
        super().__init__()

    def answer(self, method, path, query, body, headers) -> Answer:
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            return as_json({"message": "The server could not verify that you are authorized"}, 401)
        for pattern, act in ROUTES.items():
            if at := re.fullmatch(pattern, f"{method} {unquote(path)}"):
                return act(self, at, body)
        return as_json({"message": f"Zenodo has no {method} {path}"}, 404)

    def show(self, number, status=200) -> Answer:
        record = self.records[number]
        links = {
            "bucket": f"{self.url}/api/files/{number}",
            "html": f"{self.url}/records/{number}",
        }
        drafts = [
            n
            for n, candidate in self.records.items()
            if not candidate["submitted"] and candidate["of"] == number
        ]
        if drafts:
            links["latest_draft"] = f"{self.url}/api/deposit/depositions/{drafts[-1]}"
        fields = {"id": number, "submitted": record["submitted"], "metadata": record["metadata"]}
        doi = {"doi": f"10.5072/zenodo.{number}"} if record["submitted"] else {}
        return as_json({**fields, **doi, "links": links}, status)

    def make(self, of=None, files=None) -> int:
        number = 100 + len(self.records)
        self.records[number] = {
            "submitted": False, "metadata": {}, "files": dict(files or {}), "of": of,
        }  # fmt: skip
        return number

    def create(self, at, body) -> Answer:
        return self.show(self.make(), 201)

    def get(self, at, body) -> Answer:
        return self.show(int(at[1]))

    def describe(self, at, body) -> Answer:
        metadata = json.loads(body)["metadata"]
        needed = ("title", "upload_type", "description", "creators")
        missing = [name for name in needed if not metadata.get(name)]
        if missing or metadata.get("license") not in {None, *LICENSES}:
            return as_json({"message": "Validation error.", "errors": missing}, 400)
        self.records[int(at[1])]["metadata"] = metadata
        return self.show(int(at[1]))

    def list_files(self, at, body) -> Answer:
        record = self.records[int(at[1])]
        rows = [
            {"filename": name, "checksum": md5(data), "filesize": len(data)}
            for name, data in record["files"].items()
        ]
        return as_json(rows)

    def put(self, at, body) -> Answer:
        record = self.records[int(at[1])]
        if record["submitted"]:
            return as_json({"message": "Bucket is locked"}, 403)
        record["files"][at[2]] = body
        checksum = md5(body)
        return as_json({"key": at[2], "checksum": f"md5:{checksum}", "size": len(body)}, 201)

    def delete(self, at, body) -> Answer:
        del self.records[int(at[1])]["files"][at[2]]
        return Answer(204)

    def read(self, at, body) -> Answer:
        return Answer(200, self.records[int(at[1])]["files"][at[2]])

    def discard(self, at, body) -> Answer:
        if self.records[int(at[1])]["submitted"]:
            return as_json({"message": "Forbidden"}, 403)
        del self.records[int(at[1])]
        return Answer(204)

    def publish(self, at, body) -> Answer:
        record = self.records[int(at[1])]
        if record["submitted"] or not record["files"] or not record["metadata"]:
            return as_json({"message": "Validation error."}, 400)
        record["submitted"] = True
        return self.show(int(at[1]), 202)

    def _next_draft(self, number) -> int | None:
        drafts = (n for n, candidate in self.records.items() if not candidate["submitted"])
        return next((n for n in drafts if self.records[n]["of"] == number), None)

    def new_version(self, at, body) -> Answer:
        """Make a draft and import the files, which can't be done where one has files already."""
        number = int(at[1])
        draft = self._next_draft(number)
        if draft is not None and self.records[draft]["files"]:
            errors = [{"field": "files.enabled", "messages": ["Please remove all files first."]}]
            return as_json({"message": "A validation error occurred.", "errors": errors}, 400)
        if draft is None:
            draft = self.make(number)
        self.records[draft]["files"] = dict(self.records[number]["files"])
        return self.show(number, 201)

    def next_draft(self, at, body) -> Answer:
        """Return the draft of the next version: the one that is there, or a new one."""
        draft = self._next_draft(int(at[1]))
        return as_json({"id": str(self.make(int(at[1])) if draft is None else draft)}, 201)


OWN = "/api/deposit/depositions"
ROUTES = {
    rf"POST {OWN}": FakeZenodo.create,
    rf"GET {OWN}/(\d+)": FakeZenodo.get,
    rf"PUT {OWN}/(\d+)": FakeZenodo.describe,
    rf"DELETE {OWN}/(\d+)": FakeZenodo.discard,
    rf"GET {OWN}/(\d+)/files": FakeZenodo.list_files,
    rf"POST {OWN}/(\d+)/actions/publish": FakeZenodo.publish,
    rf"POST {OWN}/(\d+)/actions/newversion": FakeZenodo.new_version,
    r"POST /api/records/(\d+)/versions": FakeZenodo.next_draft,
    r"PUT /api/files/(\d+)/([^/]*)": FakeZenodo.put,
    r"DELETE /api/files/(\d+)/([^/]*)": FakeZenodo.delete,
    r"GET /api/files/(\d+)/([^/]*)": FakeZenodo.read,
}
