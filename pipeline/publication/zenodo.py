"""Zenodo as a place to publish: a record with a DOI for each version, through its REST API.

A draft is filled and checked before it is published, as a record can't be changed afterwards. The
token comes from ZENODO_TOKEN, another address (the sandbox) from ZENODO_URL.
"""

import hashlib
import html
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx

from pipeline.core import files as documents
from pipeline.core import tables
from pipeline.core.progress import progress
from pipeline.publication.package import Package, PublishError, pack_folders
from pipeline.publication.target import (
    Address,
    PassingError,
    refuse_difference,
    repeat,
    status_error,
)

DEPOSITIONS = "/api/deposit/depositions"
GONE = {404, 410}
DRAFT = tables.WORK / "zenodo_draft.json"
"""The draft that an interrupted run has begun, and its version."""
FOLDERS = tables.WORK / "folders.zip"
"""What is uploaded instead of folders (`pack_folders`): a name on Zenodo has no slash."""


def choose_server() -> str:
    """Return the address of Zenodo, or ZENODO_URL.

    Raises:
        PublishError: ZENODO_URL is not a web address.
    """
    url = os.environ.get("ZENODO_URL", "").strip() or "https://zenodo.org"
    if not url.startswith(("https://", "http://")):
        raise PublishError(f"ZENODO_URL: {url}: must begin with https://")
    return url.rstrip("/")


@repeat
def publish_to_zenodo(package: Package, metadata: Mapping[str, Any], before: str | None) -> Address:
    """Publish a package with its DOI's metadata; `before` is the record of an earlier version.

    Raises:
        PublishError: the version is published with other files, a file reads back differently, or
            Zenodo refuses or fails too often.
    """
    with connect() as client:
        deposit = open_deposit(client, metadata, before)
        fill_deposit(client, deposit, pack_folders(package, FOLDERS))
        number = str(deposit["id"])
        if not deposit["submitted"]:
            deposit = client.post(f"{DEPOSITIONS}/{number}/actions/publish").json()
    DRAFT.unlink(missing_ok=True)
    return Address(choose_server(), deposit["links"]["html"], number, deposit["doi"])


@contextmanager
def connect() -> Iterator[httpx.Client]:
    """Yield a client of Zenodo, whose failures are `PublishError`s that name the request.

    Raises:
        PublishError: the token is missing, or a request failed.
        PassingError: a request failed, and may succeed later.
    """
    if not (token := os.environ.get("ZENODO_TOKEN", "").strip()):
        raise PublishError(
            "ZENODO_TOKEN: not set; create a token with the scopes deposit:write and"
            " deposit:actions in your Zenodo account, and export it as ZENODO_TOKEN"
        )
    try:
        with httpx.Client(
            base_url=choose_server(),
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(60.0, read=300.0),
            event_hooks={"response": [_raise_error]},
        ) as client:
            yield client
    except httpx.RequestError as exc:
        what = f"{exc.request.method} {exc.request.url}"
        raise PassingError(f"{what}: {str(exc).lower() or type(exc).__name__}") from exc
    except json.JSONDecodeError as exc:
        raise PublishError(f"{choose_server()}: the answer is not JSON; is this Zenodo?") from exc


def _raise_error(response: httpx.Response) -> None:
    if response.is_error:
        response.read()
        what = f"{response.request.method} {response.request.url}"
        if response.status_code in GONE and DRAFT.is_file():
            what += f" (if you deleted the draft, delete {DRAFT} too)"
        raise status_error(what, response.status_code, response.text)


def open_deposit(
    client: httpx.Client, metadata: Mapping[str, Any], before: str | None
) -> dict[str, Any]:
    """Return the deposit of this version: the record if it is published, else a draft."""
    identity = {"place": choose_server(), "version": metadata["version"]}
    begun = documents.read_json(DRAFT) if DRAFT.is_file() else {}
    number = begun["id"] if identity.items() <= begun.items() else None
    if number is None and before:
        record = client.get(f"{DEPOSITIONS}/{before}").json()
        same = record["metadata"].get("version") == metadata["version"]
        number = before if same else _begin_next(client, before)
    if number is None:
        number = client.post(DEPOSITIONS, json={}).json()["id"]
    documents.write_json(DRAFT, {**identity, "id": number})
    url = f"{DEPOSITIONS}/{number}"
    deposit: dict[str, Any] = client.get(url).json()
    if not deposit["submitted"]:
        deposit = client.put(url, json={"metadata": dict(metadata)}).json()
    return deposit


def fill_deposit(client: httpx.Client, deposit: Mapping[str, Any], package: Package) -> None:
    """Upload what is missing or differs, remove the rest, and read all of it back."""
    bucket = deposit["links"]["bucket"]

    def list_files() -> dict[str, str]:
        listed = client.get(f"{DEPOSITIONS}/{deposit['id']}/files").json()
        return {file["filename"]: file["checksum"].removeprefix("md5:") for file in listed}

    if not deposit["submitted"]:
        stored = list_files()
        for path in stored.keys() - {file.path for file in package.files}:
            client.delete(f"{bucket}/{quote(path)}")
        missing = [file for file in package.files if stored.get(file.path) != file.hash_md5()]
        for file in progress("upload", missing, unit="files"):
            with file.source.open("rb") as stream:
                client.put(f"{bucket}/{quote(file.path)}", content=stream)
    found = {path: _read_back(client, f"{bucket}/{quote(path)}") for path in list_files()}
    refuse_difference(package, found, choose_server(), published=deposit["submitted"])


def _read_back(client: httpx.Client, url: str) -> str:
    digest = hashlib.sha256()
    with client.stream("GET", url, follow_redirects=True) as response:
        for chunk in response.iter_bytes():
            digest.update(chunk)
    return digest.hexdigest()


def _begin_next(client: httpx.Client, before: str) -> str:
    """Return the draft of the next version, with the files of the one before.

    There can be only one. If it exists and has files, Zenodo refuses to import them, but returns
    the draft when only the next version is requested.
    """
    try:
        record = client.post(f"{DEPOSITIONS}/{before}/actions/newversion").json()
    except PassingError:
        raise
    except PublishError:
        return str(client.post(f"/api/records/{before}/versions").json()["id"])
    return str(record["links"]["latest_draft"].rstrip("/").rpartition("/")[2])


def describe_for_doi(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the DOI's metadata in Zenodo's terms: the manifest's facts, and who made it.

    Raises:
        PublishError: `release.creators` is missing.
    """
    release = manifest["params"]["release"]
    if not release["creators"]:
        raise PublishError("params.yaml: release.creators: missing; a DOI names the creators")
    warnings = "".join(f"<p><b>{html.escape(text)}</b></p>" for text in manifest["warnings"])
    facts = "".join(
        f"<li><b>{html.escape(topic)}.</b> {html.escape(text)}</li>"
        for topic, text in manifest["made"].items()
    )
    about = "A test collection for ranked video moment retrieval, with graded relevance."
    related = [{"relation": "isDescribedBy", "identifier": release["url"]}]
    optional = {
        "license": release["license"],
        "publication_date": manifest["date"],
        "related_identifiers": related if release["url"] else None,
        "references": [release["citation"]] if release["citation"] else None,
    }
    return {
        "title": manifest["name"],
        "version": manifest["version"],
        "upload_type": "dataset",
        "description": f"{warnings}<p>{about}</p><ul>{facts}</ul>",
        "creators": [{"name": name} for name in release["creators"]],
        "access_right": "open",
        "keywords": ["video moment retrieval", "information retrieval", "test collection"],
        **{name: value for name, value in optional.items() if value},
    }
