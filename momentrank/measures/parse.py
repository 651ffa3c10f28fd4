"""Parse names of measures: `nDCG(iou=0.5)@10`, or as in the papers `NDCG@10,IoU>=0.5`.

The parser of ir_measures is bound to its own registry, in which nDCG, R, P and AP are measures of
documents.
"""

import ast
import re
from collections.abc import Iterable
from difflib import get_close_matches

from momentrank.measures import REGISTRY
from momentrank.measures.base import Measure, MeasureError

PAPERS = [
    (re.compile(r"ndcg@(\d+),\s*iou\s*(?:>=|\u2265)\s*(\d*\.?\d+)", re.IGNORECASE), "nDCG"),
    (re.compile(r"R@(\d+),\s*(?:iou\s*=\s*)?(\d*\.?\d+)", re.IGNORECASE), "R"),
]


def parse_measure(text: str) -> Measure:
    """Return the measure of a name; `parse_measure(repr(measure)) == measure`.

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
    for pattern, name in PAPERS:
        if match := pattern.fullmatch(text):
            return type(REGISTRY[name])(iou=float(match[2]), cutoff=int(match[1]))
    return None


def _parse(text: str) -> Measure:
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise MeasureError(f"{text!r} is not a measure; write it like nDCG(iou=0.5)@10") from exc
    cutoff = {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        cutoff = {"cutoff": _value(node.right, text)}
        node = node.left
    params = {}
    if isinstance(node, ast.Call) and not node.args:
        params = {str(word.arg): _value(word.value, text) for word in node.keywords}
        if len(params) < len(node.keywords):
            raise MeasureError(f"{text!r}: a parameter appears twice")
        node = node.func
    if not isinstance(node, ast.Name):
        raise MeasureError(f"{text!r} is not a measure; write it like nDCG(iou=0.5)@10")
    return type(_look_up(node.id, text))(**params, **cutoff)


def _look_up(name: str, text: str) -> Measure:
    if name in REGISTRY:
        return REGISTRY[name]
    lower = {one.lower(): one for one in REGISTRY}
    near = get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    meant = f"did you mean {lower[near[0]]}?" if near else f"use one of {', '.join(REGISTRY)}"
    raise MeasureError(f"{text!r}: there is no measure {name!r}; {meant}")


def _value(node: ast.expr, text: str) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError) as exc:
        raise MeasureError(f"{text!r}: {ast.unparse(node)} is not a value") from exc
