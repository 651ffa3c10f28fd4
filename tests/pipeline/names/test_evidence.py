"""What makes a word with a capital a name: a sentence of each kind, whatever a tagger says."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.taggers import Eager

from pipeline.captions.names_found import GONE, LEFT, table
from pipeline.captions.rules.rules_rewriter import RulesRewriter
from pipeline.names.base import Span
from pipeline.names.evidence.advice import advise
from pipeline.names.evidence.cast import Cast
from pipeline.names.evidence.corpus import names_share
from pipeline.names.evidence.judging import MOST_NAME, NAMES_PEOPLE
from pipeline.names.finder import NameFinder


class Blind:
    """A tagger that sees no name."""

    def find(self, texts):
        return [[] for _ in texts]


def find_names(finder, texts):
    return [[span.text for span in spans] for spans in finder.find(texts)]


def rewrite_texts(texts, cast=None):
    finder = NameFinder(Eager(), texts, cast)
    return RulesRewriter.for_corpus(texts, finder.find, {}, cast).rewrite_texts(texts)


NO_NAMES = """
Two sisters fly to Fiji.
Ramen is in a white bowl.
Horse's head is seen above the fence.
Infographic shows the price of oil.
Reporters stand in the wind of Hurricane Katrina.
A woman in a red T-shirt is talking.
She interviews the president of Azerbaijan.
Pink signs read Women for Trump.
Chef puts a pan on the stove.
Vlogger walks through the market.
A route is shown on Google maps.
Dojo master shows the boys how to fall.
The brand of Zurich is printed on the banner.
A Jack Russell runs over the lawn.
People celebrate St. Patrick's Day in the street.
Two men climb Mount Helena in winter.
The car stops in front of Wendy's and a man gets out.
Girls wear Tommy Hilfiger shirts.
A boy is dressed as Harry Potter.
A woman visits Charlotte and then flies to Austin.
Jasmine rice is poured into a pot.
Rose petals fall on the table.
Mike is put on a stand.
Team Canada wins the curling match.
The words Happy Birthday Emma are seen on a cake.
Graham crackers are crushed for a crust.
Benedict eggs were served with toast.
A choir sings Ave Maria in a church.
Bloody Mary is mixed with celery.
A woman dances to Despacito.
Kids play Simon Says in the yard.
A man plays the song Billie Jean on a piano.
Bartender mixes a Bloody Mary in a tall glass.
A sign says "Nora" in red letters.
Surfers wait for a wave near Santa Cruz.
Couple Walks Through The Market In Hong Kong
How To Bake Perfect Bread With Emma
MAN FALLS FROM HORSE
The team from Georgia lifts the cup ,then leaves a airport .
Asian man wears a mask.
A camper from Virginia waves.
An iPhone Pro Max lies on a table.
""".strip().splitlines()

NAMES = {
    "Then Jennifer laughs.": "Jennifer",
    "Jennifer waves to the crowd.": "Jennifer",
    "A woman named Priya knits.": "Priya",
    "A woman called Rosa sells flowers.": "Rosa",
    "Dr. Quux explains an exercise.": "Quux",
    "Captain Quux salutes.": "Quux",
    "Angela Merkel shakes hands with a man.": "Angela",
    "A father teaches Ethan to ride.": "Ethan",
    "A senator meets President Vladimir Putin.": "Putin",
    "The boy stops and Quux laughs.": "Quux",
    "She takes Quux's hand.": "Quux",
    "A girl talks to Quux.": "Quux",
    "A man and Quux wave.": "Quux",
    "They look at Rose's face.": "Rose",
}


@pytest.mark.parametrize("text", NO_NAMES)
def test_what_no_evidence_makes_a_person_stays_letter_by_letter(text):
    assert rewrite_texts([text]) == [text]


@pytest.mark.parametrize(("text", "name"), NAMES.items())
def test_a_name_with_evidence_of_a_person_goes(text, name):
    [caption] = rewrite_texts([text])
    assert name not in caption


def test_a_corpus_knows_who_acts_in_it_and_recurs():
    corpus = ["The girl waves as Castle laughs.", "The boy sees that Castle sighs.",
              "Castle smiles.", "They look at Castle."]  # fmt: skip
    assert not [text for text in rewrite_texts(corpus) if "Castle" in text]
    assert rewrite_texts(["They look at Castle."]) == ["They look at Castle."]


def test_where_a_corpus_names_people_the_tagger_is_believed_but_not_of_places():
    named = ["Jennifer waves.", "Ethan sits.", "Jennifer sits."]
    captions = rewrite_texts([*named, "They see Quux.", "He is in Fiji."])
    assert captions[3] != "They see Quux."
    assert captions[4] == "He is in Fiji."


MIXED = [
    "Jennifer laughs at House.",
    "House shakes his head as Ethan talks.",
    "A nurse talks to House.",
    "Ethan takes House's hand.",
    "Jennifer calls Quux and Ethan.",
    "A Zork folds his arms as they wait.",
    "Ethan walks towards Quuxley.",
]
UNNAMED = """
They paint the house red.
A house burns behind the trees.
Geneo is put on a towel.
A bottle of Zork is opened.
Zork buns are warm.
A boy drinks Quuxola.
The Colosseo shown at night.
Frying yummy Pakora's at home.
A woman in red T-shirt is talking.
A street vendor in Savannah sells roses.
Couples share scenes of Paris from the tower.
Mark is left on the wall.
Pink signs read Women for House.
Florence by night from above.
Chef makes pizza and cuts it.
House is shown from above.
""".strip().splitlines()


def test_in_a_mixed_corpus_each_word_has_to_bring_its_own_evidence():
    captions = dict(zip(MIXED + UNNAMED, rewrite_texts(MIXED + UNNAMED), strict=True))
    share = names_share(MIXED + UNNAMED)
    assert NAMES_PEOPLE < share < MOST_NAME
    assert [text for text in UNNAMED if captions[text] != text] == []
    named = " ".join(captions[text] for text in MIXED)
    assert not re.search("Jennifer|Ethan|House|Quux ", named)


def test_a_corpus_that_names_few_still_knows_those_who_recur():
    few = MIXED[:5] + UNNAMED + [f"A man cooks {dish} soup." for dish in ("red", "hot", "old")] * 5
    captions = dict(
        zip(few, rewrite_texts([*few, *(f"They eat {n}." for n in range(20))]), strict=False)
    )
    assert not [text for text in MIXED[:5] if re.search("Jennifer|Ethan|House", captions[text])]
    assert [text for text in UNNAMED if captions[text] != text] == []


def test_a_full_name_of_the_lists_is_found_where_the_tagger_misses_it():
    texts = ["Tom Hanks waves to the crowd.", "Sydney Harbour is seen.", "Rose Garden is shown."]
    assert find_names(NameFinder(Blind(), texts), texts) == [["Tom Hanks"], [], []]


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        ("King Charles reads a speech.", True),
        ("A King Charles runs in the garden.", False),
        ("King Charles spaniels run in the garden.", False),
        ("The King Charles spaniel sits.", False),
    ],
)
def test_a_king_is_somebody_and_a_spaniel_is_none(text, goes):
    assert (rewrite_texts([text]) != [text]) is goes


def test_the_cast_overrules_all_evidence():
    table_ = pd.DataFrame({"name": ["Ramen", "Jennifer"], "gender": [None, "no name"]}, dtype="str")
    cast = Cast.from_table(table_)
    texts = ["Jennifer laughs.", "She sees Jennifer's hand.", "Ramen is in a bowl."]
    captions = rewrite_texts(texts, cast)
    assert captions[:2] == texts[:2]
    assert find_names(NameFinder(Eager(), texts, cast), texts) == [[], [], ["Ramen"]]
    assert "Ramen" not in captions[2]


def test_a_name_of_the_cast_is_found_where_the_tagger_misses_it():
    cast = Cast.from_table(pd.DataFrame({"name": ["No\u200bra Quux"], "gender": ["female"]}))
    texts = ["They look at Nora Quux's hat.", "They look at nora quux."]
    assert find_names(NameFinder(Blind(), texts, cast), texts) == [["Nora Quux"], ["nora quux"]]


def test_a_doubt_has_a_reason_and_what_is_surely_none_is_not_listed():
    texts = ["A camper opens a can of Quux.", "Sisters fly to Fiji.", "Monks pray in Quux."]
    doubts = NameFinder(Eager(), texts).doubts(texts)
    listed = [[(doubt.span.text, doubt.reason) for doubt in text_doubts] for text_doubts in doubts]
    assert listed == [[("Quux", "unknown")], [], [("Quux", "place")]]


words = st.sampled_from(
    ["Ramen", "Fiji", "Horse's", "Hurricane Katrina", "T-shirt", "a", "airport", ",", "  ", ".",
     "bowl", "in", "Christmas", "Google", "Monday", "red", "The", "Mount Helena", "is", "3"]
)  # fmt: skip


@given(st.lists(words, max_size=12).map(" ".join))
def test_a_text_without_evidence_stays_byte_by_byte(text):
    assert rewrite_texts([text]) == [text]


@pytest.mark.parametrize(
    ("names", "backend", "expected"),
    [
        (0, "rules", "rewrite.backend: none"),
        (9, "rules", None),
        (9, "none", "openai"),
        (0, "none", None),
        (0, "openai", None),
    ],
)
def test_ingest_says_which_backend_fits_the_texts(names, backend, expected):
    texts = [*["Jennifer waves to the crowd."] * names, *["A man cooks in Fiji."] * (10 - names)]
    advice = advise(texts, backend)
    assert advice is None if expected is None else expected in advice
    assert advise([], backend) is None


def test_names_found_tells_what_stands_for_a_name_the_most_frequent_first():
    def moment(description, caption, *names):
        places = [re.search(name, description) for name in names]
        return description, caption, [Span(*m.span(), m[0], 1.0) for m in places]

    counted = table(
        [
            moment("Ramen is in a bowl.", "A person is in a bowl.", "Ramen"),
            moment("Nora waves.", "A woman waves.", "Nora"),
            moment("Nora waves.", "She waves.", "Nora"),
            moment("His friend Omar sings.", "His friend sings.", "Omar"),
            moment("They see Quux.", "They see Quux.", "Quux"),
            moment("A dog barks.", "A dog barks."),
        ]
    )
    assert counted.to_numpy().tolist() == [
        ["Nora", 2, "she; woman", "Nora waves."],
        ["Omar", 1, GONE, "His friend Omar sings."],
        ["Quux", 1, LEFT, "They see Quux."],
        ["Ramen", 1, "person", "Ramen is in a bowl."],
    ]


FILM = [
    "Quuxley waves to Castle.", "The girl waves as Castle laughs.", "Dr. Quuxley sighs.",
    "Jennifer talks to Castle.", "Ethan hugs Quuxley.", "Castle smiles at Quuxley.",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names", "weak"),
    [
        ("quuxley opens a door while castle smiles.", ["quuxley", "castle"], []),
        ("They look at quuxley.", ["quuxley"], []),
        ("castle points at a lamp.", ["castle"], []),
        ("The girl leaves castle in the rain.", [], ["castle"]),
        ("They see the castle on a hill.", [], []),
        ("An old castle burns.", [], []),
        ("They sell castle furniture.", [], []),
        ("They see a tall quuxley.", [], ["quuxley"]),
    ],
)
def test_a_name_of_the_corpus_is_found_without_its_capital(text, names, weak):
    finder = NameFinder(Eager(), FILM)
    assert find_names(finder, [text]) == [names]
    assert [doubt.span.text for doubt in finder.doubts([text])[0]] == weak


CREW = [*FILM, "Dutch picks the lock.", "Then Dutch opens a bag.", "They fly to Paris."]


@pytest.mark.parametrize(
    ("text", "weak"),
    [
        ("They search for Dutch.", ["Dutch"]),
        ("Quuxley waves and Dutch, sweating, nods.", ["Dutch"]),
        ("They eat in Paris.", []),
        ("A Swedish flag hangs there.", []),
        ("They drag Ethan out of the Rolls Royce.", ["Rolls Royce"]),
    ],
)
def test_a_people_that_acts_as_somebody_does_is_listed_and_a_make_stays(text, weak):
    finder = NameFinder(Eager(), [*CREW, text])
    assert [doubt.span.text for doubt in finder.doubts([text])[0]] == weak
    assert set(find_names(finder, [text])[0]) <= {"Quuxley", "Ethan"}


def test_a_name_of_the_cast_is_found_where_the_corpus_has_no_capital_at_all():
    cast = Cast.from_table(pd.DataFrame({"name": ["Quux", "Rose"], "gender": [None, None]}))
    texts = ["quux waves to rose.", "she rose from the chair.", "he buys a rose.", "rose smiles."]
    assert find_names(NameFinder(Blind(), texts, cast), texts) == [
        ["quux", "rose"], [], [], ["rose"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "They dance on New Year's Eve.",
        "They kiss on Christmas Eve.",
        "The radio warns of hurricane Quuxley.",
        "They wait for the storm Jennifer.",
        "The girl wears the Bracelet of Ethan.",
        "A choir sings in St. Jennifer's.",
        "They act out Romeo and Juliet.",
        "The girl sings an aria from Jennifer.",
        "They play a scene from Hamlet.",
    ],
)
def test_a_name_inside_a_fixed_phrase_is_nobody(text):
    assert find_names(NameFinder(Eager(), FILM), [text]) == [[]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Lily arms herself with a knife.", "Lily"),
        ("Daisy dresses herself.", "Daisy"),
        ("They are gonna miss Lily at the party.", "Lily"),
        ("Pvt. Quux salutes.", "Quux"),
        ("Aunt Dot refuses.", "Dot"),
        ("On Christmas Eve Jennifer dances.", "Jennifer"),
        ("After hurricane Quux Jennifer searches.", "Jennifer"),
        ("Commander Aldous Finch boards a train.", "Finch"),
    ],
)
def test_a_first_name_that_acts_and_one_after_a_title_is_a_person(text, name):
    [names] = find_names(NameFinder(Eager(), [*FILM, text]), [text])
    assert name in " ".join(names)


def test_a_first_name_that_is_a_word_is_listed_where_the_tagger_misses_it():
    texts = [*FILM, "May will call them.", "Grant is tied up."]
    doubts = NameFinder(Blind(), texts).doubts(texts[-2:])
    assert [[doubt.span.text for doubt in listed] for listed in doubts] == [[], ["Grant"]]


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("Xquzzle is tied up.", ["Xquzzle"]),
        ("The Quuxleys are tied up.", ["Quuxleys"]),
        ("Stone chops wood.", ["Stone"]),
        ("Stones lie in the yard.", []),
        ("Everyone leaves, and I'm glad.", []),
        ("What happens in Paris?", []),
        ("Four people set a sofa down.", []),
    ],
)
def test_what_no_word_is_and_what_acts_is_listed_where_the_tagger_misses_it(text, listed):
    finder = NameFinder(Blind(), [*FILM, text])
    assert [doubt.span.text for doubt in finder.doubts([text])[0]] == listed
    assert find_names(finder, [text]) == [[]]


def test_people_with_titles_show_that_a_corpus_names_people():
    texts = ["They obey Judge Quuxley.", "They see King Xquzzle.", "They ask Dr. Zworp."]
    assert names_share([*texts, "A dog barks."]) == 0.75


def test_a_generation_is_part_of_the_name_that_the_corpus_knows():
    texts = [*FILM, "Ethan Jr. hugs Quuxley.", "Ethan Jr. waves."]
    assert find_names(NameFinder(Eager(), texts), texts[-1:]) == [["Ethan Jr."]]
    bites = "A dog bites Mr. Quuxley Jr. on the leg."
    assert find_names(NameFinder(Eager(), [*texts, bites]), [bites]) == [["Quuxley Jr."]]


@pytest.mark.parametrize(
    "text",
    ["Ethan Jr. finds a hat.", "Jennifer hugs Ethan Sr. on a sofa.", "Ethan Jr.'s hand shakes."],
)
def test_no_full_stop_of_a_generation_is_left_within_a_sentence(text):
    assert rewrite_texts([*FILM, text])[-1].count(".") == 1
