"""XML's and ReLoCLNet's formulas once more, from their papers: one query, one video, loops.

Weights are read by our parameters' names from a dict of tensors in 64 bits, so that autograd gives
the gradients of these formulas too. Sequences are lists of vectors, with their padding.
"""

import math

from lazy import Lazy

torch = Lazy("torch")


class Slow:
    """One model's weights and formulas."""

    def __init__(self, weights, heads, kernel, *, reads_padding):
        self.w = weights
        self.heads, self.kernel, self.reads_padding = heads, kernel, reads_padding

    def linear(self, name, vector):
        mapped = self.w[f"{name}.weight"] @ vector
        return mapped + self.w[f"{name}.bias"] if f"{name}.bias" in self.w else mapped

    def norm(self, name, vector):
        centred = vector - sum(vector) / len(vector)
        variance = sum(value * value for value in centred) / len(vector)
        scaled = centred / (variance + 1e-5) ** 0.5
        return scaled * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def enter(self, projection, positions, features):
        states = []
        for place, feature in enumerate(features):
            state = self.linear(f"{projection}.linear", self.norm(f"{projection}.norm", feature))
            state = state.clamp(min=0) + self.w[f"{positions}.embedding.weight"][place]
            states.append(self.norm(f"{positions}.norm", state))
        return states

    def attend(self, name, states, others, allowed):
        """`allowed(i, j)` says whether position i may look at j; nobody is left without any."""
        queries = [self.linear(f"{name}.query", state) for state in states]
        keys = [self.linear(f"{name}.key", state) for state in others]
        values = [self.linear(f"{name}.value", state) for state in others]
        width = len(queries[0]) // self.heads
        mixed = []
        for i, query in enumerate(queries):
            parts = []
            for head in range(self.heads):
                part = slice(head * width, (head + 1) * width)
                visible = [j for j in range(len(keys)) if allowed(i, j)] or range(len(keys))
                logits = [query[part] @ keys[j][part] / math.sqrt(width) for j in visible]
                shares = softmax(logits)
                parts.append(
                    sum(share * values[j][part] for share, j in zip(shares, visible, strict=True))
                )
            mixed.append(torch.cat(parts))
        return mixed

    def encode(self, name, states, length):
        mixed = self.attend(f"{name}.attention", states, states, lambda i, j: j < length)
        return [
            self.norm(f"{name}.norm", self.linear(f"{name}.linear", update) + state)
            for update, state in zip(mixed, states, strict=True)
        ]

    def cross(self, place, states, others, length):
        # A padded row may look at nothing: its weights are then those without a mask.
        mixed = self.attend(
            f"{place}.cross", states, others, lambda i, j: i < length and j < length
        )
        return [
            self.norm(f"{place}.cross_norm", update + state)
            for update, state in zip(mixed, states, strict=True)
        ]

    def query(self, tokens, encoders):
        states = self.enter("query_projection", "query_positions", tokens)
        for encoder in encoders:
            states = self.encode(encoder, states, len(tokens))
        vectors = []
        for weight in self.w["pooling.linear.weight"]:
            shares = softmax([weight @ state for state in states])
            vectors.append(sum(share * s for share, s in zip(shares, states, strict=True)))
        return vectors

    def video(self, streams, length, encoders):
        """Return for each stream the states after each encoder, first to last."""
        entered = [
            self.encode(
                f"streams.{s}.encoder",
                self.enter(f"streams.{s}.projection", "row_positions", rows),
                length,
            )
            for s, rows in enumerate(streams)
        ]
        layers = []
        for s, states in enumerate(entered):
            states_of = [states]
            current = self.cross(f"streams.{s}", states, entered[1 - s], length)
            for encoder in encoders:
                current = self.encode(f"streams.{s}.{encoder}", current, length)
                states_of.append(current)
            layers.append(states_of)
        return layers

    def score(self, vectors, streams, length):
        """Best cosine of the valid rows, the mean of both streams."""
        best = [
            max(cosine(vector, row) for row in rows[:length])
            for vector, rows in zip(vectors, streams, strict=True)
        ]
        return sum(best) / 2

    def logits(self, vectors, streams, length):
        """Start and end logits of the valid rows."""
        queries = [self.linear(f"streams.{s}.query", vector) for s, vector in enumerate(vectors)]
        similarity = [
            sum(a @ rows[i] for a, rows in zip(queries, streams, strict=True)) / 2
            for i in range(len(streams[0]))
        ]
        if not self.reads_padding:
            similarity = similarity[:length]
        result = []
        for side in ("start", "end"):
            kernel = self.w[f"spans.{side}.weight"][0, 0]
            result.append(
                [
                    sum(
                        kernel[k] * similarity[i + k - self.kernel // 2]
                        for k in range(self.kernel)
                        if 0 <= i + k - self.kernel // 2 < len(similarity)
                    )
                    for i in range(length)
                ]
            )
        return result


def softmax(logits):
    top = max(logits)
    shares = [(logit - top).exp() for logit in logits]
    return [share / sum(shares) for share in shares]


def cosine(a, b):
    return a @ b / ((a @ a) ** 0.5 * (b @ b) ** 0.5)


def log_sum(terms):
    top = max(terms)
    return sum((term - top).exp() for term in terms).log() + top


def cross_entropy(logits, place):
    return log_sum(logits) - logits[place]


def softplus(value):
    return (-value.abs()).exp().log1p() + value.clamp(min=0)


def frame_contrast(products, first, last):
    """Jensen-Shannon: mean of outside rows minus mean of inside ones."""
    inside = [math.log(2) - softplus(-products[i]) for i in range(first, last + 1)]
    outside = [
        softplus(-p) + p - math.log(2) for i, p in enumerate(products) if not first <= i <= last
    ]
    return (sum(outside) / len(outside) if outside else 0.0) - sum(inside) / len(inside)


def video_contrast(scores, i, left_out):
    """`left_out(a, b)`: whether query a and video b are another positive pair."""
    n = len(scores)
    terms = [scores[i][j] for j in range(n) if not left_out(i, j)]
    terms += [scores[j][i] for j in range(n) if not left_out(j, i)]
    return log_sum(terms) - scores[i][i]


def iou(first, second):
    shared = max(0, min(first[1], second[1]) - max(first[0], second[0]))
    return shared / (first[1] - first[0] + second[1] - second[0] - shared)


def randomize(model, scale=0.4):
    """Draw weights large enough that each formula matters; numbers stay as they are."""
    torch.manual_seed(3)
    for parameter in model.parameters():
        if parameter.ndim:
            torch.nn.init.normal_(parameter, std=scale)
    return model.eval()
