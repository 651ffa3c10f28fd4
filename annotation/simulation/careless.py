"""The careless annotator of a rehearsal, who answers 2 whatever is shown, and must be found.

The lead's gold is the drawn truth of the sample corpus: for the exam's pairs and hidden checks.
"""

import pandas as pd

from annotation.assignment.check_inputs import explain_stopped
from annotation.roster import roster
from annotation.simulation.answers import Truth
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.voided import drop_voided
from pipeline.core import git, rng, tables
from pipeline.core.params import Params, read_model

CARELESS, KIND = 4, "lazy"
ENOUGH = 6
"""With this many people, one of them can leave."""
GOLD = 100
NOTE = "the sample's drawn truth"


def make_one_careless() -> None:
    """Mark one of six or more people as careless in their account."""
    accounts = roster.read_accounts()
    if len(accounts) >= ENOUGH and accounts[CARELESS].kind is None:
        people = read_model(roster.People, roster.PUBLIC).annotators
        careless = accounts[CARELESS].model_copy(update={"kind": KIND})
        roster.write(people, accounts | {CARELESS: careless})


def write_gold(truth: Truth) -> None:
    """Write the true levels of some candidates as the lead's gold.

    They are of any rank, about one of each batch: gold comes among the votes of its query.
    """
    if len(tables.GOLD.read()):
        return
    candidates = tables.POOL.read()[PAIR_KEY].itertuples(index=False, name=None)
    pairs = sorted(candidates, key=lambda pair: rng.draw(*pair))
    rows = [(*pair, truth(*pair), NOTE) for pair in pairs[:GOLD]]
    tables.GOLD.write(pd.DataFrame(rows, columns=tables.GOLD.columns).sort_values(PAIR_KEY))
    git.commit([tables.GOLD.path], "Gold of the rehearsal: drawn truth")


def describe_stopped(params: Params) -> list[str]:
    """Return who was stopped and why, a line each, including people whom the rehearsal removed."""
    judgments = drop_voided(tables.JUDGMENTS.read(), tables.VOIDED.read())
    reasons = explain_stopped(params, roster.read_people(), judgments)
    return [f"annotator {number} was stopped: {why}" for number, why in reasons.items()]
