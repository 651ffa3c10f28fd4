"""Let a machine judge the pairs that people judge; its levels stay separate from theirs.

reads   datasets/work/{neighbours,queries,captions,moments}.parquet, clips.csv, clips/;
        datasets/campaign/{pool,audit,topup,queries,pairs}.csv, campaign.yaml;
        for `openai` the prompt and annotation/guideline/;
        for `similarity` datasets/work/consensus.parquet
writes  datasets/work/machine_judgments.parquet; for the frozen queries, once there are levels,
        datasets/release/machine_judgments.csv, qrels/{val,test}.machine.qrels,
        qrels/{val,test}.machine.moments.qrels, machine_card.txt, machine_manifest.json

A machine's level never becomes a level of the collection: `consensus` and `release`, which writes
people's qrels, never read this table. judge.backend sets the judge:

similarity   query and caption alone, no network: their similarity, mapped to levels by people's
             judgments of validation queries; a query's own levels are never used. It has no levels
             until people have judged. It is the control: a model that is no better has not looked
             at the video
openai       a vision-language model on any compatible server; it sees the annotators' clip and
             guideline (OPENAI_API_KEY and OPENAI_BASE_URL are environment variables)
none         no machine: the table has no rows

The machine judges the candidates, the pairs of audit and top-up, and judge.pool_top more moments
of each query that people never judge. A failure is never a level: such a row has a reason instead.
A pair is not judged again unless its query, clip, prompt or model changes.

    python -m pipeline.judge --estimate    (openai: judges 20 pairs, prints the cost of all)
"""

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import cli, files, tables
from pipeline.core.params import Params, load
from pipeline.judges.base import Answer, Judge
from pipeline.judges.judged_pairs import (
    join_shown,
    list_pairs,
    read_tables,
    select_levels_of_people,
    select_pairs,
)
from pipeline.judges.released import Released, build_machine_files
from pipeline.judges.similarity_judge import SimilarityJudge

if TYPE_CHECKING:
    from pipeline.judges.vision import VisionJudge

KEY = list(tables.MACHINE_JUDGMENTS.key)
ASK_AGAIN = "dvc repro --force --single-item judge"
"""Forced, because DVC sees no change after a server failed."""


class JudgeError(MomentRankError):
    """A judge did not answer on a pair, or answered on another one."""


def judge(shown: pd.DataFrame, judging: Judge) -> pd.DataFrame:
    """Return the judgments of the pairs `shown` (`judges.pairs.join_shown`), by `KEY`.

    Raises:
        JudgeError: there is no answer for a pair, or one for a pair that is not among these.
        TableError: an answer has neither level nor reason, or both, or an impossible one.
    """
    answers = pd.DataFrame(list(judging.judge(list_pairs(shown))), columns=Answer._fields)
    _check_answered(shown, answers, judging.model)
    rows = answers.astype({"level": "Int64"}).merge(
        shown[[*PAIR_KEY, "query_sha", "clip_sha"]], on=PAIR_KEY
    )
    rows = rows.assign(model=judging.model, prompt=judging.prompt, guideline=judging.guideline)
    ordered = rows[tables.MACHINE_JUDGMENTS.columns].sort_values(KEY, ignore_index=True)
    return tables.MACHINE_JUDGMENTS.check(ordered)


def _check_answered(shown: pd.DataFrame, answers: pd.DataFrame, model: str) -> None:
    asked, answered = (
        {*frame[PAIR_KEY].itertuples(index=False, name=None)} for frame in (shown, answers)
    )
    for pair in sorted(asked - answered)[:1]:
        raise JudgeError(f"{model} gave neither a level nor a reason for {' '.join(pair)}")
    for pair in sorted(answered - asked)[:1]:
        raise JudgeError(f"{model} answered on {' '.join(pair)}, which it was not asked about")


def make_judge(params: Params, shown: pd.DataFrame) -> Judge | None:
    """Return the judge of `judge.backend`; None if no machine judges."""
    if params.judge.backend == "none":
        return None
    if params.judge.backend == "openai":
        return make_vision_judge(params)
    consensus, ledger = tables.CONSENSUS.read(), tables.PAIRS.read()
    return SimilarityJudge(select_levels_of_people(consensus, ledger, shown))


