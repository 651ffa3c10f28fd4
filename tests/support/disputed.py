"""A campaign in which people could not settle ten pairs, with nothing left to judge."""

import pandas as pd
from support.campaign_cases import START
from support.campaign_folder import CampaignFolder, Size, query_of

from pipeline.campaign.pairs import query_sha
from pipeline.core import tables

PEOPLE, EXPERT = 4, 9
APART = (0, 4, 0, 4)
VOTES = [APART] * 8 + [(None, None), (3, 3)]
"""Of each query's one pair: eight are discarded, one can't be judged, and one is settled."""
SETTLED = ("q009", "q009-m01")


def disputed_campaign(path, repository, url) -> CampaignFolder:
    """Return a campaign folder in which all was judged; the judgments are on no server."""
    size = Size(queries=len(VOTES), ranks=1, people=PEOPLE)
    folder = CampaignFolder.make(path, repository, size, url)
    people = {number: {} for number in range(1, PEOPLE + 1)}
    folder.people({**people, EXPERT: {"role": "expert"}})
    pairs = [(f"q{at:03}", f"q{at:03}-m01") for at in range(len(VOTES))]
    shas = [(query_sha(query_of(at)), f"clip{at}") for at in range(len(VOTES))]
    ledger = [
        (at, *pair, "v", float(at), at + 5.0, 900.0, "A caption.", 0.5, 1, *shas[at])
        for at, pair in enumerate(pairs)
    ]
    folder.put(tables.PAIRS, pd.DataFrame(ledger, columns=tables.PAIRS.columns))
    times = iter(pd.date_range(START, periods=100, freq="s"))
    rows = [
        (*pairs[at], who, level, "broken-clip" if level is None else None, next(times), 4.0,
         f"{at}-{who}", "1", "first" if who < 3 else "escalated", *shas[at])
        for at, levels in enumerate(VOTES)
        for who, level in enumerate(levels, start=1)
    ]  # fmt: skip
    judgments = tables.JUDGMENTS.check(pd.DataFrame(rows, columns=tables.JUDGMENTS.columns))
    folder.put(tables.JUDGMENTS, judgments)
    history = judgments.assign(updated_at=judgments["submitted_at"], state="lost")
    folder.put(tables.JUDGMENT_HISTORY, history)
    for table in (tables.OPEN_TASKS, tables.REJECTED_JUDGMENTS):
        folder.put(table, table.empty())
    return folder
