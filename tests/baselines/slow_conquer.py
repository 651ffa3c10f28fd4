"""CONQUER's formulas once more, one query and one video at a time, in loops: `slow_formulas`."""

import math

from lazy import Lazy
from slow_formulas import Slow, softmax

torch = Lazy("torch")


class SlowConquer(Slow):
    """One model's weights and formulas; sequences have no padding."""

    def __init__(self, weights, heads):
        super().__init__(weights, heads, 5, reads_padding=False)

    def transform(self, name, states):
        """Return the states after a layer of BERT."""
        attended = self.encode(f"{name}.attention", states, len(states))
        wide = [self.linear(f"{name}.wide", state) for state in attended]
        fed = [self.linear(f"{name}.narrow", v * (1 + (v / math.sqrt(2)).erf()) / 2) for v in wide]
        return [self.norm(f"{name}.norm", a + b) for a, b in zip(fed, attended, strict=True)]

    def contextualize(self, name, features):
        projected = [
            self.linear(
                f"{name}.projection.linear", self.norm(f"{name}.projection.norm", row)
            ).clamp(min=0)
            for row in features
        ]
        return self.transform(f"{name}.transformer", projected)

    def pool(self, states):
        """Return NetVLAD's vector: cluster by cluster, what tokens differ from it."""
        centres, parts = self.w["pooling.centres"], []
        assigned = [
            softmax(list(self.norm("pooling.norm", self.w["pooling.assignment"].T @ state)))
            for state in states
        ]
        for k, centre in enumerate(centres):
            pairs = zip(states, assigned, strict=True)
            part = sum(shares[k] * (state - centre) for state, shares in pairs)
            parts.append(part / (part @ part) ** 0.5)
        return torch.cat(parts) / math.sqrt(len(centres))

    def encode_query(self, tokens):
        """Return the states of a query's tokens, and how much each stream counts."""
        entered = self.enter("query_projection", "query_positions", tokens)
        states = self.transform("query_transformer", entered)
        return states, softmax(list(self.linear("shares", self.pool(states))))

    def rows(self, streams):
        """Return the encoded rows of each stream of a video: all of them see all of them."""
        entered = []
        for s, rows in enumerate(streams):
            for place, row in enumerate(rows):
                scaled = self.norm(f"projections.{s}.norm", row)
                state = self.linear(f"projections.{s}.linear", scaled).clamp(min=0)
                state = state + self.w["stream_types.weight"][s]
                state = state + self.w["row_positions.embedding.weight"][place]
                entered.append(self.norm("row_positions.norm", state))
        states, length = self.transform("row_transformer", entered), len(streams[0])
        return [states[s * length : (s + 1) * length] for s in range(len(streams))]

    def affinity(self, row, token):
        u, v, w = (self.w[f"attention.{name}.weight"][0] for name in ("row", "token", "both"))
        return sum(
            u[d] * row[d] + v[d] * token[d] + w[d] * row[d] * token[d] for d in range(len(u))
        )

    def attend_both_ways(self, rows, tokens):
        table = [[self.affinity(row, token) for token in tokens] for row in rows]
        best = softmax([max(line) for line in table])
        summary = sum(share * row for share, row in zip(best, rows, strict=True))
        aware = []
        for row, line in zip(rows, table, strict=True):
            token = sum(share * t for share, t in zip(softmax(line), tokens, strict=True))
            aware.append(torch.cat([row, token, row * token, row * summary]))
        return aware

    def scan(self, name, states):
        """Return a logit for each row: a filter of five rows, ReLU, and a weighted sum."""
        wide, narrow = self.w[f"{name}.wide.weight"], self.w[f"{name}.narrow.weight"][0, :, 0]
        logits = []
        for i in range(len(states)):
            near = [(k, i + k - 2) for k in range(5) if 0 <= i + k - 2 < len(states)]
            channels = sum(wide[:, :, k] @ states[j] for k, j in near)
            logits.append(narrow @ channels.clamp(min=0))
        return logits

    def read(self, tokens, streams):
        """Return the logits of a video's rows as starts and as ends, for a query."""
        states, shares = self.encode_query(tokens)
        encoded = self.rows(streams)
        fused = [
            sum(share * rows[i] for share, rows in zip(shares, encoded, strict=True))
            for i in range(len(encoded[0]))
        ]
        aware = self.attend_both_ways(fused, states)
        context = self.contextualize("context", aware)
        starts = self.contextualize(
            "start_context", map(torch.cat, zip(aware, context, strict=True))
        )
        ends = self.contextualize("end_context", map(torch.cat, zip(context, starts, strict=True)))
        return [self.scan("start", starts), self.scan("end", ends)]
