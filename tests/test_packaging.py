"""The wheel: `momentrank` alone, light."""

import subprocess
import sys
import venv
import zipfile
from email import message_from_bytes

import pytest


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, repository):
    """Build the wheel from a copy of what it is made of, without a network."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    tracked = ["pyproject.toml", "README.md", "LICENSE", "momentrank", "pipeline", "annotation"]
    subprocess.run(["cp", "-r", *tracked, source], cwd=repository, check=True)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "-w", out, source], check=True, capture_output=True)
    return next(out.glob("momentrank-*.whl"))


@pytest.mark.integration
def test_the_wheel_holds_momentrank_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert packages == {"momentrank"}
    assert "momentrank/py.typed" in names


@pytest.mark.integration
def test_it_asks_for_light_libraries_only(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = message_from_bytes(archive.read(name))
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert {line.split(">=")[0] for line in needed} == {"numpy", "pandas"}
    assert metadata["License-Expression"] == "Apache-2.0"
    assert set(metadata.get_all("Provides-Extra")) >= {"build", "annotate", "test", "parquet"}


@pytest.mark.slow
@pytest.mark.integration
def test_installed_into_an_empty_environment_it_brings_no_torch(wheel, tmp_path):
    venv.create(tmp_path, with_pip=True)
    python = tmp_path / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", wheel], check=True, capture_output=True)
    frozen = subprocess.run([*pip, "freeze"], check=True, capture_output=True, text=True).stdout
    assert "momentrank" in frozen
    assert not {"torch", "transformers", "dvc", "pyarrow"} & {
        line.split("==")[0] for line in frozen.splitlines()
    }
    subprocess.run([python, "-c", "import momentrank"], cwd=tmp_path, check=True)


def test_importing_it_brings_nothing_heavy():
    code = "import sys, momentrank; print(*({'torch', 'pandera', 'dvc'} & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.split() == []
