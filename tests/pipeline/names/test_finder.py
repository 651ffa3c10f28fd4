"""Names in the texts of one corpus: what a tagger says, and what the corpus adds to it."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pipeline.names.base import Span
from pipeline.names.finder import NameFinder
from pipeline.names.refinement import votes


class Dictionary:
    """A tagger that takes some words for names, but in sentences that it misses."""

    def __init__(self, names, missed=""):
        self.pattern, self.missed = re.compile("|".join(names)), missed
        self.asked = []

    def find(self, texts):
        self.asked += texts
        return [
            [Span(*match.span(), match[0], 0.9) for match in self.pattern.finditer(text)]
            if not self.missed or self.missed not in text
            else []
            for text in texts
        ]


CORPUS = ["She sees Nora.", "He calls Nora.", "They hug Nora.", "They ask Nora.", "Water runs."]
DRINKS = [f"She drinks {number} cups of water." for number in range(8)]
CORPUS += DRINKS


def find_names(finder, text):
    [spans] = finder.find([text])
    for span in spans:
        assert text[span.start : span.end] == span.text
    return [span.text for span in spans]


def test_each_distinct_text_is_tagged_once():
    tagger = Dictionary(["Nora"])
    finder = NameFinder(tagger, [*CORPUS, *CORPUS])
    finder.find(["They hug Nora.", "A woman waves.", "A woman waves."])
    once = [*CORPUS[:4], "water runs.", *DRINKS, "A woman waves."]
    assert sorted(tagger.asked) == sorted(once)


def test_a_capital_that_only_a_sentence_gives_makes_no_name():
    finder = NameFinder(Dictionary(["Nora", "Water"]), CORPUS)
    assert find_names(finder, "Water runs to Nora.") == ["Nora"]


def test_what_has_no_capital_in_mid_sentence_is_no_name():
    finder = NameFinder(Dictionary(["doctor", "Omar"]), CORPUS)
    assert find_names(finder, "Omar asks the doctor.") == ["Omar"]


def test_a_name_the_corpus_knows_is_found_where_the_tagger_missed_it():
    finder = NameFinder(Dictionary(["Nora", "Will"], missed="purple"), CORPUS)
    assert find_names(finder, "The purple hat of Nora falls.") == ["Nora"]
    assert find_names(finder, "The purple hat of Quux falls.") == []
    assert find_names(finder, "A purple nora falls.") == []


def test_a_word_that_is_a_name_in_some_places_only_is_not_one_everywhere():
    corpus = [f"He meets Will in {place}." for place in ("Rome", "Bonn", "Linz")]
    corpus += ["The purple Will is read."] * 2 + [
        "Her purple Will is lost.",
        "A purple Will it is.",
    ]
    finder = NameFinder(Dictionary(["Will"], missed="purple"), corpus)
    assert find_names(finder, "The purple Will burns.") == []


def test_titles_are_no_part_of_a_name_and_what_a_space_parts_is_one():
    finder = NameFinder(Dictionary([r"Dr\. Omar", "Reed", r"J\.", "Ann"]), CORPUS)
    assert find_names(finder, "Dr. Omar Reed sees J. Ann.") == ["Omar Reed", "J. Ann"]
    assert find_names(finder, "He calls Ann. Reed answers.") == ["Ann", "Reed"]


def test_jr_and_sr_are_part_of_a_name():
    finder = NameFinder(Dictionary(["Omar Reed", "Nora"]), CORPUS)
    both = ["Omar Reed Sr.", "Nora, Jr."]
    assert find_names(finder, "Omar Reed Sr. sits by Nora, Jr., again.") == both
    assert find_names(finder, "Nora calls Omar Reed Jr.") == ["Nora", "Omar Reed Jr"]


def test_a_number_that_names_somebody_stays():
    assert find_names(NameFinder(Dictionary(["13"]), CORPUS), "She asks 13 to stay.") == ["13"]


@given(texts=st.lists(st.sampled_from(["Nora", "Dr.", "Will", "nora", "13", "-", "sees", ". "])))
def test_spans_are_in_order_and_apart(texts):
    text = " ".join(texts)
    [spans] = NameFinder(Dictionary(["Nora", "Will", "nora", "13"]), CORPUS).find([text])
    ends = [span.end for span in spans]
    assert all(end < span.start for end, span in zip(ends, spans[1:], strict=False))
    assert all(0.0 < span.score <= 1.0 for span in spans)


def test_votes_are_shares_of_places_with_a_capital():
    texts = ["Nora sees Nora.", "Nora sits.", "A nora."]
    spans = [[Span(0, 4, "Nora", 1.0), Span(10, 14, "Nora", 1.0)], [Span(0, 4, "Nora", 1.0)], []]
    assert votes(texts, spans) == {"nora": 1.0}
    assert votes(texts, [spans[0], [], []]) == {}  # of two places only
