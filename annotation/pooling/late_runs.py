"""What a top-up would change, before anybody is asked; and what it became.

`datasets/campaign/late_runs.csv` has a row for each known run at each top-up that begins with new
levels: what was known then, so that it can be compared.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from annotation.pooling.inside import read_inside
from annotation.pooling.prospect import describe_cost
from annotation.pooling.standings import Standings, measure
from annotation.pooling.topup import Pool
from annotation.votes.votes import is_in
from momentrank import formats
from pipeline.campaign.leave_one_out import MEASURE, PLACE, SEGMENT
from pipeline.campaign.pairs import PAIR_KEY, select_newest
from pipeline.core import tables
from pipeline.core.tables import JUDGED_SPLITS, LATE_RUNS

RUNS = tables.WORK / "runs"
REFERENCE = ("captions", "random")
"""The reference runs that don't depend on levels: the oracles are others after each judgment."""
CLOSE = 1e-9
"""How far rounding may carry a value beyond its bounds."""
SHOWN = ["run", "judged", "judged_now", "value", "low", "high", "value_now", "within", "place"]
SHOWN += ["place_now"]
Runs = Mapping[str, pd.DataFrame]


class Block(NamedTuple):
    """A top-up of the runs `late`, to a depth: by how many levels of a split, and pairs asked."""

    levels: int
    asked: int
    split: str
    depth: int
    late: Collection[str]


def read_known(split: str, late: Runs) -> dict[str, pd.DataFrame]:
    """Return the `late` runs, those of earlier top-ups, and the reference runs, by name."""
    paths = {name: RUNS / f"{name}.{split}.run" for name in REFERENCE}
    reference = {name: formats.read_run(path) for name, path in paths.items() if path.is_file()}
    by_name = dict(iter(tables.POOLED_RUNS.read_or_empty().groupby("origin")))
    runs = reference | {str(name): rows for name, rows in by_name.items()} | dict(late)
    return {name: rows[[*PLACE, "rank"]] for name, rows in runs.items()}


