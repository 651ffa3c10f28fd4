"""The models: against slow definitions in loops, by mode, and what padding may change."""

import numpy as np
import pytest
from lazy import Lazy
from slow_formulas import Slow, cross_entropy, frame_contrast, video_contrast

from baselines.core import sections
from baselines.features.inputs import Widths

torch = Lazy("torch")
batches, blocks, losses = (
    Lazy(f"baselines.models.{module}") for module in ("batch", "blocks", "losses")
)
reloclnet, xml = Lazy("baselines.models.reloclnet"), Lazy("baselines.models.xml")

SHARED = {
    "hidden": 8,
    "heads": 2,
    "dropout": 0.1,
    "input_dropout": 0.1,
    "kernel": 5,
    "margin": 0.1,
    "span_weight": 0.5,
    "video_ranking_weight": 1.0,
    "query_ranking_weight": 2.0,
    "hard_negatives_from": 0,
    "hard_pool": 1,
    "alpha": 30.0,
}
WIDTHS = Widths(tokens=5, streams=(6, 4), max_tokens=4, max_rows=9)
LENGTHS, TOKENS, SPANS = [9, 6, 4, 7], [4, 2, 3, 1], [(2, 5), (0, 3), (1, 1), (6, 6)]
POSITIVE = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]], dtype=bool)
MODES = ["as_paper", "as_published"]
NAMES = ["reloclnet", "xml"]


def make(name, mode):
    """Return a model with random weights, large enough that each formula matters."""
    torch.manual_seed(3)
    if name == "xml":
        model = xml.XML(WIDTHS, sections.XML(**SHARED), mode)
    else:
        own = sections.ReLoCLNet(**SHARED, frame_weight=0.3, video_weight=0.7)
        model = reloclnet.ReLoCLNet(WIDTHS, own, mode)
    for parameter in model.parameters():  # its scale, too
        torch.nn.init.normal_(parameter, std=0.4)
    model.hard_pool = 1  # the hardest one: nothing is left to chance
    return model.eval()


@pytest.fixture
def batch():
    torch.manual_seed(5)
    rows, tokens = torch.arange(WIDTHS.max_rows), torch.arange(WIDTHS.max_tokens)
    row_mask = rows < torch.tensor(LENGTHS)[:, None]
    token_mask = tokens < torch.tensor(TOKENS)[:, None]
    streams = tuple(
        torch.randn(4, WIDTHS.max_rows, width) * row_mask[..., None] for width in WIDTHS.streams
    )
    return batches.Batch(
        tokens=torch.randn(4, WIDTHS.max_tokens, WIDTHS.tokens) * token_mask[..., None],
        token_mask=token_mask,
        streams=streams,
        row_mask=row_mask,
        video=torch.arange(4),
        span=torch.tensor(SPANS),
        weight=torch.tensor([1.0, 0.6, 0.9, 0.3]),
        positive=torch.from_numpy(POSITIVE),
        covered=torch.zeros(4, 4, WIDTHS.max_rows, dtype=torch.bool),
        negative=torch.empty(4, 0, dtype=torch.int64),
    )


class Expected:
    """All of a batch by the slow definitions."""

    def __init__(self, name, model, batch, mode):
        weights = {key: value.detach().double() for key, value in model.named_parameters()}
        self.weights = {key: value.requires_grad_() for key, value in weights.items()}
        slow = Slow(self.weights, 2, 5, reads_padding=mode == "as_published")
        queries = ["query_encoder"] if name == "xml" else ["query_encoders.0", "query_encoders.1"]
        encoders = ["later.0"] if name == "xml" else ["later.0", "later.1"]
        self.vectors = [
            slow.query(batch.tokens[i, :n].double(), queries) for i, n in enumerate(TOKENS)
        ]
        layers = [
            slow.video([stream[i].double() for stream in batch.streams], n, encoders)
            for i, n in enumerate(LENGTHS)
        ]
        retrieval = 0 if name == "xml" else 2
        self.scores = [
            [
                slow.score(vectors, [states[retrieval] for states in layers[j]], LENGTHS[j])
                for j in range(4)
            ]
            for vectors in self.vectors
        ]
        self.logits = [
            slow.logits(self.vectors[i], [states[-1] for states in layers[i]], LENGTHS[i])
            for i in range(4)
        ]
        self.middle = [[states[1] for states in layers[j]] for j in range(4)]

    def losses(self, name, batch, mode):
        """Each loss of each pair, not weighted by similarity."""
        positives = POSITIVE if mode == "as_paper" else np.eye(4, dtype=bool)
        s = self.scores
        result = {
            "spans": [
                0.5 * sum(cross_entropy(side, SPANS[i][k]) for k, side in enumerate(self.logits[i]))
                for i in range(4)
            ],
            "other_video": [
                positive(0.1 + max(s[i][j] for j in range(4) if not positives[i][j]) - s[i][i])
                for i in range(4)
            ],
            "other_query": [
                2 * positive(0.1 + max(s[j][i] for j in range(4) if not positives[j][i]) - s[i][i])
                for i in range(4)
            ],
        }
        if name == "xml":
            return result
        products = [
            [
                [
                    [v @ row for row in rows[: LENGTHS[j]]]
                    for v, rows in zip(vectors, self.middle[j], strict=False)
                ]
                for j in range(4)
            ]
            for vectors in self.vectors
        ]
        best = [
            [sum(max(row_values) for row_values in products[i][j]) / 2 for j in range(4)]
            for i in range(4)
        ]
        result["frames"] = [
            0.3 * sum(frame_contrast(row_values, *SPANS[i]) for row_values in products[i][i]) / 2
            for i in range(4)
        ]
        result["videos"] = [
            0.7 * video_contrast(best, i, lambda a, b: a != b and positives[a][b]) for i in range(4)
        ]
        return result


