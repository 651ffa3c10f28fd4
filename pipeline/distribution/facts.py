"""How the collection was made: the facts for the card, the manifest and the Croissant file.

Everything comes from params.yaml and from what people judged, so that a clone without the corpus
gives the same facts.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.campaign import guideline, negatives
from pipeline.campaign.campaign import Campaign
from pipeline.campaign.collection import Collection, ReleaseError
from pipeline.campaign.leave_one_out import MEASURE, LeftOut, Pool, leave_one_out
from pipeline.campaign.pool_steps import CANDIDATES
from pipeline.campaign.yields import RELEVANT_FROM
from pipeline.core import files, tables
from pipeline.core.captions import min_similarity
from pipeline.core.params import Params
from pipeline.core.people_sections import Annotation
from pipeline.distribution.responsibility import describe_responsibility, encoder_name
from pipeline.language import detection
from pipeline.pages import strata_section
from pipeline.pages.scores import SPLITS

MOST = 0.5
UNNAMED = "Unnamed collection"
ASKED_FOR = ("name", "license", "citation", "url", "creators", "corpus")
ONLY_YOU_KNOW = (
    "only you know the collection's name and license, how to cite it, where it and its videos are,"
    " who judged, and whom it concerns"
)
CORPORA = {
    "tvr": "TVR (Lei et al., 2020); its videos: https://tvr.cs.unc.edu",
    "charades-sta": "Charades-STA (Gao et al., 2017); the videos are those of Charades:"
    " https://prior.allenai.org/projects/charades",
    "activitynet-captions": "ActivityNet Captions (Krishna et al., 2017); the videos are those of"
    " ActivityNet: http://activity-net.org",
    "qvhighlights": "QVHighlights (Lei et al., 2021); its videos:"
    " https://github.com/jayleicn/moment_detr",
    "didemo": "DiDeMo (Hendricks et al., 2017); its videos:"
    " https://github.com/LisaAnne/LocalizingMoments",
}
"""The corpora that their format identifies; a table may be of any corpus."""
NO_CAPTIONS = (
    "A system under evaluation may use the queries and the videos. It must not use the captions:"
    " neither `caption` in the JSON files nor `text` in `captions/`. Captions selected the moments"
    " to judge. Nor may it use the similarities in `val.json` and `test.json`, `pairs.csv` and"
    " `top_ranked/`, which list what was judged, or levels, people's or a machine's. Moments that"
    " have no training query, or an empty caption in a training set, include those that the"
    " queries of the other splits were made from: no system may use that, or their similarities"
    " to training queries, to find them."
)


class Facts(NamedTuple):
    """Statements about the collection, a sentence or two by topic; and what is still missing.

    `language` is the queries', an ISO 639 code; `agreement` are the figures of the stage
    `consensus`; `missing` are the unset keys of params.yaml. `pool` shows how much depends on each
    pooled run; None before anything is judged. `negatives` is what is known of queries without an
    answer (`campaign.negatives.describe`).
    """

    name: str
    language: str
    said: dict[str, str]
    agreement: Mapping[str, Any]
    missing: list[str]
    pool: Pool | None
    negatives: Mapping[str, Any]


def collect_facts(collection: Collection, params: Params, agreement: Mapping[str, Any]) -> Facts:
    """Collect the facts about the collection.

    Raises:
        ReleaseError: a closed campaign would be released without its name, terms or source, or
            `release.language` is not the queries' language.
    """
    corpus, missing = name_corpus(params), find_missing(params)
    if missing and collection.status == "closed" and not collection.rehearsal:
        raise ReleaseError(
            f"params.yaml: {', '.join(missing)}: not set, but required to release a closed"
            f" campaign: {ONLY_YOU_KNOW}"
        )
    name, pool = params.release.name or UNNAMED, leave_one_out(collection)
    negative = negatives.describe(collection, params.candidates.batch)
    kinds = {
        "Strata": strata_section.strata_text(collection),
        "Queries without an answer": strata_section.negatives_text(negative),
    }
    said = {
        "Corpus": f"The moments come from {corpus or 'a corpus that is not named yet'}. The"
        " videos are not part of this collection.",
        "Captions and queries": _captions(params),
        "Encoder": f"{_encoder(params)} selected the moments to judge, by the similarity of query"
        " and caption.",
        "Annotators": f"{collection.votes['worker'].nunique():,} people judged: two judged each"
        " pair, or four if the first two differed by more than one level.",
        "Agreement": _agreement(agreement),
        "Each query's own moment": _own_moments(collection),
        **{topic: text for topic, text in kinds.items() if text},
        "Known bias": f"{_bias(params)} {_describe_pool(pool)}".strip(),
        "What systems may read": NO_CAPTIONS,
        **describe_responsibility(collection, params),
    }
    shown = f"{name} (rehearsal)" if collection.rehearsal else name
    language = choose_language(collection.frozen["query"], params)
    return Facts(shown, language, said, agreement, missing, pool, negative)


def find_missing(params: Params) -> list[str]:
    """Return the unset keys of params.yaml that a release needs, and only the lead can fill in."""
    settings = {**params.release.model_dump(), "corpus": name_corpus(params)}
    words = {f"rai.{key}": text for key, text in settings["rai"].items()}
    asked = {key: settings[key] for key in ASKED_FOR} | words
    return [f"release.{key}" for key, value in asked.items() if value is None]


def choose_language(queries: Iterable[str], params: Params) -> str:
    """Return the queries' language: `release.language`, or the detected one.

    Raises:
        ReleaseError: most queries are certainly in a language other than `release.language`.
    """
    said = params.release.language
    seen = detection.determine_language(queries, params.ingest.language)
    if said is None:
        return seen.code
    if detection.is_code(said) and seen.is_outside([said], MOST):
        raise ReleaseError(
            f"params.yaml: release.language is {said}, but the queries are {seen}: correct it, or"
            " set it to null; if the detection is wrong, set ingest.language"
        )
    return said


def meanings(
    campaign: Campaign | None, settings: Annotation, folder: Path = guideline.FOLDER
) -> dict[str, Any]:
    """Return `guideline` (its version) and `levels`: name and meaning by number, as text.

    Raises:
        GuidelineError: the guideline is missing, or its head is wrong.
        ReleaseError: people judged by another version.
    """
    path = guideline.locate_guideline(settings, folder)
    with files.open_source(path) as stream:
        text = stream.read().decode("utf-8", errors="replace")
    head = guideline.split_guideline(text, path).head
    if campaign is not None and campaign.guideline != head.version:
        raise ReleaseError(
            f"{path}: is version {head.version}, but people judged by {campaign.guideline}, whose"
            " level meanings must be released: restore that version of the file from git"
        )
    levels = {str(number): level.model_dump() for number, level in sorted(head.levels.items())}
    return {"guideline": head.version, "levels": levels}


def name_corpus(params: Params) -> str | None:
    """Return the corpus's name: `release.corpus`, or what the format of its file identifies."""
    if params.release.corpus:
        return params.release.corpus
    if params.ingest.source.startswith(f"{tables.WORK}/sample/"):
        return "the sample corpus of MomentRank, a sitcom that the stage `sample` draws"
    return CORPORA.get(params.ingest.corpus)


