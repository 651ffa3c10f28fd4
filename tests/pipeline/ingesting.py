"""Parameters of `ingest`, and its moments as rows."""

from pipeline.core.sections import Ingest
from pipeline.ingest import Ingested


def ingest_params(**changes: object) -> Ingest:
    fields = {
        "corpus": "tvr",
        "source": "tvr.jsonl",
        "videos": None,
        "query_modalities": ["v"],
        "pool_modalities": ["v"],
        "max_rejected": 0.01,
        "end_slack": 1.0,
        "max_characters": 2000,
        "language": "auto",
        "columns": {},
    }
    return Ingest(**fields | changes)


def moment_rows(result: Ingested) -> list[tuple]:
    return list(result.moments.itertuples(index=False, name=None))