def read_levels(queries: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return `PLACE, level` as a release has them, of the test queries or else of val; the split.

    `queries` (`query_id, split`) are those that are judged. The frame is empty if none has a level.
    """
    levels = tables.CONSENSUS.read()[[*PAIR_KEY, "level"]].dropna()
    levels = levels.merge(queries[["query_id", "split"]], on="query_id")
    split = next((name for name in reversed(JUDGED_SPLITS) if (levels["split"] == name).any()), "")
    ledger = select_newest(tables.PAIRS.read())[[*PAIR_KEY, *SEGMENT]]
    rows = levels[levels["split"] == split].merge(ledger, on=PAIR_KEY)
    return rows[[*PLACE, "level"]].astype({"level": "int64"}), split


def find_asked(moments: pd.DataFrame, new: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the pairs that are asked for, with those of a `new` top-up, and their `PLACE`."""
    new = tables.TOPUP.empty() if new is None else new
    decided = tables.CONSENSUS.read().query("outcome != 'waiting'")
    parts = (read_inside(), tables.AUDIT.read(), tables.PAIRS.read(), new)
    pairs = pd.concat([part[PAIR_KEY] for part in parts]).drop_duplicates()
    pairs = pairs[~is_in(pairs, decided, PAIR_KEY)]
    return pairs.merge(moments[["moment_id", *SEGMENT]], on="moment_id")


def describe_runs(
    late: pd.DataFrame, asked: pd.DataFrame, depth: int, seconds: float, hourly: float | None
) -> Iterator[str]:
    """Yield what judging the rest of each run's first `depth` results takes.

    `late` are the runs as they are recorded (`tables.POOLED_RUNS`).
    """
    pooled = late[late["rank"] <= depth].assign(start=late["pooled_start"], end=late["pooled_end"])
    places = asked[PLACE].drop_duplicates()
    for name, rows in pooled.groupby("origin"):
        found = rows[PLACE].dropna().drop_duplicates()
        cost = describe_cost(int(is_in(found, places, PLACE).sum()), seconds, hourly)
        yield f"{name}: its first {depth} without a level: {cost}"


def describe_standings(standings: Standings, block: Block) -> str:
    """Return where each run stands, and could at worst and best; and which could change places."""
    shown = standings.runs.assign(
        place=[f"{best}-{worst}" for best, worst in standings.runs[["best", "worst"]].to_numpy()]
    )
    shown["judged"] = shown["judged"].where(shown["run"].isin(block.late))
    table = shown.drop(columns=["best", "worst"])
    table = table.rename(columns={"judged": f"Judged@{block.depth}"})
    text = table.to_string(index=False, float_format="{:.3f}".format, na_rep="-")
    swaps = "; ".join(" and ".join(pair) for pair in standings.swaps) or "none"
    return (
        f"{MEASURE}, {block.split}, {standings.queries:,} queries, and its bounds once all is"
        f" judged:\n{text}\ncould change places: {swaps}"
    )


def record(standings: Standings, block: Block) -> None:
    """Keep where the runs stand before a top-up; that replaces what was kept at the same levels."""
    earlier = LATE_RUNS.read_or_empty()
    same = earlier[earlier["levels"] == block.levels].set_index("run")["depth"]
    said = {name: value for name, value in block._asdict().items() if name != "late"}
    rows = standings.runs.assign(**said, at=pd.Timestamp.now("UTC"))
    is_late = rows["run"].isin({*block.late, *same.dropna().index})
    rows["depth"] = rows["depth"].where(is_late).astype("Int64")
    rows["judged"] = rows["judged"].where(is_late)
    kept = pd.concat([earlier[earlier["levels"] != block.levels], rows[LATE_RUNS.columns]])
    LATE_RUNS.write(kept)


def describe_outcomes(pool: Pool) -> Iterator[str]:
    """Yield for each top-up what became of the values and of the order of the runs."""
    (levels, split), asked = read_levels(pool.queries), find_asked(pool.moments)
    kept, runs = LATE_RUNS.read_or_empty(), read_known(split, {})
    newest = kept.dropna(subset="depth").groupby("run")["levels"].max()
    for known, before in kept.groupby("levels"):
        title = f"top-up of {before['at'].max():%Y-%m-%d}, {known:,} levels then"
        depth = int(before["depth"].max())
        same = {name: run for name, run in runs.items() if newest.get(name, known) <= known}
        now = measure(levels, asked, same, depth)
        if now is None or set(before["split"]) != {split}:
            yield f"{title}: scored on {before['split'].iloc[0]}, not on {split or 'anything'}"
            continue
        both = before.merge(now.runs, on="run", suffixes=("", "_now"), how="left")
        both["place"] = both["value"].rank(ascending=False, method="min").astype("int64")
        both["place_now"] = both["value_now"].rank(ascending=False, method="min").astype("Int64")
        reached = both["value_now"]
        inside = (reached >= both["low"] - CLOSE) & (reached <= both["high"] + CLOSE)
        both["within"] = inside.map({True: "yes", False: "NO"}).mask(reached.isna(), "-")
        both["judged_now"] = both["judged_now"].where(both["judged"].notna())
        text = both.sort_values(["place_now", "run"])[SHOWN].to_string(
            index=False, float_format="{:.3f}".format, na_rep="-"
        )
        yield f"{title}, {len(levels):,} now; {MEASURE}, {split}, Judged@{depth}\n{text}"
        others = len(levels) - int(before["levels"].max()) - int(before["asked"].max())
        if others > 0:
            yield f"at least {others:,} other pairs were judged since: no bounds are for these"
        if len(asked):
            yield f"{len(asked):,} pairs wait for people"


def list_judged(queries: pd.DataFrame) -> list[dict[str, Any]]:
    """Return Judged@depth of each run of a top-up, before and now, for JSON.

    `queries` (`query_id, split`) are those that are judged.
    """
    kept = (
        LATE_RUNS.read_or_empty()
        .dropna(subset="depth")
        .sort_values("levels")
        .drop_duplicates("run", keep="last")
    )
    if kept.empty or not tables.CONSENSUS.path.is_file():
        return []
    levels, split = read_levels(queries)
    known = read_known(split, {})
    kept = kept[kept["run"].isin(known)]
    return [
        {
            "run": run,
            "depth": int(depth),
            "before": before,
            "now": float(now.runs["judged"].iloc[0]),
        }
        for run, depth, before in kept[["run", "depth", "judged"]].itertuples(index=False)
        if (now := measure(levels, levels[:0], {run: known[run]}, depth))
    ]
