"""Schedule: the plan of every video of the corpus, drawn from one seed.

The rarest thing that can happen next is what happens next, so that every action is seen
often, by different people, with different objects, in different places.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

from momentrank.errors import MomentRankError
from pipeline.sitcom.screenplay import Action, Place, Screenplay
from pipeline.sitcom.staging.blocking import Marks, block, longest_walk
from pipeline.sitcom.staging.cues import cues, outcome
from pipeline.sitcom.staging.opening import opening
from pipeline.sitcom.staging.world import Cue, Step, Take, World

CLIPS_PER_EPISODE = 8
MOMENTS = (4, 5, 5, 6, 6, 6, 7, 7)
"""How many moments videos have: eight in a row have these, in random order."""
COMPANY = (2, 3, 3, 3)
"""How many characters a video has, likewise: four in a row have these."""
SHORTEST = 21.0
WALK = 62.0
"""Walking speed in stage units per second."""
SECOND_AT_DOOR = 0.9
"""How many seconds longer a door takes two people."""
AGAIN = 3
"""An action seen in this video already counts as seen this many times more."""

Item = TypeVar("Item")
Option = tuple[Cue, Marks, Marks]


class StagingError(MomentRankError):
    """The screenplay leaves nothing to do."""


class Plot:
    """Plans videos one after the other, and remembers what has been shown how often."""

    def __init__(self, script: Screenplay, seed: int, fps: int) -> None:
        self._script = script
        self._random = Random(seed)
        self._fps = fps
        self._shown: Counter[tuple[object, ...]] = Counter()

    def takes(self, videos: int) -> Iterator[Take]:
        """Yield the plans of `videos` videos, in the order of their names.

        Raises:
            StagingError: at some point of a video, nothing in the screenplay can happen next.
        """
        places = self._rounds(tuple(self._script.places), videos)
        lengths = self._rounds(MOMENTS, videos)
        companies = self._rounds(COMPANY, videos)
        for number in range(videos):
            episode, clip = divmod(number, CLIPS_PER_EPISODE)
            name = f"{self._script.show}_s01e{episode + 1:02d}_clip_{clip:02d}"
            yield self._take(name, places[number], lengths[number], companies[number])

    def _rounds(self, items: Sequence[Item], length: int) -> list[Item]:
        """Return `length` items: all of them in one random order after another."""
        rounds: list[Item] = []
        while len(rounds) < length:
            rounds += self._random.sample(items, len(items))
        return rounds[:length]

    def _take(self, name: str, at: str, moments: int, company: int) -> Take:
        place = self._script.places[at]
        world = opening(self._script, place, self._company(company), self._random)
        steps: list[Step] = []
        seen: Counter[str] = Counter()
        for _ in range(moments):
            option = self._choose(name, at, world, seen)
            steps += self._play(option, place, world, steps[-1].last if steps else 0)
            world, cue = steps[-1].after, option[0]
            action = cue.action
            seen.update((action, *cue.who))
            self._shown.update([(action,), (action, len(cue.who)), (action, cue.object)])
            self._shown.update([(action, at), *((action, "by", actor) for actor in cue.who)])
        last = steps[-1].last
        end = max(self._frames(SHORTEST), last + self._frames(0.8))
        return Take(name, at, self._fps, (*steps, Step(last, end, world, world)))

    def _company(self, number: int) -> list[str]:
        """Draw the characters that were seen least, in random order."""
        cast, shown = self._script.cast, self._shown
        chosen = sorted(cast, key=lambda name: (shown["in", name], self._random.random()))[:number]
        shown.update(("in", name) for name in chosen)
        self._random.shuffle(chosen)
        return chosen

    def _choose(self, name: str, at: str, world: World, seen: Counter[str]) -> Option:
        place = self._script.places[at]
        options = [
            (cue, *marks)
            for cue in cues(self._script, place, world)
            if (marks := block(cue, _target(self._script.action(cue.action)), world, place.table))
        ]
        if not options:
            raise StagingError(f"{name}: nothing in the screenplay can happen here next")
        return min(options, key=lambda option: self._rank(option[0], at, seen))

    def _rank(self, cue: Cue, at: str, seen: Counter[str]) -> tuple[float, ...]:
        shown, action = self._shown, cue.action
        return (
            shown[action,] + AGAIN * seen[action],
            shown[action, len(cue.who)],
            2 * shown[action, cue.object] + shown[action, at],
            sum(shown[action, "by", name] + seen[name] for name in cue.who) / len(cue.who),
            self._random.random(),
        )

    def _play(self, option: Option, place: Place, world: World, now: int) -> tuple[Step, Step]:
        """Return the two steps of a cue: people find their places, then it happens."""
        cue, starts, ends = option
        action = self._script.action(cue.action)
        walk = max(0.6, longest_walk(world, starts) / WALK + 0.3)
        begin = now + self._frames(walk + self._random.uniform(0, 0.8))
        ready = world.move(starts)
        seconds = self._random.uniform(*action.seconds)
        if "outside" in (action.posture, action.becomes):
            seconds += SECOND_AT_DOOR * (len(cue.who) - 1)
        end = begin + self._frames(seconds)
        after = outcome(cue, action, place, ready).move(ends)
        return Step(now, begin, world, ready), Step(begin, end, ready, after, cue)

    def _frames(self, seconds: float) -> int:
        return round(seconds * self._fps)


def _target(action: Action) -> str:
    """Return what kind of place an action needs, as `block` names it."""
    if "outside" in {action.posture, action.becomes}:
        return "door in" if action.posture == "outside" else "door out"
    if action.before in {"pot", "seat"}:
        return str(action.before)
    if "table" in {action.before, action.after}:
        return "table"
    return "fixture" if action.before in {"shut", "ajar"} else "floor"
