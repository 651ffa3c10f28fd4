"""Parts at an address (S3, or anything else that fsspec supports) instead of in a shared folder.

A worker makes a part on its own disk and uploads it, then its hash: an upload appears
whole or not at all, and without the hash a part does not count. The lead fetches parts into its
own folder, and checks them there. At the address, a part is named `STAGE-KEY`.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from momentrank.errors import MomentRankError
from pipeline.core import files
from pipeline.core.engine.parts import SEAL, Task

HINTS = {
    "FileNotFoundError": "; create the bucket or folder",
    "ImportError": "; for S3: make engines",
    "NoCredentialsError": "; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, on"
    " every worker",
}
"""The next step, by the error's class."""


class BucketError(MomentRankError):
    """Parts can't be kept at the address of `engine.folder`."""


@dataclass(frozen=True)
class StoredTask(Task):
    """A task whose part is stored at `address` as `name`; `path` is the lead's copy."""

    address: str
    name: str

    def is_here(self) -> bool:
        """Fetch the part if it is finished and intact; tell whether it was."""
        with _translated(self.address):
            store, root = connect(self.address)
            if not store.exists(f"{root}/{self.name}{SEAL}"):
                return False
            sealed = store.cat_file(f"{root}/{self.name}{SEAL}")
            with files.unfinished(self.path, "wb") as stream:
                store.get_file(f"{root}/{self.name}", stream.name)
            if json.loads(sealed)["sha256"] == files.file_sha256(self.path):
                self.seal.write_bytes(sealed)
                return True
            store.rm_file(f"{root}/{self.name}{SEAL}")  # damaged: it is made again
            return False

    def run(self) -> None:
        """Make the part on this machine's disk, and upload it; the hash comes last."""
        with _translated(self.address):
            store, root = connect(self.address)
            if store.exists(f"{root}/{self.name}{SEAL}"):
                return
        with TemporaryDirectory(prefix="part-") as folder:
            made = Task(self.work, self.given, Path(folder) / self.name)
            made.run()
            with _translated(self.address):
                for path in (made.path, made.seal):
                    store.put_file(str(path), f"{root}/{path.name}")


def store_tasks(tasks: Mapping[str, Task], stage: str, address: str) -> dict[str, Task]:
    """Return the same tasks, by the same keys, with their parts at an address.

    Parts that are finished there are fetched.

    Raises:
        BucketError: no such address or package, no credentials, or no permission to read.
    """
    stored = {
        key: StoredTask(task.work, task.given, task.path, address, f"{stage}-{task.path.name}")
        for key, task in tasks.items()
    }
    there = {Path(name).name for name in _list(stage, address)}
    for task in stored.values():
        if f"{task.name}{SEAL}" in there and not task.is_finished():
            task.is_here()
    return dict(stored)


def check(address: str) -> None:
    """Check that an address can be read.

    Raises:
        BucketError: no such address or package, no credentials, or no permission to read.
    """
    _list("", address)


def clear(stage: str, address: str) -> None:
    """Delete a stage's parts at an address."""
    if names := _list(stage, address):
        with _translated(address):
            connect(address)[0].rm(names)


def _list(stage: str, address: str) -> list[str]:
    with _translated(address):
        store, root = connect(address)
        names: list[str] = store.glob(f"{root}/{stage}-*")
        return names


@cache
def connect(address: str) -> tuple[Any, str]:
    """Return fsspec's file system for an address, and the path in it."""
    import fsspec  # noqa: PLC0415  (and with it what the protocol needs)

    store, root = fsspec.url_to_fs(address, use_listings_cache=False)
    return store, root.rstrip("/")


@contextmanager
def _translated(address: str) -> Iterator[None]:
    try:
        yield
    except MomentRankError:
        raise
    except Exception as exc:  # each protocol has errors of its own
        kind, said = type(exc).__name__, " ".join(str(exc).split())
        hint = HINTS.get(kind, "")
        raise BucketError(f"engine.folder {address}: {said or kind}{hint}") from exc
