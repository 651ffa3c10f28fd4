"""Measures with a choice of relevance model: `P(iou=0.5)@10`, `P(match='tol')@10`."""

from typing import ClassVar

from momentrank.measures.base import COMMON, Measure, MeasureError
from momentrank.measures.params import BIN, NOT_STRICT, ONCE, SEEN, TOL, Choice, Param, Threshold

MODEL_PARAMS: dict[str, Param] = {
    "match": Choice("iou", "overlap", "bin", "tol", desc="the relevance model"),
    "iou": Threshold(None, "iou: the threshold, or a range of them"),
    "strict": NOT_STRICT,
    "once": ONCE,
    "bin": BIN,
    "tol": TOL,
    "seen": SEEN,
    **COMMON,
}
WITH_UNJUDGED = {name: one for name, one in MODEL_PARAMS.items() if name != "judged_only"}
"""Without the choice to remove unjudged results."""


class ByModel(Measure):
    """A measure with the parameter `match`; a model's own parameters go with that model."""

    OWN: ClassVar[dict[str, tuple[str, ...]]] = {
        "iou": ("iou", "strict"),
        "maxiou": (),
        "overlap": ("once",),
        "bin": ("bin",),
        "tol": ("tol", "seen"),
    }

    def missing(self) -> list[str]:
        needs_iou = self.settings()["match"] == "iou" and "iou" not in self.params
        return super().missing() + ["iou"] * needs_iou

    def validate_params(self) -> None:
        match = self.settings()["match"]
        for model, names in self.OWN.items():
            for name in names:
                if model != match and name in self.params:
                    raise MeasureError(f"{self!r}: {name} belongs to match={model!r}")
        super().validate_params()
