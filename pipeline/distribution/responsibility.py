"""Responsible AI: what the collection's makers say about it, and Croissant's terms for that.

MomentRank writes what it knows; what only the lead knows comes from `release.rai`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pipeline.campaign.collection import Collection
from pipeline.core.params import Params

RAW_VOTES = "`raw_annotation.csv` and `cant_judge.csv` contain every valid vote."
NOT_IMPUTED = (
    "Nothing was imputed: a pair without agreement, or that could not be judged, has no level."
)
NUMBERED = (
    "Annotators are identified by numbers. Before every release, all text that people typed is"
    " searched for their names, for e-mail addresses and for passwords; a match stops the release."
)
VERSIONS = (
    "Every version remains available. A changed level, pair or query raises the minor version, a"
    " changed format the major version. Pairs keep their numbers; `momentrank diff` lists changes."
)
COLLECTED_BY = ["Secondary Data Analysis", "Manual Human Curator"]
"""Croissant's terms for: from the descriptions of an existing corpus, judged by people."""

TERMS = {
    "dataCollection": ["Corpus", "Encoder"],
    "dataPreprocessingProtocol": ["Captions and queries"],
    "dataAnnotationProtocol": ["Annotators", "Second looks"],
    "dataAnnotationPlatform": ["Annotation platform"],
    "dataAnnotationAnalysis": ["Agreement"],
    "annotationsPerItem": ["Judgments of a pair"],
    "annotatorDemographics": ["Who judged"],
    "dataBiases": ["Known bias"],
    "dataLimitations": ["Limits"],
    "dataUseCases": ["Use", "What systems may read"],
    "dataSocialImpact": ["Social impact"],
    "personalSensitiveInformation": ["Personal information"],
    "dataReleaseMaintenancePlan": ["Maintenance"],
}
"""Croissant's terms, and the card's topics that make up each."""


class Tool(NamedTuple):
    """A model or program, and what it did."""

    name: str
    task: str


def describe_responsibility(collection: Collection, params: Params) -> dict[str, str]:
    """Return a sentence or two by topic; topics without any are left out."""
    rai = params.release.rai
    said = {
        "Annotation platform": _platform(collection, params),
        "Judgments of a pair": _judgments(collection),
        "Who judged": rai.annotators,
        "Machine tools": f"{_list(machine_tools(params))}. No level was assigned by a machine.",
        "Second looks": _second_looks(collection),
        "Limits": _limits(collection),
        "Use": rai.use_cases,
        "Social impact": rai.social_impact,
        "Personal information": _join(rai.personal_information, NUMBERED),
        "Maintenance": _join(rai.maintenance, VERSIONS),
    }
    return {topic: text for topic, text in said.items() if text}


def machine_tools(params: Params) -> list[Tool]:
    """Return what machines did to produce the pairs that people judged."""
    rewrite, tagger = params.rewrite, params.names.model
    writers = {"openai": rewrite.openai.model, "rules": "MomentRank's rules"}
    finder = "MomentRank's name tagger" if tagger == "builtin" else tagger.rpartition("/")[2]
    rewriting = [
        Tool(writers.get(rewrite.backend, ""), "rewrote descriptions as captions without names"),
        Tool(finder, "searched captions for remaining names"),
    ]
    comparing = Tool(encoder_name(params), "compared texts and selected the moments to judge")
    return [*(rewriting if rewrite.backend != "none" else []), comparing]


def encoder_name(params: Params) -> str:
    """Return the sentence encoder's name, without a local path."""
    model = params.embed.model
    return "all-MiniLM-L6-v2" if model == "builtin" else model.rpartition("/")[2]


