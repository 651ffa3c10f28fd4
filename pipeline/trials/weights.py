"""The published weights of SimCSE and of Flair's tagger, with the paper's settings."""

import numpy as np

from pipeline.core.sections import Embed
from pipeline.retrieval.similarity import Vectors
from pipeline.trials.base import Inputs, Met, NotMetError, Trial, host_of

TEXTS = ("A child rides a skateboard.", "A child is skateboarding.", "A child sits in the house.")
PERSON = "George Washington"
SENTENCES = (f"{PERSON} went to Washington.", "A woman waves to a man.")
ATOL = 1e-4
LIKE = 0.8
"""The similarity above which two captions say the same."""


def try_simcse(inputs: Inputs) -> Met:
    """Encode three texts as `embed` does, and compare with what transformers computes.

    Raises:
        EncoderError: the model can't be fetched or loaded.
        NotMetError: a vector differs, or the similarities are not those of such a model.
    """
    from pipeline.retrieval import encoder  # noqa: PLC0415  (--help needs none)

    settings = inputs.paper.embed.model_copy(update={"device": "cpu"})
    folder = encoder.locate(settings.model, settings.revision)
    vectors = encoder.load(folder, settings).encode(TEXTS)
    if not np.allclose(vectors, _pool_by_transformers(str(folder), settings), atol=ATOL):
        raise NotMetError(f"{settings.model}: its vectors are not what transformers computes")
    like, unlike = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    if not like > LIKE > unlike:
        raise NotMetError(f"{settings.model}: similarities {like:.2f} and {unlike:.2f} are wrong")
    result = f"3 vectors within {ATOL:g} of transformers; similarities {like:.2f}, {unlike:.2f}"
    return Met(f"{settings.model} {folder.name[:12]}", _hub(), result)


def _pool_by_transformers(folder: str, settings: Embed) -> Vectors:
    import torch  # noqa: PLC0415  (--help needs none)
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        output = model(**tokenizer(list(TEXTS), padding=True, return_tensors="pt"))
    cls = output.last_hidden_state[:, 0]
    pooled = output.pooler_output if settings.pooling == "pooler" else cls
    unit: Vectors = torch.nn.functional.normalize(pooled, dim=1).numpy()
    return unit


def try_flair(inputs: Inputs) -> Met:
    """Let the published tagger find the one person in two sentences.

    Raises:
        TaggerError: the model can't be fetched or loaded.
        NotMetError: it finds another name, or is not sure.
    """
    from pipeline.names import flair_tagger  # noqa: PLC0415  (--help needs none)

    names = inputs.paper.names
    tagger = flair_tagger.load(flair_tagger.locate(names.model, names.revision))
    found = tagger.find(SENTENCES)
    texts = [[span.text for span in spans] for spans in found]
    if texts != [[PERSON], []]:
        raise NotMetError(f"{names.model}: found {texts} in {' '.join(SENTENCES)!r}")
    score = found[0][0].score
    if score <= inputs.paper.rewrite.max_name_score:
        raise NotMetError(f"{names.model}: scores {PERSON!r} {score:.2f}: no name by the checks")
    version = f"{names.model} {(names.revision or 'of a file')[:12]}"
    return Met(version, _hub(), f"the person of 2 sentences and no other, score {score:.3f}")


def _hub() -> str:
    from huggingface_hub import constants  # noqa: PLC0415  (--help needs none)

    return f"files of {host_of(constants.ENDPOINT)}, on this processor"


TRIALS = (
    Trial("simcse", "SimCSE's published weights", "downloads about 1.4 GB, once", try_simcse),
    Trial("flair", "Flair's published tagger", "downloads about 2.2 GB, once", try_flair),
)
