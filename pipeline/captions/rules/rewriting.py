"""Rewrite one text: from the names that were found to pronouns and general words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import attrgetter

from pipeline.captions.rules.agreement import plural_verb
from pipeline.captions.rules.context import Context, context_of
from pipeline.captions.rules.discourse import Discourse
from pipeline.captions.rules.gender import Genders
from pipeline.captions.rules.mentions import find_mentions
from pipeline.captions.rules.others import Other, find_others, set_apart
from pipeline.captions.rules.people import Person, identify, persons_of
from pipeline.captions.rules.phrases import meet, phrase_of
from pipeline.captions.rules.tidy import Edit, apply
from pipeline.captions.rules.units import Unit, join, with_shared_titles
from pipeline.captions.rules.wording import Voice
from pipeline.names.base import Span


def rewrite(text: str, spans: Sequence[Span], genders: Genders, attempt: int = 0) -> str:
    """Return the text without the names at `spans`; a text without names as it is."""
    mentions = find_mentions(text, spans, genders.names)
    numbers = identify(mentions)
    units = join(text, mentions, numbers)
    people = with_shared_titles(persons_of(text, mentions, numbers, genders), units)
    others = find_others(text, units)
    discourse = Discourse(people, Voice(text, attempt), _alone(people, others))
    edits: list[Edit] = []
    for event in _in_order(units, others):
        if isinstance(event, Other):
            edits += _apart(event, meet(discourse, event))
            continue
        context = context_of(text, event, units)
        phrase = phrase_of(discourse, event, context, _are_parted(event, units))
        edits += [Edit(context.start, context.end, phrase), *_agreement(text, event, context)]
    return (apply(text, edits).strip() or "Someone") if edits else text


def _in_order(units: Sequence[Unit], others: Sequence[Other]) -> Iterator[Unit | Other]:
    events: list[Unit | Other] = [*units, *others]
    yield from sorted(events, key=attrgetter("start"))


def _alone(people: Sequence[Person], others: Sequence[Other]) -> frozenset[int]:
    """Return the people without a title of whose gender a text has nobody else."""
    genders = Counter([*(p.gender for p in people), *(other.gender for other in others)])
    unknown = any(person.gender == "unknown" for person in people)
    return frozenset(
        number
        for number, person in enumerate(people)
        if not unknown and person.role is None and genders[person.gender] == 1
    )


def _apart(other: Other, repeats: bool) -> Iterator[Edit]:
    if repeats and other.article:
        yield Edit(*other.article, set_apart(other))


def _are_parted(unit: Unit, units: Sequence[Unit]) -> bool:
    """Tell whether one of several people is spoken of alone elsewhere."""
    people = set(unit.people)
    return any(people & set(other.people) and people - set(other.people) for other in units)


def _agreement(text: str, unit: Unit, context: Context) -> Iterator[Edit]:
    several = len(set(unit.people)) > 1 and context.case == "subject" and not unit.suffix
    if several and (verb := plural_verb(text[unit.end :])):
        start, end, plural = verb
        yield Edit(unit.end + start, unit.end + end, plural)
