"""The rules backend: one linguistic case per line."""

import pytest
from support.taggers import make_finder

from pipeline.captions.rules.gender import Genders
from pipeline.captions.rules.person_words import Voice
from pipeline.captions.rules.rules_rewriter import RulesRewriter

MEN = ("emil", "franz", "gero", "thomas")
WOMEN = ("anna", "bea", "carla", "dora")
SURNAMES = ("kessler", "rook", "vale")
NAMES = (*MEN, *WOMEN, *SURNAMES, "kesslers", "annas")
SPANS = ("Anna Thomas", "Anna,and Bea", "12", *(name.title() for name in NAMES))
GENDERS = Genders(
    dict.fromkeys(MEN, "man") | dict.fromkeys(WOMEN, "woman"),
    names=frozenset((*MEN, *WOMEN, *SURNAMES)),
)
find = make_finder(*SPANS)
"""Mark every name, and whatever else a tagger may mark that splits words otherwise."""
CROWD = ", ".join(name.title() for name in (*MEN, *WOMEN, *SURNAMES[:-1])) + " and Vale"


@pytest.fixture
def unvaried(monkeypatch):
    """Take the first wording always, as no hash would."""
    monkeypatch.setattr(Voice, "pick", lambda voice, options: options[0][0])


CASES = {
    # One person
    "Anna opens a door.": "A woman opens a door.",
    "Kessler opens a door.": "Someone opens a door.",
    "Anna's cup is empty.": "A woman's cup is empty.",
    "Kessler\u2019s cup is empty.": "Someone's cup is empty.",
    "They look at Emil.": "They look at a man.",
    "Anna Vale reads.": "A woman reads.",
    # Gender from the pronouns of the sentence
    "Kessler ties her shoe.": "A woman ties her shoe.",
    "Kessler pours himself a tea.": "A man pours himself a tea.",
    "Anna pushes Kessler and he falls.": "A woman pushes a man and he falls.",
    # A first and a second person
    "Anna greets Emil.": "A woman greets a man.",
    "Anna greets Bea.": "A woman greets another woman.",
    "Kessler greets Rook.": "Someone greets another person.",
    "A man greets Emil.": "A man greets another man.",
    "Emil greets a man.": "A man greets another man.",
    "Emil greets the man.": "A man greets the other man.",
    "Emil greets the man wearing a hat.": "A man greets another man wearing a hat.",
    "Emil greets a tall man.": "A man greets a tall man.",
    # Spoken of again
    "Anna sits and then Anna stands.": "A woman sits and then she stands.",
    "Anna sits until Emil calls Anna.": "A woman sits until a man calls her.",
    "Anna calls Bea and Bea follow.": "A woman calls another woman and the other woman follow.",
    "Anna looks at Emil and then Emil's aunt looks at him.": (
        "A woman looks at a man and then his aunt looks at him."
    ),
    "Anna hands Emil a pen and Emil writes.": "A woman hands a man a pen and he writes.",
    "Emil looks at Anna's map and takes Anna's pen.": (
        "A man looks at a woman's map and takes her pen."
    ),
    "Emil pushes Franz and Franz falls.": "A man pushes another man and the other man falls.",
    "Emil pushes Franz and Emil falls.": "A man pushes another man and the first man falls.",
    "Emil leaves the shop as Franz and Gero follow Emil.": (
        "A man leaves the shop as two other men follow him."
    ),
    "Kessler opens Kessler's bag.": "Someone opens their bag.",
    "Anna Vale waves and Vale leaves.": "A woman waves and she leaves.",
    # Several people
    "Anna and Bea are asleep.": "Two women are asleep.",
    "Emil and Franz are asleep.": "Two men are asleep.",
    "Emil and Kessler are asleep.": "Two people are asleep.",
    "Emil and Dr. Vale are asleep.": "Two people are asleep.",
    "Emil, Franz and Gero are asleep.": "Three men are asleep.",
    "Emil, Franz, and Kessler are asleep.": "Three people are asleep.",
    "Anna, Bea, Carla, Dora, Emil and Franz are asleep.": "A group of people are asleep.",
    "Anna, Bea, Carla, Dora, Emil and Rook are asleep.": "A group of people are asleep.",
    "Emil ,Franz and a nurse leave.": "Two men and a nurse leave.",
    "Anna sits beside Bea and Carla.": "A woman sits beside two other women.",
    "Anna and Bea's car is red.": "Two women's car is red.",
    "Dr. Rook and Dr. Vale's car is red.": "Two doctors' car is red.",
    "Anna and Bea walks out.": "Two women walk out.",
    "Anna and Bea is late.": "Two women are late.",
    "Anna and Emil sit and Anna reads.": "A woman and a man sit and she reads.",
    "Emil and Franz sit and Franz reads.": "Two men sit and one of the men reads.",
    "Emil and Franz sit while Emil reads and Franz sleeps.": (
        "Two men sit while one of the men reads and the other man sleeps."
    ),
    "Anna and Emil sit until Anna and Emil sleep.": "Two people sit until they sleep.",
    "Anna looks at Emil and Franz laughs.": "A woman looks at a man and another man laughs.",
    "When Anna looks at Bea, Emil and Franz laugh.": (
        "When a woman looks at another woman, two men laugh."
    ),
    "When Anna sees Emil, Franz and Gero, she waves.": (
        "When a woman sees three men, she waves."
    ),
    "Emil sees the man and woman.": "A man sees the man and woman.",
    f"{CROWD} greet a boy until {CROWD} leave.": (
        "A group of people greet a boy until 11 of the people leave."
    ),
    # Titles
    "Dr. Kessler reads.": "A doctor reads.",
    "Dr.Kessler reads.": "A doctor reads.",
    "Dr. Kessler greets Dr. Rook.": "A doctor greets another doctor.",
    "Dr. Kessler sits and Kessler sleeps.": "A doctor sits and the doctor sleeps.",
    "Mrs. Kessler greets Mr. Kessler.": "A woman greets a man.",
    "Detective Rook takes out a notebook.": "A detective takes out a notebook.",
    "Detectives Rook and Vale arrive.": "Two detectives arrive.",
    "They meet Officer Rook.": "They meet an officer.",
    "The Captain Rook waves.": "The captain waves.",
    "Staff Sergeant Rook waves.": "A staff sergeant waves.",
    "They see Gunnery Sgt. Rook.": "They see a gunnery sergeant.",
    "Lt. Col. Rook greets Col. Vale.": "A lieutenant colonel greets a colonel.",
    "Chief Petty Officer Rook waves.": "A chief petty officer waves.",
    "Fr. Kessler prays.": "A priest prays.",
    "They see Pvt. Emil Rook.": "They see a soldier.",
    "Uncle Emil greets Lady Vale.": "A man greets a woman.",
    # A verb, and a day
    "They are gonna miss Anna.": "They are gonna miss a woman.",
    "The kids miss Anna.": "The kids miss a woman.",
    "They go to nurse Anna.": "They go to a nurse.",
    "They want to nurse Anna.": "They want to nurse a woman.",
    "Then miss Vale waves.": "Then a woman waves.",
    "On Valentine's Day Anna sings.": "On Valentine's Day a woman sings.",
    "On Christmas Eve Anna sings.": "On Christmas Eve a woman sings.",
    "On Monday Anna sings.": "On Monday a woman sings.",
    "Yesterday Anna sang.": "Yesterday a woman sang.",
    "Since hurricane Quux Anna sleeps.": "Since hurricane Quux a woman sleeps.",
    "They begin to miss Anna.": "They begin to miss a woman.",
    "We all miss Anna.": "We all miss a woman.",
    "Wing Commander Rook waves.": "A commander waves.",
    "Emil kisses Thomas several times.": "A man kisses another man several times.",
    # Appositions and names that only go
    "Anna hugs her friend Bea.": "A woman hugs her friend.",
    "Anna hugs her friend, Bea, and cries.": "A woman hugs her friend and cries.",
    "Anna's sister Bea cries.": "A woman's sister cries.",
    "The patient Anna is asleep.": "The patient is asleep.",
    "He sits by the patient Anna is treating.": "He sits by the patient a woman is treating.",
    "A man named Emil sings.": "A man sings.",
    "The boy named Emil sings.": "The boy sings.",
    "They meet someone called Emil.": "They meet someone.",
    "Anna called Emil by phone.": "A woman called a man by phone.",
    "The two boys, Emil and Franz, sing.": "The two boys sing.",
    "His friends Emil and Franz sing.": "His friends sing.",
    "She wears an Emil costume.": "She wears a costume.",
    'Emil says, "Anna, come here."': 'A man says, "Come here."',
    'Emil says, "Come here, Anna!"': 'A man says, "Come here!"',
    'Emil shouts "Anna!"': 'A man shouts a name',
    "They meet at Silver Rook and leave.": "They meet at a place and leave.",
    "Fake Anna waves to Lazy Emil.": "A woman waves to a man.",
    "Emil the waiter sings.": "The waiter sings.",
    "They see Anna a patient with a cough.": "They see a patient with a cough.",
    "Emil hands Anna the patient file.": "A man hands a woman the patient file.",
    "Emil says that Anna hasn't slept.": "A man says that a woman hasn't slept.",
    # Determiners and adjectives
    "Emil lifts a sleeping Anna.": "A man lifts a sleeping woman.",
    "She points behind her causing Emil to turn.": "She points behind her causing a man to turn.",
    "Young Anna sings.": "A young woman sings.",
    "Emil walks to the Anna.": "A man walks to a woman.",
    "The Kesslers arrive.": "A family arrive.",
    # Slips of the writer
    "Annas cup is empty.": "A woman's cup is empty.",
    "The ring on Thomas finger shines.": "The ring on a man's finger shines.",
    "Emil takes Anna hand.": "A man takes a woman's hand.",
    "Emil. Franz and Gero sing.": "Three men sing.",
    "Emil.Franz and Gero sing.": "Three men sing.",
    "anna waves.": "A woman waves.",
    "Emil looks at anna and kisses Her.": "A man looks at anna and kisses Her.",
    # Spans are read with care
    "Kessler hands Anna Thomas's hat.": "Someone hands a woman a man's hat.",
    "Kessler, Anna wave.": "Someone, a woman wave.",
    "Anna,and Bea wave.": "Two women wave.",
    "They open room 12.": "They open room 12.",
    "They talk to 12.": "They talk to someone.",
    # A title or a usual first name gives a name away
    "They call Dr. Quux.": "They call a doctor.",
    "They call Dr. 13.": "They call a doctor.",
    "They wait while captain quux and a boy talk.": "They wait while a captain and a boy talk.",
    "They call the captain quux.": "They call the captain quux.",
    "They wear detective badges.": "They wear detective badges.",
    "A detective story begins.": "A detective story begins.",
    "They see that Janice's cup is red.": "They see that a woman's cup is red.",
    "They fly to San Antonio.": "They fly to San Antonio.",
    "They live in Florence.": "They live in Florence.",
    "They play Chess.": "They play Chess.",
    # Nothing to replace
    "They open an old door with a axe.": "They open an old door with a axe.",
    "the  door is open ,then shut .": "the  door is open ,then shut .",
    "a man has a old  car ,then Emil waves .": "a man has a old  car ,then another man waves .",
    "A bus stops at 10.30, and 3,000 people get off.": (
        "A bus stops at 10.30, and 3,000 people get off."
    ),
}  # fmt: skip


@pytest.mark.usefixtures("unvaried")
@pytest.mark.parametrize(("text", "caption"), CASES.items(), ids=list(CASES))
def test_a_name_becomes_what_a_person_would_write(text, caption):
    assert RulesRewriter(find, GENDERS).rewrite_texts([text])[0] == caption
