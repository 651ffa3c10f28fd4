"""Compare a machine's levels with people's: what the machine can be trusted with, and what not.

    python -m annotation.calibration
    python -m annotation.calibration --people raw_annotation.csv --machine machine.csv

Without options it is the stage:

reads   datasets/work/machine_judgments.parquet, consensus.parquet, clips.csv, queries.parquet,
        runs/*.test.run, the files of calibration.runs, and people's work (datasets/campaign/);
        pool.csv, audit.csv, pooled_runs.csv, late_runs.csv, and if there is an audit, audit.json,
        audit_strata.csv, topup.csv and datasets/work/failed_clips.csv
writes  datasets/work/metrics/calibration.json, and for the lead only
        datasets/work/lead/calibration.csv (each annotator next to the machine), second_looks.csv

With --people and --machine it reads votes (pair_id,worker,relevance) and a machine's levels
(pair_id,level, or a release's machine_judgments.csv) of any collection, and prints the same
figures. The query of each pair comes from pairs.csv (pair_id,query_id) or from the judged moments
of a release, which also have similarities. The results never change a level.
"""

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from annotation.machine import second_looks
from annotation.machine.calibrate import Calibrated, calibrate
from annotation.machine.calibration_text import text
from annotation.machine.campaign_panel import (
    Judged,
    build_panel,
    count_answers,
    select_fresh,
)
from annotation.machine.conclusions import compare_conclusions
from annotation.machine.raw_files import compare_files
from annotation.machine.similarity_control import find_control
from annotation.pooling.judged_audit import measure_audit
from annotation.pooling.late_runs import list_judged
from annotation.reliability.alpha import Bootstrap
from momentrank.errors import UsageError
from momentrank.formats import load_run
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.collection import is_decided_again
from pipeline.campaign.pairs import PAIR_KEY, select_newest
from pipeline.core import cli, csv_files, tables
from pipeline.core.params import Params, load, load_defaults
from pipeline.judges.repeats import settle_machine
from pipeline.judges.similarity_judge import SimilarityJudge

LEAD, RUNS = tables.WORK / "lead", tables.WORK / "runs"
TEST = ".test.run"
VOTED = [*PAIR_KEY, "voted_level"]


class Result(NamedTuple):
    """The figures, and for the lead those of each annotator and the pairs for a second look."""

    metrics: dict[str, Any]
    annotators: pd.DataFrame
    second_looks: pd.DataFrame


def read_judged() -> Judged:
    """Read people's and the machine's judgments of the pairs that count."""
    campaign = load_campaign()
    ledger, judgments = tables.PAIRS.read(), tables.JUDGMENTS.read()
    if campaign is not None:
        ledger, judgments = campaign.select_kept(ledger), campaign.select_kept(judgments)
    return Judged(
        ledger,
        judgments,
        tables.VOIDED.read(),
        tables.CONSENSUS.read(),
        tables.MACHINE_JUDGMENTS.read(),
    )


def is_made_of_similarity(machine: pd.DataFrame) -> bool:
    """Return whether the levels are the similarity control's: nobody looked at a clip."""
    return bool((machine["model"] == SimilarityJudge.model).any())


def is_blind(machine: pd.DataFrame) -> bool:
    """Return whether the machine saw captions instead of pictures (`judge.blind`)."""
    return not is_made_of_similarity(machine) and bool((machine["frames"] == 0).any())


def calibrate_campaign(judged: Judged, queries: pd.DataFrame, params: Params) -> Calibrated:
    """Return what the campaign's votes show about the machine."""
    settings, is_control = params.calibration, is_made_of_similarity(judged.machine)
    panel = build_panel(
        judged, tables.CLIPS.read(), params.consensus.rounding, params.candidates.batch
    )
    if not is_control and panel.similarity is not None:
        pairs = judged.consensus[PAIR_KEY].merge(queries[["query_id", "split"]], how="left")
        pairs = pairs.assign(similarity=panel.similarity)
        panel = panel._replace(control=find_control(pairs, panel.consensus))
    return calibrate(panel, count_answers(judged), settings, is_control=is_control)


