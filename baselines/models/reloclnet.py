"""ReLoCLNet: video corpus moment retrieval with contrastive learning (Zhang et al., SIGIR 2021).

Two encoders of the query, and two after the attention to the other stream: the last one's rows are
for retrieval and for spans. After the one before it there are two more losses: noise contrast of
videos and Jensen-Shannon contrast of rows.

See `baselines.models.two_stream`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from baselines.core import sections
from baselines.models import losses
from baselines.models.batch import Batch
from baselines.models.blocks import mean, select_pairs
from baselines.models.two_stream import Layer, TwoStream


class ReLoCLNet(TwoStream):
    """The model."""

    query_encoder_count, later_encoder_count = 2, 2
    retrieval_layer, span_layer = 2, 2
    settings: sections.ReLoCLNet

    def contrast(
        self, batch: Batch, vectors: tuple[Tensor, ...], layers: Sequence[Layer]
    ) -> dict[str, Tensor]:
        """Return the contrast of rows and of videos, (N,) each."""
        best, frames = [], []
        for vector, states in zip(vectors, layers[1], strict=True):
            products = torch.einsum("nd,vld->nvl", vector, states)
            best.append(losses.best_row(products, batch.row_mask)[:, batch.video])
            similarity = select_pairs(products, batch.video)
            frames.append(losses.frame_contrast(similarity, batch.inside, batch.pair_mask))
        positive = losses.select_positive(batch, self.mode)
        return {
            "frames": self.settings.frame_weight * mean(frames),
            "videos": self.settings.video_weight * losses.video_contrast(mean(best), positive),
        }
