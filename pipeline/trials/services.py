"""The hub, Zenodo, S3 and a Label Studio elsewhere: something small is stored and deleted."""

import contextlib
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.core import files
from pipeline.publication.package import LocalFile, Package
from pipeline.trials.base import Inputs, Met, NotMetError, Trial, refuse_this_machine

VERSION = "0.0.1"
CHECKED = re.compile(
    r"(\S+) answers and accepts the token \(Label Studio (\d\S*), \d+ accounts\); a project was"
)


@contextlib.contextmanager
def _small_package() -> Iterator[Package]:
    """Yield a package of two small files, of which a hub stores one by its hash."""
    with tempfile.TemporaryDirectory() as folder:
        contents = {"README.md": b"# A trial of MomentRank\n", "trial.parquet": b"PAR1" * 256}
        sent = []
        for name, content in contents.items():
            (path := Path(folder) / name).write_bytes(content)
            sent.append(LocalFile(name, path, files.file_sha256(path)))
        yield Package(Path(folder), {"version": VERSION, "name": "A trial"}, sent, {})


def _trial_name() -> str:
    return f"momentrank-trial-{secrets.token_hex(4)}"


def try_hub(_: Inputs) -> Met:
    """Publish two small files in a new private repository, read them back, and delete it.

    Raises:
        NotMetError: the address is this machine's, or the repository could not be deleted.
        PublishError: a step failed.
    """
    from huggingface_hub import constants  # noqa: PLC0415  (slow to import)

    return publish_to_hub(refuse_this_machine(constants.ENDPOINT, "the hub"))


def publish_to_hub(where: str) -> Met:
    """Do what `try_hub` does, with whatever hub the library reaches."""
    import huggingface_hub  # noqa: PLC0415  (slow to import)
    import requests  # noqa: PLC0415
    from huggingface_hub.errors import LocalTokenNotFoundError  # noqa: PLC0415

    from pipeline.publication import hub  # noqa: PLC0415

    api = huggingface_hub.HfApi()
    try:
        place = f"{api.whoami()['name']}/{_trial_name()}"
    except (LocalTokenNotFoundError, requests.RequestException) as exc:
        raise NotMetError(
            f"{where}: no valid token (HF_TOKEN): {str(exc).splitlines()[0]}"
        ) from exc
    try:
        with _small_package() as package:
            hub.publish_to_hub(package, place, private=True)
    finally:
        _delete(lambda: api.delete_repo(place, repo_type=hub.DATASET, missing_ok=True), place)
    result = "2 files published in a private repository, read back by SHA-256, deleted"
    return Met(f"huggingface_hub {huggingface_hub.__version__}", where, result)


def _delete(delete: Any, place: str) -> None:  # noqa: ANN401  (a call of any library)
    try:
        delete()
    except Exception as exc:  # of any library: it must not hide what is left there
        raise NotMetError(f"{place}: can't be deleted ({exc}); delete it by hand") from exc


def try_zenodo(_: Inputs) -> Met:
    """Fill a draft with two small files, read them back, and delete it; publish nothing.

    Raises:
        NotMetError: the address is this machine's, or the draft can't be deleted.
        PublishError: there is no token, a file reads back differently, or a step failed.
    """
    from pipeline.publication.zenodo import choose_server  # noqa: PLC0415  (as its neighbours)

    return fill_draft(refuse_this_machine(choose_server(), "Zenodo"))


def fill_draft(where: str) -> Met:
    """Do what `try_zenodo` does, with whatever server the environment names."""
    from pipeline.publication import zenodo  # noqa: PLC0415

    metadata = {
        "title": "A trial of MomentRank, to be deleted",
        "version": VERSION,
        "upload_type": "dataset",
        "description": "A draft that is deleted at once.",
        "creators": [{"name": "MomentRank"}],
        "access_right": "open",
        "license": "cc-by-4.0",
    }
    # The draft's number is kept in the current folder: a collection's own must stay as it is.
    with (
        _small_package() as package,
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        zenodo.connect() as client,
    ):
        try:
            zenodo.fill_deposit(client, zenodo.open_deposit(client, metadata, None), package)
        finally:
            if zenodo.DRAFT.is_file():
                draft = f"{zenodo.DEPOSITIONS}/{files.read_json(zenodo.DRAFT)['id']}"
                _delete(lambda: client.delete(draft), f"{where}{draft}")
    return Met(
        "REST API, depositions", where, "a draft filled, read back and deleted; none published"
    )


def try_s3(inputs: Inputs) -> Met:
    """Upload a small clip as `clips` does, read it back, and delete it.

    Raises:
        NotMetError: no bucket is named, the address is this machine's, or the clip differs.
        StoreError: S3 refused, or can't be reached.
    """
    if not inputs.bucket:
        raise NotMetError("name a bucket of yours: --bucket s3://bucket/prefix")
    client = _open_s3(inputs.bucket)
    where = refuse_this_machine(client.meta.endpoint_url, "S3")
    return upload_clip(client, inputs.bucket, where)


def _open_s3(bucket: str) -> Any:  # noqa: ANN401  (boto3 has no types)
    from pipeline.video import store  # noqa: PLC0415  (as its neighbours)

    return store.open_client(store.bucket_and_prefix(bucket)[0])


def upload_clip(client: Any, setting: str, where: str) -> Met:  # noqa: ANN401  (untyped)
    """Do what `try_s3` does, through a client of boto3."""
    import boto3  # noqa: PLC0415  (slow to import)

    from pipeline.video import store  # noqa: PLC0415

    bucket, prefix = store.bucket_and_prefix(setting)
    prefix = f"{prefix}/{_trial_name()}".lstrip("/")
    with tempfile.TemporaryDirectory() as folder:
        (clip := Path(folder) / "trial.mp4").write_bytes(content := secrets.token_bytes(1000))
        place = f"{prefix}/{clip.name}"
        with store.translate_errors(bucket):
            if store.S3Store(client, bucket, prefix).upload([clip]) != 1:
                raise NotMetError(f"{where}: nothing was uploaded")
            try:
                stored = client.get_object(Bucket=bucket, Key=place)["Body"].read()
            finally:
                client.delete_object(Bucket=bucket, Key=place)
    if stored != content:
        raise NotMetError(f"{where}: {place} reads back differently")
    result = "a clip of 1 KB uploaded, read back and deleted; signed addresses were not tried"
    return Met(f"boto3 {boto3.__version__}", where, result)


def try_label_studio(_: Inputs) -> Met:
    """Create a project on the configured server, read it back, and delete it.

    Raises:
        NotMetError: none is configured, it is this machine's, or a step failed.
    """
    command = [sys.executable, "-m", "annotation.server", "check", "--create"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (ours)
    said = " ".join(asked.stderr.split())
    found = CHECKED.search(said)
    if asked.returncode or not found:
        raise NotMetError(said.removeprefix("error: ") or "annotation.server check says nothing")
    where = refuse_this_machine(found[1], "a Label Studio elsewhere")
    return Met(f"Label Studio {found[2]}", where, "a project created, read back and deleted")


TRIALS = (
    Trial("hub", "the Hugging Face hub", "creates a private repository, and deletes it", try_hub),
    Trial(
        "zenodo", "Zenodo", "creates a draft (ZENODO_URL: the sandbox), and deletes it", try_zenodo
    ),
    Trial("s3", "S3", "uploads a file of 1 KB to --bucket, and deletes it", try_s3),
    Trial(
        "label-studio", "a remote Label Studio",
        "creates a project on the server in .env, and deletes it", try_label_studio,
    ),
)  # fmt: skip
