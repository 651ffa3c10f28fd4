"""SPR: its contrast and windows against definitions in loops, and what its search returns."""

import math

import numpy as np
import pytest
from lazy import Lazy

from baselines.collection.release import read_release
from baselines.core.params import load
from baselines.features.inputs import open_inputs

torch, registry = Lazy("torch"), Lazy("baselines.models.registry")
segments, batches = Lazy("baselines.inference.segments"), Lazy("baselines.training.batches")


@pytest.fixture
def opened(tiny):
    """Return a model with random weights, its inputs and batches; segments of 4 rows."""
    params = load()
    own = params.spr.model_copy(update={"segments": 8, "gap": 0})
    params = params.model_copy(update={"spr": own})
    release = read_release(tiny / "datasets/release")
    inputs = open_inputs(params, release.all_queries([2]))
    torch.manual_seed(2)
    model = registry.build("spr", inputs.widths, params, "as_paper").eval()
    for parameter in model.parameters():
        if parameter.ndim:
            torch.nn.init.normal_(parameter, std=0.4)
    return model, inputs, batches.BatchMaker(inputs, release.read_pairs(2)), params


def unit(vector):
    return vector / np.linalg.norm(vector)


def project(linear, vector):
    weight, bias = (one.detach().double().numpy() for one in (linear.weight, linear.bias))
    return unit(weight @ vector + bias)


def test_the_contrast_is_that_of_the_definition(opened):
    model, _, maker, _ = opened
    batch = maker.make(np.array([0, 1, 3, 5, 6]))
    queries, vectors_of, covered = [], [], []
    for i in range(5):
        tokens = batch.tokens[i][batch.token_mask[i]].double().numpy()
        queries.append(project(model.query_projector, tokens.mean(axis=0)))
        rows = batch.streams[0][batch.video[i]][batch.pair_mask[i]].double().numpy()
        parts = [rows[k : k + 4] for k in range(0, len(rows), 4)]
        vectors = [
            project(model.segment_projector, np.mean([unit(row) for row in part], axis=0))
            for part in parts
        ]
        vectors_of.append(vectors)
        first, last = batch.span[i].tolist()
        inside = [sum(first <= 4 * s + k <= last for k in range(4)) / 4 for s in range(len(parts))]
        covered.append(inside)
    scale = math.exp(model.scale.item())
    known, total = batch.positive.numpy(), 0.0
    for i in range(5):
        # Videos of the query's other moments are in no denominator.
        row = [
            scale * float(queries[i] @ vector)
            for j in range(5)
            if j == i or not known[i, j]
            for vector in vectors_of[j]
        ]
        loss = 0.0
        for s, share in enumerate(covered[i]):
            own = scale * float(queries[i] @ vectors_of[i][s])
            column = [
                scale * float(queries[j] @ vectors_of[i][s])
                for j in range(5)
                if j == i or not known[j, i]
            ]
            both = own - log_sum(row) + own - log_sum(column)
            loss -= share / sum(covered[i]) * both / 2
        total += loss * float(batch.weight[i]) / 5
    assert model.contrast(batch).item() == pytest.approx(total, rel=1e-4)


def log_sum(values):
    return max(values) + math.log(sum(math.exp(one - max(values)) for one in values))


def test_a_window_has_its_moment(opened):
    model, _, maker, _ = opened
    batch = maker.make(np.arange(16))
    for seed in range(5):
        torch.manual_seed(seed)
        window = model.windows(batch)
        assert window.row_mask.shape[1] == model.window_rows
        for i in range(16):
            first, last = window.span[i].tolist()
            begin, finish = batch.span[i].tolist()
            assert last - first == finish - begin
            assert window.row_mask[i, first : last + 1].all()
            rows, whole = window.streams[0][i], batch.streams[0][batch.video[i]]
            assert torch.equal(rows[first : last + 1], whole[begin : finish + 1])
            assert (rows[~window.row_mask[i]] == 0).all()


def test_a_search_has_a_moment_of_each_proposal(opened):
    model, inputs, _, params = opened
    queries = inputs.release.read_queries("val")
    ranked = segments.SegmentSearcher(model, inputs, params.predict).search(queries)
    seconds = list(inputs.release.videos.values())
    for place in range(len(queries)):
        mine = ranked.query == place
        assert 1 <= mine.sum() <= 8
        assert (np.diff(ranked.score[mine]) <= 0).all()
    assert (ranked.start >= 0).all()
    assert (ranked.end > ranked.start).all()
    assert all(end <= seconds[v] for v, end in zip(ranked.video, ranked.end, strict=True))


def test_the_chunk_of_proposals_changes_nothing(opened, monkeypatch):
    model, inputs, _, params = opened
    queries = inputs.release.read_queries("val")
    lists = []
    for size in (1, 1000):
        monkeypatch.setattr("baselines.inference.segments.ENCODED", size)
        lists.append(segments.SegmentSearcher(model, inputs, params.predict).search(queries))
    assert (lists[0].video == lists[1].video).all()
    assert (lists[0].start == lists[1].start).all()
    np.testing.assert_allclose(lists[0].score, lists[1].score, rtol=1e-4)
