"""Forks a process for each command it is told on its input; see campaign_folder.Zygote."""

import contextlib
import json
import os
import runpy
import sys

from annotation import exam, people, plan, pull, push, simulate, status
from annotation.tasks import lock, unfinished

LOADED = (exam, people, plan, pull, push, simulate, status)


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
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in iter(sys.stdin.readline, ""):
        order = json.loads(line)
        if "wait" in order:
            answer = status_of(order["wait"])
        else:
            answer = os.fork()
            if answer == 0:
                begin(order)
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(f"{answer}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
