"""A page as a newcomer reads it: its sections, what they are told to type, and a shell."""

import re
import subprocess
import textwrap
from pathlib import Path

HEADING = re.compile(r"^#{2,3} (.*)$", re.MULTILINE)
BLOCK = re.compile(r"^ *```\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
"""A fenced block without a language: it is to be pasted into a shell."""
SPAN = re.compile(r"`([^`\n]+(?:\n *[^`\n]+)?)`")
PROGRAMS = ("make ", "dvc ", "python ", "momentrank ", "pip ", "cd ", "git ")


def sections(page: Path) -> dict[str, list[str]]:
    """Return the blocks and the commands within sentences, in their order, by section."""
    head, *parts = HEADING.split(page.read_text(encoding="utf-8"))
    texts = {"": head, **dict(zip(parts[::2], parts[1::2], strict=True))}
    return {title: _find_commands(text) for title, text in texts.items()}


def shell(
    script: str,
    folder: Path,
    env: dict[str, str],
    *,
    codes: tuple[int, ...] = (0,),
    stderr: int = subprocess.STDOUT,
) -> str:
    """Type a script into a shell, which ends at the first failure; return what is written."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        check=False,
    )
    assert done.returncode in codes, done.stdout + (done.stderr or "")
    return done.stdout


def _find_commands(text: str) -> list[str]:
    places = [(at.start(), textwrap.dedent(at[1])) for at in BLOCK.finditer(text)]
    rest = BLOCK.sub(lambda at: " " * len(at[0]), text)
    spans = [(at.start(), " ".join(at[1].split())) for at in SPAN.finditer(rest)]
    places += [(at, span) for at, span in spans if f"{span} ".startswith(PROGRAMS)]
    return [command for _, command in sorted(places)]
