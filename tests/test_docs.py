"""What the README and docs/scoring.md tell a new user to type works, and says what they say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(text, language=""):
    return [code for name, code in FENCE.findall(text) if name == language]


def shell(script, folder):
    scripts = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={"PATH": f"{scripts}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readmes_section_on_scoring_can_be_pasted(repository, tmp_path):
    section = (repository / "README.md").read_text().split("## Scoring a run")[1].split("\n## ")[0]
    [script] = blocks(section)
    out = shell(script, tmp_path)
    assert "nDCG(iou=0.5)@10\tall\t" in out
    assert "AxIoU@10\tall\t" in out
    assert "query q1, IoU >= 0.5" in out


@pytest.fixture
def example(repository, tmp_path):
    """Return the page, and a folder in which its example lies."""
    page = (repository / "docs/scoring.md").read_text()
    [script] = blocks(page.split("## Conventions")[1].split("\n## ")[0])
    shell(script, tmp_path)
    return page, tmp_path


def test_the_table_of_conventions_is_what_the_command_prints(example):
    page, folder = example
    table = page.split("| `paper` | `tvr-ranking` | `sh-eval` |")[1].split("\n\n")[0]
    rows = [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]
    assert len(rows) == 7
    for at, convention in enumerate(("paper", "tvr-ranking", "sh-eval"), start=1):
        expected = {row[0]: row[at] for row in rows if row[at]}
        names = " ".join(f'"{name}"' for name in expected)
        out = shell(
            f"momentrank evaluate example.qrels example.run --time seconds --no-judged"
            f" --convention {convention} {names}",
            folder,
        )
        printed = dict(line.split("\tall\t") for line in out.splitlines())
        assert {name: printed[name] for name in expected} == expected


def test_the_python_example_runs(example):
    page, folder = example
    [code] = blocks(page, "python")
    (folder / "example.py").write_text(code)
    out = shell(f"{sys.executable} example.py", folder)
    assert "nDCG(iou=0.5)@10: 0.48" in out
