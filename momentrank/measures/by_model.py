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
        """Return the required parameters that are not set."""
        needs_iou = self.settings()["match"] == "iou" and "iou" not in self.params
        return super().missing() + ["iou"] * needs_iou

    def validate_params(self) -> None:
        """Check that no parameter is missing or belongs to another model.

        Raises:
            MeasureError: a parameter is missing, or has no effect.
        """
        match = self.settings()["match"]
        for model, names in self.OWN.items():
            for name in names:
                if model != match and name in self.params:
                    raise MeasureError(f"{self!r}: {name} belongs to match={model!r}")
        super().validate_params()
