"""A command in this process: what `python -m annotation.X` does, without starting Python anew."""

import runpy
import sys
import warnings

import pytest


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs `python -m MODULE WORDS...`: exit code, stdout, stderr."""

    def command(module, *words):
        monkeypatch.setattr(sys, "argv", [module, *map(str, words)])
        code = 0
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # known already
            try:
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            except SystemExit as exc:
                code = exc.code or 0
        return code, *capsys.readouterr()

    return command
