"""A stand-in for Slurm: its commands as one script, which runs arrays on this machine.

An array's indices run in random order, each in its own session. The first `STAND_IN_KILLS` of them
are killed (kill -9) a moment after they start, before they can end. The queue is a folder,
`STAND_IN_QUEUE`: it has a file for each waiting or running job, named by its id, with the job's
name and, once it runs, its process.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

HOLD = "STAND_IN_HOLD"
COMMANDS = ("sbatch", "srun", "squeue", "scancel", "sinfo")


def install(folder: Path, kills: int = 0) -> dict[str, str]:
    """Put the commands into a folder; return an environment that finds them."""
    commands, queue = folder / "bin", folder / "queue"
    commands.mkdir(parents=True)
    queue.mkdir()
    for name in COMMANDS:
        script = commands / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {name} "$@"\n')
        script.chmod(0o755)
    return {
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "STAND_IN_QUEUE": str(queue),
        "STAND_IN_KILLS": str(kills),
    }


def queue() -> Path:
    """Return the folder of the queue."""
    return Path(os.environ["STAND_IN_QUEUE"])


def sbatch(script: str) -> None:
    """Queue the jobs of a script, and start a background process that runs them."""
    options = dict(re.findall(r"^#SBATCH --([\w-]+)=(.*)$", Path(script).read_text(), re.MULTILINE))
    number = len(list(queue().parent.glob("submitted-*"))) + 1
    (queue().parent / f"submitted-{number}").write_text(Path(script).read_text())
    first, last, at_once = 0, 0, 1
    if array := options.get("array"):
        first, last, at_once = map(int, re.split("[-%]", array))
    ids = [f"{number}_{index}" if array else str(number) for index in range(first, last + 1)]
    for job in ids:
        (queue() / job).write_text(options["job-name"])
    words = [sys.executable, __file__, "run", script, str(at_once), *ids]
    with (queue().parent / "runner.log").open("a") as log:
        runner = subprocess.Popen(
            words, start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    (queue().parent / f"runner-{number}").write_text(str(runner.pid))
    sys.stdout.write(f"Submitted batch job {number}\n")


def run(script: str, at_once: str, *ids: str) -> None:
    """Run the jobs in random order; remove each from the queue when it has ended."""
    random.seed(7)
    waiting = random.sample(ids, len(ids))
    running: dict[str, subprocess.Popen[bytes]] = {}
    while waiting or running:
        while waiting and len(running) < int(at_once):
            job = waiting.pop()
            if (queue() / job).exists():
                running[job] = start(script, job)
        for job, process in list(running.items()):
            if process.poll() is not None:
                (queue() / job).unlink(missing_ok=True)
                del running[job]
        time.sleep(0.02)


def start(script: str, job: str) -> subprocess.Popen[bytes]:
    """Start a job in its own session, with its log where the script says."""
    number, _, index = job.partition("_")
    names = {"SLURM_JOB_ID": number, "SLURM_NTASKS": "1", "SLURM_PROCID": "0"}
    if index:
        names |= {"SLURM_ARRAY_JOB_ID": number, "SLURM_ARRAY_TASK_ID": index}
    is_doomed = must_kill()
    if is_doomed:
        names[HOLD] = "1"
    text = Path(script).read_text()
    (pattern,) = re.findall(r"^#SBATCH --error=(.*)$", text, re.MULTILINE)
    log = pattern.replace("%A", number).replace("%a", index or "0").replace("%j", number)
    with Path(log).open("a") as stream:
        process = subprocess.Popen(
            ["bash", script],
            env=os.environ | names,
            start_new_session=True,
            stderr=stream,
            stdout=stream,
        )
    with (queue() / job).open("a") as stream:
        stream.write(f"\n{process.pid}")
    if is_doomed:
        time.sleep(0.3)
        kill(process.pid, signal.SIGKILL)
    return process


def must_kill() -> bool:
    """Return whether one more should be killed, and count it."""
    killed = queue().parent / "killed"
    number = len(killed.read_text()) if killed.exists() else 0
    if number < int(os.environ["STAND_IN_KILLS"]):
        killed.write_text("x" * (number + 1))
        return True
    return False


def kill(process: int, number: signal.Signals) -> None:
    """Signal a job's processes, unless they have ended."""
    with suppress(ProcessLookupError):
        os.killpg(process, number)


def squeue(*options: str) -> None:
    """List the waiting and running jobs with a name, but those whose runner was killed."""
    for path in jobs(options):
        runner = queue().parent / f"runner-{path.name.partition('_')[0]}"
        if runner.exists() and not Path("/proc", runner.read_text()).exists():
            path.unlink(missing_ok=True)
        else:
            sys.stdout.write(f"{path.name}\n")


def scancel(*options: str) -> None:
    """Cancel the jobs with a name."""
    for path in jobs(options):
        lines = path.read_text().splitlines()
        path.unlink(missing_ok=True)
        for process in lines[1:]:
            kill(int(process), signal.SIGTERM)


def jobs(options: tuple[str, ...]) -> list[Path]:
    """Return the queue's files for the option `--name=`."""
    name = next(word.removeprefix("--name=") for word in options if word.startswith("--name="))
    files = []
    for path in queue().iterdir():
        with suppress(FileNotFoundError):
            if path.read_text().splitlines()[0] == name:
                files.append(path)
    return files


def srun(*words: str) -> None:
    """Run the Python command that follows the options; a job that will be killed waits for it."""
    if HOLD in os.environ:
        time.sleep(60)
    at = next(at for at, word in enumerate(words) if Path(word).name.startswith("python"))
    os.execv(words[at], words[at:])  # noqa: S606  (this process becomes the job)


def sinfo(*_: str) -> None:
    """List no GPUs."""
    sys.stdout.write("(null)\n")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
