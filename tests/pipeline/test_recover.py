"""Whatever a kill left of DVC's own files, DVC works again and knows the stages that were whole."""

import contextlib

import pytest
from dvc.dvcfile import Lockfile
from dvc.repo import Repo
from dvc.utils.strictyaml import YAMLSyntaxError, YAMLValidationError
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import recover
from pipeline.core import dvc_files

TORN = (YAMLSyntaxError, YAMLValidationError)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with DVC in it, and no git."""
    folder = tmp_path_factory.mktemp("dvc")
    Repo.init(str(folder), no_scm=True).close()
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    yield folder
    (folder / "dvc.lock").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def lock(repository):
    """Return the checkout's own dvc.lock, as bytes."""
    return (repository / "dvc.lock").read_bytes()


def stages(text=None):
    """Return what DVC reads of the dvc.lock here."""
    if text is not None:
        (dvc_files.LOCK).write_bytes(text)
    with Repo() as repo:
        return Lockfile(repo, str(dvc_files.LOCK)).load().get("stages", {})


@pytest.fixture(scope="module")
def locked_stages(folder, lock):
    """Return the stages of the checkout's own dvc.lock."""
    with contextlib.chdir(folder):
        return stages(lock)


@settings(max_examples=12)
@given(share=st.floats(0, 1, exclude_max=True))
def test_of_a_torn_lock_every_whole_stage_is_kept(here, lock, locked_stages, share):
    cut = lock[: int(share * len(lock))]
    dvc_files.LOCK.write_bytes(cut)
    dvc_files.recover()
    recovered = stages()
    names = list(locked_stages)[: len(recovered)]
    whole = {name for name in locked_stages if f"\n  {name}:\n".encode() in cut}
    assert list(recovered) == names
    assert len(whole) - len(recovered) in {0, 1}, "at most the stage that was being written is lost"
    finished = names[:-1] if len(whole) == len(recovered) else names
    assert {name: recovered[name] for name in finished} == {
        name: locked_stages[name] for name in finished
    }


def test_dvc_refuses_such_a_lock_so_that_the_test_above_can_fail(here, lock):
    with pytest.raises(TORN):
        stages(lock[: lock.rindex(b"path:") + 5])


def test_what_is_whole_stays_byte_for_byte(here, lock):
    dvc_files.LOCK.write_bytes(lock)
    assert dvc_files.recover() == []
    assert dvc_files.LOCK.read_bytes() == lock


def test_a_lock_broken_elsewhere_is_left_alone(here, lock):
    broken = lock.replace(b"schema:", b"<<<<<<< HEAD\nschema:", 1)
    dvc_files.LOCK.write_bytes(broken)
    with pytest.raises(dvc_files.RecoverError, match="git restore"):
        dvc_files.recover()
    assert dvc_files.LOCK.read_bytes() == broken


@pytest.mark.parametrize("content", [b"", b'{"write": {"', b"\xff"])
def test_a_torn_rwlock_is_taken_away_and_a_whole_one_is_not(here, content):
    rwlock = here / ".dvc/tmp/rwlock"
    rwlock.write_bytes(content)
    assert dvc_files.recover() == ["rwlock: truncated; removed"]
    assert not rwlock.exists()
    rwlock.write_text('{"write": {}, "read": {}}')
    assert dvc_files.recover() == []
    assert rwlock.exists()
    rwlock.unlink()


def test_while_dvc_is_at_work_nothing_is_touched(here, lock):
    torn = lock[:2000]
    dvc_files.LOCK.write_bytes(torn)
    with (
        Repo() as repo,
        repo.lock,
        pytest.raises(dvc_files.RecoverError, match="DVC is running here"),
    ):
        dvc_files.recover()
    assert dvc_files.LOCK.read_bytes() == torn


def test_the_command_says_what_it_did(here, lock, capsys):
    recover.main()
    dvc_files.LOCK.write_bytes(lock[: lock.index(b"\n  ingest:") + 8])
    recover.main()
    assert list(stages()) == ["sample"]
    whole, torn = capsys.readouterr().err.splitlines()
    assert "complete" in whole
    assert "dvc.lock: truncated; stages kept: 1" in torn


def test_outside_of_dvc_it_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dvc_files.RecoverError, match="DVC: you are not inside"):
        dvc_files.recover()
