"""The paper's own models, where a model hub can be reached: `pytest -m live -k published`.

Takes gigabytes. The settings are those of params.paper.yaml.
"""

import numpy as np
import pytest
from lazy import Lazy

from pipeline.core.params import load

encoder, flair_tagger = Lazy("pipeline.retrieval.encoder"), Lazy("pipeline.names.flair_tagger")
torch, transformers = Lazy("torch"), Lazy("transformers")

pytestmark = pytest.mark.live

TEXTS = ["A child rides a skateboard.", "A child is skateboarding.", "A child sits in the house."]


@pytest.fixture(scope="module")
def paper(repository):
    return load(repository / "params.paper.yaml")


def test_the_published_encoder_gives_what_transformers_computes(paper):
    folder = encoder.locate(paper.embed.model, paper.embed.revision)
    vectors = encoder.load(folder, paper.embed.model_copy(update={"device": "cpu"})).encode(TEXTS)
    model = transformers.AutoModel.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        pooled = model(**tokenizer(TEXTS, padding=True, return_tensors="pt")).pooler_output
    expected = torch.nn.functional.normalize(pooled, dim=1).numpy()
    np.testing.assert_allclose(vectors, expected, atol=1e-4)
    assert vectors[0] @ vectors[1] > 0.8 > vectors[0] @ vectors[2]


def test_the_published_tagger_finds_persons_and_nothing_else(paper):
    tagger = flair_tagger.load(flair_tagger.locate(paper.names.model, paper.names.revision))
    texts = ["George Washington went to Washington.", "A woman waves to a man."]
    names = tagger.find(texts)
    assert [[span.text for span in spans] for spans in names] == [["George Washington"], []]
    assert names[0][0].score > paper.rewrite.max_name_score