def join_levels(judged: Judged, queries: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs with a level from both, as `pairs` of `compare_conclusions`, and `split`.

    People's is the voted one: second looks, which the machine chose, would favour it.
    """
    people = judged.consensus.loc[judged.consensus["voted_level"].notna(), VOTED]
    machine = settle_machine(select_fresh(judged))[[*PAIR_KEY, "level"]]
    both = people.rename(columns={"voted_level": "people"}).merge(
        machine.rename(columns={"level": "machine"}), on=PAIR_KEY
    )
    segments = select_newest(judged.pairs)[[*PAIR_KEY, "video_id", "start", "end", "rank"]]
    joined = both.merge(segments, on=PAIR_KEY).merge(queries[["query_id", "split"]], on="query_id")
    return joined.sort_values(["query_id", "rank", "moment_id"], ignore_index=True)


def read_runs(further: list[str]) -> dict[str, Any]:
    """Return the reference runs on test queries, and the files of `calibration.runs`, by name.

    Raises:
        UsageError: two of them have the same name.
        MomentRankError: a file is missing or malformed.
    """
    paths = [path for path in sorted(RUNS.glob(f"*{TEST}")) if path.stat().st_size]
    named: dict[str, Any] = {}
    for path in [*paths, *map(Path, further)]:
        name = path.name.partition(".")[0]
        if name in named:
            raise UsageError(
                f"calibration.runs: {path}: another run is also called {name!r}; rename it"
            )
        named[name] = load_run(path)
    return named


def find_second_looks(judged: Judged, queries: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Return the pairs that are to be looked at again, and those that have been."""
    segments = select_newest(judged.pairs)[[*PAIR_KEY, "video_id", "start", "end"]]
    voted = judged.consensus[judged.consensus["voted_level"].notna()]
    decided = voted["level"].astype("str").where(voted["level"].notna(), voted["outcome"])
    levels = voted[[*VOTED, "scores"]].assign(decided=decided.where(is_decided_again(voted)))
    clips = tables.CLIPS.read()[["moment_id", "clip"]]
    pairs = (
        levels.merge(segments, on=PAIR_KEY)
        .merge(queries[["query_id", "query"]], on="query_id", how="left")
        .merge(clips, on="moment_id", how="left")
    )
    listed = tables.SECOND_LOOK.read()
    own = listed.loc[listed["note"] != second_looks.NOTE, PAIR_KEY]
    machine = settle_machine(select_fresh(judged))
    min_difference = params.calibration.min_difference
    return second_looks.list_second_looks(pairs, machine, own, min_difference)


def compare_campaign(params: Params) -> Result:
    """Return everything that the stage writes."""
    judged, queries, settings = read_judged(), tables.QUERIES.read(), params.calibration
    result = calibrate_campaign(judged, queries, params)
    blind = is_blind(judged.machine)
    sound = not blind and [verdict["code"] for verdict in result.metrics["verdicts"]] == ["good"]
    looks = pd.DataFrame(columns=second_looks.COLUMNS)
    if sound:
        looks = find_second_looks(judged, queries, params)
    levels = join_levels(judged, queries)
    test = levels[levels["split"] == "test"]
    runs = read_runs(settings.runs) if len(test) else {}
    bootstrap = Bootstrap(settings.resamples, settings.confidence, settings.seed)
    asked = queries[queries["split"] != "train"]
    missed, gain = measure_audit(asked)
    metrics = {
        "models": sorted(judged.machine["model"].unique().tolist()),
        "blind": blind,
        **result.metrics,
        "conclusions": compare_conclusions(test, runs, bootstrap) if runs else None,
        "audit": gain,
        "missed": missed,
        "late": list_judged(asked),
        "second_looks": int(looks["decided"].isna().sum()) if sound else None,
        "decided_again": second_looks.summarize_decided(looks) if sound else None,
    }
    return Result(metrics, result.annotators, looks)


def main() -> None:
    """Write what the campaign shows about the machine."""
    result = compare_campaign(load())
    csv_files.write_csv(LEAD / "calibration.csv", result.annotators)
    csv_files.write_csv(second_looks.FILE, result.second_looks)
    cli.write_metrics("calibration", result.metrics)
    for verdict in result.metrics["verdicts"]:
        cli.log(f"calibration: {verdict['text']}")
    number = result.metrics["second_looks"]
    if number:
        cli.log(f"calibration: pairs for a second look: {number:,} ({second_looks.FILE})")
    elif number is None and result.metrics["answers"]["with_level"]:
        codes = ", ".join(verdict["code"] for verdict in result.metrics["verdicts"])
        cli.log(
            "calibration: no second looks: only a judge that looks at clips, and in which no fault"
            f" was found, may choose them (verdict: {codes})"
        )


def calibrate_files(options: argparse.Namespace) -> None:
    """Print what files show about a machine's levels."""
    compared = compare_files(options.people, options.machine, options.pairs, options.judged)
    result = calibrate(compared.panel, compared.answers, load_defaults().calibration)
    if options.lead:
        csv_files.write_csv(options.lead / "calibration.csv", result.annotators)
    as_json = json.dumps(result.metrics, indent=2, allow_nan=False) + "\n"
    as_text = text(result.metrics, by_query=compared.by_query)
    sys.stdout.write(as_json if options.json else as_text)


def command(options: argparse.Namespace) -> None:
    """Run the stage, or print what files show about a machine's levels.

    Raises:
        UsageError: the options can't be combined.
    """
    if options.people and options.machine:
        return calibrate_files(options)
    if any(vars(options).values()):
        raise UsageError(
            "add --people FILE and --machine FILE; without options, this runs the stage"
        )
    return main()


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    calibration_parser = cli.parser(
        "Without --people it reads params.yaml in the current folder (`dvc repro`)."
    )
    add = calibration_parser.add_argument
    add("--people", type=Path, metavar="FILE", help="raw votes of any collection")
    add("--machine", type=Path, metavar="FILE", help="a machine's levels: pair_id,level")
    add("--pairs", type=Path, metavar="FILE",
        help="pair_id,query_id (default: pairs.csv next to the votes, if it exists)")  # fmt: skip
    add("--judged", type=Path, nargs="+", default=[], metavar="FILE",
        help="judged moments with similarities, for the control: val.json, test.json")  # fmt: skip
    add("--json", action="store_true", help="print JSON; undefined values are null")
    add("--lead", type=Path, metavar="FOLDER", help="write each person's figures there")
    return calibration_parser


if __name__ == "__main__":
    cli.run_command(partial(command, parser().parse_args()))
