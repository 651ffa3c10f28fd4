"""The true levels of the sample corpus's pairs, for people who are simulated."""

from dataclasses import replace
from functools import cache

from annotation.simulation.answers import Truth
from pipeline.campaign.campaign import CampaignError
from pipeline.core import files, tables
from pipeline.sitcom import true_levels
from pipeline.sitcom.query_reading import read_query
from pipeline.sitcom.screenplay import load_screenplay
from pipeline.sitcom.staging.world import Scene

EXACT = max(tables.LEVELS)


def truth() -> Truth:
    """Return the true level of every pair of a frozen query and a moment of the sample corpus.

    A caption asks for what its moment shows and it mentions; every other query, for what its words
    say. The returned function raises CampaignError for a moment or a query that it does not know,
    and QueryError for a query whose words are not the screenplay's.

    Raises:
        CampaignError: the campaign's moments are not the sample's.
    """
    script, path = load_screenplay(), true_levels.OUT / "annotations.jsonl"
    if not path.exists():
        raise CampaignError(
            f"{path}: missing: simulate needs the sample corpus, whose true levels are known;"
            " `dvc repro ingest` makes it if `ingest.source` is unchanged"
        )
    records = files.read_json_lines(path)
    scenes = {
        str(record.fields["desc_id"]): true_levels.parse_scene(record.fields) for record in records
    }

    frozen = tables.FROZEN_QUERIES.read()
    queries = {query.query_id: query for query in frozen.itertuples()}
    sources = frozen.dropna(subset="moment_id").set_index("query_id")["moment_id"].to_dict()

    def scene(moment_id: str) -> Scene:
        if moment_id not in scenes:
            raise CampaignError(
                f"the moment {moment_id!r} is not in the sample corpus, the only one with known"
                " true levels; simulate needs `ingest.source` unchanged"
            )
        return scenes[moment_id]

    @cache
    def read(query_id: str) -> Scene:
        source = scene(sources[query_id]) if query_id in sources else None
        if source and queries[query_id].stratum == tables.CAPTION:
            return source
        told = read_query(str(queries[query_id].query), script)
        return replace(told, action=source.action) if source and not told.action else told

    def level(query_id: str, moment_id: str) -> int:
        if query_id not in queries:
            raise CampaignError(f"{tables.FROZEN_QUERIES.path}: there is no query {query_id!r}")
        asked, shown = read(query_id), scene(moment_id)
        if moment_id == sources.get(query_id):
            return EXACT  # what was made vaguer is still true of it
        return true_levels.true_level(asked, shown, script)

    return level
