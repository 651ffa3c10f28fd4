"""Find people's own answers among a rehearsal's simulated ones: they must not be thrown away.

A simulated answer can be recognised: it has the level and the seconds that the usual seed gives for
the same person and pair.
"""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from annotation.answers.judgments import GuidelinesShown, read_shown
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.keys import Signer
from annotation.simulation.answers import SimulatedAnswer, Truth
from annotation.simulation.kinds import Person, answer, answer_again


class Simulated(NamedTuple):
    """Recognises a rehearsal's simulated answers; `people` are from `create_simulated`.

    `guidelines_shown` is the campaign's.
    """

    signer: Signer
    truth: Truth
    people: Mapping[int, Person]
    guidelines_shown: GuidelinesShown

    def is_simulated(
        self, annotator: int, query_id: str, moment_id: str, actual: SimulatedAnswer
    ) -> bool:
        """Return whether an answer to a pair is simulated."""
        level = self.truth(query_id, moment_id)
        words = (self.people.get(annotator, Person(annotator)), level, query_id, moment_id)
        return actual in {answer(*words), answer_again(*words)}


def count_on_server(studio: LabelStudio, simulated: Simulated | None) -> int:
    """Return how many answers on a server, in any project, are people's.

    Raises:
        StudioError: the server can't be reached or fails.
    """
    count = 0
    for project in studio.projects():
        for task in studio.answers(project, None) if project.answers else ():
            key = simulated and simulated.signer.read(task.pair)
            for raw in task.answers:
                if simulated is None or key is None:
                    count += 1
                    continue
                level = read_shown(raw, simulated.guidelines_shown).content.level
                actual = SimulatedAnswer(level, raw["lead_time"])
                whose = key.annotator, key.query_id, key.moment_id
                count += not simulated.is_simulated(*whose, actual)
    return count


def count_pulled(judgments: pd.DataFrame, simulated: Simulated | None) -> int:
    """Return how many judgments (`tables.JUDGMENTS`) are people's."""
    rows = judgments[["annotator", "query_id", "moment_id", "level", "seconds"]]
    answers = (
        (*whose, SimulatedAnswer(None if pd.isna(level) else int(level), seconds))
        for *whose, level, seconds in rows.itertuples(index=False)
    )
    return sum(simulated is None or not simulated.is_simulated(*row) for row in answers)
