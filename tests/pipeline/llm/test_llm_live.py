"""A real endpoint, where there is a key: `pytest -m live` with OPENAI_API_KEY set. Costs a cent."""

import os

import pytest

from pipeline.captions.llm_rewriter import LlmRewriter
from pipeline.captions.rewriter import OK, Moment
from pipeline.core import params

NAMES = ("Hannah", "Simon", "Marlow", "Delaney", "Stone")


@pytest.mark.live
@pytest.mark.skipif(not os.environ.get("OPENAI_API_KEY"), reason="OPENAI_API_KEY is not set")
def test_a_real_model_replaces_the_names(repository, prompt, tmp_path):
    settings = params.load(repository / "params.yaml").rewrite.openai
    model = os.environ.get("OPENAI_MODEL", settings.model)
    changed = settings.model_copy(update={"cache": str(tmp_path), "model": model})
    asked = [
        Moment("a", "Hannah pours coffee for Simon and sits down on the couch."),
        Moment("b", "Marlow and Delaney walk into the room."),
        Moment("c", "Stone throws the ball against the wall of Stone's office."),
    ]
    llm = LlmRewriter(changed, prompt)
    for attempt in (0, 1):
        drafts = list(llm.rewrite(asked, attempt))
        assert [draft.outcome for draft in drafts] == [OK] * 3
        assert not any(name in str(draft.caption) for draft in drafts for name in NAMES)
    assert llm.spent.tokens_in > 0
