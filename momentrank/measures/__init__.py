"""Measures: they turn relevance into numbers. One module per measure; defaults follow the papers.

Measures are values: `nDCG(iou=0.5)@10`. `REGISTRY` has all of them by name.
"""

from momentrank.measures import ap, axiou, counts, dcg, judged, meanp, ncxiou, ndcg, p, r
from momentrank.measures.base import Measure, MeasureError

nDCG = ndcg.NDCG()  # noqa: N816  (as the field writes it)
DCG = dcg.DCG()
R = r.R()
P = p.P()
AP = ap.AP()
MeanP = meanp.MeanP()
AxIoU = axiou.AxIoU()
NCxIoU = ncxiou.NCxIoU()
Judged = judged.Judged()
NumQ = counts.NumQ()
NumRel = counts.NumRel()
NumRet = counts.NumRet()
NumRelRet = counts.NumRelRet()
VideosRet = counts.VideosRet()
VideosRel = counts.VideosRel()
LengthRet = counts.LengthRet()
LengthRel = counts.LengthRel()

_ALL: tuple[Measure, ...] = (
    *(nDCG, DCG, R, P, AP, MeanP, AxIoU, NCxIoU, Judged),
    *(NumQ, NumRel, NumRet, NumRelRet, VideosRet, VideosRel, LengthRet, LengthRel),
)
REGISTRY = {measure.NAME: measure for measure in _ALL}

__all__ = ["REGISTRY", "Measure", "MeasureError"]
