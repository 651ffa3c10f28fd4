"""Conventions, for where papers and scripts differ; every output names its own.

One module per convention; a new one is listed in `MODULES`. Each has its instance `CONVENTION`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from momentrank.errors import UsageError

if TYPE_CHECKING:
    from momentrank.conventions.base import Convention

PAPER = "paper"
"""The default."""
MODULES = {
    PAPER: "paper",
    "tvr-ranking": "tvr_ranking",
    "spr": "spr",
    "sh-eval": "sh_eval",
    "qvhighlights": "qvhighlights",
    "vcmr": "vcmr",
    "charades": "charades",
    "nlq": "nlq",
}
CONVENTIONS = tuple(MODULES)
"""The names of all conventions."""


def get(name: "str | Convention") -> "Convention":
    """Return the convention of a name.

    Raises:
        UsageError: it does not exist.
    """
    if not isinstance(name, str):
        return name
    if name not in MODULES:
        raise UsageError(
            f"{name!r} is not a valid convention, must be one of {', '.join(CONVENTIONS)}"
        )
    convention: Convention = import_module(f"{__name__}.{MODULES[name]}").CONVENTION
    return convention
