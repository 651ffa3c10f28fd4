"""Private files, without a server."""

import stat
from pathlib import Path

import pytest

from annotation.label_studio import settings
from annotation.roster import roster
from pipeline.core.tables import PRIVATE

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_private_file_that_was_written_by_hand_is_made_private_and_that_is_said(mode, capsys):
    PRIVATE.parent.mkdir(parents=True)
    settings.ENV.write_text(f"{settings.TOKEN}=abc\n")
    PRIVATE.write_text("accounts:\n  1: {email: ann@example.org}\n")
    for path, read in ((settings.ENV, settings.read), (PRIVATE, roster.read_accounts)):
        path.chmod(mode)
        assert read()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        message = capsys.readouterr().err
        assert f"{path}: others could read it" in message
        assert "abc" not in message
        assert read()
        assert capsys.readouterr().err == "", "once is enough"


def test_where_that_is_impossible_it_is_said_and_the_file_is_read(monkeypatch, capsys):
    settings.ENV.write_text(f"{settings.TOKEN}=abc\n")
    settings.ENV.chmod(0o644)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)  # as on a disk that knows no owners
    assert settings.read() == {settings.TOKEN: "abc"}
    assert "others can read it" in capsys.readouterr().err
