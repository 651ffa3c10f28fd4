"""What a closed campaign keeps: the tables that people made, and frozen stages."""

import re
from pathlib import Path

from pipeline.core import cli, files, tables

ASKING = ("pull", "pool", "push")
FROZEN = ("rewrite", "vary", *ASKING)
DECIDED = (
    tables.PAIRS,
    tables.JUDGMENTS,
    tables.JUDGMENT_HISTORY,
    tables.FROZEN_QUERIES,
    tables.WRITTEN_QUERIES,
    tables.ASKED_QUERIES,
    tables.EXTEND,
    tables.POOL,
    tables.AUDIT,
    tables.AUDIT_STRATA,
    tables.TOPUP,
    tables.POOLED_RUNS,
    tables.LATE_RUNS,
    tables.CHANNELS,
    tables.CHANNEL_SAMPLE,
    tables.GOLD,
    tables.EXAM,
    tables.EXAM_ANSWERS,
    tables.QUALIFICATIONS,
    tables.VOIDED,
    tables.DEPARTURES,
    tables.DEVIATIONS,
    tables.SECOND_LOOK,
    tables.ADJUDICATIONS,
)
"""What people made and decided, other than who they are and which campaign it was."""


def freeze(dag: Path = cli.DAG) -> None:
    """Freeze the stages that a closed campaign must not run again.

    `dvc freeze` would do that too, but rewrites the whole file in its own layout.
    """
    text = dag.read_text(encoding="utf-8")
    for name in FROZEN:
        text = re.sub(
            rf"(^  {name}:\n)(?!    frozen:)", r"\1    frozen: true\n", text, flags=re.MULTILINE
        )
    with files.unfinished(dag) as stream:
        stream.write(text)


def unfreeze(dag: Path = cli.DAG) -> None:
    """Let people be asked again in a reopened campaign; its queries' words stay frozen."""
    text = dag.read_text(encoding="utf-8")
    for name in ASKING:
        text = re.sub(rf"(^  {name}:\n)    frozen: true\n", r"\1", text, flags=re.MULTILINE)
    with files.unfinished(dag) as stream:
        stream.write(text)


def is_frozen(dag: Path = cli.DAG) -> bool:
    """Return whether the stages are frozen: if not, an interrupted close can be finished."""
    stages = files.read_yaml(dag)["stages"]
    return all(stages[name].get("frozen", False) for name in FROZEN)