def croissant_terms(
    collection: Collection, params: Params, said: Mapping[str, str]
) -> dict[str, Any]:
    """Return the fields `rai:` and `prov:` of a Croissant file; None if nothing is known."""
    campaign = collection.campaign
    times = [] if campaign is None else [campaign.opened_at, campaign.closed_at]
    texts = {
        term: " ".join(said[topic] for topic in topics if topic in said) or None
        for term, topics in TERMS.items()
    }
    terms = {
        **texts,
        "dataCollectionType": COLLECTED_BY,
        "dataCollectionMissingData": _missing(collection),
        "dataCollectionRawData": RAW_VOTES,
        "dataCollectionTimeFrame": [time[:10] for time in times if time] or None,
        "dataImputationProtocol": NOT_IMPUTED,
        "machineAnnotationTools": [f"{tool.name}: {tool.task}" for tool in machine_tools(params)],
        "hasSyntheticData": params.rewrite.backend == "openai" or collection.rehearsal,
    }
    return {
        **{f"rai:{term}": value for term, value in terms.items()},
        "prov:wasDerivedFrom": said["Corpus"],
        "prov:wasGeneratedBy": [said[topic] for topic in ("Captions and queries", "Annotators")],
    }


def _platform(collection: Collection, params: Params) -> str:
    campaign = collection.campaign
    version = f", version {campaign.guideline}" if campaign else ""
    return (
        f"Label Studio, on the campaign's own server. Annotators saw a query, the clip of a moment"
        f" and the guideline ({params.annotation.guideline}{version}), but never the caption, the"
        " similarity or other people's votes."
    )


def _judgments(collection: Collection) -> str | None:
    counts = collection.counts
    number = counts["votes"] + counts["votes_without_level"]
    if not counts["pairs"]:
        return None
    return (
        f"Two, or four if the first two differ by more than one level; {number:,} votes on"
        f" {counts['pairs']:,} pairs, {number / counts['pairs']:.2f} per pair."
    )


def _second_looks(collection: Collection) -> str | None:
    again = collection.pairs[collection.pairs["second_look"]]
    if again.empty:
        return None
    reported, corrected = (collection.counts[f"pairs_reported{name}"] for name in ("", "_changed"))
    by_readers = (
        f" Readers had reported {reported:,} of them as wrong: {corrected:,} of these changed,"
        f" {reported - corrected:,} were confirmed. Reported pairs are no random sample: that share"
        " says nothing of the other levels. `reported` marks them."
    )
    return (
        f"{len(again):,} pairs whose votes had given a level were decided again by the lead or an"
        f" expert, who saw neither votes nor any machine's level;"
        f" {collection.changed.sum():,} levels changed."
        " A machine's levels may have chosen some of the pairs, with as many at random as controls."
        " `second_look` in `consensus.csv` marks them; `voted_level` is the level before."
        f"{by_readers if reported else ''}"
    )


def _limits(collection: Collection) -> str:
    least = "" if collection.complete else " This version is incomplete."
    return (
        "A level is people's judgment of how well one clip matches a query; it says nothing about"
        " moments that nobody was shown. The boundaries of the moments come from the corpus."
        f" {_missing(collection)}{least}"
        f" {collection.frozen['moment_id'].count():,} of {len(collection.frozen):,} queries were"
        " written from moments of this corpus; these are not a sample of what people search for."
    )


def _missing(collection: Collection) -> str:
    counts = collection.counts
    without = counts["pairs"] - counts["pairs_with_level"]
    return (
        f"{without:,} of {counts['pairs']:,} pairs have no level ({counts['pairs_discarded']:,}"
        f" discarded for disagreement or too few votes, {counts['pairs_unjudgeable']:,}"
        f" unjudgeable, {counts['pairs_waiting']:,} waiting);"
        f" {counts['queries_without_level']:,} of {counts['queries']:,} queries are not released"
        " because none of their moments has a level."
    )


def _list(tools: list[Tool]) -> str:
    text = "; ".join(f"{tool.name} {tool.task}" for tool in tools)
    return text[:1].upper() + text[1:]


def _join(*texts: str | None) -> str:
    return " ".join(text.strip() for text in texts if text)
