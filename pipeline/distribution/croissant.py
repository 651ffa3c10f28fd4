"""`croissant.json`: the release for machines (MLCommons' Croissant 1.1, with responsible AI).

The training sets are another stage's and may be missing, so only the card lists them.
"""

from typing import Any

from pipeline.campaign.collection import Collection
from pipeline.core.params import Params
from pipeline.distribution.card import ABOUT
from pipeline.distribution.facts import Facts
from pipeline.distribution.manifest import warnings
from pipeline.distribution.records import RECORDS
from pipeline.distribution.release_files import ReleaseFile, ReleaseFiles, json_object
from pipeline.distribution.responsibility import croissant_terms

CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
FORMATS = {
    ".json": "application/json",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".qrels": "text/plain",
    ".parquet": "application/x-parquet",
    ".svg": "image/svg+xml",
}
_TERMS = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject"
    " fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet"
    " references regex repeated replace samplingRate separator source subField transform"
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS.split()},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
}


def croissant(
    collection: Collection, facts: Facts, params: Params, release_files: ReleaseFiles
) -> ReleaseFile:
    """Return the description of the given files."""
    release = params.release
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": facts.name,
        "description": " ".join([*warnings(collection, facts), *ABOUT.split()]),
        "conformsTo": CONFORMS_TO,
        "license": release.license,
        "url": release.url,
        "citeAs": release.citation or f"{facts.name}, version {release.version}",
        "version": release.version,
        "datePublished": collection.date,
        "creator": [{"@type": "sc:Person", "name": name} for name in release.creators or ()],
        "inLanguage": facts.language,
        "isLiveDataset": False,
        **croissant_terms(collection, params, facts.said),
        "distribution": [_file(path, file) for path, file in sorted(release_files.items())],
        "recordSet": [_record_set(path, columns) for path, columns in RECORDS.items()],
    }
    return json_object({name: value for name, value in document.items() if value is not None})


def _file(path: str, file: ReleaseFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{len(file.data)} B",
        "encodingFormat": FORMATS[path[path.rindex(".") :]],
        "sha256": file.sha256,
    }


def _record_set(path: str, columns: dict[str, str]) -> dict[str, Any]:
    name = path.rpartition(".")[0].replace("/", "_")
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [_field(name, path, column, kind) for column, kind in columns.items()],
    }


def _field(record_set: str, path: str, column: str, kind: str) -> dict[str, Any]:
    repeated = {"repeated": True} if kind.endswith("[]") else {}
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column}",
        "name": f"{record_set}/{column}",
        "dataType": f"sc:{kind.removesuffix('[]')}",
        **repeated,
        "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
    }
