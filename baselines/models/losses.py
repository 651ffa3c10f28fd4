"""Losses that the models share, each as a vector with an entry for each pair of a batch.

A batch is N pairs: query i, and video i with a relevant moment. `scores[i, j]` is the score of
video j for query i. `positive[i, j]` says that video j is not a negative of query i: in
`as_published` the diagonal alone, in `as_paper` all pairs of the training set.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from baselines.core.sections import Mode
from baselines.models.batch import Batch
from baselines.models.blocks import MASKED, Logits, mean


def span_loss(logits: Logits, span: Tensor) -> Tensor:
    """Return the cross-entropy of start and end rows, (N,); `span` is (N, 2)."""
    start = functional.cross_entropy(logits.start, span[:, 0], reduction="none")
    return start + functional.cross_entropy(logits.end, span[:, 1], reduction="none")


def select_positive(batch: Batch, mode: Mode) -> Tensor:
    """Return which videos are not negatives of a query in this mode, (N, N)."""
    if mode == "as_paper":
        return batch.positive
    return torch.eye(len(batch.video), dtype=torch.bool, device=batch.video.device)


def video_scores(queries: Sequence[Tensor], streams: Sequence[Tensor], mask: Tensor) -> Tensor:
    """Return each video's score for each query, (N, V): the best cosine, averaged over streams.

    Queries are (N, D), rows of videos (V, L, D) for each stream; their mask is (V, L).
    """
    scores = []
    for vectors, rows in zip(queries, streams, strict=True):
        unit, units = functional.normalize(vectors, dim=-1), functional.normalize(rows, dim=-1)
        scores.append(best_row(torch.einsum("nd,vld->nvl", unit, units), mask))
    return mean(scores)


def ranking_losses(
    scores: Tensor, positive: Tensor, margin: float, pool: int | None
) -> tuple[Tensor, Tensor]:
    """Return the hinge losses against a sampled other video and a sampled other query, (N,) each.

    Negatives are drawn from the `pool` hardest ones, or from all of the batch. A pair without a
    negative in its batch has loss 0.
    """
    target = scores.diagonal()

    def hinge(table: Tensor, positives: Tensor) -> Tensor:
        order = table.detach().masked_fill(positives, math.inf).sort(dim=1, descending=True).indices
        first = positives.sum(dim=1)
        last = torch.full_like(first, len(table))
        if pool is not None:
            last = torch.minimum(first + pool, last)
        drawn = _draw(first, last)
        other = table.gather(1, order.gather(1, drawn.clamp(max=len(table) - 1)[:, None]))[:, 0]
        return (margin + other - target).clamp(min=0).where(first < last, 0.0)

    return hinge(scores, positive), hinge(scores.T, positive.T)


def _draw(first: Tensor, last: Tensor) -> Tensor:
    """Draw integers from the half-open intervals [first, last), uniformly; (N,)."""
    low, high = int(first.min()), int(last.min())
    if bool((first == low).all()) and bool((last == high).all()) and low < high:
        return torch.randint(low, high, (len(first),)).to(first.device)
    share = torch.rand(len(first)).to(first.device)
    return first + (share * (last - first)).long()


def video_contrast(scores: Tensor, positive: Tensor) -> Tensor:
    """Return the noise-contrastive loss of pairs against other videos and queries, (N,).

    The logarithm of the share of the pair's own `exp(score)` in its row and column of `scores`,
    where it is counted in both (MIL-NCE, Miech et al., CVPR 2020). Other positive pairs are left
    out.
    """
    diagonal = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    others = scores.masked_fill(positive & ~diagonal, -math.inf)
    return torch.cat([others, others.T], dim=1).logsumexp(dim=1) - scores.diagonal()


def frame_contrast(similarity: Tensor, inside: Tensor, mask: Tensor) -> Tensor:
    """Return the Jensen-Shannon contrast of rows inside the moment with those outside, (N,).

    `similarity` of query i to the rows of video i is (N, L), so are `inside` and `mask`.
    """
    outside = mask & ~inside
    positive = math.log(2) - functional.softplus(-similarity)
    negative = functional.softplus(-similarity) + similarity - math.log(2)
    return _mean(negative, outside) - _mean(positive, inside)


def _mean(values: Tensor, chosen: Tensor) -> Tensor:
    return values.where(chosen, 0.0).sum(dim=1) / (chosen.sum(dim=1) + 1e-12)


def best_row(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the best row of each video: scores (N, V, L), mask (V, L), result (N, V)."""
    return scores.masked_fill(~mask, MASKED).amax(dim=-1)