def make_vision_judge(params: Params) -> "VisionJudge":
    """Return the model that looks at clips; errors as in `judges.vision`."""
    # Imported here: the SDK of its server takes a second.
    from pipeline.judges import vision  # noqa: PLC0415  (the others need none of it)

    return vision.make_vision_judge(params)


def write_release(table: pd.DataFrame, moments: pd.DataFrame, params: Params) -> None:
    """Write the released part of the judgments next to the files of the stage `release`."""
    queries, ledger = tables.FROZEN_QUERIES.read(), tables.PAIRS.read()
    source = Released(load_campaign(), queries, moments, ledger)
    for path, file in build_machine_files(table, source, params.judge).items():
        with files.unfinished(tables.RELEASE / path, "wb") as stream:
            stream.write(file.data)


def collect_metrics(table: pd.DataFrame, backend: str, without_clip: int) -> dict[str, Any]:
    """Return the stage's metrics: what was judged, and why something has no level."""
    levels = table["level"].dropna().astype(int)
    return {
        "backend": backend,
        "pairs": len(table[PAIR_KEY].drop_duplicates()),
        "pairs_without_clip": without_clip,
        "judgments": len(table),
        "with_level": len(levels),
        "levels": {str(level): int((levels == level).sum()) for level in tables.LEVELS},
        "without_level": dict(sorted(Counter(table["reason"].dropna()).items())),
    }


def remark(counts: dict[str, Any]) -> str:
    """Return how many judgments have a level, and why the others have none."""
    if counts["backend"] == "none":
        return "judge: judge.backend is none: no machine judges"
    start = f"judge: {counts['with_level']:,} of {counts['judgments']:,} judgments have a level"
    if "no-judgments" in counts["without_level"]:
        start += "; similarity learns from people, and they have judged too few validation queries"
    failed = [(n, why) for why, n in counts["without_level"].items() if why != "no-judgments"]
    text = start + "".join(f"; {number:,} {why}" for number, why in failed)
    if "failed" in counts["without_level"]:
        text += f"; to retry what failed: {ASK_AGAIN}"
    return text


def main() -> None:
    """Judge, and report how many judgments have a level."""
    params = load()
    source = read_tables(params)
    pairs = select_pairs(source)
    shown = join_shown(pairs, source)
    judging = make_judge(params, shown)
    table = tables.MACHINE_JUDGMENTS.empty() if judging is None else judge(shown, judging)
    tables.MACHINE_JUDGMENTS.write(table)
    write_release(table, source.moments, params)
    metrics = collect_metrics(table, params.judge.backend, len(pairs) - len(shown))
    took = {} if judging is None else dict(judging.metrics())
    cli.write_metrics("judge", metrics | ({"judge": took} if took else {}))
    cli.log(remark(metrics))


def estimate() -> None:
    """Judge a few pairs, and print the tokens, cost and hours of all of them."""
    params = load()
    source = read_tables(params)
    if params.judge.backend != "openai":
        cli.log(f"judge.backend is {params.judge.backend}: it costs nothing")
        return
    shown = join_shown(select_pairs(source), source)
    plan = make_vision_judge(params).estimate(list_pairs(shown))
    sys.stdout.write(
        f"{plan.pairs:>15,}  distinct pairs, each judged {params.judge.repeats}x\n"
        f"{plan.asked:>15,}  judged for this estimate, and kept\n"
        f"{plan.left:>15,}  requests left\n"
        f"{plan.tokens_in:>15,}  tokens in, as counted by the server\n"
        f"{plan.tokens_out:>15,}  tokens out\n"
        f"{plan.cost:>15,.2f}  USD, before retries\n"
        f"{plan.seconds / 3600:>15,.1f}  hours, online\n"
    )


if __name__ == "__main__":
    is_estimate = cli.wants_estimate("judge 20 pairs and print the cost of all")
    cli.run_command(estimate if is_estimate else main)
