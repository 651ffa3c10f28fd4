"""CONQUER's formulas once more, one query and one video at a time, in loops: `slow_formulas`."""

from lazy import Lazy
from slow_formulas import Slow, softmax

torch = Lazy("torch")


class SlowConquer(Slow):
    """One model's weights and formulas; sequences have no padding."""

    def __init__(self, weights, heads):
        super().__init__(weights, heads, 0, reads_padding=False)

    def encode_query(self, tokens):
        """Return the states of a query's tokens, and how much each stream counts."""
        states = self.enter("query_projection", "query_positions", tokens)
        states = self.encode("query_encoder", states, len(tokens))
        [weight] = self.w["pooling.linear.weight"]
        shares = softmax([weight @ state for state in states])
        vector = sum(share * state for share, state in zip(shares, states, strict=True))
        return states, softmax(list(self.linear("shares", vector)))

    def rows(self, streams):
        """Return the encoded rows of each stream of a video."""
        return [
            self.encode(
                f"row_encoders.{s}",
                self.enter(f"projections.{s}", "row_positions", rows),
                len(rows),
            )
            for s, rows in enumerate(streams)
        ]

    def affinity(self, row, token):
        u, v, w = (self.w[f"attention.{name}.weight"][0] for name in ("row", "token", "both"))
        return sum(
            u[d] * row[d] + v[d] * token[d] + w[d] * row[d] * token[d] for d in range(len(u))
        )

    def attend_both_ways(self, rows, tokens):
        table = [[self.affinity(row, token) for token in tokens] for row in rows]
        row_shares = [softmax(line) for line in table]
        token_shares = [softmax([line[j] for line in table]) for j in range(len(tokens))]
        attended = [
            sum(token_shares[j][i] * rows[i] for i in range(len(rows))) for j in range(len(tokens))
        ]
        aware = []
        for i, row in enumerate(rows):
            token = sum(row_shares[i][j] * tokens[j] for j in range(len(tokens)))
            back = sum(row_shares[i][j] * attended[j] for j in range(len(tokens)))
            aware.append(torch.cat([row, token, row * token, row * back]))
        return aware

    def read(self, tokens, streams):
        """Return the logits of a video's rows as starts and as ends, for a query."""
        states, shares = self.encode_query(tokens)
        encoded = self.rows(streams)
        fused = [
            sum(share * rows[i] for share, rows in zip(shares, encoded, strict=True))
            for i in range(len(encoded[0]))
        ]
        aware = self.attend_both_ways(fused, states)
        merged = [self.linear("merge.linear", self.norm("merge.norm", row)) for row in aware]
        first = self.encode("start_encoder", [row.clamp(min=0) for row in merged], len(aware))
        second = self.encode("end_encoder", first, len(first))
        return [
            [
                (self.linear(f"{head}.aware", row) + self.linear(f"{head}.context", context))[0]
                for row, context in zip(aware, contexts, strict=True)
            ]
            for head, contexts in (("start", first), ("end", second))
        ]
