"""Pairs for a second look, on the lead's page: blind, until they are decided."""

from typing import NamedTuple

import pandas as pd

from pipeline.pages.lead import link_clip
from pipeline.pages.report_inputs import Sources

SHOWN = 100
MOMENT = "{}, {:.1f} to {:.1f} s"


class SecondLook(NamedTuple):
    """A pair with its clip; if it is decided, with all levels, and the machine's remark."""

    query: str
    moment: str
    clip: str | None
    decided: str | None
    why: str | None
    people: str
    machine: str
    remark: str


def list_second_looks(sources: Sources) -> list[SecondLook]:
    """Return the pairs that `calibration` listed, in its random order, open ones first."""
    looks = sources.second_looks
    ordered = looks.sort_values("decided", key=pd.notna, kind="stable")
    return [
        SecondLook(
            query=row["query"] or row["query_id"],
            moment=MOMENT.format(row["video_id"], float(row["start"]), float(row["end"])),
            clip=link_clip(row["clip"]),
            decided=row["decided"],
            why=row["why"],
            people=f"{row['voted_level']} ({row['scores']})",
            machine=(row["machine"] or "")
            + (f" (expected {float(row['expected']):.1f})" if row["expected"] else ""),
            remark=row["remark"] or "",
        )
        for row in ordered.to_dict("records")
    ]
