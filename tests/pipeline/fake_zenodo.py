"""A local server that behaves as Zenodo's REST API does."""

import hashlib
from typing import ClassVar

from fake_server import FakeServer, as_json
from werkzeug import Response

TOKEN = "z" * 40
LICENSES = {"cc-by-4.0", "cc0-1.0"}


class FakeZenodo(FakeServer):
    """Depositions with buckets; what is published can't change."""

    def __init__(self) -> None:
        self.records = {}
        super().__init__()

    def refuse(self, line, request):
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return as_json({"message": "The server could not verify that you are authorized"}, 401)
        return None

    def show(self, number, status=200):
        record = self.records[number]
        bucket, page = f"{self.url}/api/files/{number}", f"{self.url}/records/{number}"
        links = {"bucket": bucket, "html": page}
        if draft := self._next_draft(number):
            links["latest_draft"] = f"{self.url}/api/deposit/depositions/{draft}"
        fields = {"id": number, "submitted": record["submitted"], "metadata": record["metadata"]}
        doi = {"doi": f"10.5072/zenodo.{number}"} if record["submitted"] else {}
        return as_json({**fields, **doi, "links": links}, status)

    def make(self, of=None) -> int:
        number = 100 + len(self.records)
        self.records[number] = {"submitted": False, "metadata": {}, "files": {}, "of": of}
        return number

    def create(self, at, request):
        return self.show(self.make(), 201)

    def get(self, at, request):
        return self.show(int(at[1])) if int(at[1]) in self.records else Response("gone", 410)

    def describe(self, at, request):
        metadata = request.json["metadata"]
        needed = ("title", "upload_type", "description", "creators")
        missing = [name for name in needed if not metadata.get(name)]
        if missing or metadata.get("license") not in {None, *LICENSES}:
            return as_json({"message": "Validation error.", "errors": missing}, 400)
        self.records[int(at[1])]["metadata"] = metadata
        return self.show(int(at[1]))

    def list_files(self, at, request):
        stored = self.records[int(at[1])]["files"]
        return as_json([{"filename": name, "checksum": md5(stored[name])} for name in stored])

    def put(self, at, request):
        record = self.records[int(at[1])]
        if record["submitted"]:
            return as_json({"message": "Bucket is locked"}, 403)
        record["files"][at[2]] = request.data
        return as_json({"key": at[2], "checksum": f"md5:{md5(request.data)}"}, 201)

    def delete(self, at, request):
        del self.records[int(at[1])]["files"][at[2]]
        return Response(status=204)

    def read(self, at, request):
        return Response(self.records[int(at[1])]["files"][at[2]])

    def discard(self, at, request):
        if self.records[int(at[1])]["submitted"]:
            return as_json({"message": "Forbidden"}, 403)
        del self.records[int(at[1])]
        return Response(status=204)

    def publish(self, at, request):
        record = self.records[int(at[1])]
        if record["submitted"] or not record["files"] or not record["metadata"]:
            return as_json({"message": "Validation error."}, 400)
        record["submitted"] = True
        return self.show(int(at[1]), 202)

    def _next_draft(self, number) -> int | None:
        drafts = (n for n, candidate in self.records.items() if not candidate["submitted"])
        return next((n for n in drafts if self.records[n]["of"] == number), None)

    def new_version(self, at, request):
        """Make a draft and import the files, which can't be done where one has files already."""
        number = int(at[1])
        draft = self._next_draft(number) or self.make(number)
        if self.records[draft]["files"]:
            errors = [{"field": "files.enabled", "messages": ["Please remove all files first."]}]
            return as_json({"message": "A validation error occurred.", "errors": errors}, 400)
        self.records[draft]["files"] = dict(self.records[number]["files"])
        return self.show(number, 201)

    def next_draft(self, at, request):
        """Return the draft of the next version: the one that is there, or a new one."""
        number = int(at[1])
        return as_json({"id": str(self._next_draft(number) or self.make(number))}, 201)

    own = "/api/deposit/depositions"
    routes: ClassVar = {
        rf"POST {own}": create,
        rf"GET {own}/(\d+)": get,
        rf"PUT {own}/(\d+)": describe,
        rf"DELETE {own}/(\d+)": discard,
        rf"GET {own}/(\d+)/files": list_files,
        rf"POST {own}/(\d+)/actions/publish": publish,
        rf"POST {own}/(\d+)/actions/newversion": new_version,
        r"POST /api/records/(\d+)/versions": next_draft,
        r"PUT /api/files/(\d+)/([^/]*)": put,
        r"DELETE /api/files/(\d+)/([^/]*)": delete,
        r"GET /api/files/(\d+)/([^/]*)": read,
    }


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
