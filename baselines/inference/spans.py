"""The best spans of videos: products of start and end probabilities in a band, all at once.

A span is a start row and an end row that is `min_rows` to `max_rows - 1` later. The published code
computes all pairs of rows and masks most of them; this computes only the band.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class Spans(NamedTuple):
    """The best spans of each query, (Q, n) each, best first; a score of 0 is not a span."""

    score: Tensor
    video: Tensor
    """The video's index in the query's list."""
    start: Tensor
    end: Tensor


def best_spans(
    start: Tensor, end: Tensor, weight: Tensor, band: tuple[int, int], count: int
) -> Spans:
    """Return the `count` best spans of each query over its videos.

    Args:
        start: probability of each row as a start, (Q, K, L).
        end: probability as an end, (Q, K, L).
        weight: the factor of a video's spans, (Q, K).
        band: the shortest length in rows, and the first that is too long.
        count: how many spans.
    """
    least, most = band
    width = most - least
    later = functional.pad(end[..., least:], (0, most - 1))  # row i is the end of length `least`
    windows = later.unfold(-1, width, 1)[..., : start.shape[-1], :]  # (Q, K, L, width)
    scores = (start * weight[..., None])[..., None] * windows
    best = scores.flatten(1).topk(min(count, scores[0].numel()), dim=1)
    rows = torch.div(best.indices, width, rounding_mode="floor")
    first = rows % start.shape[-1]
    return Spans(
        score=best.values,
        video=torch.div(rows, start.shape[-1], rounding_mode="floor"),
        start=first,
        end=first + least + best.indices % width,
    )
