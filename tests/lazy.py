"""Modules that are imported when a test uses them: every worker collects all tests, and runs few.

torch = Lazy("torch")
"""

from importlib import import_module


class Lazy:
    """Stands for a module that takes seconds to import, torch above all."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        if name.startswith(("__", "_mock")):  # pytest asks all that a module of tests holds
            raise AttributeError(name)
        return getattr(import_module(self._name), name)
