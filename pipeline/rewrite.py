"""Turn descriptions into captions: imprecise sentences without character names.

reads   datasets/work/moments.parquet, tagger/, the prompt,
        datasets/campaign/review.csv, cast.csv
writes  datasets/work/captions.parquet, rewrite_review.csv, replacements.csv, names_found.csv

As in the paper's section 3.1, rewrite.backend writes captions, checks test them (similarity to the
description, names of people; also details), and failing ones are rewritten up to rewrite.rounds
times. Repaired captions are used, and listed in rewrite_review.csv for a person to look at. A
caption that still fails is not used until review.csv contains a decision about it. A possible name
without evidence stays, and is listed there too. Work is divided into engine.shards: in whole
batches for tagger and encoder, by the hash of the text for other work. Sharding does not change a
byte of the tables.

    python -m pipeline.rewrite --estimate    (openai: requests, tokens and cost; sends nothing)
"""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from pipeline.captions import habits, names_found, review
from pipeline.captions.checks import (
    check,
    check_form,
    excuse_style,
    load_encoder,
    load_finder,
    read_limits,
)
from pipeline.captions.details import Pair
from pipeline.captions.repair import DIGITS, FAILED, Check, RepairResult, rewrite_and_repair
from pipeline.captions.replacements import extract
from pipeline.captions.rewrite_prompt import load as load_prompt
from pipeline.captions.rewriter import IdentityRewriter, Moment, Rewriter
from pipeline.captions.rules.gender import read_cast
from pipeline.captions.rules.rules_rewriter import Finder, RulesRewriter
from pipeline.core import cli, csv_files, tables
from pipeline.core.captions import select_in_use
from pipeline.core.engine import session
from pipeline.core.engine.shards import clear_parts
from pipeline.core.engine.text_rows import IN_PROCESS, RowMap
from pipeline.core.params import Params, load
from pipeline.language import detection, support
from pipeline.names.evidence.cast import Cast
from pipeline.names.finder import Doubt

if TYPE_CHECKING:
    from pipeline.captions.llm_rewriter import LlmRewriter

STAGE = "rewrite"
REVIEW_LIST = tables.WORK / "rewrite_review.csv"
REPLACEMENTS = tables.WORK / "replacements.csv"
NAMES_FOUND = tables.WORK / "names_found.csv"


class RewriteRun(NamedTuple):
    """The captions, an LLM's cost, and how to find names and doubts (by default, none are)."""

    result: RepairResult
    spent: dict[str, Any]
    find: Finder = lambda texts: [[] for _ in texts]
    doubts: Callable[[Sequence[str]], list[list[Doubt]]] = lambda texts: [[] for _ in texts]
    map_rows: RowMap = IN_PROCESS


def distinct_moments(moments: pd.DataFrame) -> list[Moment]:
    """Return every distinct description, under the id of the first moment that has it."""
    first = moments.drop_duplicates("description")
    return [Moment(*row) for row in first[["moment_id", "description"]].to_numpy()]


def rewrite(moments: pd.DataFrame, rewriter: Rewriter, look: Check, repairs: int) -> RepairResult:
    """Return one checked caption per moment; a text that occurs twice is rewritten once."""
    distinct = distinct_moments(moments)
    done = rewrite_and_repair(distinct, rewriter, look, repairs)
    id_by_text = {moment.description: moment.moment_id for moment in distinct}
    by_text = [id_by_text[description] for description in moments["description"]]
    captions = done.captions.set_index("moment_id").loc[by_text].reset_index(drop=True)
    captions.insert(0, "moment_id", moments["moment_id"].to_numpy())
    captions = captions.assign(source=rewriter.source, model=rewriter.model, prompt=rewriter.prompt)
    ids = pd.DataFrame({"own": list(moments["moment_id"]), "moment_id": by_text}, dtype=object)
    failed = ids.merge(done.failed, on="moment_id")[["own", *FAILED[1:]]]
    return RepairResult(captions, failed.rename(columns={"own": "moment_id"}), done.rounds)


