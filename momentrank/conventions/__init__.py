"""Conventions, for where papers and scripts differ; every output names its own.

A new one is listed in `MODULES`, and in its module's own `CONVENTIONS`.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from momentrank.errors import UsageError

if TYPE_CHECKING:
    from momentrank.conventions.base import Convention

PAPER = "paper"
"""The default."""
MODULES = {
    PAPER: "paper",
    "tvr-ranking": "paper",
    "spr": "paper",
    "sh-eval": "sh_eval",
    "qvhighlights": "qvhighlights",
    "vcmr": "grounding",
    "charades": "grounding",
    "tall": "suppression",
    "2d-tan": "suppression",
    "2d-tan-0.49": "suppression",
    "2d-tan-0.45": "suppression",
    "2d-tan-0.4": "suppression",
    "didemo": "best_three",
    "nlq": "grounding",
}
CONVENTIONS = tuple(MODULES)
"""The names of all conventions."""


def get(name: "str | Convention") -> "Convention":
    """Return the convention of a name."""
    if not isinstance(name, str):
        return name
    if name not in MODULES:
        raise UsageError(
            f"{name!r} is not a valid convention, must be one of {', '.join(CONVENTIONS)}"
        )
    family: Iterable[Convention] = import_module(f"{__name__}.{MODULES[name]}").CONVENTIONS
    return next(convention for convention in family if convention.name == name)
