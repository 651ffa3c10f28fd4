"""Make some captions vaguer, or change one thing in them: further queries for people to judge.

reads   datasets/work/captions.parquet, moments.parquet, the prompt
writes  datasets/work/variants.parquet

vary.vague captions lose details, vary.gist keep the gist only, and in vary.changed one thing is
another. Captions of ingest.query_modalities are tried in the order of SHA-256(seed, moment_id)
until as many variants as wanted pass the checks; all that is tried is kept, with its fault. With 0,
nothing is done, as in the paper. That nothing answers a changed query is for judges to find.

    python -m pipeline.vary --estimate    (openai: requests, tokens and cost; sends nothing)
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from pipeline.captions.checks import load_encoder, similarities
from pipeline.captions.rewriter import Moment
from pipeline.captions.variants import vary_prompt
from pipeline.captions.variants.choosing import (
    STRATA,
    TRIES,
    count_outcomes,
    order_captions,
    vary,
)
from pipeline.captions.variants.rules_varier import RulesVarier
from pipeline.captions.variants.variant_checks import Checks, normalize
from pipeline.core import captions, cli, tables
from pipeline.core.params import Params, load
from pipeline.language import detection, support
from pipeline.language.detection import Language

if TYPE_CHECKING:
    from pipeline.captions.llm_rewriter import LlmRewriter

STAGE = "vary"


def make_llms(params: Params, language: Language) -> dict[str, "LlmRewriter"]:
    """Return the model of each stratum that is wanted; none with other backends."""
    if params.vary.backend != "openai":
        return {}
    from pipeline.captions.llm_rewriter import LlmRewriter  # noqa: PLC0415  (its SDK takes a second)

    prompt = vary_prompt.load(Path(params.vary.prompt))
    return {
        stratum: LlmRewriter(
            params.rewrite.openai,
            prompt.for_stratum(stratum).in_language(language.name_for_prompt),
        )
        for stratum in _list_wanted(params)
    }


def _list_wanted(params: Params) -> list[str]:
    return [stratum for stratum in STRATA if getattr(params.vary, stratum)]


def read_ordered(params: Params) -> list[Moment]:
    """Return the captions that may be varied, in the order in which they are tried."""
    pool = captions.read_pool(params.ingest.query_modalities, params.engine.table_memory)
    return order_captions(pool, params.vary.seed)


def determine_language(params: Params, ordered: Iterable[Moment]) -> Language:
    """Return the language of the captions.

    Raises:
        LanguageError: it is not English, and `vary.backend` knows no other.
    """
    texts = [moment.description for moment in ordered]
    spoken = detection.determine_language(texts, params.ingest.language)
    support.refuse(spoken, [support.VARY] if params.vary.backend == "rules" else [])
    return spoken


def make_variants(params: Params) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the variants that are wanted, with all that was tried, and what each model cost."""
    ordered = read_ordered(params)
    spoken = determine_language(params, ordered)
    llms = make_llms(params, spoken)
    for llm in llms.values():
        llm.check_ready(ordered[:1])
    known = {normalize(text) for some in tables.CAPTIONS.read_batches() for text in some["caption"]}
    checks = Checks(params.vary, known, spoken.is_english)
    rules = {stratum: RulesVarier(stratum, checks) for stratum in _list_wanted(params)}
    encoder = load_encoder(params)
    made = vary(ordered, llms or rules, checks, lambda a, b: similarities(a, b, encoder))
    return made, {stratum: llm.spent.metrics() for stratum, llm in llms.items()}


def main() -> None:
    """Write the variants; say where fewer than wanted pass."""
    params = load()
    variants, costs = tables.VARIANTS.empty(), dict[str, Any]()
    if _list_wanted(params):
        variants, costs = make_variants(params)
    tables.VARIANTS.write(variants)
    counts = count_outcomes(variants, params.vary)
    for stratum, found in counts.items():
        if found["passed"] < found["wanted"]:
            cli.log(
                f"vary: {stratum}: {found['passed']} of {found['wanted']} pass, of"
                f" {found['tried']} captions tried: see `note` in {tables.VARIANTS.path}"
            )
    spent = {"llm": costs} if costs else {}
    cli.write_metrics(STAGE, {"backend": params.vary.backend, **counts, **spent})


def estimate() -> None:
    """Print what the variants would cost if all passed, and at most; send nothing."""
    params = load()
    ordered = read_ordered(params)
    llms = make_llms(params, determine_language(params, ordered))
    if not llms:
        cli.log(f"vary.backend is {params.vary.backend}, or nothing is wanted: it costs nothing")
    for stratum, llm in llms.items():
        wanted = getattr(params.vary, stratum)
        plan, most = llm.estimate(ordered[:wanted]), llm.estimate(ordered[: TRIES * wanted])
        sys.stdout.write(
            f"{stratum:8}{plan.requests:>8,} requests {plan.cost:>9.2f} USD if all pass;"
            f" {most.most_cost:.2f} USD at most\n"
        )


if __name__ == "__main__":
    cli.run_command(estimate if cli.wants_estimate() else main)
