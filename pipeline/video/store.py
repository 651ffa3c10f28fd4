"""Clip stores: where annotators' browsers get clips (Label Studio, S3, or a web server).

`clips.url` says which. Only S3 is filled from here; a web server's owner copies
datasets/work/clips/ there.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from momentrank.errors import MomentRankError
from pipeline.core.parallel import map_in_threads

LABEL_STUDIO = "label-studio"
S3_SCHEME = "s3://"
LOCAL_FILES = "/data/local-files/?d=clips"
"""Label Studio serves it if its document root is datasets/work; only the folder of a project's
storage is shown, and only to users who are logged in."""
UPLOADS = 8
"""Parallel uploads."""
TYPES = {".mp4": "video/mp4", ".gif": "image/gif"}


class StoreError(MomentRankError):
    """Clips could not be uploaded."""


def clip_url(clip: str, setting: str) -> str:
    """Return the address of a clip, by its file name and `clips.url`.

    Label Studio signs an `s3://` address for each reader, if the project has a storage for
    that bucket; it is not a URL, so nothing in it is percent-encoded.
    """
    if setting.startswith(S3_SCHEME):
        bucket, prefix = bucket_and_prefix(setting)
        return f"{S3_SCHEME}{bucket}/{_key(prefix, clip)}"
    base = LOCAL_FILES if setting == LABEL_STUDIO else setting.rstrip("/")
    return f"{base}/{quote(clip, safe='')}"


class S3Store:
    """A bucket, through a client of boto3; other clips in it are left alone."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:  # noqa: ANN401  (untyped)
        """Use a client that knows the account."""
        self._client, self._bucket, self._prefix = client, bucket, prefix

    def upload(self, clips: Collection[Path]) -> int:
        """Upload the clips that the bucket lacks; a clip's name stands for its content.

        Raises:
            StoreError: S3 refused, or could not be reached.
        """
        with translate_errors(self._bucket):
            stored = set(self._keys())
            missing = [clip for clip in clips if _key(self._prefix, clip.name) not in stored]
            map_in_threads(self._put, missing, UPLOADS, "upload")
        return len(missing)

    def _put(self, clip: Path) -> None:
        key, kind = _key(self._prefix, clip.name), TYPES[clip.suffix]
        with clip.open("rb") as stream:
            self._client.put_object(Bucket=self._bucket, Key=key, Body=stream, ContentType=kind)

    def _keys(self) -> Iterator[str]:
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._bucket, Prefix=_key(self._prefix, "")):
            yield from (entry["Key"] for entry in page.get("Contents", []))


@contextmanager
def translate_errors(bucket: str) -> Iterator[None]:
    """Turn what boto3 raises into an error that names the bucket."""
    from botocore import exceptions  # noqa: PLC0415  (it is slow to import)

    try:
        yield
    except exceptions.NoCredentialsError as exc:
        raise StoreError(
            f"clips.url: {S3_SCHEME}{bucket}: no credentials; set AWS_PROFILE, or"
            " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        ) from exc
    except (exceptions.BotoCoreError, exceptions.ClientError) as exc:
        raise StoreError(f"clips.url: {S3_SCHEME}{bucket}: {' '.join(str(exc).split())}") from exc


def open_store(setting: str) -> S3Store | None:
    """Return the bucket that `clips.url` names; None where clips stay in their folder.

    Raises:
        StoreError: it is S3, and boto3 finds no region.
    """
    if not setting.startswith(S3_SCHEME):
        return None
    bucket, prefix = bucket_and_prefix(setting)
    return S3Store(open_client(bucket), bucket, prefix)


def bucket_and_prefix(setting: str) -> tuple[str, str]:
    """Take `s3://bucket/prefix` apart."""
    bucket, _, prefix = setting.removeprefix(S3_SCHEME).partition("/")
    return bucket, prefix.strip("/")


def _key(prefix: str, clip: str) -> str:
    return f"{prefix}/{clip}" if prefix else clip


def open_client(bucket: str) -> Any:  # noqa: ANN401  (boto3 has no types)
    """Return boto3's client for a bucket, by the environment's credentials and address.

    Raises:
        StoreError: boto3 finds no region.
    """
    import boto3  # noqa: PLC0415  (as above)

    with translate_errors(bucket):
        return boto3.client("s3")
