"""Write what goes out: judged queries, qrels, raw judgments, and what describes them.

reads   datasets/campaign/{queries,pairs,judgments,audit,topup}.csv, campaign.yaml,
        annotators.private.yaml, datasets/work/consensus.parquet, counted_votes.parquet,
        metrics/consensus.json, annotation/guideline.md
writes  datasets/release/ (but for the training sets, which are the stage pseudo's)

All of it comes from what people made: once a campaign is closed it can be built again in a clone
that has no corpus. Nothing tells the time of the build, so the same inputs are the same bytes.
Without a campaign, or before its end, there is a release too: one that says that it is incomplete.
"""

from pathlib import Path
from typing import Any

from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.collection import (
    Collection,
    CollectionTables,
    ReleaseError,
    collect,
    extra_pairs,
)
from pipeline.core import cli, files, tables
from pipeline.core.params import Params, load
from pipeline.distribution import settings
from pipeline.distribution.card import card
from pipeline.distribution.croissant import croissant
from pipeline.distribution.facts import Facts, facts
from pipeline.distribution.files import ReleaseFiles
from pipeline.distribution.judged import judged_parts
from pipeline.distribution.levels import meanings
from pipeline.distribution.manifest import manifest, progress
from pipeline.distribution.mteb import mteb_parts
from pipeline.distribution.scan import refuse_people

FOLDER = tables.RELEASE
AGREEMENT = cli.METRICS / "consensus.json"


def release(found: Collection, told: Facts, levels: dict[str, Any], params: Params) -> ReleaseFiles:
    """Return every file of the release, by its path below the folder; pure."""
    parts = {**judged_parts(found, levels), **mteb_parts(found)}
    parts["croissant.json"] = croissant(found, told, params, parts)
    parts["README.md"] = card(found, told, levels, params)
    return {**parts, "manifest.json": manifest(found, told, params, parts)}


def gathered(candidates: int) -> Collection:
    """Return what the tables of this checkout hold, once nothing in them names a person.

    Raises:
        ReleaseError: something does, or the tables don't belong together.
        MomentRankError: a table is missing or wrong.
    """
    campaign = load_campaign()
    refuse_people(campaign)
    judgments = tables.JUDGMENTS.read()
    sources = CollectionTables(
        tables.FROZEN_QUERIES.read(),
        tables.PAIRS.read(),
        tables.CONSENSUS.read(),
        tables.COUNTED_VOTES.read(),
        extra_pairs(tables.AUDIT.read(), tables.TOPUP.read(), candidates),
        newest=None if judgments.empty else judgments["submitted_at"].max(),
    )
    return collect(campaign, sources)


def agreement(path: Path = AGREEMENT) -> dict[str, Any]:
    """Return the figures of agreement that the stage `consensus` has found.

    Raises:
        FileError: there are none.
        ReleaseError: they are of an older version of the stage.
    """
    figures: dict[str, Any] | None = files.read_json(path).get("agreement")
    if figures is None:
        raise ReleaseError(f"{path}: lacks `agreement`: dvc repro consensus")
    return figures


def main() -> None:
    """Release what there is, and say how complete it is."""
    params = load()
    found = gathered(params.candidates.top)
    settings.refuse_changed(found.campaign, params)
    told = facts(found, params, agreement())
    parts = release(found, told, meanings(found.campaign), params)
    for path, part in parts.items():
        with files.unfinished(FOLDER / path, "wb") as stream:
            stream.write(part.data)
    figures = {"complete": found.complete, "rehearsal": found.rehearsal, **found.counts}
    cli.write_metrics("release", figures)
    state = "complete" if found.complete else f"INCOMPLETE: the campaign is {found.status}"
    cli.log(f"release {params.release.version}: {state}. {progress(found)}")


if __name__ == "__main__":
    cli.run_stage(main)
