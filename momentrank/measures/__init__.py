"""Measures: they turn relevance into numbers. One module per family; defaults follow the papers.

Measures are values: `nDCG(iou=0.5)@10`. A new one is imported here, and nowhere else; `REGISTRY`
has all of them by name.
"""

from momentrank.measures.base import Measure, MeasureError
from momentrank.measures.counts import (
    LengthRel,
    LengthRet,
    MAiSP,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    VideosRel,
    VideosRet,
)
from momentrank.measures.gain import DCG, AxIoU, MeanP, NCxIoU, R, mIoU, nDCG
from momentrank.measures.precision import AP, RR, VR, Judged, P, Recall
from momentrank.measures.silence import AUARC, AUROC, NullAcc

_MEASURES = [value for value in list(globals().values()) if isinstance(value, Measure)]
_MEASURES.sort(key=lambda measure: measure.NAME.lower())
REGISTRY = {measure.NAME: measure for measure in _MEASURES}

__all__ = [
    "AP",
    "AUARC",
    "AUROC",
    "DCG",
    "REGISTRY",
    "RR",
    "VR",
    "AxIoU",
    "Judged",
    "LengthRel",
    "LengthRet",
    "MAiSP",
    "MeanP",
    "Measure",
    "MeasureError",
    "NCxIoU",
    "NullAcc",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "R",
    "Recall",
    "VideosRel",
    "VideosRet",
    "mIoU",
    "nDCG",
]