def _captions(params: Params) -> str:
    rewrite = params.rewrite
    if rewrite.backend == "none":
        return "The corpus's own descriptions, unchanged."
    writer = {
        "openai": f"The language model {rewrite.openai.model} wrote them with the prompt"
        f" {rewrite.prompt}",
        "rules": "MomentRank's rules wrote them, without a language model",
    }[rewrite.backend]
    masked = " (people masked in both)" if rewrite.similarity == "masked" else ""
    least = rewrite.min_detail
    details = "" if least is None else f" keep at least {least:g} of its details,"
    return (
        f"{writer}, from the corpus's descriptions, so that no character is named. Each was"
        f" checked: it must have a similarity of at least {min_similarity(params):g} to its"
        f" description{masked},{details} and contain no person's name with a score above"
        f" {rewrite.max_name_score:g}. Captions that failed were rewritten up to {rewrite.rounds}"
        " times; those that still failed were corrected by a person or left out."
    )


def _encoder(params: Params) -> str:
    embed = params.embed
    revision = f", revision {embed.revision}" if embed.revision else ""
    return f"The sentence encoder {encoder_name(params)} ({embed.pooling} pooling{revision})"


def _agreement(agreement: Mapping[str, Any]) -> str:
    if agreement["alpha"] is None or agreement["kappa"] is None:
        return "Not defined yet: too few pairs were judged twice."
    quadratic = agreement["kappa_quadratic"]
    weighted = "not defined" if quadratic is None else f"{quadratic:.3f}"
    return (
        f"On the first two votes of {agreement['pairs']:,} pairs: Krippendorff's ordinal alpha"
        f" {agreement['alpha']:.3f}, Cohen's kappa {agreement['kappa']:.3f} ({weighted} with"
        f" quadratic weights), {agreement['within_1']:.1%} at most one level apart."
        f"{_describe_strata(agreement.get('by_stratum', {}))}"
        f"{''.join(map(_describe_drift, agreement.get('link', ())))}"
    )


