"""Publish a closed campaign's collection: on the Hugging Face hub, on Zenodo, or in a folder.

    python -m pipeline.publish --to hf OWNER/NAME [--private] [--dry-run]
    python -m pipeline.publish --to zenodo [--dry-run]
    python -m pipeline.publish --to folder FOLDER

reads   datasets/release/, datasets/campaign/{campaign,annotators.private}.yaml, owner.toml
writes  datasets/campaign/published.yaml: which version is published where (committed)

Exactly the files in manifest.json and train_manifest.json are published, if nothing in them
identifies anyone. Zenodo has no folders: files in folders become folders.zip there. Each file is
read back and compared by its SHA-256 before the version is published. A second run uploads only
missing or changed files. Tokens: HF_TOKEN (or `hf auth login`), ZENODO_TOKEN.
"""

import argparse
import json
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from momentrank.errors import UsageError
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.phases import PUBLISH, check_state
from pipeline.core import cli, git, tables
from pipeline.core.owner import read_owner
from pipeline.distribution import versions
from pipeline.distribution.versions import Publication, Target
from pipeline.publication.folder import publish_to_folder
from pipeline.publication.package import (
    MANIFEST,
    Package,
    PublishError,
    collect_package,
    list_others,
)
from pipeline.publication.package_scan import refuse_people
from pipeline.publication.target import Address


def refuse_unready(
    package: Package, published: list[Publication], *, incomplete: bool = False
) -> None:
    """Refuse an incomplete or outdated release, or one with the number of an old version.

    Raises:
        PublishError: the release has warnings, and `incomplete` is not given; or it does not match
            the current campaign; or its version is already published with other training sets or
            machine levels.
        ReleaseError: its version was not raised.
    """
    manifest, campaign = package.manifest, load_campaign()
    now = None if campaign is None else campaign.model_dump()
    if manifest["campaign"] != now:
        raise PublishError(
            f"{package.folder / MANIFEST}: does not match the current campaign; run: dvc repro"
            " release"
        )
    if manifest["warnings"] and not incomplete:
        raise PublishError(
            f"{package.folder / MANIFEST}: {' '.join(manifest['warnings'])} To publish it"
            " anyway, with these warnings: --incomplete"
        )
    versions.refuse_version(manifest, published)
    same = [entry.training for entry in published if entry.version == manifest["version"]]
    if same and (other := sorted(dict(package.further.items() ^ same[-1].items()))):
        raise PublishError(
            f"params.yaml: release.version: {manifest['version']} is already published with"
            f" another {other[0]}; raise the version, then run: dvc repro release"
        )


def publish(package: Package, published: list[Publication], options: argparse.Namespace) -> Address:
    """Publish the package at the place that the command names."""
    if options.to == "folder":
        return publish_to_folder(package, Path(options.place))
    if options.to == "zenodo":
        from pipeline.publication import zenodo  # noqa: PLC0415  (its library is slow to import)

        server = zenodo.choose_server()
        records = [entry.revision for entry in published if entry.place == server]
        metadata = zenodo.describe_for_doi(package.manifest)
        return zenodo.publish_to_zenodo(package, metadata, records[-1] if records else None)
    from pipeline.publication.hub import publish_to_hub  # noqa: PLC0415  (as above)

    return publish_to_hub(package, options.place, private=options.private)


def record(package: Package, to: Target, address: Address) -> Publication:
    """Return the entry of a publication in published.yaml."""
    manifest = package.manifest
    return Publication(
        version=manifest["version"],
        to=to,
        place=address.place,
        address=address.url,
        revision=address.revision,
        doi=address.doi,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        complete=manifest["complete"],
        format=manifest.get("format"),
        columns=manifest.get("columns", {}),
        files={path: entry["sha256"] for path, entry in manifest["files"].items()},
        training=package.further,
    )


def main(options: argparse.Namespace) -> None:
    """Check, publish, and record what was published."""
    if (options.place is None) != (options.to == "zenodo"):
        wanted = {"hf": "OWNER/NAME after it", "folder": "FOLDER after it", "zenodo": "no PLACE"}
        raise UsageError(f"--to {options.to}: needs {wanted[options.to]}")
    check_state(f"{PUBLISH} --incomplete" if options.incomplete else PUBLISH)
    package, published = collect_package(tables.RELEASE), versions.read_published()
    if options.to == "zenodo" and package.manifest["rehearsal"]:
        raise PublishError("a rehearsal gets no DOI, as its judgments may be simulated")
    refuse_unready(package, published, incomplete=options.incomplete)
    refuse_people(package, options.allow)
    if others := list_others(package):
        cli.log(f"not in the manifests, and not published: {', '.join(others)}")
    if options.dry_run:
        _show(package, options)
        return
    if options.to != "folder":
        read_owner()  # readers of a public collection must find who stands behind the tool
    address = publish(package, published, options)
    new = record(package, options.to, address)
    previous = [
        entry
        for entry in published
        if (entry.version, entry.to, entry.place) != (new.version, new.to, new.place)
    ]
    versions.write_published([*previous, new])
    git.commit([versions.FILE], f"Publish {new.version} ({new.to}: {new.place})")
    doi = f", DOI {address.doi}" if address.doi else ""
    sys.stdout.write(f"version {new.version} is published: {address.url}{doi}\n")


def _show(package: Package, options: argparse.Namespace) -> None:
    """Print what would be published; contact no server."""
    manifest = package.manifest
    lines = [f"{file.size:>12,}  {file.sha256[:12]}  {file.path}" for file in package.files]
    sys.stdout.write("\n".join(lines) + "\n")
    if options.to == "zenodo":
        from pipeline.publication.zenodo import describe_for_doi  # noqa: PLC0415  (as above)

        sys.stdout.write(json.dumps(describe_for_doi(manifest), indent=2) + "\n")
    sys.stdout.write(
        f"would publish {manifest['name']} {manifest['version']}: {len(lines)} files,"
        f" {package.size / 1e6:,.1f} MB, to {options.to} {options.place or ''}".rstrip()
        + "\n"
    )


def _arguments() -> argparse.Namespace:
    parser = cli.parser("What is published, and how: docs/release.md.")
    parser.add_argument("--to", required=True, choices=["hf", "zenodo", "folder"])
    parser.add_argument("place", nargs="?", metavar="PLACE", help="OWNER/NAME, or a folder")
    parser.add_argument("--private", action="store_true", help="hf: visible only to its owners")
    parser.add_argument("--dry-run", action="store_true", help="print the files; contact no server")
    parser.add_argument(
        "--incomplete", action="store_true", help="publish even if incomplete or a rehearsal"
    )
    parser.add_argument(
        "--allow", action="append", default=[], metavar="ADDRESS",
        help="an e-mail address that may be public, such as the collection's own",
    )  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
