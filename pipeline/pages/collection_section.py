"""The collection in figures (paper, Tables 1 and 4)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from pipeline.campaign.collection import PERFECT, RELEVANT, Collection, per_query
from pipeline.campaign.effort import HOUR
from pipeline.campaign.pool_steps import CANDIDATES
from pipeline.core.tables import JUDGED_SPLITS
from pipeline.core.text import count_words, vocabulary
from pipeline.pages import verbs
from pipeline.pages.html_tables import Cell, Grid, count, decimal, percent, share
from pipeline.pages.report_inputs import Sources

SPLITS = {"val": "Validation", "test": "Test", "train": "Training", "all": "All"}
JUDGED = (20, 40)
COUNTS = ("queries", "judged_queries", "shown", "with_level", "relevant", "moments", "videos",
          "hours", "vocabulary", "verbs")  # fmt: skip
MEANS = ("query_words", "moment_seconds", "video_seconds", "ratio", "judged_per_query",
         "relevant_per_query", "perfect_per_query",
         *(f"shown_{size}" for size in JUDGED))  # fmt: skip
SPREAD = ("mean", "median", "min", "max")

Spread = dict[str, float | None]
Numbers = dict[str, float | int | None]


class Part(NamedTuple):
    """A split, a stratum, or all: its queries, the pairs shown, and its moments and videos.

    Moments and videos are those with a level, or the whole pool's. Moments have the `duration` of
    their video, `videos` are durations alone. Nobody judges training queries.
    """

    queries: pd.DataFrame
    shown: pd.DataFrame
    levels: pd.DataFrame
    moments: pd.DataFrame
    videos: pd.Series


def collect_statistics(sources: Sources) -> dict[str, Any]:
    """Return the figures of Tables 1 and 4, for JSON; undefined ones are null.

    A moment is relevant from level 1 on. `shown_20` and `shown_40` are shares of the queries that
    people saw. `ratio` is moment length over video length.
    """
    moments, videos, collection = sources.moments, sources.videos, sources.collection
    judged = sources.queries[sources.queries["split"] != "train"]
    seconds = videos.set_index("video_id")["duration"]
    pool = moments.assign(duration=moments["video_id"].map(seconds).astype("float64"))
    whole = Part(sources.queries, collection.pairs, collection.judged, pool, seconds)
    splits = _select_splits(collection, sources.queries, ("val", "test", "train"))
    return {
        **_describe_parts({**splits, "all": whole}, collection),
        "query_words": spread(count_words(judged["query"])),
        "caption_words": spread(count_words(moments["caption"])),
        "pool_vocabulary": len(vocabulary(moments["caption"])),
        "pool_verbs": len(verbs.verbs(moments["caption"])),
        "moment_seconds": spread(moments["end"] - moments["start"]),
        "video_seconds": spread(videos["duration"]),
        "ratio": spread(_ratio(whole)),
        "moments_per_video": share(len(moments), moments["video_id"].nunique()),
        "relevant_per_query": spread(per_query(collection.judged)),
    }


def collect_judged_statistics(collection: Collection) -> dict[str, Any]:
    """Return the figures of Tables 1 and 4 of what people judged, for which no corpus is needed."""
    splits = _select_splits(collection, collection.frozen, JUDGED_SPLITS)
    whole = _select(collection.frozen, collection.pairs, collection.judged)
    return _describe_parts({**splits, "all": whole}, collection)


def _describe_parts(parts: dict[str, Part], collection: Collection) -> dict[str, Any]:
    """Return the figures of each part, and of each stratum if there are several."""
    strata = {name: collection.select(name) for name in collection.strata}
    own = {name: _select(part.frozen, part.pairs, part.judged) for name, part in strata.items()}
    by_stratum = {"strata": _apply(_tally, own), "strata_means": _apply(_means, own)}
    by_split = {"splits": _apply(_tally, parts), "means": _apply(_means, parts)}
    return by_split | (by_stratum if own else {})


def _apply(measure: Callable[[Part], Numbers], parts: dict[str, Part]) -> dict[str, Numbers]:
    return {name: measure(part) for name, part in parts.items()}


def _select_splits(
    collection: Collection, queries: pd.DataFrame, names: Iterable[str]
) -> dict[str, Part]:
    tables = queries, collection.pairs, collection.judged
    return {name: _select(*(rows[rows["split"] == name] for rows in tables)) for name in names}


def _select(queries: pd.DataFrame, shown: pd.DataFrame, levels: pd.DataFrame) -> Part:
    moments = levels.drop_duplicates(["video_id", "start", "end"])
    return Part(queries, shown, levels, moments, moments.drop_duplicates("video_id")["duration"])


def _tally(data: Part) -> Numbers:
    queries = data.queries["query"]
    texts = {"queries": len(queries), "vocabulary": len(vocabulary(queries))}
    texts |= {"verbs": len(verbs.verbs(queries))}
    numbers: Numbers = {**dict.fromkeys(COUNTS), **texts}
    if not _is_judged(data):
        return numbers
    return numbers | {
        "judged_queries": data.levels["query_id"].nunique(),
        "shown": len(data.shown),
        "with_level": len(data.levels),
        "relevant": int((data.levels["level"] >= RELEVANT).sum()),
        "moments": len(data.moments),
        "videos": len(data.videos),
        "hours": round(float(data.videos.sum()) / HOUR, 6),
    }


def _means(data: Part) -> Numbers:
    numbers: Numbers = dict.fromkeys(MEANS)
    numbers["query_words"] = _mean(count_words(data.queries["query"]))
    if not _is_judged(data):
        return numbers
    candidates = data.shown[data.shown["origin"] == CANDIDATES].groupby("query_id").size()
    return numbers | {
        "moment_seconds": _mean(data.moments["end"] - data.moments["start"]),
        "video_seconds": _mean(data.videos),
        "ratio": _mean(_ratio(data)),
        "judged_per_query": _mean(per_query(data.levels, 0)),
        "relevant_per_query": _mean(per_query(data.levels)),
        "perfect_per_query": _mean(per_query(data.levels, PERFECT)),
        **{
            f"shown_{size}": share(int((candidates == size).sum()), len(candidates))
            for size in JUDGED
        },
    }


def _is_judged(data: Part) -> bool:
    return set(data.queries["split"]) != {"train"}


def _ratio(data: Part) -> pd.Series:
    return (data.moments["end"] - data.moments["start"]) / data.moments["duration"]


def _mean(values: pd.Series) -> float | None:
    return spread(values)["mean"]


def spread(values: pd.Series) -> Spread:
    """Return mean, median, lowest and highest; null if there are no values."""
    defined = values.dropna()
    if defined.empty:
        return dict.fromkeys(SPREAD)
    return {name: round(float(getattr(defined, name)()), 6) for name in SPREAD}


def table_1(numbers: dict[str, Any]) -> Grid:
    """Return the collection by split."""
    head = ("Split", "Queries", "Judged", "Pairs shown", "With level", "Relevant", "Moments",
            "Videos", "Hours", "Words", "Verbs")  # fmt: skip
    rows = [
        (name, *(decimal(n[key], 1) if key == "hours" else count(n[key]) for key in COUNTS))
        for name, n in _name_columns(numbers, "splits", "strata")
    ]
    training = (
        " In the row All, moments, videos and hours are those of the whole pool. Nobody judges"
        " training queries: their moments are found by similarity."
    )
    note = (
        "Judged: queries with at least one pair that has a level. Relevant: pairs of level 1 or"
        " higher. Moments, videos, hours: distinct ones among the pairs with a level. Words and"
        f" verbs: distinct ones in the queries; verbs are estimated with the package"
        f" {verbs.LEXICON}.{training if 'train' in numbers['splits'] else ''}"
    )
    return Grid("Table 1. The collection", head, rows, note)


def _name_columns(numbers: dict[str, Any], splits: str, strata: str) -> list[tuple[str, Numbers]]:
    """Return the figures of each split by its name, and of each stratum, if there are several."""
    own = ((f"Stratum {name}", figures) for name, figures in numbers.get(strata, {}).items())
    return [*((SPLITS[name], figures) for name, figures in numbers[splits].items()), *own]


def table_4(numbers: dict[str, Any]) -> Grid:
    """Return queries, moments and videos by split, as means and shares."""
    names, means = zip(*_name_columns(numbers, "means", "strata_means"), strict=True)

    def row(title: str, key: str, digits: int = 2) -> tuple[Cell, ...]:
        return (title, *(decimal(own[key], digits) for own in means))

    rows = [
        row("Words of a query", "query_words"),
        row("Seconds of a moment", "moment_seconds"),
        row("Seconds of a video", "video_seconds"),
        row("Moment-to-video ratio", "ratio", 3),
        row("Candidates of a query with a level", "judged_per_query"),
        row("Relevant candidates of a query", "relevant_per_query"),
        row("Candidates of level 4 of a query", "perfect_per_query"),
    ]
    for size in JUDGED:
        shares = (percent(own[f"shown_{size}"]) for own in means)
        rows.append((f"Queries with {size} candidates shown", *shares))
    return Grid(
        "Table 4. Means by split",
        ("Mean", *(name.removeprefix("Stratum ") for name in names)),
        rows,
        "Moments and videos as in Table 1. The ratio is a moment's length over its video's. Shares"
        " refer to the queries that people saw.",
    )


def level_grid(collection: Collection, names: Sequence[str]) -> Grid:
    """Return how many pairs have each level, by its name and by split."""
    judged = collection.judged
    parts = [judged.loc[judged["split"] == split, "level"] for split in JUDGED_SPLITS]
    rows = [
        [f"{level} {name}", *(_count_share(part == level) for part in (*parts, judged["level"]))]
        for level, name in enumerate(names)
    ]
    return Grid("Levels", ("Level", *(SPLITS[split] for split in JUDGED_SPLITS), "All"), rows)


def _count_share(marks: pd.Series) -> str:
    return f"{marks.sum():,} ({marks.mean():.1%})" if len(marks) else "-"


def lengths(numbers: dict[str, Any]) -> Grid:
    """Return the distribution of lengths, over the whole pool and the judged queries."""
    rows: list[tuple[Cell, ...]] = [
        ("Words of a query", *_counts(numbers["query_words"])),
        ("Words of a caption", *_counts(numbers["caption_words"])),
        ("Seconds of a moment", *_spread(numbers["moment_seconds"])),
        ("Seconds of a video", *_spread(numbers["video_seconds"])),
        ("Moment-to-video ratio", *_spread(numbers["ratio"], 3)),
        ("Relevant candidates of a query", *_counts(numbers["relevant_per_query"])),
    ]
    note = (
        "Queries: validation and test. Captions, moments and videos: the pool's, whose captions"
        f" have {numbers['pool_vocabulary']:,} distinct words and {numbers['pool_verbs']:,}"
        " distinct verbs."
    )
    return Grid("Lengths", ("Length", "Mean", "Median", "Lowest", "Highest"), rows, note)


def _counts(numbers: Spread) -> list[Cell]:
    """Format a spread of whole numbers: the lowest and the highest have no decimals."""
    mean, median, *ends = (numbers[name] for name in SPREAD)
    return [decimal(mean), decimal(median, 1), *map(count, ends)]


def _spread(numbers: Spread, digits: int = 2) -> list[Cell]:
    return [decimal(numbers[name], digits) for name in SPREAD]
