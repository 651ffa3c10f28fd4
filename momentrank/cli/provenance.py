"""Where numbers come from: the version, the convention, the qrels and their release."""

import hashlib
import json
from pathlib import Path

from momentrank import __version__
from momentrank.errors import UsageError

MANIFEST = "manifest.json"


def provenance(qrels: Path, convention: str) -> dict[str, str]:
    """Return where numbers come from: version, convention, qrels and release.

    Raises:
        UsageError: the qrels are not a regular file, and so can't be read twice.
    """
    if qrels.exists() and not qrels.is_file():
        raise UsageError(
            f"{qrels}: qrels must be a regular file, so that their SHA-256 can be reported"
        )
    sha256 = _hash(qrels) if qrels.exists() else ""
    return {
        "momentrank": __version__,
        "convention": convention,
        "qrels": str(qrels),
        "qrels_sha256": sha256,
        "release": _release(qrels, sha256),
    }


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _release(qrels: Path, sha256: str) -> str:
    """Return the version of the release whose manifest lists the qrels, or `unknown`."""
    for folder in (qrels.resolve().parent, qrels.resolve().parent.parent):
        try:
            text = (folder / MANIFEST).read_text(encoding="utf-8")
            version = json.loads(text)["version"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if sha256 in text:
            return str(version)
    return "unknown"
