"""Zenodo as a place to publish: a record with a DOI for each version, through its REST API.

A draft is filled and checked before it is published, as a record can't be changed afterwards. The
token comes from ZENODO_TOKEN, another address (the sandbox) from ZENODO_URL.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pipeline.core import files as documents
from pipeline.core import tables
from pipeline.distribution.versions import Target as Kind
from pipeline.publication import web
from pipeline.publication.package import LocalFile, PublishError
from pipeline.publication.target import Address, PassingError

ADDRESS = "https://zenodo.org"
DRAFT = tables.WORK / "zenodo_draft.json"
"""The draft that an interrupted run has begun, and its version."""
FOLDERS = tables.WORK / "folders.zip"
"""What is uploaded instead of folders (`pack_folders`): a name on Zenodo has no slash."""


def choose_server() -> str:
    """Return the address of Zenodo, or ZENODO_URL."""
    return (os.environ.get("ZENODO_URL", "").strip() or ADDRESS).rstrip("/")


class Zenodo:
    """A record for one version; `before` is the record of an earlier version."""

    kind: Kind = "zenodo"

    def __init__(self, metadata: Mapping[str, Any], before: str | None) -> None:
        """Set the DOI's metadata (`doi_metadata`).

        Raises:
            PublishError: the token is missing.
        """
        token = os.environ.get("ZENODO_TOKEN", "").strip()
        if not token:
            raise PublishError(
                "ZENODO_TOKEN: not set; create a token with the scopes deposit:write and"
                " deposit:actions in your Zenodo account, and export it as ZENODO_TOKEN"
            )
        self.metadata, self.before, self.place = metadata, before, choose_server()
        self.api = f"{self.place}/api/deposit/depositions"
        self.client = web.open_client({"Authorization": f"Bearer {token}"})
        self.deposit: dict[str, Any] = {}

    def open(self) -> bool:
        """Find this version's draft, or create one; return whether it is published already."""
        number = self._find_draft() or self._find_published()
        if number is None:
            number = self._new_version() if self.before else self._create()
            documents.write_json(DRAFT, {**self._identity, "id": number})
        what = f"reading record {number} (if you deleted that draft, delete {DRAFT} too)"
        self.deposit = self._ask("GET", f"{self.api}/{number}", what)
        if not self.deposit["submitted"]:
            what = "describing the draft"
            self.deposit = self._ask(
                "PUT", f"{self.api}/{number}", what, json={"metadata": dict(self.metadata)}
            )
        return bool(self.deposit["submitted"])

    def list_files(self) -> Mapping[str, str]:
        """Return the MD5 of each file, which is the hash that Zenodo reports."""
        number = self.deposit["id"]
        listed = self._ask("GET", f"{self.api}/{number}/files", "listing the files")
        return {file["filename"]: f"md5:{file['checksum'].removeprefix('md5:')}" for file in listed}

    def put(self, files: Sequence[LocalFile], obsolete: Sequence[str]) -> None:
        """Upload each file, and compare it with the hash that Zenodo returns."""
        for path in obsolete:
            self._ask("DELETE", self._url(path), f"removing {path}")
        for local in files:
            what = f"uploading {local.path}"
            with local.source.open("rb") as stream:
                answer = self._ask("PUT", self._url(local.path), what, content=stream)
            if answer["checksum"] not in local.fingerprints:
                raise PassingError(f"{self.place}: {what}: it arrived as {answer['checksum']}")

    def read(self, path: str) -> Iterator[bytes]:
        """Yield a file of the draft, or of the record."""
        return web.stream(self.client, self._url(path), f"{self.place}: reading {path}")

    def finish(self) -> Address:
        """Publish the draft: from now on its DOI leads to it, and it can't change."""
        number = self.deposit["id"]
        url = f"{self.api}/{number}"
        self.deposit = self._ask("GET", url, f"reading record {number}")
        if not self.deposit["submitted"]:
            self.deposit = self._ask("POST", f"{url}/actions/publish", "publishing")
        DRAFT.unlink(missing_ok=True)
        return Address(self.deposit["links"]["html"], str(number), self.deposit["doi"])

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    @property
    def _identity(self) -> dict[str, str]:
        """The place and version that a draft must have to be continued."""
        return {"place": self.place, "version": self.metadata["version"]}

    def _find_draft(self) -> str | None:
        begun = documents.read_json(DRAFT) if DRAFT.is_file() else {}
        return str(begun["id"]) if self._identity.items() <= begun.items() else None

    def _find_published(self) -> str | None:
        """Return the earlier record, if it is for this very version."""
        if not self.before:
            return None
        url = f"{self.api}/{self.before}"
        record = self._ask("GET", url, f"reading record {self.before}")
        same = record["metadata"].get("version") == self.metadata["version"]
        return self.before if same else None

    def _create(self) -> str:
        return str(self._ask("POST", self.api, "making a draft", json={})["id"])

    def _new_version(self) -> str:
        """Return the draft of the next version, with the files of this one.

        There can be only one. If it exists and has files, Zenodo refuses to import them, but
        returns the draft when only the next version is requested.
        """
        what = f"making a new version of {self.before}"
        url = f"{self.api}/{self.before}/actions/newversion"
        try:
            record = self._ask("POST", url, what)
        except PassingError:
            raise
        except PublishError:
            url = f"{self.place}/api/records/{self.before}/versions"
            return str(self._ask("POST", url, what)["id"])
        return str(record["links"]["latest_draft"].rstrip("/").rpartition("/")[2])

    def _url(self, path: str) -> str:
        return f"{self.deposit['links']['bucket']}/{quote(path)}"

    def _ask(self, method: str, url: str, what: str, **options: Any) -> Any:  # noqa: ANN401  (JSON)
        return web.ask(self.client, method, url, f"{self.place}: {what}", **options)


def doi_metadata(manifest: Mapping[str, Any], description: str) -> dict[str, Any]:
    """Return a collection's DOI metadata in Zenodo's terms; `description` is HTML.

    Raises:
        PublishError: `release.creators` is missing.
    """
    release = manifest["params"]["release"]
    if not release["creators"]:
        raise PublishError("params.yaml: release.creators: missing; a DOI names the creators")
    terms = {"license": release["license"]} if release["license"] else {}
    related = {"relation": "isDescribedBy", "identifier": release["url"]}
    return {
        "title": manifest["name"],
        "version": manifest["version"],
        "upload_type": "dataset",
        "description": description,
        "creators": [{"name": name} for name in release["creators"]],
        "access_right": "open",
        **terms,
        **({"publication_date": manifest["date"]} if manifest["date"] else {}),
        "keywords": ["video moment retrieval", "information retrieval", "test collection"],
        **({"related_identifiers": [related]} if release["url"] else {}),
        **({"references": [release["citation"]]} if release["citation"] else {}),
    }
