"""The true relevance of every pair of the sample corpus, from the scenes of query and moment."""

from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from typing import Any

from pipeline.sitcom.screenplay import Screenplay
from pipeline.sitcom.staging.world import Scene

OUT = Path("datasets/work/sample")
FACETS = ("people", "action", "object", "place")
Record = dict[str, Any]


def true_level(query: Scene, moment: Scene, script: Screenplay) -> int:
    """Return how relevant a moment truly is to an imprecise query, 0 to 4.

    The query is what its sentence mentions, without the names: people are only woman, man or
    somebody, and their number; a person whose name suggests no gender may be either.

    * 4: the moment shows everything in the query.
    * 3: action and object are right, one detail is not (a person's gender, the place).
    * 2: partly: the action is right, but not its object or several details; or an action
      of the same family with everything else right.
    * 1: loosely: an action of the same family, or of a related one with everything else right.
    * 0: nothing to do with it; or the screenplay has no such action.

    Source: TVR-Ranking (Liang et al., 2024), Appendix B.1.
    """
    if query.action not in script.actions:
        return 0
    wanted, shown = (script.action(scene.action).family for scene in (query, moment))
    wrong_object = "object" in query.mentions and query.object != moment.object
    details = _wrong_people(query, moment, script)
    details += "place" in query.mentions and query.place != moment.place
    if query.action == moment.action:
        levels = (2, 2, 1) if wrong_object else (4, 3, 2)
        return levels[min(details, 2)]
    all_else_right = not wrong_object and not details
    if wanted == shown:
        return 2 if all_else_right else 1
    return int(all_else_right and shown in script.families[wanted].akin)


def _wrong_people(query: Scene, moment: Scene, script: Screenplay) -> int:
    """Count the people who are missing, too many, or of the wrong gender.

    If two people do the same thing, or something other than the query says, it does not
    matter who is named first.
    """
    if "people" not in query.mentions:
        return 0
    wanted = [script.cast[name].gender for name in query.who]
    shown = [script.cast[name].gender for name in moment.who]
    fixed = query.action == moment.action and script.action(query.action).ordered
    orders = [tuple(shown)] if fixed else list(permutations(shown))
    pairs = (zip(wanted, order, strict=False) for order in orders)
    wrong = min(sum(a != b and "unknown" not in {a, b} for a, b in order) for order in pairs)
    return wrong + abs(len(wanted) - len(shown))


def scene_record(scene: Scene) -> Record:
    """Return a scene as a record of `annotations.jsonl`."""
    mentions = [facet for facet in FACETS if facet in scene.mentions]
    return asdict(scene) | {"who": list(scene.who), "mentions": mentions}


def parse_scene(record: Record) -> Scene:
    """Return the scene of a line of `annotations.jsonl`."""
    people, mentions = tuple(record["scene"]["who"]), frozenset(record["scene"]["mentions"])
    return Scene(**record["scene"] | {"who": people, "mentions": mentions})
