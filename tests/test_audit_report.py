"""CI's word on known holes: what was not looked up is never said to have none."""

import json
import subprocess
import sys

import pytest

HOLE = {"id": "CVE-1", "fix_versions": ["2.1", "3.0"]}
FOUND = [
    {"name": "a", "version": "1", "vulns": []},
    {"name": "b", "version": "2", "vulns": [HOLE, {"id": "CVE-2", "fix_versions": []}]},
    {"name": "c", "skip_reason": "not on the list"},
]
TOLD = """pip-audit: x.lock: 2 of 3 packages looked up
  b 2: CVE-1, fixed in 2.1, 3.0
  b 2: CVE-2, fixed in no version
"""
SKIPPED = "pip-audit: skipped for x.lock: no package could be looked up from here\n"


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (json.dumps({"dependencies": FOUND}), TOLD),
        (json.dumps({"dependencies": FOUND[2:]}), SKIPPED),
        ("{}", SKIPPED),
        ("", SKIPPED),
        (None, SKIPPED),
    ],
)
def test_a_report(repository, tmp_path, report, expected):
    path = tmp_path / "report"
    if report is not None:
        path.write_text(report)
    command = [sys.executable, str(repository / ".ci/holes.py"), "x.lock", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == expected
