"""The server's address and token: where they are looked for, and that nobody else reads them."""

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.label_studio import settings
from annotation.label_studio.settings import Endpoint


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (settings.URL, settings.TOKEN):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_no_server_is_a_normal_state():
    assert settings.endpoint() is None
    settings.write({settings.URL: "http://127.0.0.1:1"})
    assert settings.endpoint() is None


def test_the_environment_wins_over_the_file(monkeypatch):
    settings.write({settings.URL: "http://127.0.0.1:1/", settings.TOKEN: "secret"})
    assert settings.endpoint() == ("http://127.0.0.1:1", "secret")
    monkeypatch.setenv(settings.TOKEN, "other")
    assert settings.endpoint() == ("http://127.0.0.1:1", "other")


def test_the_token_is_not_shown():
    assert "secret" not in f"{Endpoint('http://x', 'secret')!r} {Endpoint('http://x', 'secret')}"


def test_what_else_stands_in_the_file_stays_and_only_its_owner_reads_it(nowhere):
    (nowhere / ".env").write_text("# mine\nOPENAI_API_KEY='abc'\nLABEL_STUDIO_URL=old\n")
    settings.write({settings.URL: "new"})
    assert (nowhere / ".env").read_text() == "# mine\nOPENAI_API_KEY='abc'\nLABEL_STUDIO_URL=new\n"
    assert stat.S_IMODE((nowhere / ".env").stat().st_mode) == 0o600
    assert settings.read() == {"OPENAI_API_KEY": "abc", settings.URL: "new"}


@given(st.dictionaries(st.sampled_from("ABCD"), st.text(st.characters(codec="utf-8"), max_size=20)))
def test_what_is_written_is_read_again(nowhere, values):
    values = {name: "".join(text.splitlines()) for name, text in values.items()}
    path = nowhere / "round.env"
    path.unlink(missing_ok=True)
    settings.write(values, path)
    assert settings.read(path) == values
