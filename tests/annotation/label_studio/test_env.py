"""The server's address and token: where they are looked for, and that nobody else reads them."""

import stat

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.label_studio import settings
from annotation.label_studio.settings import Endpoint, SettingsError


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


NO_ADDRESSES = [
    *("127.0.0.1:8080", "localhost", "http://", "ftp://127.0.0.1"),
    *("http://[::1", "http://127.0.0.1:80a", "http://127.0.0.1:99999", "http://127.0.0.1:0"),
]


@pytest.mark.parametrize(
    ("url", "token"),
    [
        *((url, "token") for url in NO_ADDRESSES),
        ("http://127.0.0.1:1", "s3cret\x01s3cret"),
        ("http://127.0.0.1:1", "s3cr\u00e9t"),
        ("http://lead:s3cret@127.0.0.1:1", "token"),
    ],
)
def test_no_address_and_what_would_leak_is_refused_in_one_line_without_repeating_it(
    monkeypatch, url, token
):
    monkeypatch.setenv(settings.URL, url)
    monkeypatch.setenv(settings.TOKEN, token)
    problem = "is not a valid address" if url in NO_ADDRESSES else "remove|no token has"
    with pytest.raises(SettingsError, match=problem) as caught:
        settings.endpoint()
    assert "s3cr" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_line_break_after_a_token_is_none_of_it(monkeypatch):
    monkeypatch.setenv(settings.URL, "http://127.0.0.1:1")
    monkeypatch.setenv(settings.TOKEN, "token\n")
    assert settings.endpoint() == ("http://127.0.0.1:1", "token")


def test_the_token_is_not_shown():
    assert "secret" not in f"{Endpoint('http://x', 'secret')!r} {Endpoint('http://x', 'secret')}"


def test_what_else_stands_in_the_file_stays_and_only_its_owner_reads_it(nowhere):
    (nowhere / ".env").write_text("# mine\nOPENAI_API_KEY='abc'\nLABEL_STUDIO_URL=old\n")
    settings.write({settings.URL: "new"})
    assert (nowhere / ".env").read_text() == "# mine\nOPENAI_API_KEY='abc'\nLABEL_STUDIO_URL=new\n"
    assert stat.S_IMODE((nowhere / ".env").stat().st_mode) == 0o600
    assert settings.read() == {"OPENAI_API_KEY": "abc", settings.URL: "new"}


@hypothesis.settings(max_examples=40)
@given(st.dictionaries(st.sampled_from("ABCD"), st.text(st.characters(codec="utf-8"), max_size=20)))
def test_what_is_written_is_read_again(nowhere, values):
    values = {name: "".join(text.splitlines()) for name, text in values.items()}
    path = nowhere / "round.env"
    path.unlink(missing_ok=True)
    settings.write(values, path)
    assert settings.read(path) == values
