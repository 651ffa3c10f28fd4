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

_MEASURES = [one for one in list(globals().values()) if isinstance(one, Measure)]
REGISTRY = {one.NAME: one for one in sorted(_MEASURES, key=lambda one: one.NAME.lower())}

__all__ = [
    "AP",
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