def count_replacements(captions: pd.DataFrame, moments: pd.DataFrame) -> pd.DataFrame:
    """Return the words that replace names in captions in use: `word, gender, count` (Table 3)."""
    joined = select_in_use(captions).merge(moments[["moment_id", "description"]], on="moment_id")
    changed = joined[joined["caption"] != joined["description"]]
    pairs = zip(changed["description"], changed["caption"], strict=True)
    counts = Counter((found.word, found.gender) for pair in pairs for found in extract(*pair))
    rows = [(word, gender, count) for (word, gender), count in counts.items()]
    table = pd.DataFrame(rows, columns=["word", "gender", "count"])
    return table.sort_values(["count", "word"], ascending=[False, True], ignore_index=True)


def make_llm(params: Params, language: str = "English") -> "LlmRewriter | None":
    """Return the LLM of `rewrite.backend`, if it is one; its prompt names the `language`."""
    if params.rewrite.backend != "openai":
        return None
    from pipeline.captions.llm_rewriter import LlmRewriter  # noqa: PLC0415  (its SDK takes a second)

    prompt = load_prompt(Path(params.rewrite.prompt)).in_language(language)
    return LlmRewriter(params.rewrite.openai, prompt)


def rewrite_by_params(params: Params, moments: pd.DataFrame, people: pd.DataFrame) -> RewriteRun:
    """Rewrite as params.yaml sets; `people` is the table `CAST`."""
    if params.rewrite.backend == "none":
        return RewriteRun(rewrite(moments, IdentityRewriter(), check_form, repairs=0), {})
    limits, corpus = read_limits(params), list(moments["description"])
    spoken = detection.determine_language(corpus, params.ingest.language)
    limits = limits._replace(english=spoken.is_english)
    support.refuse(spoken, support.find_english_only(params))
    llm = make_llm(params, spoken.name_for_prompt)
    if llm:
        llm.check_ready(distinct_moments(moments))  # before minutes of tagging
    cast = Cast.from_table(people)
    rows = RowMap(STAGE, params.engine) if params.engine.shards > 1 else IN_PROCESS
    encoder = load_encoder(params, STAGE)
    finder = load_finder(params, corpus, cast, STAGE, map_rows=rows)
    genders = read_cast(people)
    rewriter = llm or RulesRewriter.for_corpus(corpus, finder.find, genders, cast, rows)
    find = rewriter.find_names if isinstance(rewriter, RulesRewriter) else finder.find
    look = partial(
        check, finder=finder, encoder=encoder, limits=limits, find_described=find, map_rows=rows
    )
    done = rewrite(moments, rewriter, excuse_style(look), params.rewrite.rounds)
    return RewriteRun(done, llm.spent.metrics() if llm else {}, find, finder.doubts, rows)


def list_names(run: RewriteRun, captions: pd.DataFrame, moments: pd.DataFrame) -> pd.DataFrame:
    """Return the names found in the descriptions, and what replaces each."""
    texts = list(moments["description"])
    names = run.find(texts)
    return names_found.table(zip(texts, captions["caption"], names, strict=True))


def list_doubts(run: RewriteRun, captions: pd.DataFrame) -> pd.DataFrame:
    """Return the captions, as rewritten, with what may be a name: `review.DOUBTS`."""
    undecided = captions[captions["status"].isin(["passed", "repaired", "failed"])]
    doubts = run.doubts(list(undecided["caption"]))
    return names_found.list_doubts(list(undecided["moment_id"]), doubts)


def find_habits(run: RewriteRun, moments: pd.DataFrame) -> list[habits.Habit]:
    """Return what many captions begin or end with; each distinct description counts once."""
    texts = moments["description"].reset_index(drop=True).drop_duplicates()
    captions = run.result.captions.loc[texts.index, ["moment_id", "caption"]]
    joined = zip(texts, run.find(list(texts)), captions["caption"], strict=True)
    pairs = [Pair(text, names, caption, ()) for text, names, caption in joined]
    return habits.find_habits(captions["moment_id"], run.map_rows(habits.list_ends, None, pairs))


