"""The Hugging Face hub as a place to publish: a dataset repository with a tag for each version.

All files of a version are one commit, so readers never see half of it. The library uploads only
what the hub lacks. The address is its own, or HF_ENDPOINT; the token comes from HF_TOKEN or
`hf auth login`.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import requests
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import HFValidationError, RevisionNotFoundError

from pipeline.core import tables
from pipeline.publication.package import Package, PublishError, hash_folder
from pipeline.publication.target import (
    Address,
    PassingError,
    refuse_difference,
    repeat,
    status_error,
)

DATASET = "dataset"
HUBS_OWN = ".gitattributes"
"""The file that the hub itself puts into a repository."""


@repeat
def publish_to_hub(package: Package, repository: str, *, private: bool = False) -> Address:
    """Commit a package to `owner/name`, read it back, and tag the commit `vVERSION`.

    The repository is created if necessary; `private` applies only then.

    Raises:
        PublishError: the version is published with other files, a file reads back differently, or
            the hub refuses or fails too often.
    """
    api, tag = HfApi(), f"v{package.manifest['version']}"
    with _explain(repository):
        api.create_repo(repository, repo_type=DATASET, private=private, exist_ok=True)
        tagged = None
        with suppress(RevisionNotFoundError):
            tagged = api.dataset_info(repository, revision=tag).sha
        revision = tagged or _commit(api, repository, package, f"Release {tag}")
        found = _read_back(api, repository, revision)
        refuse_difference(package, found, repository, published=tagged is not None)
        api.create_tag(repository, tag=tag, revision=revision, repo_type=DATASET, exist_ok=True)
    return Address(repository, f"{api.endpoint}/datasets/{repository}/tree/{tag}", revision)


def _commit(api: HfApi, repository: str, package: Package, message: str) -> str:
    """Commit what differs and remove all other files, unless somebody else commits meanwhile."""
    newest = api.dataset_info(repository)
    kept = {HUBS_OWN, *(file.path for file in package.files)}
    there = {file.rfilename for file in newest.siblings or []}
    commit = api.create_commit(
        repository,
        [
            *(CommitOperationAdd(file.path, file.source) for file in package.files),
            *(CommitOperationDelete(path) for path in sorted(there - kept)),
        ],
        commit_message=message,
        repo_type=DATASET,
        parent_commit=newest.sha,
    )
    return commit.oid


def _read_back(api: HfApi, repository: str, revision: str) -> dict[str, str]:
    """Download the files, as a reader does; return the SHA-256 of each."""
    tables.WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=tables.WORK) as folder:
        api.snapshot_download(repository, repo_type=DATASET, revision=revision, local_dir=folder)
        found = hash_folder(Path(folder))
    return {
        path: sha256
        for path, sha256 in found.items()
        if path != HUBS_OWN and not path.startswith(".cache/")  # what the library writes
    }


@contextmanager
def _explain(repository: str) -> Iterator[None]:
    """Turn the library's exceptions into errors that show whether a failure may be temporary."""
    try:
        yield
    except HFValidationError as exc:
        raise PublishError(f"{repository}: must be owner/name ({exc})") from exc
    except (OSError, RuntimeError, ValueError, KeyError) as exc:
        cause: BaseException = exc
        while cause.__cause__ is not None:
            cause = cause.__cause__
        if isinstance(cause, requests.RequestException) and cause.response is not None:
            answer = cause.response
            raise status_error(repository, answer.status_code, answer.text) from exc
        failure = PassingError if isinstance(cause, requests.RequestException) else PublishError
        raise failure(f"{repository}: {' '.join(str(cause).split())}") from exc
