"""A folder as a place to publish: on a disk, a share, or a web server."""

import shutil
from pathlib import Path

from pipeline.publication.package import Package, PublishError, hash_folder
from pipeline.publication.target import Address, refuse_difference


def publish_to_folder(package: Package, folder: Path) -> Address:
    """Copy a package into `folder`/VERSION, which appears only when it is complete.

    Raises:
        PublishError: the version is there with other files, or the folder can't be written.
    """
    version = package.manifest["version"]
    final, unfinished = folder / version, folder / f".{version}.unfinished"
    published = final.exists()
    try:
        if not published:
            shutil.rmtree(unfinished, ignore_errors=True)
            for file in package.files:
                (copy := unfinished / file.path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.source, copy)
        there = hash_folder(final if published else unfinished)
        refuse_difference(package, there, str(folder), published=published)
        if not published:
            unfinished.rename(final)
    except OSError as exc:
        raise PublishError(f"{folder}: {(exc.strerror or str(exc)).lower()}") from exc
    return Address(str(folder), str(final))
