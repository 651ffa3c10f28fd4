"""MomentRank: formats and scoring for ranked video moment retrieval.

    import momentrank as mr
    from momentrank import AxIoU, nDCG

    qrels, run = mr.read_qrels("test.qrels"), mr.read_run("my.run")
    mr.calc_aggregate([nDCG(iou=0.5) @ 10, AxIoU @ 10], qrels, run)

This package is the scorer, and all that the wheel contains: it imports neither `pipeline` nor
`annotation`. Names are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from momentrank.errors import MomentRankError, UsageError

if TYPE_CHECKING:
    from momentrank.formats import FormatError, read_qrels, read_run
    from momentrank.functions import calc, calc_aggregate, evaluator, iter_calc
    from momentrank.measures import (
        AP,
        DCG,
        AxIoU,
        Judged,
        LengthRel,
        LengthRet,
        MeanP,
        Measure,
        MeasureError,
        NCxIoU,
        NumQ,
        NumRel,
        NumRelRet,
        NumRet,
        P,
        R,
        VideosRel,
        VideosRet,
        nDCG,
    )
    from momentrank.measures.parse import parse_measure
    from momentrank.scoring import Evaluator

__version__ = "0.1.0"
__all__ = [
    "AP",
    "DCG",
    "AxIoU",
    "Evaluator",
    "FormatError",
    "Judged",
    "LengthRel",
    "LengthRet",
    "MeanP",
    "Measure",
    "MeasureError",
    "MomentRankError",
    "NCxIoU",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "R",
    "UsageError",
    "VideosRel",
    "VideosRet",
    "__version__",
    "calc",
    "calc_aggregate",
    "evaluator",
    "iter_calc",
    "nDCG",
    "parse_measure",
    "read_qrels",
    "read_run",
]
_MODULES = {
    **dict.fromkeys(("FormatError", "read_qrels", "read_run"), "formats"),
    **dict.fromkeys(("calc", "calc_aggregate", "evaluator", "iter_calc"), "functions"),
    "Evaluator": "scoring",
    "parse_measure": "measures.parse",
}


def __getattr__(name: str) -> object:
    """Import a name of `__all__` on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'momentrank' has no attribute {name!r}")
    return getattr(import_module(f"momentrank.{_MODULES.get(name, 'measures')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
