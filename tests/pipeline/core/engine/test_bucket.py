"""Parts at an address: in a folder by its URL, and in a bucket over HTTP."""

import os
import shutil
import signal
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec

import fsspec
import pytest
import shard_work
from s3_server import SECRET, serve_bucket
from shard_lead import go_on, start_lead

from momentrank.errors import MomentRankError
from pipeline.core.engine import parts
from pipeline.core.engine.bucket import connect
from pipeline.core.engine.shards import clear_parts

EXPECTED = " ".join(str(number**2) for number in range(24))


@pytest.fixture
def engine(engine, folder):
    """Let the working copy be an empty folder, and parts lie in another one, by its URL."""
    (folder / "store").mkdir()
    update = {"folder": (folder / "store").as_uri(), "workers": 1}
    return engine.model_copy(update=update)


def test_parts_lie_at_the_address_and_go_with_the_stage(engine, squares, folder):
    assert squares.make(engine, 4) == EXPECTED
    names = {path.name for path in (folder / "store").iterdir()}
    assert len(names) == 8
    assert {name.split("-")[0] for name in names} == {"squares"}
    (folder / "store" / "other-stage").touch()
    clear_parts("squares", engine)
    assert {path.name for path in (folder / "store").iterdir()} == {"other-stage"}
    assert not list(folder.glob(".cache/parts/*"))
    clear_parts("squares", engine)


def test_a_part_is_found_by_another_machine_and_made_once(engine, squares, folder):
    with pytest.raises(MomentRankError):
        squares.make(engine, 8, shard_work.refuse)
    there = len(list((folder / "store").glob("*.json")))
    assert 0 < there < 8
    shutil.rmtree(folder / ".cache")  # what this machine has fetched
    assert squares.make(engine, 8) == EXPECTED
    assert sum(squares.starts.values()) == 8 + 1  # and the one that failed


@pytest.mark.parametrize("how", ["part", "seal"])
def test_a_damaged_part_is_made_again(engine, squares, folder, how):
    assert squares.make(engine, 3) == EXPECTED
    shutil.rmtree(folder / ".cache")
    seal = next((folder / "store").glob("*.json"))
    if how == "part":
        seal.with_name(seal.name.removesuffix(parts.SEAL)).write_text("damaged")
    else:
        seal.write_text('{"sha256": "of others"}')
    assert squares.make(engine, 3) == EXPECTED
    assert sorted(squares.starts.values()) == [1, 1, 2]


@pytest.mark.parametrize(
    ("address", "message"),
    [("gs://bucket", "install gcsfs"), ("none://bucket", "Protocol not known: none")],
)
def test_an_address_that_nobody_can_read_is_one_line(engine, squares, address, message):
    with pytest.raises(MomentRankError, match=message) as caught:
        squares.make(engine.model_copy(update={"folder": address}), 2)
    assert str(caught.value).startswith(f"engine.folder {address}: ")
    assert "\n" not in str(caught.value)


def test_who_has_a_folder_imports_no_fsspec():
    code = (
        "import sys, pipeline.core.engine.shards, pipeline.core.engine.local\n"
        "print({'fsspec', 'asyncio'} & {*sys.modules})"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"


s3 = pytest.mark.skipif(find_spec("s3fs") is None, reason="s3fs is not installed: make engines")


@pytest.fixture(scope="module")
def bucket():
    with serve_bucket("parts") as client:
        yield client


def list_keys(client):
    return {entry["Key"] for entry in client.list_objects_v2(Bucket="parts").get("Contents", [])}


@s3
def test_in_a_bucket_a_killed_run_goes_on_and_no_finished_part_is_made_twice(
    engine, squares, folder, repository, bucket, capsys
):
    engine = engine.model_copy(update={"folder": "s3://parts/of/campaign"})
    with start_lead(folder, repository, engine, squares.log, parts=4) as lead:
        while not (seals := {key for key in list_keys(bucket) if key.endswith(parts.SEAL)}):
            assert lead.poll() is None
            time.sleep(0.02)
        os.kill(lead.pid, signal.SIGKILL)
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    go_on(engine, squares.log, parts=4)
    assert "of 4 parts were already finished" in capsys.readouterr().err
    finished = {key.removeprefix("of/campaign/").removesuffix(parts.SEAL) for key in seals}
    assert all(squares.starts[key] == 1 for key in finished)
    fetched = (folder / ".cache/parts/squares").iterdir()
    contents = {path.read_text() for path in fetched if path.suffix != ".json"}
    assert contents == {"0", "1", "4", "9"}
    clear_parts("squares", engine)
    assert list_keys(bucket) == set()


@s3
@pytest.mark.parametrize(
    ("address", "missing", "message"),
    [
        ("s3://elsewhere/x", [], "bucket does not exist; create the bucket"),
        ("s3://parts/x", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"], "set AWS_PROFILE"),
    ],
)
def test_no_bucket_and_no_credentials_are_one_line(
    engine, squares, bucket, monkeypatch, address, missing, message
):
    for name in missing:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", "/nowhere")
    fsspec.get_filesystem_class("s3").clear_instance_cache()  # its credentials with it
    connect.cache_clear()
    with pytest.raises(MomentRankError, match=message) as caught:
        squares.make(engine.model_copy(update={"folder": address}), 2)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)


@s3
def test_without_s3fs_it_says_what_to_install(engine, squares, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(import_module("fsspec.registry")._registry, "s3", raising=False)
    connect.cache_clear()
    with pytest.raises(MomentRankError, match=r"Install s3fs.*make engines"):
        squares.make(engine.model_copy(update={"folder": "s3://parts/y"}), 2)
