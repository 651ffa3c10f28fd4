"""The scorer's packages: `momentrank` alone, light, and installed from an index."""

import contextlib
import copy
import hashlib
import os
import re
import subprocess
import sys
import threading
import time
import venv
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from project import OWNER, copy_few
from readme import sections, shell

from tools import release

MB = 10**6
LARGEST_INSTALLED = 150 * MB
SLOWEST_IMPORT = 0.06
"""Seconds."""


SOURCES = (
    *("pyproject.toml", "setup.py", "owner.toml", "MANIFEST.in", "README.md", "LICENSE"),
    *("momentrank", "pipeline", "annotation", "tools"),
)


@pytest.fixture(scope="module")
def packages(tmp_path_factory, repository):
    """Build both packages from a copy of what they are made of, without a network."""
    source = tmp_path_factory.mktemp("source")
    copy_few(repository, source, *SOURCES)
    with contextlib.chdir(source):
        return [source / path for path in release.build(Path("dist"))]


@pytest.fixture(scope="module")
def wheel(packages):
    return packages[0]


@pytest.fixture(scope="module")
def metadata(wheel):
    """Return what an index shows."""
    return release.read_metadata(wheel)


@pytest.mark.integration
def test_there_are_a_wheel_and_its_source(packages):
    assert [path.name.partition("-")[0] for path in packages] == ["momentrank"] * 2
    assert [path.suffix for path in packages] == [".whl", ".gz"]


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
    assert "momentrank evaluate" in metadata.get_payload()
    pytest.importorskip("readme_renderer")
    assert list(release.find_faults(metadata)) == []
    metadata = copy.deepcopy(metadata)
    metadata.set_payload("[how](docs/scoring.md)")
    assert list(release.find_faults(metadata)) == ["docs/scoring.md: leads nowhere from an index"]


@pytest.mark.integration
def test_nothing_is_released_before_its_owner_can_be_found(tmp_path, repository):
    project = copy_few(repository, tmp_path, *SOURCES)
    project.run(sys.executable, "-m", "tools.release", fails=True)
    assert "owner.toml: name, email, security, repository, issues: empty" in project.errors
    (tmp_path / "owner.toml").write_text(OWNER.replace("https://example.org/momentrank/", "http:/"))
    project.run(sys.executable, "-m", "tools.release", fails=True)
    assert "owner.toml: issues" in project.errors
    assert not (tmp_path / "dist").exists()

    pytest.importorskip("readme_renderer")
    (tmp_path / "owner.toml").write_text(OWNER)
    output = project.run(sys.executable, "-m", "tools.release")
    assert "nothing is published" in output
    assert "1 uncommitted changes" in project.errors
    shown = release.read_metadata(next(tmp_path.glob("dist/*.whl")))
    assert (shown["Author"], shown["Author-email"]) == ("Ada Cook", "ada@example.org")
    assert "Repository, https://example.org/momentrank" in shown.get_all("Project-URL")


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


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Index(SimpleHTTPRequestHandler):
    """An index of packages in a folder, as PEP 503 has it."""

    requested: list[str]

    def do_GET(self):
        self.requested.append(self.path)
        return super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def index(packages, tmp_path):
    """Serve the packages; return pip's and uv's settings for it, and what was asked for."""
    folder = tmp_path / "index/simple/momentrank"
    folder.mkdir(parents=True)
    for path in packages:
        (folder / path.name).write_bytes(path.read_bytes())
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in packages}
    links = (f'<a href="{name}#sha256={digest}">{name}</a>' for name, digest in hashes.items())
    (folder / "index.html").write_text(f"<!doctype html><body>{''.join(links)}</body>")
    handler = type("Served", (Index,), {"requested": []})
    served = partial(handler, directory=tmp_path / "index")
    with ThreadingHTTPServer(("127.0.0.1", 0), served) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/simple/"
        usual = os.environ.get("PIP_EXTRA_INDEX_URL", "")
        yield {"PIP_EXTRA_INDEX_URL": f"{usual} {url}".strip(), "UV_INDEX": url}, handler.requested
        server.shutdown()
        thread.join()


def find_python(version):
    """Return the path of a Python, of uv's or pyenv's; skip the test where there is none."""
    installed = Path.home().glob(f".pyenv/versions/{version}.*/bin")
    path = os.pathsep.join([*map(str, installed), os.environ["PATH"]])
    found = subprocess.run(
        [sys.executable, "-m", "uv", "python", "find", "--no-project", version],
        env=os.environ | {"PATH": path, "UV_PYTHON_DOWNLOADS": "never"},
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or pytest.skip(f"there is no Python {version} here")


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("package", ["whl", "gz"])
def test_from_an_index_it_runs_on_every_python_that_it_claims(index, tmp_path, version, package):
    settings, requested = index
    if package == "gz":
        next(tmp_path.glob("index/simple/momentrank/*.whl")).unlink()
        page = tmp_path / "index/simple/momentrank/index.html"
        page.write_text(re.sub(r'<a href="[^"]*whl.*?</a>', "", page.read_text()))
    env = os.environ | settings | {"UV_CACHE_DIR": str(tmp_path / "cache")}
    uv, folder = [sys.executable, "-m", "uv"], tmp_path / "env"
    for command in (
        [*uv, "venv", "--quiet", "--python", find_python(version), folder],
        [*uv, "pip", "install", "--quiet", "--python", folder / "bin/python", "momentrank"],
    ):
        subprocess.run(command, env=env, check=True, capture_output=True, cwd=tmp_path)
    assert [path for path in requested if path.endswith(package)]
    outputs = [
        subprocess.run(
            command, cwd=tmp_path, env={"PATH": ""}, check=True, capture_output=True, text=True
        ).stdout
        for command in (
            [folder / "bin/python", "-m", "momentrank", "demo"],
            [folder / "bin/momentrank", "demo"],
        )
    ]
    assert outputs[0] == outputs[1]
    assert "nDCG(iou=0.5)@10\tall\t0.6681" in outputs[0]
    (tmp_path / "a.qrels").write_text("q Q0 v 0 1 1\n")
    (tmp_path / "a.run").write_text("q Q0 v 0 1 1 1 x\n")
    command = [folder / "bin/momentrank", "evaluate", "a.qrels", "a.run", "AxIoU@1"]
    scored = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "AxIoU@1\tall\t1.0000" in scored.stdout


LONGEST_TO_A_NUMBER = 120
"""Seconds, installation included."""


@pytest.mark.slow
@pytest.mark.integration
def test_an_evaluator_has_a_first_number_in_two_minutes_from_nothing(
    index, tmp_path, repository, capsys
):
    """The door's commands as they stand, in an empty folder, with nothing installed or cached."""
    [script, *_] = [
        command
        for page in (repository / "README.md", repository / "momentrank/README.md")
        for commands in sections(page).values()
        for command in commands
        if "pip install momentrank" in command.splitlines()
    ]
    settings, _ = index
    home = tmp_path / "home"
    home.mkdir()
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), **settings}
    env |= {name: text for name, text in os.environ.items() if name.startswith(("PIP_C", "SSL_"))}
    began = time.monotonic()
    output = shell(script, home, env)
    seconds = time.monotonic() - began
    assert "nDCG(iou=0.5)@10\tall\t" in output
    with capsys.disabled():
        sys.stdout.write(f"\nevaluator: from nothing to a first number in {seconds:.1f} s\n")
    assert seconds < LONGEST_TO_A_NUMBER


def test_importing_it_is_quick_and_brings_nothing_heavy():
    heavy = "{'numpy', 'pandas', 'scipy', 'ir_measures', 'torch', 'dvc'}"
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
