"""`manifest.json`: what was released, from which campaign, with which settings, and hashes."""

from typing import Any

from momentrank.collection.versions import FORMAT
from pipeline.campaign.collection import Collection
from pipeline.core.files import manifest_json
from pipeline.core.params import Params
from pipeline.distribution import settings
from pipeline.distribution.facts import Facts
from pipeline.distribution.records import COLUMNS
from pipeline.distribution.release_files import ReleaseFile, ReleaseFiles, json_object
from pipeline.pages.strata_section import describe_strata

UNFINISHED = {
    "open": "The campaign is still open: levels may be added.",
    "closed": "The campaign is closed, but some pairs were given up or some queries never shown.",
    "not opened": "No campaign was opened, so there are no judgments.",
}
SIMULATED = "This is a rehearsal: its judgments may be simulated and say nothing about any video."


def warnings(collection: Collection, facts: Facts) -> list[str]:
    """Return what a reader must know before any number, in whole sentences."""
    said = [SIMULATED] if collection.rehearsal else []
    if not collection.complete:
        said.append(f"Incomplete. {UNFINISHED[collection.status]} {progress(collection)}")
    if facts.missing:
        said.append(f"Not for publication: params.yaml does not set {', '.join(facts.missing)}.")
    return said


def progress(collection: Collection) -> str:
    """Return the progress of judging, in one sentence."""
    now = collection.counts
    return (
        f"{now['pairs_with_level']:,} of {now['pairs']:,} pairs shown have a level,"
        f" {now['pairs_waiting']:,} are waiting, {now['pairs_given_up']:,} were given up;"
        f" {now['queries_never_shown']:,} of {now['queries']:,} queries were never shown."
    )


def manifest(
    collection: Collection, facts: Facts, params: Params, release_files: ReleaseFiles
) -> ReleaseFile:
    """Return the manifest of all files except itself.

    The training sets come from another stage, which lists their hashes in train_manifest.json, and
    so do a machine's levels, if any (machine_manifest.json).
    """
    campaign = collection.campaign
    content: dict[str, Any] = {
        "name": facts.name,
        "version": params.release.version,
        "date": collection.date,
        "complete": collection.complete,
        "rehearsal": collection.rehearsal,
        "warnings": warnings(collection, facts),
        "made": facts.said,
        "agreement": facts.agreement,
        "campaign": None if campaign is None else campaign.model_dump(),
        "standing": collection.counts,
        **({"strata": strata} if (strata := describe_strata(collection)) else {}),
        **({"negatives": facts.negatives} if facts.negatives else {}),
        "params": settings.select_settings(params),
        "format": FORMAT,
        "columns": COLUMNS,
        "files": manifest_json({path: file.entry for path, file in release_files.items()}),
        "training": "train_manifest.json",
        "machine": "machine_manifest.json",
    }
    return json_object(content)