def _describe_drift(drift: Mapping[str, Any]) -> str:
    """Return how far the votes after a reopening lie from those before, or that it is unknown."""
    version = drift["version"]
    if drift["low"] is None:
        return f" How far votes since version {version} lie from earlier ones is not known."
    return (
        f" Since version {version}, {drift['people']:,} new people judged {drift['pairs']:,}"
        f" decided pairs again, {drift['drift']:+.2f} levels from the earlier votes (95% interval"
        f" {drift['low']:+.2f} to {drift['high']:+.2f}); these judgments change no level."
    )


def _describe_strata(by_stratum: Mapping[str, Any]) -> str:
    """Return the ordinal alpha of each stratum; "" if there is only one."""
    known = ((name, own) for name, own in by_stratum.items() if own["alpha"] is not None)
    alphas = [f"{name} {own['alpha']:.3f} ({own['pairs']:,} pairs)" for name, own in known]
    return f" Alpha by stratum: {', '.join(alphas)}." if alphas else ""


def _own_moments(collection: Collection) -> str:
    number, total = collection.frozen["moment_id"].count(), len(collection.frozen)
    if not number:
        return "No query was made from a moment."
    which = "Each query is" if number == total else f"{number:,} of {total:,} queries are"
    return (
        f"{which} the caption of a moment. That moment is in the pool, with the query as its"
        " caption, and people judged it like any other candidate. Its level counts in every score."
        " The report shows it among the candidates: at rank 1, as the encoder finds it first, and"
        " at a similarity of 1.0, a step that has only such moments and those with equal captions."
        " Neither its id nor the order of any file shows which moment it is; captions and"
        " similarities do."
    )


_HOW = {
    "similarity": "up to {top} if the first ones were relevant",
    "learned": "up to {top} by what the levels of the first ones let expect (`learned` in"
    " `consensus.csv`)",
}


def _bias(params: Params) -> str:
    candidates = params.candidates
    return (
        "Only the moments whose captions are most similar to the query were judged:"
        f" {candidates.batch} per query, {_HOW[candidates.further].format(top=candidates.top)}."
        " Relevant moments beyond these have no level and count as irrelevant, so systems that rank"
        " like this encoder are favoured. If there was an audit (see `consensus.csv`), its pairs"
        " show how much was missed."
    )


def _describe_pool(pool: Pool | None) -> str:
    """Return how much depends on each pooled run, in numbers."""
    if pool is None:
        return ""
    runs = " ".join(_describe_run(run, pool) for run in pool.runs)
    single = " No other run was pooled to find what it left out." if len(pool.runs) == 1 else ""
    return (
        "Leave one out (Zobel, 1998; Buckley et al., 2007), on"
        f" {pool.queries:,} {SPLITS[pool.split]} queries with"
        f" {pool.relevant:,} moments of level {RELEVANT_FROM} or higher: {runs}{single}"
    )


def _describe_run(run: LeftOut, pool: Pool) -> str:
    name = "the candidates (similarity of captions)" if run.run == CANDIDATES else f"`{run.run}`"
    alone = f"{name} alone found {run.alone:,} ({run.alone / max(pool.relevant, 1):.1%})"
    if run.score is None or run.score_without is None:
        return f"{alone}; its results are not recorded."
    order = (
        ""
        if run.tau is None
        else f", and Kendall's tau with the order of all runs is {run.tau:.2f}"
    )
    return (
        f"{alone}; if these had not been judged, its {MEASURE} would be {run.score_without:.3f}"
        f" instead of {run.score:.3f}{order}."
    )
