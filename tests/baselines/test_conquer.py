"""CONQUER: against definitions in loops, what padding may change, its negatives and its search."""

import itertools
import math

import numpy as np
import pytest
from lazy import Lazy
from slow_conquer import SlowConquer
from slow_formulas import randomize, softmax

from baselines.collection.release import Pairs, read_release
from baselines.core import sections
from baselines.core.files import FileError
from baselines.core.params import load
from baselines.features.inputs import Widths, open_inputs

torch = Lazy("torch")
batches, conquer = Lazy("baselines.models.batch"), Lazy("baselines.models.conquer")
makers, negatives = Lazy("baselines.training.batches"), Lazy("baselines.training.negatives")
first_stages, reranking = (
    Lazy("baselines.inference.first_stage"),
    Lazy("baselines.inference.reranking"),
)
checkpoint, registry = Lazy("baselines.training.checkpoint"), Lazy("baselines.models.registry")

OWN = sections.CONQUER(
    first_stage="reloclnet",
    hidden=8,
    heads=2,
    dropout=0.1,
    input_dropout=0.1,
    clusters=3,
    kernel=5,
    channels=6,
    span_weight=0.5,
    negatives=2,
    negative_pool=10,
    videos=3,
    min_rows=0,
    max_rows=4,
)
WIDTHS = Widths(tokens=5, streams=(6, 4), max_tokens=4, max_rows=9)
LENGTHS, TOKENS = [9, 6, 4, 7], [4, 2, 3]
VIDEO, SPANS, NEGATIVE = [0, 1, 3], [(2, 5), (0, 3), (6, 6)], [(2, 3), (0, -1), (-1, -1)]


@pytest.fixture
def model():
    return randomize(conquer.CONQUER(WIDTHS, OWN))


@pytest.fixture
def batch():
    """Three pairs; the queries have two negatives, one, and none."""
    torch.manual_seed(5)
    row_mask = torch.arange(9) < torch.tensor(LENGTHS)[:, None]
    token_mask = torch.arange(4) < torch.tensor(TOKENS)[:, None]
    return batches.Batch(
        tokens=torch.randn(3, 4, 5) * token_mask[..., None],
        token_mask=token_mask,
        streams=tuple(torch.randn(4, 9, width) * row_mask[..., None] for width in (6, 4)),
        row_mask=row_mask,
        video=torch.tensor(VIDEO),
        span=torch.tensor(SPANS),
        weight=torch.tensor([1.0, 0.6, 0.3]),
        positive=torch.eye(3, dtype=torch.bool),
        covered=torch.zeros(3, len(LENGTHS), 9, dtype=torch.bool),
        negative=torch.tensor(NEGATIVE),
    )


class Expected:
    """A batch by the slow definitions, whose gradients autograd has too."""

    def __init__(self, model, batch):
        parameters = model.named_parameters()
        self.weights = {
            name: parameter.detach().double().requires_grad_() for name, parameter in parameters
        }
        self.slow, self._batch = SlowConquer(self.weights, 2), batch

    def tokens(self, query):
        return self._batch.tokens[query, : TOKENS[query]].double()

    def logits(self, query):
        """Return the logits of all rows of the query's videos, one after another, by side."""
        videos = [VIDEO[query], *(number for number in NEGATIVE[query] if number >= 0)]
        streams = [
            [stream[video, : LENGTHS[video]].double() for stream in self._batch.streams]
            for video in videos
        ]
        sides = [self.slow.read(self.tokens(query), rows) for rows in streams]
        return [[value for pair in sides for value in pair[side]] for side in range(2)]


def close(ours, theirs, tolerance=2e-6):
    ours, theirs = (tensor.detach().double().numpy() for tensor in (ours, theirs))
    np.testing.assert_allclose(ours, theirs, atol=tolerance, rtol=tolerance)


def test_fusion_and_attention_are_those_of_the_definitions(model, batch):
    slow = Expected(model, batch)
    queries = model.encode_query(batch.tokens, batch.token_mask)
    rows = torch.randn(3, 9, 8) * 0.5
    aware = model.attention(rows, batch.pair_mask, queries)
    for i, (count, video) in enumerate(zip(TOKENS, VIDEO, strict=True)):
        states, shares = slow.slow.encode_query(slow.tokens(i))
        close(queries.states[i, :count], torch.stack(states))
        close(queries.shares[i], torch.stack(shares))
        own = rows[i, : LENGTHS[video]]
        both_ways = slow.slow.attend_both_ways(own.double(), states)
        close(aware[i, : len(own)], torch.stack(both_ways))


