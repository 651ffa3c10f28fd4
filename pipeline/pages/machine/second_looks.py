"""Pairs for a second look, on the lead's page: people agree, but a confident machine is far off."""

from typing import NamedTuple

from pipeline.pages.lead import link_clip
from pipeline.pages.report_inputs import Sources

SHOWN = 100
MOMENT = "{}, {:.1f} to {:.1f} s"


class SecondLook(NamedTuple):
    """A pair with both levels, the machine's remark, its clip, and the command to adjudicate it."""

    query: str
    moment: str
    people: str
    machine: str
    remark: str
    clip: str | None
    command: str


def list_second_looks(sources: Sources) -> list[SecondLook]:
    """Return the pairs that `calibration` listed, the furthest apart first."""
    return [
        SecondLook(
            query=row["query"] or row["query_id"],
            moment=MOMENT.format(row["video_id"], float(row["start"]), float(row["end"])),
            people=f"{row['level']} ({row['scores']})",
            machine=row["machine"]
            + (f" (expected {float(row['expected']):.1f})" if row["expected"] else ""),
            remark=row["remark"] or "",
            clip=link_clip(row["clip"]),
            command=row["adjudicate"],
        )
        for row in sources.second_looks.to_dict("records")
    ]
