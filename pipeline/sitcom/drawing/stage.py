"""The stage: which tableau a time of a video shows."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

from pipeline.sitcom.drawing import acts_alone, acts_moving, acts_together
from pipeline.sitcom.drawing.tableau import Now, Tableau, find_places, still
from pipeline.sitcom.screenplay import Screenplay
from pipeline.sitcom.staging.world import Take

Act = Callable[[Now, Tableau], Tableau]
ACTS: dict[str, Act] = {
    "enter": acts_moving.enter,
    "leave": acts_moving.leave,
    "sit_down": acts_moving.sit_down,
    "stand_up": acts_moving.stand_up,
    "dance": acts_moving.dance,
    "pour": acts_alone.pour,
    "drink": acts_alone.drink,
    "put_down": acts_alone.put_down,
    "pick_up": acts_alone.pick_up,
    "read": acts_alone.read,
    "open": acts_alone.open_,
    "close": acts_alone.close,
    "phone": acts_alone.phone,
    "wave": acts_alone.wave,
    "hug": acts_together.hug,
    "shake_hands": acts_together.shake_hands,
    "hand_over": acts_together.hand_over,
    "argue": acts_together.argue,
}


def tableau_at(script: Screenplay, take: Take, number: int) -> Tableau:
    """Return what frame `number` of a video shows."""
    step = take.steps[bisect_right(take.steps, number, key=lambda step: step.last)]
    done, length = number - step.first, step.last - step.first
    place = script.places[take.place]
    now = Now(step, place, script, number / take.fps, done / take.fps, length / take.fps)
    if step.cue is None:
        return find_places(now)
    tableau = ACTS[step.cue.action](now, still(now, step.before))
    return replace(tableau, actors=step.cue.who)
