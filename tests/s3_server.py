"""A small S3 on 127.0.0.1, in this process: a bucket in memory, over real HTTP."""

import contextlib
from collections.abc import Iterator

import boto3
import pytest
from moto.server import ThreadedMotoServer

SECRET = "not-for-logs"  # noqa: S105  (of a bucket in memory)


@contextlib.contextmanager
def serve_bucket(name: str) -> Iterator[object]:
    """Serve an empty bucket; yield boto3's client of it. The environment says where it is."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL_S3", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "campaign")
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # nobody to ask for other credentials
        with contextlib.closing(boto3.client("s3")) as s3:
            s3.create_bucket(Bucket=name)
            yield s3
    server.stop()
