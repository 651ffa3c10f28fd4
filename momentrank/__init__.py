"""MomentRank: formats and scoring for ranked video moment retrieval.

    import momentrank as mr

    mr.evaluate("test.qrels", "my.run", ["nDCG(iou=0.5)@10", mr.AxIoU @ 10]).to_frame()
    mr.compare("test.qrels", {"ours": "a.run", "theirs": "b.run"}, ["R@1,IoU>=0.5"]).to_frame()

This package is the scorer, and all that the wheel contains: it imports neither `pipeline` nor
`annotation`. Names are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from momentrank.errors import MomentRankError as MomentRankError
from momentrank.errors import UsageError as UsageError

if TYPE_CHECKING:  # under their own names, as type checkers require of public ones
    from momentrank.collection.release import load as load
    from momentrank.formats import FormatError as FormatError
    from momentrank.formats import read_qrels as read_qrels
    from momentrank.formats import read_run as read_run
    from momentrank.functions import calc as calc
    from momentrank.functions import calc_aggregate as calc_aggregate
    from momentrank.functions import compare as compare
    from momentrank.functions import convert as convert
    from momentrank.functions import evaluate as evaluate
    from momentrank.functions import evaluate_with_machine as evaluate_with_machine
    from momentrank.functions import evaluator as evaluator
    from momentrank.functions import explain as explain
    from momentrank.functions import iter_calc as iter_calc
    from momentrank.functions import risk_coverage as risk_coverage
    from momentrank.functions import score_runs as score_runs
    from momentrank.functions import write_qrels as write_qrels
    from momentrank.functions import write_run as write_run
    from momentrank.measures import *  # noqa: F403  (its __all__ is the list)
    from momentrank.measures.parse import parse_measure as parse_measure
    from momentrank.scoring import Evaluator as Evaluator
    from momentrank.segments import SegmentError as SegmentError

__version__ = "1.0.0"
_MODULES = {
    **dict.fromkeys(("FormatError", "read_qrels", "read_run"), "formats"),
    **dict.fromkeys(
        (
            *("evaluate", "evaluate_with_machine", "compare", "explain", "convert"),
            *("write_qrels", "write_run"),
            *("evaluator", "iter_calc", "calc_aggregate", "calc", "score_runs"),
            "risk_coverage",
        ),
        "functions",
    ),
    "Evaluator": "scoring",
    "load": "collection.release",
    "SegmentError": "segments",
    "parse_measure": "measures.parse",
}
"""Modules of public names, except measures."""


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name in _MODULES:
        return getattr(import_module(f"momentrank.{_MODULES[name]}"), name)
    if name == "__all__":
        return __dir__()
    measures = import_module("momentrank.measures")
    if name not in measures.__all__:
        raise AttributeError(f"module 'momentrank' has no attribute {name!r}")
    return getattr(measures, name)


def __dir__() -> list[str]:
    eager = ["MomentRankError", "UsageError", "__version__"]
    return sorted([*eager, *_MODULES, *import_module("momentrank.measures").__all__])
