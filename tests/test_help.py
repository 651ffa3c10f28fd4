"""`--help` of every stage and command: at once, without the libraries of the work."""

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
COMMANDS = [
    f"{package}.{path.stem}"
    for package in ("annotation", "baselines", "pipeline")
    for path in sorted((REPOSITORY / package).glob("*.py"))
    if path.stem != "__init__"
]
HEAVY = (
    "cryptography duckdb dvc faiss flair httpx jinja2 label_studio_sdk lemminflect markdown_it"
    " openai PIL scipy sentence_transformers sklearn torch transformers"
)
ASK_ALL = """
import contextlib, io, json, runpy, sys
asked = {}
for module in sys.argv[1:]:
    sys.argv, shown, code, known = [module, "--help"], io.StringIO(), None, set(sys.modules)
    with contextlib.redirect_stdout(shown):
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as exc:
            code = exc.code
    asked[module] = code, shown.getvalue()[:6], sorted(set(sys.modules) - known)
print(json.dumps(asked))
"""


def test_the_help_of_a_command_imports_no_library_that_only_its_work_needs():
    # In one process: of a library that several import, only the first is told.
    done = subprocess.run(
        [sys.executable, "-c", ASK_ALL, *COMMANDS],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    heavy = {
        module: found
        for module, (code, shown, imported) in json.loads(done.stdout).items()
        if (found := sorted(set(HEAVY.split()) & set(imported))) or (code, shown) != (0, "usage:")
    }
    assert heavy == {}
