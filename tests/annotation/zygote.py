"""Forks a process for each command it is told on its input; see campaign_folder.Zygote."""

import contextlib
import gc
import json
import os
import runpy
import ssl
import sys
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import scipy.stats

from annotation import exam, people, plan, pull, push, simulate, status
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.errors import StudioError
from annotation.label_studio.settings import Endpoint
from annotation.tasks import lock, unfinished
from pipeline.core import files, params, tables

# As in conftest.py: each client would read all certificates again, 20 ms.
ssl.create_default_context = cache(ssl.create_default_context)

LOADED = (exam, people, plan, pull, push, simulate, status, scipy.stats)
NOBODY = Endpoint("http://127.0.0.1:9", "0" * 40)


def warm_up():
    """Let libraries import what they import only when they are used: half of a command's time."""
    with TemporaryDirectory() as folder:
        for path in (Path(folder, "warm.csv"), Path(folder, "warm.parquet")):
            tables.JUDGMENTS.write(tables.JUDGMENTS.empty(), path)
            tables.JUDGMENTS.read(path)
    studio = LabelStudio(NOBODY)
    for ask in (studio.users, partial(studio.project, 0), partial(studio.set_closed, 0, True)):
        with contextlib.suppress(StudioError):
            ask()
    gc.freeze()  # what was forked shares its memory longer


def read_settings(folder):
    """Let YAML be parsed once for all commands that read it: `files` keeps it by its content."""
    for path in (folder / params.PARAMS, *(folder / tables.CAMPAIGN).glob("*.yaml")):
        files.read_yaml(path)


def begin(order):
    """Be the process that was asked for, to its end."""
    os.setsid()
    os.chdir(order["cwd"])
    unfinished.SETTLE_SECONDS = order["settle"]
    lock.LEASE_SECONDS = order["lease"]
    lock.SETTLE_SECONDS, lock.POLL_SECONDS = 0.1, 0.2
    with open(order["log"], "wb", buffering=0) as log:  # noqa: PTH123
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        module, *options = order["argv"]
        sys.argv = [module, *options]
        for name in [module]:
            sys.modules.pop(name)  # it runs as __main__
        status = 0
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as exc:
            status = exc.code if isinstance(exc.code, int) else int(exc.code is not None)
        except BaseException:  # noqa: BLE001  (as the interpreter would)
            import traceback

            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def status_of(child):
    """Return a process's exit status, negative where a signal ended it."""
    done, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else "running"


def main():
    """Obey."""
    warm_up()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in iter(sys.stdin.readline, ""):
        order = json.loads(line)
        if "wait" in order:
            answer = status_of(order["wait"])
        else:
            read_settings(Path(order["cwd"]))
            answer = os.fork()
            if answer == 0:
                begin(order)
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(f"{answer}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