def in_64_bits(batch):
    values = {field: getattr(batch, field) for field in batch.__dataclass_fields__}
    wide = {"tokens": batch.tokens.double(), "weight": batch.weight.double()}
    streams = tuple(stream.double() for stream in batch.streams)
    return batches.Batch(**values | wide | {"streams": streams})


def positive(value):
    return value.clamp(min=0)


def weighted_mean(part, values, batch, mode):
    """Return a loss of the batch: what was released does not weight the ranking losses."""
    weighted = mode == "as_paper" or part in {"spans", "frames", "videos"}
    weights = batch.weight.double() if weighted else torch.ones(4).double()
    return (torch.stack(values) * weights).mean()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", MODES)
def test_scores_losses_and_gradients_are_those_of_the_definitions(name, mode, batch):
    """In 64 bits: nothing but rounding may differ."""
    model, batch = make(name, mode).double(), in_64_bits(batch)
    slow = Expected(name, model, batch, mode)
    vectors = model.encode_query(batch.tokens, batch.token_mask)
    context = model.encode_context(batch.streams, batch.row_mask)
    queries = model.span_queries(vectors)
    logits = model.detect(blocks.pair_similarity(queries, context.spans), batch.row_mask)
    own = torch.stack([torch.stack(pair) for pair in slow.vectors])
    close(torch.stack(vectors, dim=1), own)
    for i, length in enumerate(LENGTHS):
        for ours, side in zip(logits, slow.logits[i], strict=True):
            close(ours[i, :length], torch.stack(side))
            assert (ours[i, length:] == -1e10).all()
    parts = model(batch)
    expected = slow.losses(name, batch, mode)
    means = {part: weighted_mean(part, values, batch, mode) for part, values in expected.items()}
    assert set(parts) == set(means)
    for part, value in means.items():
        assert parts[part].item() == pytest.approx(value.item(), abs=1e-9), part
    torch.stack(list(parts.values())).sum().backward()
    torch.stack(list(means.values())).sum().backward()
    for parameter, weight in model.named_parameters():
        close(weight.grad, slow.weights[parameter].grad)


def close(ours, theirs):
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", MODES)
def test_a_video_of_several_pairs_is_encoded_once(name, mode, batch):
    """The losses are those of a batch in which each pair brings its video."""
    model = make(name, mode)
    values = {field: getattr(batch, field) for field in batch.__dataclass_fields__}
    video = torch.tensor([2, 0, 0, 1])
    once = batches.Batch(**values | {"video": video})
    rows = {"streams": tuple(stream[video] for stream in batch.streams), "row_mask": once.pair_mask}
    with torch.no_grad():
        losses_once, losses_each = model(once), model(batches.Batch(**values | rows))
    for part, value in losses_once.items():
        assert float(value) == pytest.approx(float(losses_each[part]), rel=1e-5), part


@pytest.mark.parametrize("name", NAMES)
def test_as_paper_what_is_in_the_padding_changes_no_score(name, batch):
    model = make(name, "as_paper")
    longer = tuple(stream.masked_fill(~batch.row_mask[..., None], 7.0) for stream in batch.streams)
    scores = [outputs(model, batch, streams) for streams in (batch.streams, longer)]
    assert all(torch.equal(a, b) for a, b in zip(*scores, strict=True))


def outputs(model, batch, streams, rows=WIDTHS.max_rows):
    mask = batch.row_mask[:, :rows]
    with torch.no_grad():
        context = model.encode_context(tuple(stream[:, :rows] for stream in streams), mask)
        vectors = model.encode_query(batch.tokens, batch.token_mask)
        queries = model.span_queries(vectors)
        logits = model.detect(blocks.pair_similarity(queries, context.spans), mask)
        best = [
            losses.best_row(torch.einsum("nd,vld->nvl", v, c), mask)
            for v, c in zip(vectors, context.retrieval, strict=True)
        ]
    return [logits.start, logits.end, *best]


@pytest.mark.parametrize("name", NAMES)
def test_as_paper_a_trimmed_video_has_the_same_scores_and_as_published_it_has_not(name, batch):
    rows = torch.arange(WIDTHS.max_rows) < torch.tensor([6, 6, 4, 5])[:, None]
    values = {field: getattr(batch, field) for field in batch.__dataclass_fields__}
    cut = batches.Batch(**values | {"row_mask": batch.row_mask & rows})
    streams = tuple(stream * cut.row_mask[..., None] for stream in batch.streams)
    for mode, same in (("as_paper", True), ("as_published", False)):
        model = make(name, mode)
        whole, trimmed = outputs(model, cut, streams), outputs(model, cut, streams, 6)
        for logits, others in zip(whole[:2], trimmed[:2], strict=True):
            assert torch.equal(logits[:, :6], others) == same
        pairs = zip(whole[2:], trimmed[2:], strict=True)
        assert all(torch.equal(a, b) if same else torch.allclose(a, b) for a, b in pairs)


def test_a_pair_without_any_negative_has_no_ranking_loss():
    everything = torch.ones(3, 3, dtype=torch.bool)
    for part in losses.ranking_losses(torch.randn(3, 3), everything, 0.1, None):
        assert (part == 0).all()


def test_negatives_are_drawn_from_all_that_are_not_positive():
    torch.manual_seed(0)
    scores = torch.tensor([[0.0, 5.0, 1.0, 2.0]] * 4)
    positives = torch.eye(4, dtype=torch.bool)
    positives[0, 1] = True
    draws = {float(losses.ranking_losses(scores, positives, 0.0, None)[0][0]) for _ in range(60)}
    assert draws == {1.0, 2.0}
