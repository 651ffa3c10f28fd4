"""What the tests of rewriting by a model share."""

from support.fake_openai.answers import caption_of

from pipeline.captions.rewriter import Rewrite
from pipeline.llm.dispatcher import Policy

IMPATIENT = Policy(tries=2, first=0.01, longest=0.01)


def expect_rewrites(items, failed=None):
    """Return what rewriting items must give; `failed` has outcomes by the ids of moments."""
    return [
        Rewrite(item.moment_id, None, failed[item.moment_id])
        if item.moment_id in (failed or {})
        else Rewrite(item.moment_id, caption_of(item.description))
        for item in items
    ]


def rewrite(rewriter, items, attempt=0):
    return list(rewriter.rewrite(items, attempt))
