"""Where annotators' browsers get clips: Label Studio's local files, S3, or some web server.

`clips.url` says which. Only S3 is filled from here; a web server's owner copies
datasets/work/clips/ there.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tqdm import tqdm

from momentrank.errors import MomentRankError

LABEL_STUDIO = "label-studio"
LOCAL_FILES = "/data/local-files/?d=clips"
"""Label Studio serves it where its document root is datasets/work, of which only the folder
of a project's storage is shown, to users who are logged in."""
TYPES = {".mp4": "video/mp4", ".gif": "image/gif"}


class StoreError(MomentRankError):
    """Clips could not be brought to where browsers get them."""


def url_of(clip: str, setting: str) -> str:
    """Return the address of a clip, by its file name and `clips.url`.

    An `s3://` address is what Label Studio signs for each reader, if the project has a
    storage for that bucket.
    """
    base = LOCAL_FILES if setting == LABEL_STUDIO else setting.rstrip("/")
    return f"{base}/{clip}"


class Store(Protocol):
    """The port to wherever clips are handed to."""

    def upload(self, clips: Collection[Path]) -> int:
        """Bring there what is not there yet; return how many clips that were."""


class Here:
    """Clips stay where they are."""

    def upload(self, clips: Collection[Path]) -> int:  # noqa: ARG002  (the port's)
        """Do nothing."""
        return 0


class S3:
    """A bucket, through a client of boto3; other clips in it are left alone."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:  # noqa: ANN401  (untyped)
        """Take a client: who makes it knows the account."""
        self._client, self._bucket, self._prefix = client, bucket, prefix

    def upload(self, clips: Collection[Path]) -> int:
        """Upload the clips that the bucket lacks; a clip's name stands for its content.

        Raises:
            StoreError: S3 refused, or could not be reached.
        """
        with _told(self._bucket):
            there = set(self._keys())
            missing = [clip for clip in clips if self._key(clip) not in there]
            for clip in tqdm(missing, "upload", unit=" clips", disable=None):
                with clip.open("rb") as stream:
                    self._client.put_object(
                        Bucket=self._bucket,
                        Key=self._key(clip),
                        Body=stream,
                        ContentType=TYPES[clip.suffix],
                    )
        return len(missing)

    def _key(self, clip: Path) -> str:
        return f"{self._prefix}/{clip.name}".lstrip("/")

    def _keys(self) -> Iterator[str]:
        pages = self._client.get_paginator("list_objects_v2")
        prefix = f"{self._prefix}/".lstrip("/")
        for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
            yield from (entry["Key"] for entry in page.get("Contents", []))


@contextmanager
def _told(bucket: str) -> Iterator[None]:
    from boto3.exceptions import Boto3Error  # type: ignore[import-untyped]  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        yield
    except (Boto3Error, BotoCoreError, ClientError) as exc:
        raise StoreError(f"clips.url: s3://{bucket}: {exc}") from exc


def store_of(setting: str) -> Store:
    """Return the store that `clips.url` names.

    Raises:
        StoreError: it is S3, and boto3 is missing or finds no region.
    """
    if not setting.startswith("s3://"):
        return Here()
    bucket, _, prefix = setting.removeprefix("s3://").partition("/")
    return S3(_client(bucket), bucket, prefix.strip("/"))


def _client(bucket: str) -> Any:  # noqa: ANN401  (boto3 has no types)
    try:
        import boto3  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError as exc:
        raise StoreError("clips.url is on S3, which needs boto3; type: pip install boto3") from exc
    with _told(bucket):
        return boto3.client("s3")
