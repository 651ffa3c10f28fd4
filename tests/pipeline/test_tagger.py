"""What the builtin tagger is trained on, its character features, and what training gives."""

import random
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazy import Lazy

from pipeline import tagger
from pipeline.core.files import FileError
from pipeline.core.sections import Tagger
from pipeline.names import grammar, wordlists
from pipeline.names.base import Span
from pipeline.names.grammar import Example, GrammarError

characters, training = Lazy("pipeline.names.characters"), Lazy("pipeline.names.training")
flair, torch = Lazy("flair.data"), Lazy("torch")

PARAMS = Tagger(seed=5, sentences=120, epochs=1)
WORDS = {"first": ["Nora"], "last": ["Reed"], "full": ["Nora Reed"], "w": ["lamp"]}


@pytest.fixture(scope="module")
def rules(repository):
    return grammar.read(repository / grammar.TEMPLATES)


# --- sentences


def test_names_are_labelled_where_they_stand():
    rules = {"sentence": ["{who} meets {first} {last}'s {w}."], "who": ["{full}"]}
    example = grammar.draw(rules, WORDS, random.Random(0))
    assert example.text == "Nora Reed meets Nora Reed's lamp."
    names = [example.text[start:end] for start, end in example.names]
    assert names == ["Nora Reed", "Nora", "Reed"]


@pytest.fixture(scope="module")
def train():
    """Return the words of training."""
    return wordlists.word_lists(random.Random(1), held_out=False)


@pytest.fixture(scope="module")
def names(rules, train):
    """Return all that may be labelled."""
    lists = [*train.items(), *rules.items()]
    return {word for symbol, words in lists if symbol in grammar.NAMES for word in words}


@given(st.randoms(use_true_random=False))
def test_every_label_of_the_real_grammar_is_a_name_and_nothing_is_left_open(
    rules, train, names, rng
):
    example = grammar.draw(rules, train, rng)
    assert not re.search("[{}]", example.text)
    ends = 0
    for start, end in example.names:
        assert ends <= start < end
        assert example.text[start:end] in names
        ends = end


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "must map symbols to lists"),
        ("sentence: x", "must map symbols to lists"),
        ("sentence: ['{nobody} sits']", "{nobody} is not defined"),
        ("sentence: [x]\nother: []", "other: must be a list of texts"),
        ("sentence: [x, 3]", "3 is not text"),
    ],
)
def test_a_broken_grammar_is_a_clear_error(tmp_path, text, message):
    path = tmp_path / "templates.yaml"
    path.write_text(text)
    with pytest.raises(GrammarError, match=re.escape(message)):
        grammar.read(path)


def test_no_name_of_the_test_is_one_of_training(train):
    test = wordlists.word_lists(random.Random(1), held_out=True)
    for symbol in ("first", "last"):
        assert len(test[symbol]) > 100
        assert not set(train[symbol]) & set(test[symbol])


def test_the_same_seed_draws_the_same_sentences_and_another_others(rules):
    once, again = (tagger.examples(rules, PARAMS) for _ in range(2))
    assert once == again
    assert len(once[0]) == 120
    assert tagger.examples(rules, PARAMS.model_copy(update={"seed": 6})) != once


# --- character features


def test_features_are_those_of_each_word_read_alone():
    torch.manual_seed(2)
    features = characters.create()
    sentences = [flair.Sentence("Nora sees Nora and a sofa."), flair.Sentence("\u00c4h, sofa!")]
    features.embed(sentences)
    embed, rnn = features.char_embedding, features.char_rnn
    for token in [token for sentence in sentences for token in sentence]:
        read = token.text.replace("\u00c4", "A")
        letters = [features.char_dictionary.get_idx_for_item(letter) for letter in read]
        with torch.no_grad():
            _, (last, _) = rnn(embed(torch.tensor(letters))[:, None])
        expected = torch.cat([last[0, 0], last[1, 0]])
        torch.testing.assert_close(token.get_embedding(), expected, atol=1e-6, rtol=0)


def test_a_capital_makes_another_word():
    features = characters.create()
    sentence = flair.Sentence("Will will")
    features.embed(sentence)
    assert not torch.equal(sentence[0].get_embedding(), sentence[1].get_embedding())


@pytest.mark.parametrize(
    ("word", "read"),
    [
        ("Łukasz", "Lukasz"),
        ("ĐORĐE", "DORDE"),
        ("Øyvind", "Oyvind"),
        ("Þórdís", "Tordis"),
        ("Æsaß", "Asas"),
        ("O\u2019Brien", "O'Brien"),
    ],
)
def test_a_latin_letter_is_read_as_its_plain_one(word, read):
    assert characters.fold(word) == read
    features = characters.create()
    sentences = [flair.Sentence([word]), flair.Sentence([read])]
    features.embed(sentences)
    assert torch.equal(*(sentence[0].get_embedding() for sentence in sentences))


@given(st.text())
def test_a_word_is_read_as_long_as_it_is_and_with_its_own_capitals(word):
    read = characters.fold(word)
    assert len(read) == len(word)
    assert all(
        now.isupper() == letter.isupper()
        for now, letter in zip(read, word, strict=True)
        if unicodedata.category(letter) in ("Lu", "Ll")
    )


# --- training


def test_the_same_seed_trains_the_same_tagger(rules):
    train = tagger.examples(rules, PARAMS)[0]
    first, second = (training.train(train, seed=3, epochs=1).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_what_is_trained_on_little_finds_most_names_of_sentences_it_never_saw(tagger_figures):
    assert tagger_figures["f1"] > 0.8
    assert tagger_figures["sentences"] == 600


class Fixed:
    def __init__(self, spans):
        self.spans = spans

    def find(self, texts):
        return self.spans


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([[(0, 4)], [(0, 4)]], (1.0, 1.0, 1.0)),
        ([[(0, 9)], [(0, 4)]], (0.5, 0.5, 0.5)),
        ([[(0, 4), (5, 9)], []], (0.5, 0.5, 0.5)),
        ([[(0, 4)], []], (1.0, 0.5, 2 / 3)),
        ([[], []], (0.0, 0.0, 0.0)),
    ],
)
def test_a_name_counts_where_both_ends_are_right(places, expected):
    examples = [Example("Nora sits", ((0, 4),)), Example("Omar sits", ((0, 4),))]
    spans = [
        [Span(start, end, example.text[start:end], 1.0) for start, end in row]
        for row, example in zip(places, examples, strict=True)
    ]
    assert tuple(tagger.measure(Fixed(spans), examples).values()) == expected


# What a full disk leaves


class Saved:
    """A tagger that is saved as Flair's: torch says `RuntimeError` where the disk is full."""

    def __init__(self, text, error=None):
        self.text, self.error = text, error

    def save(self, path):
        path.write_text(self.text)
        if self.error:
            raise self.error


@pytest.mark.parametrize("error", [RuntimeError("unexpected pos 1 vs 2"), OSError(28, "No space")])
def test_a_tagger_is_there_whole_or_not_at_all(tmp_path, error):
    path = tmp_path / "tagger" / "model.pt"
    training.save(Saved("whole"), path)
    with pytest.raises(FileError, match=r"model\.pt: can't be written"):
        training.save(Saved("half", error), path)
    assert [(entry.name, entry.read_text()) for entry in path.parent.iterdir()] == [
        ("model.pt", "whole")
    ]
