"""The language of a corpus: found, or said by the lead; and refused by what does not know it."""

import pytest
from german import GERMAN

from pipeline.core import params
from pipeline.language import detection, support
from pipeline.language.detection import LanguageError, detect, determine_language

ENGLISH = [
    "Two women drink coffee in a kitchen.",
    "A man opens the door and goes out.",
    "Hannah sits down at her desk by the window.",
    "person opens a laptop on the table",
    "The cook cuts onions and cries.",
    "A dog barks at the postman.",
    "Somebody throws a stone into the water.",
    "A bowl of ramen is on the table.",
    "Dr. Gregory looks at an x-ray.",
    "An old lady feeds pigeons in the park.",
    "Vlogger shows her new red T-shirt",
    "The car goes backwards into the garage.",
]
OTHERS = {
    "fr": "Deux femmes boivent du café dans une cuisine pendant que la pluie tombe.",
    "es": "Dos mujeres toman café en una cocina mientras llueve afuera.",
    "it": "Due donne bevono il caffè in cucina mentre fuori piove.",
    "nl": "Twee vrouwen drinken koffie in een keuken terwijl het regent.",
    "pl": "Dwie kobiety piją kawę w kuchni, a na dworze pada deszcz.",
    "ru": "Две женщины пьют кофе на кухне, а на улице идёт дождь.",  # noqa: RUF001
    "tr": "İki kadın mutfakta kahve içiyor ve dışarıda yağmur yağıyor.",  # noqa: RUF001
    "zh": "两个女人在厨房里喝咖啡，外面正在下雨。",  # noqa: RUF001
    "ja": "二人の女性が台所でコーヒーを飲んでいます。",
    "ar": "امرأتان تشربان القهوة في المطبخ بينما يهطل المطر.",
}


@pytest.fixture
def defaults(repository):
    return params.load(repository / "params.yaml")


def test_a_sentence_is_enough_to_name_a_language():
    assert {code: detect([text]).code for code, text in OTHERS.items()} == {c: c for c in OTHERS}


def test_a_mixed_corpus_says_its_shares_and_a_text_counts_once_in_any_order():
    texts = [*ENGLISH, *GERMAN[:4]]
    language = detect(texts)
    assert language.shares == {"en": 0.75, "de": 0.25}
    assert str(language) == "English (en) 75.0%, German (de) 25.0% of 16 texts"
    assert language.share_outside(["en"]) == 0.25
    assert detect(texts[::-1] + GERMAN[:4] * 3) == language


def test_of_many_texts_a_sample_is_looked_at(monkeypatch):
    monkeypatch.setattr(detection, "SAMPLE", 20)
    numbered = [f"{text} {number}" for number in range(20) for text in ENGLISH]
    language = detect(numbered)
    assert (language.code, language.texts <= 20) == ("en", True)
    assert detect(numbered[::-1]) == language
    monkeypatch.setattr(detection, "SAMPLE", 240)
    assert detect(numbered).texts > 100


@pytest.mark.parametrize("texts", [GERMAN[:2], GERMAN[:5], [*ENGLISH, *GERMAN[:4]]])
def test_a_few_texts_or_a_large_share_in_one_language_are_enough_to_refuse(defaults, texts):
    language = detect(texts)
    assert language.is_certain
    with pytest.raises(LanguageError, match="names in German"):
        support.refuse(language, support.find_english_only(defaults))


@pytest.mark.parametrize(
    "texts",
    [
        GERMAN[:1],
        [*ENGLISH[:2], GERMAN[0]],
        ["amy wears", "beckett knocks", "martha leaves", "mia was"],
    ],
    ids=["one text", "one of three", "mistakes that differ"],
)
def test_one_text_in_a_language_is_weak_evidence_and_nothing_is_refused(defaults, texts):
    language = detect(texts)
    assert language.share_outside(["en"]) > support.MAX_OTHER
    assert ("too few to be certain" in str(language)) == (language.code != "en")
    support.refuse(language, support.find_english_only(defaults))


@pytest.mark.parametrize("texts", [[], ["123", "?!"]])
def test_without_a_word_the_language_is_unknown(texts, defaults):
    language = detect(texts)
    assert language.name_for_prompt in {"English", language.name}
    assert not language.is_certain
    support.refuse(language, support.find_english_only(defaults))


def test_english_is_refused_by_nobody(defaults):
    for texts in (ENGLISH, [*ENGLISH, GERMAN[0]]):
        language = detect(texts)
        assert language.is_certain
        support.refuse(language, support.find_english_only(defaults))
    assert len(support.list_remarks(detect(ENGLISH))) == 1


@pytest.mark.parametrize(
    ("backend", "tagger", "refusing"),
    [
        ("rules", "builtin", {"rewrite.backend: rules", "names.model: builtin"}),
        ("rules", "flair/ner-german-large", {"rewrite.backend: rules"}),
        ("openai", "builtin", {"names.model: builtin"}),
        ("openai", "flair/ner-german-large", set()),
        ("none", "builtin", set()),
    ],
)
def test_what_knows_english_alone_refuses_german_by_name(defaults, backend, tagger, refusing):
    names = defaults.names.model_copy(update={"model": tagger})
    rewrite = defaults.rewrite.model_copy(update={"backend": backend})
    changed = defaults.model_copy(update={"names": names, "rewrite": rewrite})
    limited = support.find_english_only(changed)
    assert set(limited) == refusing
    if not refusing:
        support.refuse(detect(GERMAN), limited)
        return
    with pytest.raises(LanguageError, match=r"German \(de\) 100\.0% of 14 texts") as refused:
        support.refuse(detect(GERMAN), limited)
    assert all(setting in str(refused.value) for setting in refusing)
    assert "ingest.language: en" in str(refused.value)


def test_the_lead_overrules_the_detector(defaults):
    limited = support.find_english_only(defaults)
    support.refuse(determine_language(GERMAN, "en"), limited)
    with pytest.raises(LanguageError, match=r"German \(de\), .*ingest\.language"):
        support.refuse(determine_language(ENGLISH, "de"), limited)
    with pytest.raises(LanguageError, match=r"ingest\.language: 'xx'"):
        determine_language(ENGLISH, "xx")


def test_the_remarks_name_what_knows_english_alone():
    [first, second] = support.list_remarks(detect(GERMAN))
    assert first.endswith("German (de) 100.0% of 14 texts")
    assert "rewrite.backend: rules, names.model: builtin" in second
