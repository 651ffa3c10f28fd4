"""A forked command ends, reads, writes and is interrupted as one of the real interpreter."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.integration

SPAWN = get_context("spawn")
REAL = Path(sys.executable).parent.parent
TELL = """
import json, os, signal, sys, time
how = sys.argv[1]
if how == "tell":
    spec = sys.modules["__main__"].__spec__.name
    told = [__name__, spec, sys.argv[1:], os.getcwd(), sys.path[:2]]
    told += [sys.stdin.read(), os.path.basename(sys.executable), os.environ.get("OF_THE_CALLER")]
    print(json.dumps([told, "pandas" in sys.modules]))
    sys.stderr.write("an error\\n")
elif how == "raise":
    raise ValueError("of our own")
elif how == "exit":
    sys.exit(int(sys.argv[2]) if sys.argv[2].isdigit() else sys.argv[2])
elif how == "signal":
    os.kill(os.getpid(), int(sys.argv[2]))
print(os.getpid(), flush=True)
time.sleep(60 if how == "sleep" else 0)
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a package of the name of ours."""
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "pipeline/__init__.py").touch()
    (tmp_path / "pipeline/tell.py").write_text(TELL)
    return tmp_path


def start(environment, folder, *words, **env):
    return subprocess.Popen(
        [environment / "bin/python", "-u", "-m", "pipeline.tell", *words],
        cwd=folder,
        env=os.environ | env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(environment, folder, *words, **env):
    with start(environment, folder, *words, **env) as process:
        output, errors = process.communicate("what is typed")
    return process.returncode, output, errors.splitlines()[-1:]


def test_it_is_told_what_the_real_one_is_told(forked, folder):
    env = {"OF_THE_CALLER": "ö", "PYTHONPATH": str(folder / "pipeline")}
    results = [
        run(environment, folder, "tell", "a b", "--c", **env) for environment in (forked, REAL)
    ]
    assert [code for code, *_ in results] == [0, 0]
    assert [errors for *_, errors in results] == [["an error"]] * 2
    reports = [json.loads(output.splitlines()[0]) for _, output, _ in results]
    assert reports[0][0] == reports[1][0]
    assert [has_libraries for _, has_libraries in reports] == [True, False]


@pytest.mark.parametrize(
    "words",
    [("raise",), ("exit", "0"), ("exit", "75"), ("exit", "why"), ("signal", "15"), ("signal", "9")],
    ids=" ".join,
)
def test_it_ends_as_the_real_one(forked, folder, words):
    result = run(forked, folder, *words)
    assert result == run(REAL, folder, *words)


def test_ctrl_c_and_kill_9_reach_it(forked, folder):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with start(forked, folder, "sleep") as process:
            pid = int(process.stdout.readline())
            assert pid != process.pid, "it is forked"
            process.send_signal(number)
            assert process.wait(120) == -number
            process.communicate()
        deadline = time.monotonic() + 120
        while psutil.pid_exists(pid):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_what_libraries_read_at_their_start_is_not_another_commands(forked, folder):
    _, output, _ = run(forked, folder, "tell", OMP_NUM_THREADS="3")
    assert json.loads(output.splitlines()[0])[1] is False


def describe_process():
    """Return what a process that is spawned is told, and its own number."""
    return sys.argv, Path.cwd(), sys.path, os.environ["OF_THE_LEAD"], os.getpid()


def end(status):
    os.kill(os.getpid(), -status) if status < 0 else sys.exit(status)


def test_a_spawned_process_is_told_what_a_real_one_is_told(request, monkeypatch, folder):
    monkeypatch.setenv("OF_THE_LEAD", "ö")
    monkeypatch.syspath_prepend(folder)
    reports = []
    for _ in range(2):
        with ProcessPoolExecutor(1, SPAWN) as pool:
            *same, pid = pool.submit(describe_process).result()
            reports.append(same)
            assert (pid in pool._processes) is (len(reports) == 1), "the second is forked"
        request.getfixturevalue("forked_workers")
    assert reports[0] == reports[1]


@pytest.mark.parametrize("status", [0, 3, -15, -9])
def test_a_spawned_process_ends_as_a_real_one(forked_workers, status):
    process = SPAWN.Process(target=end, args=(status,))
    process.start()
    process.join(120)
    assert process.exitcode == status
