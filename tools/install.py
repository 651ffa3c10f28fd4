"""Install a list of pinned packages into the environment whose Python runs this.

    .venv/bin/python -m tools.install requirements.lock

uv takes a seventh of pip's time. It does not read pip's settings (a private index or local files),
so they are passed on. If uv is unavailable or fails, pip installs the list.
"""

import ast
import os
import re
import runpy
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from subprocess import CalledProcessError

PINS = Path("requirements.lock")
"""It pins the version of uv."""
UV_OPTIONS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}
"""uv's variable for each of pip's options."""
STEPS = re.compile(r"Resolved|Prepared|Installed|error|Caused by|.*\((\d{3,}\.\d ?MiB|.*GiB)\)")
"""The lines of uv's output that are shown: its steps, and packages that take long to download."""
GPU_LIBRARIES = ("torch", "nvidia", "triton")
"""The folders of PyTorch and of what its CUDA build brings."""
GB = 10**9


def read_options(listed: str) -> dict[str, str]:
    """Return pip's options by name, given what `pip config list` prints."""
    options: dict[str, str] = {}
    for line in listed.splitlines():  # those from the environment come first, and win
        key, _, value = line.partition("=")
        options.setdefault(key.rpartition(".")[2], ast.literal_eval(value))
    return options


def translate_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make uv look where pip would."""
    variables = {
        UV_OPTIONS[key]: value.split() for key, value in options.items() if key in UV_OPTIONS
    }
    if "UV_INDEX" in variables:  # pip ignores a missing folder; uv would fail
        variables["UV_INDEX"] = [url for url in variables["UV_INDEX"] if url.startswith("http")]
    return {
        name: ("," if name == "UV_FIND_LINKS" else " ").join(values)
        for name, values in variables.items()
        if values
    }


def run(*words: str, env: Mapping[str, str] = os.environ) -> str:
    """Run a module with this Python, show its steps, and return its whole output.

    Raises:
        subprocess.CalledProcessError: it fails.
    """
    command, written = [sys.executable, "-m", *words], ""
    with subprocess.Popen(  # noqa: S603  (words of this file, and a list of the checkout)
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            written += line
            if STEPS.match(line.strip()):
                show(line.strip())
    if process.returncode:
        raise CalledProcessError(process.returncode, command, written)
    return written


def show(line: str) -> None:
    """Print a line immediately, with the environment's name: two may be installed in parallel."""
    sys.stdout.write(f"    {Path(sys.prefix).name}: {line}\n")
    sys.stdout.flush()


def install_by_uv(path: str, *options: str) -> None:
    """Install a list with uv."""
    pin = re.search(r"(?m)^uv==\S+", PINS.read_text())
    run("pip", "-qq", "install", pin.group() if pin else "uv")
    env = translate_options(read_options(run("pip", "config", "list"))) | os.environ
    where = ("--python", sys.executable, "--index-strategy", "unsafe-best-match")
    run("uv", "pip", "install", *where, *options, "--requirement", path, env=env)


def install(path: str) -> None:
    """Install a complete list of pinned packages, and check that nothing is missing.

    Raises:
        subprocess.CalledProcessError: pip fails too.
    """
    try:
        install_by_uv(path, "--no-deps")
    except CalledProcessError:
        show("uv is not usable here; installing with pip takes a few minutes")
        run("pip", "-qq", "install", "--no-deps", "--no-compile", "--requirement", path)
    try:
        run("pip", "check")
    except CalledProcessError as exc:  # on another platform, packages may need others
        show(f"{path} lacks what this platform needs, which is added: {exc.output.strip()}")
        try:
            install_by_uv(path)
        except CalledProcessError:
            run("pip", "-qq", "install", "--requirement", path)


def describe_torch(packages: Path) -> str | None:
    """Return which build of PyTorch is installed, its size and the environment's; None without it.

    `packages` is the environment's site-packages. PyTorch itself is not imported.
    """
    version = packages / "torch/version.py"
    if not version.is_file():
        return None
    facts = runpy.run_path(str(version))
    build = f"CUDA {facts['cuda']}" if facts.get("cuda") else "CPU"
    torch = measure(packages / name for name in GPU_LIBRARIES)
    return (
        f"PyTorch {facts['__version__']}, {build} build: {torch / GB:.1f} of the environment's"
        f" {measure([packages]) / GB:.1f} GB"
        + ("; docs/installation.md has the small one" if facts.get("cuda") else "")
    )


def measure(folders: Iterable[Path]) -> int:
    """Return the bytes that the files of folders take on the disk."""
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return sum(path.stat().st_blocks * 512 for path in files)


if __name__ == "__main__":
    try:
        install(sys.argv[1])
        if described := describe_torch(Path(sysconfig.get_path("platlib"))):
            show(described)
    except CalledProcessError as exc:
        sys.exit(f"{exc.output}error: {sys.argv[1]} can't be installed; see the message above")
