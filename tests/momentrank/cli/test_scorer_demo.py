"""The demo: what it prints is what the commands print, and its files are only kept if asked."""

import shlex

from momentrank.cli import demo
from momentrank.cli.main import main


def test_it_shows_two_files_the_commands_and_what_they_print(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []

    assert main(["demo", "--write", "kept"]) == 0
    assert capsys.readouterr().out.splitlines()[:-1] == shown.splitlines()[:-1]
    monkeypatch.chdir(tmp_path / "kept")
    for name, text in demo.FILES.items():
        assert (tmp_path / "kept" / name).read_text() == text
        assert text in shown
    for command in demo.COMMANDS:
        assert main(shlex.split(command)[1:]) == 0
        assert f"$ {command}\n{capsys.readouterr().out}" in shown


def test_another_file_of_that_name_stays(tmp_path, capsys):
    (tmp_path / "demo.run").write_text("mine")
    assert main(["demo", "--write", str(tmp_path)]) == 2
    assert "demo.run: exists already" in capsys.readouterr().err
    assert (tmp_path / "demo.run").read_text() == "mine"
