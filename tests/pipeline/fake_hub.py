"""A local server that behaves as the Hugging Face hub does towards its own library."""

import base64
import hashlib
import json
from typing import ClassVar

from fake_server import FakeServer, as_json
from werkzeug import Response

TOKEN = "hf_" + "a" * 34


def git_sha(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class FakeHub(FakeServer):
    """A repository with commits, tags, and Parquet files stored by their SHA-256."""

    def __init__(self) -> None:
        self.commits, self.tags, self.objects, self.branch = {}, {}, {}, None
        self.card_problem, self.ignored, self.stored = None, set(), []
        super().__init__()

    @property
    def files(self):
        """The newest files, but for the hub's own."""
        entries = {p: e for p, e in self.commits[self.branch].items() if p != ".gitattributes"}
        return {path: self.content(entry) for path, entry in entries.items()}

    def content(self, entry) -> bytes:
        return self.objects[entry[1]] if entry[0] == "lfs" else entry[1]

    def commit(self, files) -> str:
        name = git_sha(repr((len(self.commits), sorted(files))).encode())
        self.commits[name], self.branch = dict(files), name
        return name

    def revision(self, name) -> str:
        return self.branch if name in {None, "main"} else self.tags.get(name, name)

    def refuse(self, line, request):
        if request.path.startswith(("/lfs/", "/cdn/")):
            return None
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return as_json({"error": "Invalid credentials"}, 401)
        return None

    def store(self, at, request):
        if hashlib.sha256(request.data).hexdigest() != at[1]:
            return Response("BadDigest", 400)
        self.objects[at[1]] = request.data
        self.stored.append(at[1])
        return Response()

    def fetch(self, at, request):
        return Response(self.objects[at[1]])

    def create(self, at, request):
        payload = {"url": f"{self.url}/datasets/ann/kitchen"}
        if self.branch:
            return as_json({**payload, "error": "You already created this dataset repo"}, 409)
        self.commit({".gitattributes": ("regular", b"*.parquet filter=lfs\n")})
        return as_json(payload)

    def whoami(self, at, request):
        return as_json({"name": "ann", "type": "user"})

    def remove(self, at, request):
        self.commits, self.tags, self.branch = {}, {}, None
        return Response()

    def info(self, at, request):
        if (sha := self.revision(at[1])) not in self.commits:
            error = {"X-Error-Code": "RevisionNotFound"}
            return as_json({"error": f"Invalid rev id: {at[1]}"}, 404, **error)
        names = [{"rfilename": path} for path in sorted(self.commits[sha])]
        own = {"id": "ann/kitchen", "sha": sha, "private": False, "tags": [], "siblings": names}
        return as_json({**own, "disabled": False, "downloads": 0, "likes": 0})

    def validate(self, at, request):
        if self.card_problem:
            return as_json({"errors": [{"message": self.card_problem}]}, 400)
        return as_json({"errors": [], "warnings": []})

    def preupload(self, at, request):
        def row(path):
            mode = "lfs" if path.endswith(".parquet") else "regular"
            there = self.commits[self.branch].get(path)
            oid = there and (there[1] if there[0] == "lfs" else git_sha(there[1]))
            ignored = path in self.ignored
            return {"path": path, "uploadMode": mode, "shouldIgnore": ignored, "oid": oid}

        return as_json({"files": [row(file["path"]) for file in request.json["files"]]})

    def batch(self, at, request):
        def row(entry):
            href = {"upload": {"href": f"{self.url}/lfs/{entry['oid']}"}}
            return entry if entry["oid"] in self.objects else {**entry, "actions": href}

        objects = request.get_json(force=True)["objects"]
        return as_json({"transfer": "basic", "objects": [row(entry) for entry in objects]})

    def commit_files(self, at, request):
        files = dict(self.commits[self.branch])
        for line in map(json.loads, request.data.splitlines()):
            value = line["value"]
            if line["key"] == "header" and value.get("parentCommit") not in {None, self.branch}:
                return as_json({"error": "A commit has happened since"}, 412)
            if line["key"] == "file":
                files[value["path"]] = ("regular", base64.b64decode(value["content"]))
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.objects:
                    return as_json({"error": "the object was not uploaded"}, 400)
                files[value["path"]] = ("lfs", value["oid"])
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        name = self.commit(files)
        return as_json(
            {"commitUrl": f"{self.url}/datasets/ann/kitchen/commit/{name}", "commitOid": name}
        )

    def tag(self, at, request):
        if request.json["tag"] in self.tags:
            return as_json({"error": "Tag already exists"}, 409)
        self.tags[request.json["tag"]] = self.revision(at[1])
        return as_json({})

    def resolve(self, at, request):
        entry = self.commits[self.revision(at[1])].get(at[2])
        if entry is None:
            return as_json({"error": "Entry not found"}, 404)
        headers = {"X-Repo-Commit": self.revision(at[1])}
        if entry[0] == "lfs":
            headers |= {"X-Linked-Etag": f'"{entry[1]}"', "X-Linked-Size": len(self.content(entry))}
            location = f"{self.url}/cdn/{entry[1]}"
            return Response(b"", 302, {**headers, "Location": location})
        return Response(entry[1], headers={**headers, "ETag": f'"{git_sha(entry[1])}"'})

    own = r"/datasets/ann/(?:kitchen|momentrank-trial-\w+)"
    routes: ClassVar = {
        r"PUT /lfs/(.*)": store,
        r"(?:GET|HEAD) /cdn/(.*)": fetch,
        r"GET /api/whoami-v2": whoami,
        r"POST /api/repos/create": create,
        r"DELETE /api/repos/delete": remove,
        r"POST /api/validate-yaml": validate,
        rf"POST /api{own}/preupload/main": preupload,
        rf"POST {own}\.git/info/lfs/objects/batch": batch,
        rf"POST /api{own}/commit/main": commit_files,
        rf"POST /api{own}/tag/([^/]+)": tag,
        rf"GET /api{own}(?:/revision/([^/]+))?": info,
        rf"(?:GET|HEAD) {own}/resolve/([^/]+)/(.*)": resolve,
    }