def test_probabilities_and_gradients_are_those_of_the_definitions(model, batch):
    slow = Expected(model, batch)
    total = torch.zeros(()).double()
    logits = model.detect(batch)
    for i in range(3):
        videos = torch.tensor([VIDEO[i], *NEGATIVE[i]])
        valid = (batch.row_mask[videos] & (videos >= 0)[:, None]).flatten()
        for side, (ours, expected) in enumerate(zip(logits, slow.logits(i), strict=True)):
            shares = softmax(expected)
            probabilities = ours[i].softmax(dim=0)
            close(probabilities[valid], torch.stack(shares))
            assert (probabilities[~valid] == 0).all()
            total = total - shares[SPANS[i][side]].log() * batch.weight[i] / 3 * OWN.span_weight
    parts = model(batch)
    assert set(parts) == {"spans"}
    assert parts["spans"].item() == pytest.approx(total.item(), abs=2e-5)
    parts["spans"].backward()
    total.backward()
    for name, parameter in model.named_parameters():
        scale = max(1.0, slow.weights[name].grad.abs().max().item())
        close(parameter.grad / scale, slow.weights[name].grad / scale, 1e-5)


def test_it_learns_a_batch_by_heart(batch):
    torch.manual_seed(2)
    model = conquer.CONQUER(WIDTHS, OWN.model_copy(update={"dropout": 0.0, "input_dropout": 0.0}))
    optimizer = torch.optim.AdamW(model.train().parameters(), lr=0.01)
    values = []
    for _ in range(60):
        optimizer.zero_grad()
        [loss] = model(batch).values()
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    assert values[-1] < values[0] / 20


def test_a_checkpoint_of_another_architecture_is_refused(model, tmp_path):
    path = tmp_path / "older.safetensors"
    checkpoint.save_finished(path, torch.nn.Sequential(model.query_transformer), 0.5)
    with pytest.raises(FileError, match=r"older\.safetensors.*version of the model; type: dvc"):
        checkpoint.load_best(path, model)


def test_the_last_row_of_a_moment_is_inside(val_inputs):
    _, inputs, _ = val_inputs
    ends = np.array([0.5, 0.7, 2.0, 6.0])  # rows of 0.5 s; v0 has 12
    zeros = np.zeros(4, dtype=int)
    pairs = Pairs([], zeros, zeros, np.array([0.0, 0.6, 1.2, 5.9]), ends, np.ones(4))
    spans = makers.span_rows(pairs, inputs, inclusive=True)
    assert spans.tolist() == [[0, 0], [1, 1], [2, 3], [11, 11]]


def read(model, batch, streams, rows=9, tokens=4):
    mask = batch.row_mask[:, :rows]
    with torch.no_grad():
        context = model.encode_context(tuple(stream[:, :rows] for stream in streams), mask)
        queries = model.encode_query(batch.tokens[:, :tokens], batch.token_mask[:, :tokens])
        places = torch.tensor([0, 1, 2, 0])
        return model.locate(queries.select(places), context.spans, mask)


def test_what_is_in_the_padding_changes_no_score(model, batch):
    longer = tuple(stream.masked_fill(~batch.row_mask[..., None], 7.0) for stream in batch.streams)
    scores = [read(model, batch, streams) for streams in (batch.streams, longer)]
    assert all(torch.equal(a, b) for a, b in zip(*scores, strict=True))


def test_a_trimmed_video_or_query_has_the_same_scores(model, batch):
    rows = torch.arange(9) < torch.tensor([6, 6, 4, 5])[:, None]
    tokens = torch.arange(4) < torch.tensor([3, 2, 3])[:, None]
    fields = {name: getattr(batch, name) for name in batch.__dataclass_fields__}
    fields |= {"row_mask": batch.row_mask & rows, "token_mask": batch.token_mask & tokens}
    cut = batches.Batch(**fields)
    whole, trimmed = read(model, cut, cut.streams), read(model, cut, cut.streams, 6, 3)
    for ours, others in zip(whole, trimmed, strict=True):
        assert torch.equal(ours[:, :6], others)
        assert (ours[:, 6:] == -1e10).all()


def test_negatives_are_of_the_first_stages_best_and_no_pair_of_the_query():
    ranked = np.array([[0, 1, 2, 3], [4, 3, 2, 1], [5, 6, 0, 1]])
    numbers = np.zeros(5)
    pairs = Pairs(
        [], np.array([0, 1, 1, 1, 2]), np.array([1, 4, 3, 2, 6]), numbers, numbers, numbers
    )
    sampler = negatives.Negatives(ranked, pairs, 2)
    torch.manual_seed(0)
    draws = [set(), set(), set()]
    for _ in range(40):
        sample = sampler.draw(np.array([0, 1, 2]))
        assert sample.shape == (3, 2)
        assert all(len(set(line.tolist())) == 2 for line in sample)
        for place, line in enumerate(sample.tolist()):
            draws[place] |= set(line)
    assert draws == [{0, 2, 3}, {1, -1}, {5, 0, 1}]


def test_a_batch_has_the_videos_of_its_negatives(tiny):
    release = read_release(tiny / "datasets/release")
    inputs, pairs = open_inputs(load(), release.all_queries([2])), release.read_pairs(2)
    ranked = np.tile(np.arange(8), (len(pairs.queries), 1))
    maker = makers.BatchMaker(inputs, pairs, negatives.Negatives(ranked, pairs, 3))
    places = np.array([0, 1, 8, 2])
    batch = maker.make(places)
    assert batch.negative.shape == (4, 3)
    rows = [inputs.video(int(number))[0] for number in pairs.video[places]]
    for i, own in enumerate(rows):
        assert np.array_equal(batch.streams[0][batch.video[i]][: len(own)], own)
        for place in batch.negative[i].tolist():
            assert place != batch.video[i]
            positives = pairs.video[pairs.query == pairs.query[places[i]]]
            stream = batch.streams[0][place].numpy()
            assert not any(
                np.array_equal(stream[: len(v)], v) for v in map(first(inputs), positives)
            )


