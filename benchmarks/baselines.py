"""How fast the baselines rank: 2,781 queries over 19,614 videos, TVR-Ranking's size.

    python -m benchmarks.baselines [--videos 19614] [--queries 2781] [--hidden 384]

Rows are random; a video has as many as TVR's have clips (51 on average, 128 at most). It prints the
seconds of ranking, those of its bare matrix products (each query with each row, once for each
stream), their ratio, the peak memory, and, on a part, how the published loop compares, which
detects boundaries for every pair of query and video, and makes and sorts all pairs of rows. On a
busy machine, compare the CPU seconds.
"""

import argparse
import resource
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from baselines.collection.release import Ints
from baselines.core.params import load
from baselines.core.widths import Widths
from baselines.inference.corpus import Block, EncodedCorpus
from baselines.inference.search import Ranker
from baselines.models.blocks import mean
from baselines.models.reloclnet import ReLoCLNet

LONGEST, MEAN = 128, 51
PART = (16, 400)
"""The queries and videos on which the published loop is timed."""


def synthetic_corpus(counts: Ints, hidden: int, row_block: int) -> EncodedCorpus:
    """Return random rows for videos with the given numbers of rows."""
    corpus, order = EncodedCorpus(), np.argsort(counts, kind="stable")
    size = row_block // MEAN
    for first in range(0, len(order), size):
        videos = order[first : first + size]
        rows = int(counts[videos].max()) + 2
        streams = tuple(torch.randn(len(videos), rows, hidden) for _ in range(2))
        corpus.append(videos, torch.from_numpy(counts[videos]), streams, streams)
    return corpus


def bare_products(corpus: Iterable[Block], vectors: tuple[Tensor, ...]) -> None:
    """Multiply each query with each row."""
    buffer = torch.empty(0)
    for block in corpus:
        shape = (len(vectors[0]), block.mask.numel())
        if buffer.numel() < shape[0] * shape[1]:
            buffer = torch.empty(shape[0] * shape[1])
        out = buffer[: shape[0] * shape[1]].view(shape)
        for vector, rows in zip(vectors, block.retrieval, strict=True):
            torch.mm(vector, rows.flatten(0, 1).T, out=out)


def published_loop(model: ReLoCLNet, corpus: Iterable[Block], vectors: tuple[Tensor, ...]) -> None:
    """Rank as the published inference does: all boundaries, all pairs of rows, one sort."""
    rows, masks = [], []
    for block in corpus:
        more = LONGEST - block.mask.shape[1]
        rows.append([functional.pad(one, (0, 0, 0, more))[:, :LONGEST] for one in block.retrieval])
        masks.append(functional.pad(block.mask, (0, more))[:, :LONGEST])
    mask = torch.cat(masks)
    streams = [torch.cat([one[stream] for one in rows]) for stream in range(2)]
    pairs = list(zip(vectors, streams, strict=True))
    units = [(functional.normalize(a, dim=-1), functional.normalize(b, dim=-1)) for a, b in pairs]
    cosines = [
        torch.einsum("qd,vld->qvl", a, b).masked_fill(~mask, -1e10).amax(-1) for a, b in units
    ]
    queries = model.span_queries(vectors)
    products = [torch.einsum("qd,vld->qvl", a, b) for a, b in zip(queries, streams, strict=True)]
    logits = model.detect(mean(products), mask.expand(len(queries[0]), -1, -1))
    start, end = (one.softmax(dim=-1) for one in logits)
    best = (30 * mean(cosines)).exp().topk(100, dim=1)
    index = best.indices[..., None].expand(-1, -1, LONGEST)
    scores = torch.einsum(
        "qvm,qv,qvn->qvmn", start.gather(1, index), best.values, end.gather(1, index)
    )
    band = torch.ones(LONGEST, LONGEST).triu(2) - torch.ones(LONGEST, LONGEST).triu(16)
    for query in scores * band:
        query.flatten().sort(descending=True)


class Seconds(NamedTuple):
    """How long a call takes: wall and CPU seconds."""

    clock: float
    processor: float


def measure(work: Callable[[], object]) -> Seconds:
    """Measure a call."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - clock, time.process_time() - processor)


def main(videos: int, queries: int, hidden: int) -> None:
    """Print the figures."""
    torch.manual_seed(1)
    params = load()
    own = params.predict.model_copy(update={"videos": 100, "moments": 100, "nms": None})
    settings = params.reloclnet.model_copy(update={"hidden": hidden})
    widths = Widths(tokens=8, streams=(8, 8), max_tokens=4, max_rows=LONGEST)
    model = ReLoCLNet(widths, settings, "as_paper").eval()
    counts = np.clip(np.random.default_rng(1).normal(MEAN, 10, videos), 8, LONGEST).astype(np.int64)
    vectors = (torch.randn(queries, hidden), torch.randn(queries, hidden))
    with torch.inference_mode():
        corpus = synthetic_corpus(counts, hidden, own.row_block)
        ranker = Ranker(model, corpus, counts, np.full(videos, 1.5), own)
        bare = measure(lambda: bare_products(corpus, vectors))
        ours = measure(lambda: ranker.rank(vectors))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{queries} queries, {videos} videos, {counts.sum()} rows, hidden {hidden}")
        print(f"bare products   {bare.clock:8.1f} s   {bare.processor:8.1f} CPU s")
        print(f"ranking         {ours.clock:8.1f} s   {ours.processor:8.1f} CPU s")
        ratios = (ours.clock / bare.clock, ours.processor / bare.processor)
        print(f"                {ratios[0]:8.2f}     {ratios[1]:8.2f} times the products")
        print(f"peak memory     {peak:8.2f} GB")
        few, some = min(PART[0], queries), min(PART[1], videos)
        part = synthetic_corpus(counts[:some], hidden, own.row_block)
        asked = tuple(vector[:few] for vector in vectors)
        small = Ranker(model, part, counts[:some], np.full(some, 1.5), own)
        theirs = measure(lambda: published_loop(model, part, asked))
        mine = measure(lambda: small.rank(asked))
        ratio = theirs.processor / mine.processor
        print(f"published loop, {few} queries, {some} videos: {ratio:.1f} times ours")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, default=19614)
    parser.add_argument("--queries", type=int, default=2781)
    parser.add_argument("--hidden", type=int, default=384)
    arguments = parser.parse_args()
    main(arguments.videos, arguments.queries, arguments.hidden)
