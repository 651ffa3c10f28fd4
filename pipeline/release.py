"""Write the release: judged queries, qrels, raw judgments, and the files that describe them.

reads   datasets/campaign/{queries,pairs,judgments,voided,pool,audit,topup,pooled_runs}.csv,
        second_look.csv, campaign.yaml, published.yaml, annotators.private.yaml,
        adjudications.csv and released/ if it was reopened,
        datasets/work/{consensus,counted_votes}.parquet, metrics/consensus.json,
        annotation/guideline/
writes  datasets/release/ (except the training sets, which the stage `pseudo` writes)

All of it comes from people's work: once a campaign is closed, the release can be rebuilt in a clone
that has no corpus. It does not record the time of the build, so the same inputs give the same
bytes. Without a campaign, or before its end, the release states that it is incomplete. After a
reopening, whatever was judged before must be as it was, unless it was voided or decided since.
"""

import json
from typing import Any

from momentrank.collection.release import Collection as Released
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.collection import (
    Collection,
    CollectionTables,
    ReleaseError,
    collect,
)
from pipeline.core import cli, files, tables
from pipeline.core.params import Params, load
from pipeline.core.sections import Candidates
from pipeline.distribution import previous, settings, versions
from pipeline.distribution.card import card
from pipeline.distribution.card_figures import build_figure_files
from pipeline.distribution.croissant import croissant
from pipeline.distribution.facts import Facts, collect_facts, meanings
from pipeline.distribution.judged import build_judgment_files
from pipeline.distribution.manifest import manifest, progress
from pipeline.distribution.mteb import build_mteb_files
from pipeline.distribution.release_files import ReleaseFiles
from pipeline.distribution.scan import refuse_people

FOLDER = tables.RELEASE
AGREEMENT = cli.METRICS / "consensus.json"


def release(
    collection: Collection,
    facts: Facts,
    levels: dict[str, Any],
    params: Params,
    base: Released | None = None,
) -> ReleaseFiles:
    """Return every file of the release, by its path below the folder.

    `base` is the version before, if the campaign was reopened.
    """
    release_files = {**build_judgment_files(collection, levels), **build_mteb_files(collection)}
    release_files |= build_figure_files(collection, params.candidates.batch)
    changes = previous.build_changes(base, release_files, params.release.version)
    release_files[previous.CHANGES] = changes
    release_files["croissant.json"] = croissant(collection, facts, params, release_files)
    release_files["README.md"] = card(collection, facts, levels, params, json.loads(changes.data))
    return {**release_files, "manifest.json": manifest(collection, facts, params, release_files)}


def read_collection(candidates: Candidates) -> Collection:
    """Read the collection from this checkout's tables, which must not name a person.

    Raises:
        ReleaseError: they name a person, or the tables do not belong together.
        MomentRankError: a table is missing or wrong.
    """
    campaign = load_campaign()
    refuse_people(campaign)
    return collect(campaign, CollectionTables.read(candidates))


def read_agreement() -> dict[str, Any]:
    """Return the agreement that the stage `consensus` measured.

    Raises:
        FileError: the file of its figures is missing.
        ReleaseError: an older version of the stage wrote it.
    """
    agreement: dict[str, Any] | None = files.read_json(AGREEMENT).get("agreement")
    if agreement is None:
        raise ReleaseError(f"{AGREEMENT}: lacks `agreement`; run `dvc repro consensus`")
    return agreement


def check_version(
    collection: Collection, manifest: dict[str, Any], base: Released | None = None
) -> None:
    """Stop if the version of a closed campaign's release is too low; warn if it is still open.

    Raises:
        ReleaseError: something changed since the version before, and this number hides it.
    """
    published = versions.read_published()
    if collection.status == "closed":
        versions.refuse_version(manifest, published, base)
    elif problem := versions.describe_version(manifest, published, base):
        cli.log(f"WARNING: {problem}")


def main() -> None:
    """Write the release and log how complete it is."""
    params = load()
    collection = read_collection(params.candidates)
    settings.refuse_changes(collection.campaign, params)
    facts = collect_facts(collection, params, read_agreement())
    levels = meanings(collection.campaign, params.annotation)
    base = previous.read_base(campaign := collection.campaign)
    release_files = release(collection, facts, levels, params, base)
    if base is not None and campaign is not None and campaign.closed:
        previous.refuse_moves(base, release_files, previous.read_since(campaign))
    check_version(collection, json.loads(release_files["manifest.json"].data), base)
    for path, file in release_files.items():
        with files.unfinished(FOLDER / path, "wb") as stream:
            stream.write(file.data)
    metrics = {"complete": collection.complete, "rehearsal": collection.rehearsal}
    cli.write_metrics("release", metrics | collection.counts)
    incomplete = f"INCOMPLETE: the campaign is {collection.status}"
    state = "complete" if collection.complete else incomplete
    cli.log(f"release {params.release.version}: {state}. {progress(collection)}")


if __name__ == "__main__":
    cli.run_stage(main)
