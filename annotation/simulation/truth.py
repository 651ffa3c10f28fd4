"""The true levels of the sample corpus's pairs, for people who are simulated."""

from annotation.simulation.answers import Truth
from pipeline.campaign.campaign import CampaignError
from pipeline.core import files, tables
from pipeline.sitcom import true_levels
from pipeline.sitcom.screenplay import load_screenplay


def truth() -> Truth:
    """Return the true level of every pair of a frozen query and a moment of the sample corpus.

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

    queries = tables.FROZEN_QUERIES.read().set_index("query_id")["moment_id"].dropna()
    made_from = queries.to_dict()

    def level(query_id: str, moment_id: str) -> int:
        if query_id not in made_from:
            raise CampaignError(
                f"{tables.FROZEN_QUERIES.path}: the query {query_id!r} has no moment_id: only a"
                " query that was made from a moment of the sample corpus has true levels"
            )
        try:
            query, moment = scenes[made_from[query_id]], scenes[moment_id]
        except KeyError as exc:
            raise CampaignError(
                f"the moment {exc} is not in the sample corpus, the only one with known true"
                " levels; simulate needs `ingest.source` unchanged"
            ) from exc
        return true_levels.true_level(query, moment, script)

    return level
