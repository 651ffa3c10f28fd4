"""Parse names of measures: `nDCG(iou=0.5)@10`, or as papers write them.

`NDCG@10,IoU>=0.5`, `R@1,IoU>=0.5`, `R@1,0.5`, `R1@0.5`, `mAP@0.5`, `mAP@[.5:.95]`, `mAP` (over .5
to .95) and `ndcg@10` (at 0.5) are read too, and a measure's own name in any case.
"""

import ast
import re
from collections.abc import Iterable
from typing import Any

from momentrank.measures import AP, REGISTRY, R, nDCG
from momentrank.measures.base import Measure, MeasureError
from momentrank.measures.params import RANGE

NUMBER = r"\d*\.?\d+"
AT = rf",?\s*iou\s*(?P<sign>=|>=|>|\u2265)?\s*(?P<iou>{NUMBER})"
"""`,IoU>=0.5`: a threshold after a cutoff."""
PAPERS = (
    (rf"ndcg@(?P<cutoff>\d+){AT}", nDCG),
    (r"ndcg@(?P<cutoff>\d+)", nDCG),
    (rf"R@?(?P<cutoff>\d+){AT}", R),
    (rf"R@?(?P<cutoff>\d+)(?:,\s*|@)(?P<iou>{NUMBER})", R),
    (rf"m?AP@\[?(?P<iou>{RANGE.pattern}|0?\.\d+)\]?", AP),
    (r"mAP", AP),
)
"""Case-insensitive, compiled when a name is read."""
USUAL: dict[Measure, str | float] = {nDCG: 0.5, AP: "0.5:0.95"}
"""The threshold for a paper's name without one."""
AT_LEAST = (">=", "\u2265")
"""Ignored for nDCG: TVR-Ranking's tables write it, but its scorer requires more."""
UNQUOTED = re.compile(rf"(iou\s*=\s*)({RANGE.pattern})")
EXAMPLE = "write it like nDCG(iou=0.5)@10"


def parse_measure(text: str) -> Measure:
    """Return the measure of a name; `parse_measure(repr(measure)) == measure`.

    >>> mr.parse_measure("R@1,IoU>=0.5")
    R(iou=0.5,strict=False)@1

    Raises:
        MeasureError: the measure is unknown, or a parameter is wrong or missing.
    """
    try:
        measure = _as_in_papers(text.strip()) or _parse(text.strip())
        measure.validate_params()
    except MeasureError as exc:
        said = str(exc)
        raise MeasureError(said if said.startswith(repr(text)) else f"{text!r}: {said}") from exc
    return measure


def parse_measures(texts: Iterable[str]) -> list[Measure]:
    """Return the distinct measures of names.

    Raises:
        MeasureError: some names are not valid; the message names all of them.
    """
    measures, wrong = dict[Measure, None](), []
    for text in texts:
        try:
            measures[parse_measure(text)] = None
        except MeasureError as exc:
            wrong.append(str(exc))
    if wrong:
        raise MeasureError("\n".join(wrong))
    return list(measures)


def _as_in_papers(text: str) -> Measure | None:
    for pattern, measure in PAPERS:
        if match := re.fullmatch(pattern, text, re.IGNORECASE):
            groups = match.groupdict()
            iou = groups.get("iou") or USUAL[measure]
            params: dict[str, Any] = {"iou": iou if ":" in str(iou) else float(iou)}
            if (sign := groups.get("sign")) == ">" or (measure is R and sign in AT_LEAST):
                params["strict"] = sign == ">"
            if cutoff := groups.get("cutoff"):
                params["cutoff"] = int(cutoff)
            return measure(**params)
    return None


def _parse(text: str) -> Measure:
    try:
        node = ast.parse(UNQUOTED.sub(r"\1'\2'", text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise MeasureError(f"{text!r} is not a measure; {EXAMPLE}") from exc
    cutoff = {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        if isinstance(node.right, ast.Name):
            raise MeasureError(f"{text!r}: the cutoff after @ must be a whole number")
        cutoff = {"cutoff": _value(node.right, text)}
        node = node.left
    params = {}
    if isinstance(node, ast.Call) and not node.args:
        params = {str(word.arg): _value(word.value, text) for word in node.keywords}
        if len(params) < len(node.keywords):
            raise MeasureError(f"{text!r}: a parameter appears twice")
        node = node.func
    if not isinstance(node, ast.Name):
        raise MeasureError(f"{text!r} is not a measure; {EXAMPLE}")
    return _look_up(node.id, text)(**params, **cutoff)


def _look_up(name: str, text: str) -> Measure:
    names = {name.lower(): measure for name, measure in REGISTRY.items()}
    names |= {alias.lower(): measure for measure in REGISTRY.values() for alias in measure.ALIASES}
    if name.lower() in names:
        return names[name.lower()]
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    meant = f"did you mean {names[near[0]].NAME}?" if near else f"use one of {', '.join(REGISTRY)}"
    raise MeasureError(f"{text!r}: there is no measure {name!r}; {meant}")


def _value(node: ast.expr, text: str) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError) as exc:
        hint = f"; write {node.id!r}" if isinstance(node, ast.Name) else ""
        raise MeasureError(f"{text!r}: {ast.unparse(node)} is not a value{hint}") from exc