def collect_metrics(
    result: RepairResult, captions: pd.DataFrame, replaced: pd.DataFrame, backend: str
) -> dict[str, Any]:
    """Return the stage's metrics; words are counted in the captions in use, one per moment."""
    count, used = int(replaced["count"].sum()), len(select_in_use(captions))
    return {
        "backend": backend,
        "moments": len(captions),
        "moments_in_use": used,
        "moments_by_status": dict(sorted(Counter(captions["status"]).items())),
        "rounds": {str(counts["round"]): counts for counts in result.rounds},
        "words_replaced": count,
        "words_replaced_per_moment": round(count / max(1, used), DIGITS),
    }


def run_stage() -> None:
    """Rewrite, check, repair; apply decisions; list what people should look at."""
    params, moments = load(), tables.MOMENTS.read()
    decisions = review.read(moments["moment_id"])  # before anything is tagged or paid for
    run = rewrite_by_params(params, moments, tables.CAST.read())
    captions = review.decide(run.result.captions, decisions)[tables.CAPTIONS.columns]
    for line in review.list_outdated_lines(run.result.captions, decisions):
        location = f"{tables.REVIEW.path}, line {line}"
        cli.log(f"{location}: the caption has changed since it was kept; decide again")
    replaced = count_replacements(captions, moments)
    tables.CAPTIONS.write(captions)
    doubts = list_doubts(run, captions)
    shared = find_habits(run, moments)
    passed = captions.loc[captions["status"] == "passed", "moment_id"]
    examples = habits.list_examples(shared, set(passed).difference(doubts["moment_id"]))
    worth_a_look = pd.concat([doubts, examples])
    listed = review.list_for_review(captions, moments, run.result.failed, worth_a_look)
    csv_files.write_csv(REVIEW_LIST, listed)
    csv_files.write_csv(REPLACEMENTS, replaced)
    csv_files.write_csv(NAMES_FOUND, list_names(run, captions, moments))
    metrics = collect_metrics(run.result, captions, replaced, params.rewrite.backend)
    metrics["moments_with_weak_names"] = len(doubts)
    metrics["habits"] = [habit.as_metrics() for habit in shared]
    for habit in shared:
        cli.log(f"rewrite: {habit}, and their descriptions do not; change the prompt")
    cli.write_metrics("rewrite", metrics | ({"llm": run.spent} if run.spent else {}))
    clear_parts(STAGE, params.engine)


def main() -> None:
    """Rewrite, with processes that load their models once for all rounds."""
    with session.keep_open():
        run_stage()


def estimate() -> None:
    """Print what the first round would need and cost; send nothing."""
    from pipeline.llm.dispatcher import FIRST_ANSWERS  # noqa: PLC0415  (its SDK takes a second)

    params, moments = load(), tables.MOMENTS.read()
    spoken = detection.determine_language(moments["description"], params.ingest.language)
    llm = make_llm(params, spoken.name_for_prompt)
    if llm is None:
        cli.log(f"rewrite.backend is {params.rewrite.backend}: it costs nothing")
        return
    plan = llm.estimate(distinct_moments(moments), params.rewrite.rounds)
    sys.stdout.write(
        f"{plan.descriptions:>12,}  distinct descriptions, {plan.stored:,} of them paid for\n"
        f"{plan.requests:>12,}  requests\n{plan.tokens_in:>12,}  tokens in\n"
        f"{plan.tokens_out:>12,}  tokens out\n{plan.cost:>12.2f}  USD, before repairs\n"
        f"{plan.most_cost:>12.2f}  USD in the worst case: {plan.most_requests:,} requests, no"
        f" caption passes\nA run whose first {FIRST_ANSWERS} answers are all unusable stops.\n"
    )


if __name__ == "__main__":
    cli.run_command(estimate if cli.wants_estimate() else main)
