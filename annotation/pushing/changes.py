"""What must change in a project so that its stream of tasks is what the plan wants: pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from annotation.keys import Key
from annotation.studio.records import Task


class Changes(NamedTuple):
    """Keys to add, and numbers of tasks to take out of the stream or to give out again."""

    add: list[Key]
    close: list[int]
    reopen: list[int]


def changes(
    wanted: Iterable[Key], found: Sequence[Task], read: Callable[[object], Key | None]
) -> Changes:
    """Compare what one annotator should have open with the tasks of their project.

    Nothing is ever deleted, and an answered task never given out again. Where a task is there
    twice, one is kept: an answered one, else one that is open, else the older.
    """
    places: dict[object, list[Task]] = defaultdict(list)
    strays: list[Task] = []
    for task in found:
        key = read(task.pair)
        (strays if key is None else places[key.place]).append(task)
    asked = {key.place: key for key in wanted}
    reopen, keep = [], set()
    for place in asked.keys() & places.keys():
        holder = min(places[place], key=lambda task: (task.answers == 0, task.closed, task.id))
        keep.add(holder.id)
        if holder.closed and not holder.answers:
            reopen.append(holder.id)
    known = [task for tasks in places.values() for task in tasks] + strays
    close = [task.id for task in known if not task.closed and task.id not in keep]
    add = [key for place, key in asked.items() if place not in places]
    return Changes(add, sorted(close), sorted(reopen))
