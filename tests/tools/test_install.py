"""Packages are installed by uv, as pip is set up to look for them, and by pip where uv fails."""

import ast
import re
import sys
from importlib.metadata import distributions, packages_distributions
from subprocess import CalledProcessError

import pytest

from tools import install

LISTED = """:env:.find-links='/here /there'
:env:.cert='/etc/ca.crt'
global.find-links='/elsewhere'
global.extra-index-url='\\nfile:///nowhere/simple\\nhttps://packages.example.org/cpu'
global.index-url='https://packages.example.org/simple'
global.timeout='60'
"""


def test_uv_looks_where_pip_would():
    assert install.translate_options(install.read_options(LISTED)) == {
        "UV_DEFAULT_INDEX": "https://packages.example.org/simple",
        "UV_FIND_LINKS": "/here,/there",
        "UV_INDEX": "https://packages.example.org/cpu",
        "SSL_CERT_FILE": "/etc/ca.crt",
    }


def test_a_pip_without_settings_sets_nothing():
    assert install.translate_options(install.read_options("")) == {}
    only_a_folder = "global.extra-index-url='file:///nowhere/simple'\n"
    assert install.translate_options(install.read_options(only_a_folder)) == {}


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """Return what would be run, `(module, first word)`; those in `fails` end with an error."""
    (tmp_path / "requirements.lock").write_text("urllib3==2.8.0\nuv==0.1.2\n")
    monkeypatch.chdir(tmp_path)
    calls, fails = [], set()

    def run(*words, env=None):
        calls.append(words)
        if fails & {words[:2], words[:3]}:
            raise CalledProcessError(1, words, "error: no\n")
        return ""

    monkeypatch.setattr(install, "run", run)
    return calls, fails


def test_uv_of_the_pinned_version_installs_the_list(commands):
    calls, _ = commands
    install.install("a.lock")
    assert [words[0] for words in calls] == ["pip", "pip", "uv", "pip"]
    assert calls[0][-1] == "uv==0.1.2"
    assert calls[2][-1] == "a.lock"
    assert calls[3] == ("pip", "check")


@pytest.mark.parametrize("fails", [("uv", "pip"), ("pip", "-qq", "install")])
def test_pip_installs_it_where_uv_fails(commands, fails, capsys):
    calls, failing = commands
    failing.add(fails)
    if fails == ("uv", "pip"):
        install.install("a.lock")
        assert calls[-2][-1] == "a.lock"
    else:  # nothing can be had at all
        with pytest.raises(CalledProcessError):
            install.install("a.lock")
    assert "pip takes a few minutes" in capsys.readouterr().out


def test_what_the_list_lacks_on_another_platform_is_added_and_named(commands, capsys):
    calls, failing = commands
    failing.add(("pip", "check"))
    install.install("a.lock")
    assert calls[-1][:3] == ("uv", "pip", "install")
    assert "--no-deps" not in calls[-1]
    assert "a.lock lacks" in capsys.readouterr().out
    failing.add(("uv", "pip"))
    install.install("a.lock")
    assert calls[-1] == ("pip", "-qq", "install", "--requirement", "a.lock")


@pytest.mark.parametrize(
    ("environment", "lists"),
    [
        (
            ".venv",
            [f"requirements{kind}.lock" for kind in ("", "-docs", "-engines", "-tests")],
        ),
        (".venv-label-studio", ["requirements-label-studio.lock"]),
    ],
)
def test_nothing_is_installed_that_is_not_pinned(repository, environment, lists):
    """What a list lacks, pip looks for in every setup: slowly, and whatever is the newest."""
    [*folders] = (repository / environment).glob("lib/python*/site-packages")
    if not folders:
        pytest.skip(f"there is no {environment}")
    own = {"pip", "uv", "momentrank"}  # what installs, and this project
    pinned = {
        normalize(line.partition("==")[0])
        for name in lists
        for line in (repository / name).read_text().splitlines()
    }
    installed = {normalize(one.name) for one in distributions(path=list(map(str, folders)))}
    assert installed - pinned - own == set()


def test_lists_that_share_an_environment_agree_on_a_package(repository):
    pins = {}
    for path in repository.glob("requirements*.lock"):
        if path.name != "requirements-label-studio.lock":  # an environment of its own
            for line in path.read_text().splitlines():
                pins.setdefault(normalize(line.partition("==")[0]), set()).add(line)
    assert {name: lines for name, lines in pins.items() if len(lines) > 1} == {}


PACKAGES = ("momentrank", "pipeline", "annotation", "baselines", "tools")
OPTIONAL = {"ir_measures", "ray", "submitit"}
"""Imported where somebody has installed them."""


def test_what_stages_and_commands_import_is_installed_without_the_tests_packages(repository):
    """Else `make demo` would fail where only `make setup` has run."""
    locks = {
        name: {
            normalize(line.partition("==")[0]) for line in (repository / name).read_text().split()
        }
        for name in ("requirements.lock", "requirements-tests.lock")
    }
    assert locks["requirements.lock"] & locks["requirements-tests.lock"] == set()
    sources = [path for name in PACKAGES for path in (repository / name).rglob("*.py")]
    imported = {name for path in sources for name in list_imported(path)}
    providers = packages_distributions()
    own = {*sys.stdlib_module_names, *PACKAGES}
    missing = {
        name
        for name in imported - own - OPTIONAL
        if not {normalize(one) for one in providers.get(name, [])} & locks["requirements.lock"]
    }
    assert missing == {"readme_renderer"}, "which only `make release` needs"


def list_imported(path):
    """Return the packages that a file imports, for types only excepted."""
    skipped = set()
    for node in ast.walk(tree := ast.parse(path.read_text())):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            skipped |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize(
    ("cuda", "told"), [(None, "2.9.0+cpu, CPU build"), ("13.0", "2.9.0, CUDA 13.0 build")]
)
def test_setup_tells_which_pytorch_it_got_and_how_large_it_is(tmp_path, cuda, told):
    assert install.describe_torch(tmp_path) is None
    (tmp_path / "torch").mkdir()
    version = "2.9.0" if cuda else "2.9.0+cpu"
    (tmp_path / "torch/version.py").write_text(f"__version__ = {version!r}\ncuda = {cuda!r}\n")
    for name in ("nvidia", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "library.so").write_bytes(b"x" * 60_000_000)
    described = install.describe_torch(tmp_path)
    assert described.startswith(f"PyTorch {told}: 0.1 of the environment's 0.1 GB")
    assert ("docs/installation.md" in described) == bool(cuda)


def normalize(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_a_module_that_fails_says_why(capsys):
    with pytest.raises(CalledProcessError) as failed:
        install.run("pip", "install", "--no-index", "--requirement", "nowhere.lock")
    assert "nowhere.lock" in failed.value.output
