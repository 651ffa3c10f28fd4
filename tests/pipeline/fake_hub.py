"""A local server that behaves as the Hugging Face hub does towards its own library."""

import base64
import hashlib
import json
import re
from urllib.parse import unquote

from fake_server import Answer, FakeServer, as_json

TOKEN = "hf_" + "a" * 34
PAGE = 10


def git_sha(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class FakeHub(FakeServer):
    """Repositories with commits, tags, and objects stored by their SHA-256."""

    def __init__(self) -> None:
        self.commits, self.tags, self.objects, self.branch = {}, {}, {}, None
        self.card_problem, self.ignored, self.stored = None, set(), []
        super().__init__()

    @property
    def files(self):
        return {path: self.content(entry) for path, entry in self.commits[self.branch].items()}

    def content(self, entry) -> bytes:
        return self.objects[entry[1]] if entry[0] == "lfs" else entry[1]

    def commit(self, files) -> str:
        name = git_sha(repr((len(self.commits), sorted(files))).encode())
        self.commits[name], self.branch = dict(files), name
        return name

    def answer(self, method, path, query, body, headers) -> Answer:
        if path.startswith("/lfs/"):
            return self.store(path.rpartition("/")[2], body)
        if path.startswith("/cdn/"):
            return Answer(200, self.objects[path.rpartition("/")[2]])
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            return as_json({"error": "Invalid credentials"}, 401)
        for pattern, act in ROUTES.items():
            if at := re.fullmatch(pattern, f"{method} {unquote(path)}"):
                return act(self, at, query, parse_body(body))
        raise AssertionError(f"the hub has no {method} {path}")

    def store(self, oid, body) -> Answer:
        if hashlib.sha256(body).hexdigest() != oid:
            return Answer(400, b"BadDigest")
        self.objects[oid] = body
        self.stored.append(oid)
        return Answer(200)

    def create(self, at, query, body) -> Answer:
        payload = {"url": f"{self.url}/datasets/ann/kitchen"}
        if self.branch:
            return as_json({**payload, "error": "You already created this dataset repo"}, 409)
        self.commit({".gitattributes": ("regular", b"*.parquet filter=lfs\n")})
        return as_json(payload)

    def whoami(self, at, query, body) -> Answer:
        return as_json({"name": "ann", "type": "user"})

    def remove(self, at, query, body) -> Answer:
        self.commits, self.tags, self.branch = {}, {}, None
        return Answer(200)

    def refs(self, at, query, body) -> Answer:
        def refs(kind, named):
            listed = named.items()
            return [{"name": n, "ref": f"refs/{kind}/{n}", "targetCommit": c} for n, c in listed]

        heads, tags = refs("heads", {"main": self.branch}), refs("tags", self.tags)
        return as_json({"branches": heads, "tags": tags, "converts": []})

    def revision(self, name) -> str:
        return self.branch if name == "main" else self.tags.get(name, name)

    def info(self, at, query, body) -> Answer:
        sha = self.revision(at[1] or "main")
        if sha not in self.commits:
            error = {"X-Error-Code": "RevisionNotFound"}
            return as_json({"error": f"Invalid rev id: {at[1]}"}, 404, **error)
        names = [{"rfilename": path} for path in sorted(self.commits[sha])]
        own = {"id": "ann/kitchen", "sha": sha, "private": False, "tags": [], "siblings": names}
        return as_json({**own, "disabled": False, "downloads": 0, "likes": 0})

    def tree(self, at, query, body) -> Answer:
        entries = sorted(self.commits[self.revision(at[1])].items())
        start = int(next(iter(re.findall(r"cursor=(\d+)", query)), 0))
        listed = [self._entry(path, entry) for path, entry in entries[start : start + PAGE]]
        following = f"<{self.url}{at[0].split()[1]}?recursive=True&cursor={start + PAGE}>"
        more = {"Link": f'{following}; rel="next"'} if start + PAGE < len(entries) else {}
        return as_json(listed, **more)

    def _entry(self, path, entry):
        kind, value = entry
        data = self.content(entry)
        row = {"type": "file", "path": path, "size": len(data), "oid": git_sha(data)}
        lfs = {"oid": value, "size": len(data), "pointerSize": 134}
        return {**row, "oid": git_sha(b"pointer"), "lfs": lfs} if kind == "lfs" else row

    def validate(self, at, query, body) -> Answer:
        if self.card_problem:
            return as_json({"errors": [{"message": self.card_problem}]}, 400)
        return as_json({"errors": [], "warnings": []})

    def preupload(self, at, query, body) -> Answer:
        def row(path):
            mode = "lfs" if path.endswith(".parquet") else "regular"
            return {"path": path, "uploadMode": mode, "shouldIgnore": path in self.ignored}

        return as_json({"files": [row(file["path"]) for file in body["files"]]})

    def batch(self, at, query, body) -> Answer:
        def row(entry):
            href = {"upload": {"href": f"{self.url}/lfs/{entry['oid']}"}}
            return entry if entry["oid"] in self.objects else {**entry, "actions": href}

        return as_json({"transfer": "basic", "objects": [row(entry) for entry in body["objects"]]})

    def commit_files(self, at, query, body) -> Answer:
        files = dict(self.commits[self.branch])
        for line in body:
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

    def tag(self, at, query, body) -> Answer:
        if body["tag"] in self.tags:
            return as_json({"error": "Tag already exists"}, 409)
        self.tags[body["tag"]] = self.revision(at[1])
        return as_json({})

    def resolve(self, at, query, body) -> Answer:
        entry = self.commits[self.revision(at[1])].get(at[2])
        if entry is None:
            return as_json({"error": "Entry not found"}, 404)
        headers = {"X-Repo-Commit": self.revision(at[1])}
        if entry[0] == "lfs":
            headers |= {"X-Linked-Etag": f'"{entry[1]}"', "X-Linked-Size": len(self.content(entry))}
            return Answer(302, b"", {**headers, "Location": f"{self.url}/cdn/{entry[1]}"})
        return Answer(200, entry[1], {**headers, "ETag": f'"{git_sha(entry[1])}"'})


def parse_body(body):
    """Return a body as JSON; a commit's is a line for each part."""
    if body.count(b"\n") and body.lstrip().startswith(b'{"key"'):
        return [json.loads(line) for line in body.splitlines()]
    return json.loads(body) if body else None


OWN = r"/datasets/ann/(?:kitchen|momentrank-trial-\w+)"
ROUTES = {
    r"GET /api/whoami-v2": FakeHub.whoami,
    r"POST /api/repos/create": FakeHub.create,
    r"DELETE /api/repos/delete": FakeHub.remove,
    r"POST /api/validate-yaml": FakeHub.validate,
    rf"GET /api{OWN}/refs": FakeHub.refs,
    rf"GET /api{OWN}/tree/([^/]+)": FakeHub.tree,
    rf"POST /api{OWN}/preupload/([^/]+)": FakeHub.preupload,
    rf"POST {OWN}\.git/info/lfs/objects/batch": FakeHub.batch,
    rf"POST /api{OWN}/commit/([^/]+)": FakeHub.commit_files,
    rf"POST /api{OWN}/tag/([^/]+)": FakeHub.tag,
    rf"GET /api{OWN}(?:/revision/([^/]+))?": FakeHub.info,
    rf"(?:GET|HEAD) {OWN}/resolve/([^/]+)/(.*)": FakeHub.resolve,
}
