"""Character features of words for the tagger.

The packaged encoder is uncased, so capitals reach the tagger through these alone.
"""

import unicodedata

import torch
from flair.data import Dictionary, Sentence
from flair.embeddings import CharacterEmbeddings
from flair.embeddings.base import register_embeddings
from torch.nn.utils.rnn import pack_padded_sequence

_PLAIN = str.maketrans("ÆæÐðĐđĦħ\u0131ŁłØøŒœßẞÞþŦŧ\u2019", "AaDdDdHhiLlOoOosSTtTt'")
"""Latin letters that are not an accented ASCII letter, and the apostrophe."""


@register_embeddings
class WordCharacters(CharacterEmbeddings):
    """Flair's `CharacterEmbeddings` (Lample et al., NAACL 2016), each distinct word once.

    Flair 0.15.1 runs a sentence at a time, gives the first of two equal words in a
    sentence the features of another word, and keeps the state of the backward direction
    after one letter. Here a batch is one run, and both directions read the whole word.
    """

    def _add_embeddings_internal(self, sentences: list[Sentence]) -> None:
        tokens = [token for sentence in sentences for token in sentence]
        words = {token.text: None for token in tokens}
        features = dict(zip(words, self._read(list(words)), strict=True))
        for token in tokens:
            token.set_embedding(self.name, features[token.text])

    def _read(self, words: list[str]) -> torch.Tensor:
        """Return the features of words, (n, 2 * hidden_size_char)."""
        letters = [
            torch.tensor([self.char_dictionary.get_idx_for_item(letter) for letter in fold(word)])
            for word in words
        ]
        lengths = torch.tensor([len(word) for word in words])
        padded = torch.nn.utils.rnn.pad_sequence(letters, batch_first=True)
        embedded = self.char_embedding(padded.to(self.char_embedding.weight.device))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        _, (last, _) = self.char_rnn(packed)
        return torch.cat([last[0], last[1]], dim=1)


def fold(word: str) -> str:
    """Return a word in ASCII letters, with the same length and capitals: Zoe."""
    return "".join(map(_fold_letter, word.translate(_PLAIN)))


def _fold_letter(letter: str) -> str:
    base = unicodedata.normalize("NFKD", letter)[0]
    return base if base.isascii() else letter


def letters() -> Dictionary:
    """Return the dictionary of printable ASCII; any other letter is `<unk>`."""
    dictionary = Dictionary(add_unk=True)
    for code in range(ord(" "), ord("~") + 1):
        dictionary.add_item(chr(code))
    return dictionary


def create() -> WordCharacters:
    """Return untrained character features; nothing is downloaded for them."""
    return WordCharacters(path_to_char_dict=letters())
