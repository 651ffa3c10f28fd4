"""The Hugging Face hub as a place to publish: a dataset repository with a tag for each version.

All files of a version are one commit, so readers never see half of it. The address is the library's
own, or HF_ENDPOINT; the token comes from HF_TOKEN or `hf auth login`.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import quote

import requests
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError, HFValidationError
from huggingface_hub.hf_api import RepoFile

from pipeline.distribution.versions import Target as Kind
from pipeline.publication import web
from pipeline.publication.package import LocalFile, PublishError
from pipeline.publication.target import Address, PassingError

DATASET, MAIN = "dataset", "main"
HUBS_OWN = {".gitattributes"}
"""Files that the hub itself puts into a repository."""


class Hub:
    """A dataset repository `owner/name`, in which one version is published."""

    kind: Kind = "hf"

    def __init__(self, repository: str, version: str, *, private: bool = False) -> None:
        """Set the repository; `private` applies if it is created."""
        self.place, self.tag, self.private = repository, f"v{version}", private
        self.api = HfApi()
        token = get_token()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.client = web.open_client(headers)
        self.revision = MAIN

    def open(self) -> bool:
        """Create the repository if necessary; return whether the version's tag exists."""
        with self._explain("opening the repository"):
            self.api.create_repo(self.place, repo_type=DATASET, private=self.private, exist_ok=True)
            refs = self.api.list_repo_refs(self.place, repo_type=DATASET)
        tagged = [ref.target_commit for ref in refs.tags if ref.name == self.tag]
        branch = [ref.target_commit for ref in refs.branches if ref.name == MAIN]
        [self.revision] = tagged or branch or [MAIN]
        return bool(tagged)

    def list_files(self) -> Mapping[str, str]:
        """Return the repository's files at the version's tag, or at the newest commit."""
        with self._explain("listing the files"):
            entries = self.api.list_repo_tree(
                self.place, recursive=True, revision=self.revision, repo_type=DATASET
            )
            listed = [entry for entry in entries if isinstance(entry, RepoFile)]
        return {
            entry.path: f"sha256:{entry.lfs.sha256}" if entry.lfs else f"git:{entry.blob_id}"
            for entry in listed
            if entry.path not in HUBS_OWN
        }

    def put(self, files: Sequence[LocalFile], obsolete: Sequence[str]) -> None:
        """Commit files and the removal of others, on top of the commit that was examined."""
        additions = [CommitOperationAdd(file.path, file.source) for file in files]
        removals = [CommitOperationDelete(path) for path in obsolete]
        with self._explain("uploading"), warnings.catch_warnings(action="ignore"):
            commit = self.api.create_commit(
                self.place,
                [*additions, *removals],
                commit_message=f"Release {self.tag}",
                repo_type=DATASET,
                parent_commit=None if self.revision == MAIN else self.revision,
            )
        self.revision = commit.oid

    def read(self, path: str) -> Iterator[bytes]:
        """Yield a file's content at the published revision."""
        at = f"{self.api.endpoint}/datasets/{self.place}/resolve/{self.revision}"
        return web.stream(self.client, f"{at}/{quote(path)}", f"{self.place}: reading {path}")

    def finish(self) -> Address:
        """Tag the commit, unless the tag exists."""
        with self._explain(f"tagging {self.tag}"):
            self.api.create_tag(
                self.place, tag=self.tag, revision=self.revision, repo_type=DATASET, exist_ok=True
            )
        return Address(f"{self.api.endpoint}/datasets/{self.place}/tree/{self.tag}", self.revision)

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    @contextmanager
    def _explain(self, what: str) -> Iterator[None]:
        try:
            yield
        except HFValidationError as exc:
            raise PublishError(f"{self.place}: must be owner/name ({exc})") from exc
        except (requests.RequestException, RuntimeError, ValueError, KeyError) as exc:
            raise _error(f"{self.place}: {what}", exc) from exc


def _error(what: str, exc: BaseException) -> PublishError:
    """Return the error for an exception of the library or of one below it."""
    if isinstance(exc, RuntimeError) and exc.__cause__ is not None:  # around a file's upload
        return _error(what, exc.__cause__)
    if isinstance(exc, HfHubHTTPError) and exc.response is not None:
        answer = exc.response
        return web.status_error(what, answer.status_code, answer.headers, str(exc))
    if isinstance(exc, requests.RequestException):
        return PassingError(f"{what}: no connection ({type(exc).__name__})")
    return PublishError(f"{what}: {' '.join(str(exc).split())}")
