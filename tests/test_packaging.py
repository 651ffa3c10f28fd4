"""The wheel: `momentrank` alone, light."""

import re
import subprocess
import sys
import venv
import zipfile
from email import message_from_bytes

import pytest

MB = 10**6
LARGEST_INSTALLED = 150 * MB
SLOWEST_IMPORT = 0.06
"""Seconds."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, repository):
    """Build the wheel from a copy of what it is made of, without a network."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    tracked = ["pyproject.toml", "README.md", "LICENSE", "momentrank", "pipeline", "annotation"]
    subprocess.run(["cp", "-r", *tracked, source], cwd=repository, check=True)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "-w", out, source], check=True, capture_output=True)
    return next(out.glob("momentrank-*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel):
    """Return what PyPI shows."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        return message_from_bytes(archive.read(name))


@pytest.mark.integration
def test_the_wheel_holds_momentrank_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert packages == {"momentrank"}
    assert "momentrank/py.typed" in names


@pytest.mark.integration
def test_it_asks_for_light_libraries_only(metadata):
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert {line.split(">=")[0] for line in needed} == {"numpy"}
    assert set(metadata.get_all("Provides-Extra")) == {"baselines", "frames", "ir-measures"}


@pytest.mark.integration
def test_its_page_on_pypi_is_about_the_scorer_and_its_links_lead_somewhere(metadata):
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    page = metadata.get_payload()
    assert "momentrank evaluate" in page
    links = re.findall(r"\]\(([^)]*)\)", page)
    links += [line.split(", ")[1] for line in metadata.get_all("Project-URL")]
    assert all(link.startswith("https://") for link in links)


SCORE = (
    "import momentrank as mr; rows = [('q', 'v', 0, 1, 1)]\n"
    "result = mr.evaluate(rows, rows, ['AxIoU@1'])\n"
    "assert result['AxIoU@1'] == 1\n"
    "try: result.to_frame()\n"
    "except mr.UsageError as exc: print(exc)"
)


@pytest.mark.slow
@pytest.mark.integration
def test_installed_into_an_empty_environment_it_brings_numpy_alone(wheel, tmp_path):
    venv.create(tmp_path)
    python = tmp_path / "bin" / "python"
    [packages] = tmp_path.glob("lib/*/site-packages")
    before = size(packages)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    subprocess.run([*pip, "install", "-q", wheel], check=True, capture_output=True)
    assert size(packages) - before < LARGEST_INSTALLED
    frozen = subprocess.run([*pip, "freeze"], check=True, capture_output=True, text=True).stdout
    assert {re.split("[= ]", line)[0] for line in frozen.splitlines()} == {"momentrank", "numpy"}
    scored = subprocess.run(
        [python, "-c", SCORE], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert scored.stdout == "frames need pandas: pip install 'momentrank[frames]'\n"
    (tmp_path / "a.qrels").write_text("q Q0 v 0 1 1\n")
    (tmp_path / "a.run").write_text("q Q0 v 0 1 1 1 x\n")
    command = [tmp_path / "bin" / "momentrank", "evaluate", "a.qrels", "a.run", "AxIoU@1"]
    output = subprocess.run(
        command, cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert output.splitlines()[-1].split() == ["AxIoU@1", "all", "1.0000"]


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_importing_it_is_quick_and_brings_nothing_heavy():
    heavy = "{'numpy', 'pandas', 'scipy', 'ir_measures', 'torch', 'pandera', 'dvc'}"
    code = (
        "import sys, time; began = time.process_time(); import momentrank\n"
        f"print(time.process_time() - began, *({heavy} & set(sys.modules)))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    seconds = [run.stdout.split() for run in runs]
    assert [len(parts) for parts in seconds] == [1, 1, 1], "something heavy is imported"
    assert min(float(parts[0]) for parts in seconds) < SLOWEST_IMPORT


def test_the_example_of_its_page_works(repository, capsys):
    page = (repository / "momentrank" / "README.md").read_text()
    [example] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102
    output = capsys.readouterr().out
    assert "nDCG(iou=0.5)@10" in output
    assert float(output.split()[-1]) == pytest.approx(0.75)
