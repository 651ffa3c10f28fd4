"""The release of a machine's judgments, in files separate from those of people's levels.

The release's own files depend on nothing here, so they are the same bytes whichever machine judges
alongside people. `machine_manifest.json` lists these files, if a machine gave any level.
"""

from collections import Counter
from pathlib import PurePath
from typing import Any, NamedTuple

import pandas as pd

from pipeline.campaign.campaign import Campaign
from pipeline.campaign.collection import select_distinct_texts
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables
from pipeline.core.files import manifest_json
from pipeline.core.sections import Judge
from pipeline.distribution.judged import moment_qrels, segment_qrels
from pipeline.distribution.release_files import ReleaseFile, ReleaseFiles, csv_rows, json_object
from pipeline.judges.repeats import drop_stale, settle_machine

JUDGMENTS, CARD, MANIFEST = "machine_judgments.csv", "machine_card.txt", "machine_manifest.json"
QRELS = "qrels/{}.machine.qrels"
MOMENT_QRELS = "qrels/{}.machine.moments.qrels"
SEGMENT = ["video_name", "start", "end"]
SHOWN = ["query_sha", "clip_sha"]
_ANSWER = ["level", "expected", "reason", "model", "prompt", "guideline", "frames", "repeat"]
COLUMNS = [*PAIR_KEY, *SEGMENT, *_ANSWER, *SHOWN]
"""Of `machine_judgments.csv`. A model's remarks in its own words are not released."""

NOTICE = (
    "A machine assigned these levels, not people. They are not the collection's levels and are in"
    " none of its other files. Do not report scores computed from them as scores on this"
    " collection."
)
SIMULATED = "This is a rehearsal: people's judgments may be simulated."
LEARNED = (
    "The model is an ordinal regression of people's levels on the similarity of query and caption;"
    " it saw no video. The levels of a validation query come from the other validation queries,"
    " those of test queries from all validation queries. It is a control, not a judge."
)
BLIND = "The model saw no video: it was shown captions instead of pictures."
CARD_TEXT = """\
# Machine levels

{notice}

* Model: {model}. Prompt: {prompt}. Guideline: {guideline}. Pictures per clip: at most {frames}.
* {pairs:,} pairs of {queries:,} queries have a level. {without:,} judgments have none: {reasons}.
* `machine_judgments.csv`: every judgment. `level` is 0 to 4, or empty with a `reason`, which does
  not count as level 0. `expected` is the mean level under the model's own probabilities, if it
  reports them. `repeat` numbers the repeated judgments of a pair. `query_sha` and `clip_sha`
  identify the text and the clip.
* `qrels/*.machine.qrels`: `query_id Q0 video_id start end level`. `qrels/*.machine.moments.qrels`:
  TREC format, `query_id 0 moment_id level`. Both have the format of the qrels with people's levels.
  The level is the median of the repeats; between two levels, the higher one. They also contain
  queries and moments that nobody judged.
{learned}
Measure how well the machine agrees with people before you draw conclusions from its levels: this
release makes no claim about it.
"""


class Released(NamedTuple):
    """The frozen queries, the moments' places, and what people were shown."""

    campaign: Campaign | None
    queries: pd.DataFrame
    moments: pd.DataFrame
    ledger: pd.DataFrame


def build_machine_files(table: pd.DataFrame, source: Released, settings: Judge) -> ReleaseFiles:
    """Return the files of the machine's judgments for the collection's queries.

    Without any level they are empty, and the manifest lists none.
    """
    rows = _select(table, source)
    settled = settle_machine(rows)
    segments = rows.drop_duplicates(PAIR_KEY)[[*PAIR_KEY, *SEGMENT, "split"]]
    levels = settled.merge(segments, on=PAIR_KEY).sort_values(PAIR_KEY)
    levels = levels.rename(columns={"video_name": "video_id"})
    by_split = {name: levels[levels["split"] == name] for name in tables.JUDGED_SPLITS}
    files = {
        JUDGMENTS: csv_rows(rows[COLUMNS] if len(levels) else rows[COLUMNS][:0]),
        **{QRELS.format(name): segment_qrels(judged) for name, judged in by_split.items()},
        **{MOMENT_QRELS.format(name): moment_qrels(judged) for name, judged in by_split.items()},
    }
    described = _describe(rows, levels, source, settings)
    files[CARD] = ReleaseFile(_card(described).encode())
    listed = {path: file.entry for path, file in files.items()} if len(levels) else {}
    content = described | {"columns": {JUDGMENTS: COLUMNS}, "files": manifest_json(listed)}
    return {**files, MANIFEST: json_object(content)}


def _select(table: pd.DataFrame, source: Released) -> pd.DataFrame:
    """Return judgments that are not stale, for the collection's queries, without local paths."""
    campaign, queries = source.campaign, source.queries
    distinct = select_distinct_texts(queries if campaign is None else campaign.select_kept(queries))
    moments = source.moments.rename(columns={"video_id": "video_name"})
    rows = drop_stale(table, source.ledger).merge(distinct[["query_id", "split"]], on="query_id")
    rows = rows.merge(moments[["moment_id", *SEGMENT]], on="moment_id")
    rows["model"] = rows["model"].map(_public)
    return rows.sort_values([*PAIR_KEY, "repeat"], ignore_index=True)


def _public(model: str) -> str:
    path = PurePath(model)
    return path.name if path.is_absolute() else model


def _describe(
    rows: pd.DataFrame, levels: pd.DataFrame, source: Released, settings: Judge
) -> dict[str, Any]:
    rehearsal = source.campaign is not None and source.campaign.rehearsal
    return {
        "notice": f"{NOTICE} {SIMULATED}" if rehearsal else NOTICE,
        "backend": settings.backend,
        **{name: _name(rows[name]) for name in ("model", "prompt", "guideline")},
        "settings": {
            name: getattr(settings, name)
            for name in ("pool_top", "frames", "height", "repeats", "blind")
        },
        "queries_with_level": int(levels["query_id"].nunique()),
        "pairs_with_level": len(levels),
        "most_pictures": max(rows["frames"], default=0),
        "judgments": len(rows),
        "judgments_without_level": dict(sorted(Counter(rows["reason"].dropna()).items())),
    }


def _name(cells: pd.Series) -> str | None:
    named = sorted(cells.dropna().unique())
    return ", ".join(named) if named else None


def _card(described: dict[str, Any]) -> str:
    without = described["judgments_without_level"]
    blind = described["backend"] == "openai" and described["settings"]["blind"]
    learned = LEARNED if described["backend"] == "similarity" else BLIND if blind else ""
    return CARD_TEXT.format(
        notice=described["notice"],
        **{name: described[name] or "none" for name in ("model", "prompt", "guideline")},
        frames=described["most_pictures"],
        pairs=described["pairs_with_level"],
        queries=described["queries_with_level"],
        without=sum(without.values()),
        reasons=", ".join(f"{number:,} {why}" for why, number in without.items()) or "none",
        learned=f"* {learned}\n" if learned else "",
    )
