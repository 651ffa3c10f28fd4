"""Build the scorer's packages into dist/, check them, and say how to publish them.

    make release

Refuses if owner.toml lacks anything. Builds a source distribution and, from that, a wheel; checks
that their page renders as an index shows it, that its links lead somewhere, and that each, where it
is installed alone, prints the demo to the byte as the checkout does. Publishes nothing.
"""

import argparse
import contextlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from momentrank.cli import demo
from momentrank.errors import MomentRankError
from pipeline.core import cli
from pipeline.core.git import run
from pipeline.core.owner import read_owner

DIST = Path("dist")
LINK = re.compile(r"\]\(([^)]*)\)")


class ReleaseError(MomentRankError):
    """The packages can't be built, or an index would not show them as intended."""


def build(folder: Path) -> list[Path]:
    """Build the checkout's packages into an empty folder; return their paths.

    Raises:
        ReleaseError: the build fails; with its output.
    """
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "uv", "build", "--quiet", "--no-build-isolation"]
    command += ["--python", sys.executable, "--out-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (ours)
    if done.returncode:
        raise ReleaseError(f"the build failed:\n{done.stdout}{done.stderr}")
    return sorted(path for path in folder.iterdir() if path.suffix in {".gz", ".whl"})


def read_metadata(wheel: Path) -> Message:
    """Return what an index shows of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def find_faults(metadata: Message) -> Iterator[str]:
    """Yield what is wrong with the page that an index would show."""
    from readme_renderer import markdown  # noqa: PLC0415  (requirements-tests.lock has it)

    page, warnings = str(metadata.get_payload()), StringIO()
    if not markdown.render(page, stream=warnings):
        yield f"its page does not render: {warnings.getvalue().strip()}"
    links = LINK.findall(page)
    links += [line.split(", ", 1)[1] for line in metadata.get_all("Project-URL", [])]
    yield from (f"{link}: leads nowhere from an index" for link in links if not _is_url(link))


def _is_url(link: str) -> bool:
    return link.startswith("https://")


def run_demo(package: Path) -> bytes:
    """Install a package into an empty environment, and return what its demo prints.

    Raises:
        ReleaseError: it can't be installed, or the demo fails; with the output.
    """
    command = [sys.executable, "-m", "uv", "run", "--quiet", "--isolated", "--no-project"]
    command += ["--python", sys.executable, "--with", str(package.resolve()), "momentrank", "demo"]
    with TemporaryDirectory() as elsewhere:
        done = subprocess.run(command, cwd=elsewhere, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise ReleaseError(
            f"{package}: does not run where it is installed:\n{done.stderr.decode()}"
        )
    return done.stdout


def main() -> None:
    """Check the owner, build, check the packages, and say what comes next."""
    owner = read_owner()
    if changed := run("status", "--porcelain").stdout.split("\n")[:-1]:
        cli.log(f"WARNING: {len(changed)} uncommitted changes go into the packages")
    packages = build(DIST)
    metadata = read_metadata(packages[0])
    if faults := list(find_faults(metadata)):
        raise ReleaseError("\n".join(f"{packages[0]}: {fault}" for fault in faults))
    with contextlib.redirect_stdout(StringIO()) as printed:
        demo.run(argparse.Namespace(write=None))
    for package in packages:
        if run_demo(package) != printed.getvalue().encode():
            raise ReleaseError(f"{package}: its demo does not print what the checkout's does")
    sys.stdout.write(
        f"{' and '.join(map(str, packages))}: version {metadata['Version']} of {owner.name};"
        " the page renders, its links are absolute, and the demo prints what it should\n"
        "nothing is published yet; to publish (UV_PUBLISH_TOKEN is your index's token):\n"
        f"    git tag v{metadata['Version']} && .venv/bin/uv publish {DIST}/*\n"
    )


if __name__ == "__main__":
    cli.parser("`make release` runs it.").parse_args()
    cli.run_command(main)
