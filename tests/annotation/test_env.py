"""The server's address and token: where they are looked for, and that nobody else reads them."""

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import env
from annotation.env import Endpoint


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (env.URL, env.TOKEN):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_no_server_is_a_normal_state():
    assert env.endpoint() is None
    env.write({env.URL: "http://127.0.0.1:1"})
    assert env.endpoint() is None


def test_the_environment_wins_over_the_file(monkeypatch):
    env.write({env.URL: "http://127.0.0.1:1/", env.TOKEN: "secret"})
    assert env.endpoint() == ("http://127.0.0.1:1", "secret")
    monkeypatch.setenv(env.TOKEN, "other")
    assert env.endpoint() == ("http://127.0.0.1:1", "other")


def test_the_token_is_not_shown():
    assert "secret" not in f"{Endpoint('http://x', 'secret')!r} {Endpoint('http://x', 'secret')}"


def test_what_else_stands_in_the_file_stays_and_only_its_owner_reads_it(nowhere):
    (nowhere / ".env").write_text("# mine\nOPENAI_API_KEY='abc'\nLABEL_STUDIO_URL=old\n")
    env.write({env.URL: "new"})
    assert (nowhere / ".env").read_text() == "# mine\nOPENAI_API_KEY='abc'\nLABEL_STUDIO_URL=new\n"
    assert stat.S_IMODE((nowhere / ".env").stat().st_mode) == 0o600
    assert env.read() == {"OPENAI_API_KEY": "abc", env.URL: "new"}


@given(st.dictionaries(st.sampled_from("ABCD"), st.text(st.characters(codec="utf-8"), max_size=20)))
def test_what_is_written_is_read_again(nowhere, values):
    values = {name: "".join(text.splitlines()) for name, text in values.items()}
    path = nowhere / "round.env"
    path.unlink(missing_ok=True)
    env.write(values, path)
    assert env.read(path) == values
