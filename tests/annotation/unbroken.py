"""A rehearsal without server, pull or push, in which nothing can go wrong: what it must come to."""

from collections import defaultdict
from dataclasses import replace

import pandas as pd
from opened import STANDARD

from annotation.assignment.planning import Answers, plan, read_inputs
from annotation.label_studio import guideline
from annotation.roster import roster
from annotation.simulation.answers import answer_pair
from annotation.simulation.truth import truth
from annotation.tasks.ledger import append_pairs
from annotation.tasks.pushing import describe_pairs
from annotation.tasks.tasks import keys_by_annotator, shuffle
from pipeline.campaign.campaign import load_campaign
from pipeline.core import tables
from pipeline.core.params import load

START = pd.Timestamp("2024-05-01T08:00:00Z")


def unbroken(shares, seed=1):
    """Return the judgments and the ledger of the campaign in the current folder.

    In each round simulated people answer a share of what is open to them; the last is repeated.
    """
    campaign, people, params = load_campaign(), roster.read_people(), load()
    true_level = truth()
    version = guideline.current(STANDARD).version
    inputs = read_inputs(people, params, Answers(*(table.empty() for table in EMPTY)))
    waiting, rows, ledger = defaultdict(list), [], tables.PAIRS.empty()
    shares = list(shares)
    while True:
        inputs = replace(inputs, judgments=judgments(rows), open_tasks=opens(waiting))
        assignments = plan(inputs).assignments
        if assignments.empty:
            return judgments(rows), ledger
        wanted = describe_pairs(assignments, params)
        ledger = append_pairs(ledger, wanted[wanted["kind"].isin(tables.VOTING)])
        share = shares.pop(0) if len(shares) > 1 else shares[0]
        for annotator, keys in keys_by_annotator(wanted, version).items():
            there = waiting[annotator]
            new = [key for key in keys if key.identity not in {old.identity for old in there}]
            there += shuffle(new, campaign.id)
            number = round(share * len(there))
            rows += [answer(key, true_level, seed, len(rows)) for key in there[:number]]
            del there[:number]


EMPTY = (tables.JUDGMENTS, tables.OPEN_TASKS, tables.REJECTED_JUDGMENTS)


def answer(key, true_level, seed, before):
    pair = (key.query_id, key.moment_id)
    result = answer_pair(true_level(*pair), seed, key.annotator, *pair)
    return {
        **key._asdict(),
        "level": result.level,
        "reason": "broken-clip" if result.level is None else None,
        "submitted_at": START,
        "seconds": result.seconds,
        "origin": f"{before}@a",
    }


def judgments(rows):
    frame = pd.DataFrame(rows) if rows else tables.JUDGMENTS.empty()
    return tables.JUDGMENTS.check(frame.astype({"level": "Int64"}))


def opens(waiting):
    rows = [key._asdict() | {"opened_at": START} for keys in waiting.values() for key in keys]
    frame = pd.DataFrame(rows) if rows else tables.OPEN_TASKS.empty()
    return tables.OPEN_TASKS.check(frame[tables.OPEN_TASKS.columns])