def first(inputs):
    return lambda number: inputs.video(int(number))[0]


class Lists:
    """A first stage that says what it was told."""

    def __init__(self, weights, videos):
        self._weights, self._videos = torch.tensor(weights), torch.tensor(videos)

    def rank(self, queries, count):
        assert count == 10
        return first_stages.VideoLists(self._weights[: len(queries)], self._videos[: len(queries)])


def test_a_search_reads_the_first_stages_videos_alone(val_inputs):
    params, inputs, queries = val_inputs
    model = randomize(registry.build("conquer", inputs.widths, params, "as_paper"), 0.3)
    videos = [[3, 1, 6], [0, 7, 2], [5, 4, 3], [1, 2, 3]]
    weights = [[0.9, 0.8, 0.3], [0.2, 0.1, 0.05], [0.5, 0.4, 0.3], [0.3, 0.2, 0.1]]
    searcher = reranking.Reranker(model, inputs, params.predict, Lists(weights, videos))
    ranked = searcher.search(queries)
    for place, query in enumerate(queries):
        expected = one_query(model, inputs, query, videos[place], weights[place], params)
        mine = ranked.query == place
        ours = list(zip(ranked.video[mine], ranked.start[mine], ranked.end[mine], strict=True))
        assert ours[:10] == [span[:3] for span in expected[:10]]
        best = ranked.score[mine][:10]
        np.testing.assert_allclose(best, [span[3] for span in expected[:10]], rtol=2e-4)
        assert (np.diff(ranked.score[mine]) <= 0).all()
    small = params.predict.model_copy(update={"query_block": 1, "row_block": 1})
    again = reranking.Reranker(model, inputs, small, _Each(weights, videos)).search(queries)
    assert (again.video == ranked.video).all()
    assert (again.start == ranked.start).all()


class _Each(Lists):
    """The lists of one query after another."""

    def rank(self, queries, count):
        lists = super().rank(queries, count)
        self._weights, self._videos = self._weights[1:], self._videos[1:]
        return lists


def one_query(model, inputs, query, videos, weights, params):
    """Every span of the listed videos, by score; both its rows are inside."""
    spans = []
    for number, weight in zip(videos, weights, strict=True):
        streams, mask = makers.pad_videos(inputs, [number])
        with torch.no_grad():
            context = model.encode_context(streams, mask)
            vectors = model.encode_query(*makers.pad_queries(inputs, [query]))
            sides = model.locate(vectors, context.spans, mask)
        length = int(mask.sum())
        start, end = (list(map(float, softmax(list(side[0, :length].double())))) for side in sides)
        for i, j in itertools.product(range(length), range(length)):
            if params.conquer.min_rows <= j - i < params.conquer.max_rows:
                score = weight * start[i] * end[j]
                spans.append((number, i * 0.5, (j + 1) * 0.5, score))
    return sorted(spans, key=lambda span: (-span[3], *span[:3]))


@pytest.mark.parametrize("name", ["reloclnet", "xml", "spr"])
def test_a_first_stage_ranks_videos_by_their_best_row_or_segment(name, val_inputs):
    params, inputs, queries = val_inputs
    model = randomize(registry.build(name, inputs.widths, params, "as_paper"), 0.3)
    blocks = params.predict.model_copy(update={"query_block": 3})
    lists = first_stages.FirstStage(model, inputs, blocks).rank(queries, 5)
    for place, query in enumerate(queries):
        scores = [video_score(model, name, inputs, query, number) for number in range(8)]
        best = sorted(range(8), key=lambda number: (-scores[number], number))[:5]
        assert lists.videos[place].tolist() == best
        alpha = getattr(params, name).alpha
        weights = [math.exp(alpha * scores[number]) for number in best]
        np.testing.assert_allclose(lists.weights[place], weights, rtol=1e-3)


def video_score(model, name, inputs, query, number):
    streams, mask = makers.pad_videos(inputs, [number])
    tokens = makers.pad_queries(inputs, [query])
    with torch.no_grad():
        if name == "spr":
            segments, inside = model.embed_segments(streams[0], mask)
            return float((segments[inside] @ model.embed_query(*tokens)[0]).max())
        rows = [stream[mask] for stream in model.encode_context(streams, mask).retrieval]
        vectors = model.encode_query(*tokens)
        cosine = torch.nn.functional.cosine_similarity
        return sum(float(cosine(v, r).max()) for v, r in zip(vectors, rows, strict=True)) / 2


def test_a_first_stage_that_is_not_trained_is_one_line(val_inputs):
    params, inputs, _ = val_inputs
    with pytest.raises(FileError, match=r"reloclnet.top02-2024.*no trained model; type: dvc repro"):
        first_stages.open_first_stage(params, "conquer", inputs, 2, 2024)
