"""The tables of a release: the columns of each file, and their types."""

from pipeline.distribution.mteb import SCHEMAS

_CSV = {
    "raw_annotation.csv": "pair_id:Integer worker:Integer relevance:Integer",
    "cant_judge.csv": "pair_id:Integer worker:Integer reason:Text",
    "pairs.csv": "pair_id:Integer query_id:Text video_name:Text start:Float end:Float",
    # A pair without a level has an empty cell, which only a float column allows.
    "consensus.csv": "pair_id:Integer level:Float mean:Float outcome:Text origin:Text"
    " second_look:Boolean voted_level:Float voted_outcome:Text reported:Boolean",
}
_PARQUET = {"string": "Text", "int64": "Integer", "double": "Float", "list<item: string>": "Text[]"}
RECORDS: dict[str, dict[str, str]] = {
    **{path: dict(c.split(":") for c in columns.split()) for path, columns in _CSV.items()},
    **{path: {c.name: _PARQUET[str(c.type)] for c in schema} for path, schema in SCHEMAS.items()},
}
"""The columns of each file with records, with schema.org's types; `[]` marks lists."""
COLUMNS = {path: list(columns) for path, columns in sorted(RECORDS.items())}
"""The same without types, as the manifest has them."""
