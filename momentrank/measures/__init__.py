"""Measures: they turn relevance into numbers. One module per measure; defaults follow the papers.

Measures are values: `nDCG(iou=0.5)@10`. A new one is imported here, and nowhere else; `REGISTRY`
has all of them by name.
"""

from momentrank.measures.ap import AP
from momentrank.measures.axiou import AxIoU
from momentrank.measures.base import Measure, MeasureError
from momentrank.measures.counts import (
    LengthRel,
    LengthRet,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    VideosRel,
    VideosRet,
)
from momentrank.measures.dcg import DCG
from momentrank.measures.judged import Judged
from momentrank.measures.maisp import MAiSP
from momentrank.measures.meanp import MeanP
from momentrank.measures.miou import mIoU
from momentrank.measures.ncxiou import NCxIoU
from momentrank.measures.ndcg import nDCG
from momentrank.measures.p import P
from momentrank.measures.r import R
from momentrank.measures.recall import Recall
from momentrank.measures.rr import RR
from momentrank.measures.vr import VR

REGISTRY = {one.NAME: one for one in list(globals().values()) if isinstance(one, Measure)}

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
