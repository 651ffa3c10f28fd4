"""How many tokens a text is, about, and what they cost.

No tokenizer is asked: a server may run any model. English is about four bytes of UTF-8 to a
token, and that is what costs are estimated by. Hardly any text has fewer than three, in any
script, and that is what room is kept by under a limit.
"""

import json
import math
from typing import Any, NamedTuple

LIKELY_BYTES = 4
"""Bytes of UTF-8 to a token of English: for estimates."""

FEWEST_BYTES = 3
"""Bytes of UTF-8 to a token where it matters not to be too low: for limits."""

BATCH_SHARE = 0.5
"""What a request in a batch costs of its online price."""

_PER_MESSAGE = 4  # tokens that separate one message from the next


class Prices(NamedTuple):
    """USD per million tokens."""

    input: float
    output: float

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return the price of so many tokens in USD."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


def of_text(text: str, bytes_per_token: int = LIKELY_BYTES) -> int:
    """Return about how many tokens a text is."""
    # A server may answer with half a character; it is paid for like a whole one.
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / bytes_per_token)


def of_prompt(body: dict[str, Any], bytes_per_token: int = LIKELY_BYTES) -> int:
    """Return about how many tokens go in with a request: its messages and its schema."""
    schema = json.dumps(body.get("response_format", {}), ensure_ascii=False)
    texts = [schema, *(message["content"] for message in body["messages"])]
    return sum(of_text(text, bytes_per_token) + _PER_MESSAGE for text in texts)
