"""Packages are installed by uv, as pip is set up to look for them, and by pip where uv fails."""

import re
from importlib.metadata import distributions
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
    assert calls[-1] == ("pip", "-qq", "install", "--requirement", "a.lock")
    assert "a.lock lacks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("environment", "lists"),
    [
        (".venv", ["requirements.lock", "requirements-engines.lock"]),
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


def normalize(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_a_module_that_fails_says_why(capsys):
    with pytest.raises(CalledProcessError) as failed:
        install.run("pip", "install", "--no-index", "--requirement", "nowhere.lock")
    assert "nowhere.lock" in failed.value.output
