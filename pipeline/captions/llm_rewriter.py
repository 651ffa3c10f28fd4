"""Rewriting with a large language model (paper, section 3.1 and Appendix A).

Descriptions are sent several at a time, each distinct one once, and captions return by id. The
first attempt is at temperature 0, repairs are at 0.2 with another seed. What the model refuses or
fails to rewrite has no caption, but a reason.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.captions.caption_requests import REWRITING, CaptionRecipe, likely_tokens_out
from pipeline.captions.rewrite_prompt import RewritePrompt
from pipeline.captions.rewriter import Moment, Rewrite
from pipeline.core.sections import OpenAI
from pipeline.llm.asker import ASKS, Access, Asker, Attempt, cut
from pipeline.llm.request import Request


class Estimate(NamedTuple):
    """About what rewriting would take; `stored` distinct descriptions are already paid for.

    `most_requests` and `most_cost` are upper bounds.
    """

    descriptions: int
    stored: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float
    most_requests: int
    most_cost: float


class LlmRewriter:
    """The rewriter behind `rewrite.backend: openai`; `spent` is what it has cost."""

    source = "llm"

    def __init__(
        self, settings: OpenAI, prompt: RewritePrompt, access: Access | None = None
    ) -> None:
        """Send nothing yet.

        Raises:
            UsageError: the environment's address or key is not valid.
        """
        self.model: str | None = settings.model
        self.prompt: str | None = prompt.label
        self._settings, self._prompt = settings, prompt
        self._asker = Asker(settings, REWRITING, access)
        self.spent = self._asker.spent

    def check_ready(self, moments: Sequence[Moment]) -> None:
        """Check that these can be rewritten, as far as is known without asking.

        Raises:
            UsageError: a key is needed, but missing.
        """
        self._asker.check_ready(self._attempt(moments, 0))

    def rewrite(self, moments: Sequence[Moment], attempt: int) -> Iterator[Rewrite]:
        """Yield one rewrite for every moment, in order.

        Raises:
            LLMError: the account is empty, the key or model is wrong, the server is unreachable,
                or it sends no answers, or none that can be used.
            CacheError: another run is using the cache.
            UsageError: a key is needed, but missing.
        """
        per_request = self._settings.per_request
        recipe = self._recipe(attempt)
        results = self._asker.resolve(recipe, _distinct(moments), per_request, "texts").results
        for moment in moments:
            yield Rewrite(moment.moment_id, *results[moment.description])

    def estimate(self, moments: Sequence[Moment], repairs: int = 0) -> Estimate:
        """Return what rewriting would take; nothing is sent, and no key is needed.

        Tokens are taken as a quarter of the bytes, and a caption as long as its description.
        Repairs and requests repeated after unusable answers count only for the upper bound, which
        assumes that all answers are unusable and as long as allowed.

        Args:
            moments: What would be rewritten.
            repairs: How often, at most, a caption that fails a check is rewritten.
        """
        missing = self._attempt(moments, 0).missing()
        texts = _distinct(moments)
        distinct = len(texts)
        again = cut(texts, self._settings.per_request)
        fixed_in = self._recipe(0).request([]).likely_in
        first = [self._bound(request, fixed_in) for request in missing]
        repair = [self._bound(self._recipe(1).request(*chunk), fixed_in) for chunk in again]
        bounds = [*first, *repair * repairs]
        tokens_in = sum(request.likely_in for request in missing)
        tokens_out = sum(map(likely_tokens_out, missing))
        return Estimate(
            descriptions=distinct,
            stored=distinct - sum(len(request.asked) for request in missing),
            requests=len(missing),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=self.spent.prices.cost(tokens_in, tokens_out),
            most_requests=sum(requests for requests, _ in bounds),
            most_cost=sum(cost for _, cost in bounds),
        )

    def _bound(self, request: Request, fixed_in: int) -> tuple[int, float]:
        """Return the most requests and USD: every answer is unusable and as long as possible.

        The request is halved down to single texts, and every half is asked `ASKS` times, so every
        level of halves sends all texts; `fixed_in` are the tokens of a request without texts.
        """
        size, text_in = len(request.asked), max(0, request.likely_in - fixed_in)
        requests, levels = ASKS * (2 * size - 1), (size - 1).bit_length() + 1
        tokens_in = requests * fixed_in + ASKS * levels * text_in
        tokens_out = requests * self._settings.max_output_tokens
        return requests, self.spent.prices.cost(tokens_in, tokens_out)

    def _attempt(self, moments: Sequence[Moment], attempt: int) -> Attempt[str]:
        per_request = self._settings.per_request
        return self._asker.attempt(self._recipe(attempt), _distinct(moments), per_request)

    def _recipe(self, attempt: int) -> CaptionRecipe:
        settings = self._settings
        return CaptionRecipe(
            self._asker.endpoint.url,
            settings.model,
            self._prompt,
            settings.max_output_tokens,
            attempt,
            settings.output_limit,
            settings.extra,
        )


def _distinct(moments: Sequence[Moment]) -> list[str]:
    return list(dict.fromkeys(moment.description for moment in moments))
