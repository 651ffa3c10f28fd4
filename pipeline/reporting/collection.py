"""The collection in figures (paper, Tables 1 and 4)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from pipeline import words
from pipeline.releasing import collection as release
from pipeline.releasing.figures import RELEVANT, per_query
from pipeline.reporting import verbs
from pipeline.reporting.grid import Cell, Grid, count, decimal, percent, share
from pipeline.reporting.sources import Sources

SPLITS = {"val": "Validation", "test": "Test", "train": "Training"}
JUDGED = (20, 40)
JUDGED_FIGURES = ("judged_queries", "shown", "with_level", "relevant", "moments", "videos")
SPREAD = ("mean", "median", "min", "max")

Spread = dict[str, float | None]


def figures(sources: Sources) -> dict[str, Any]:
    """Return what Tables 1 and 4 say, for JSON; what is not defined is null.

    A moment is relevant from level 1 on. `judged_share` is of the queries shown to people:
    those of which 20 and 40 candidates were shown. `ratio` is moment length over video length.
    """
    moments, videos, levels = sources.moments, sources.videos, sources.collection.judged
    judged = sources.queries[sources.queries["split"] != "train"]
    lengths = moments["end"] - moments["start"]
    whole = moments["video_id"].map(videos.set_index("video_id")["duration"])
    shown = sources.collection.pairs
    candidates = shown[shown["origin"] == release.CANDIDATES].groupby("query_id").size()
    return {
        "splits": {split: _split(sources, split) for split in SPLITS},
        "pool": len(moments),
        "videos": len(videos),
        "query_words": spread(words.lengths(judged["query"])),
        "vocabulary": len(words.vocabulary(judged["query"])),
        "verbs": len(verbs.verbs(judged["query"])),
        "pool_vocabulary": len(words.vocabulary(moments["caption"])),
        "pool_verbs": len(verbs.verbs(moments["caption"])),
        "caption_words": spread(words.lengths(moments["caption"])),
        "moment_seconds": spread(lengths),
        "video_seconds": spread(videos["duration"]),
        "ratio": spread(lengths / whole),
        "moments_per_video": share(len(moments), moments["video_id"].nunique()),
        "relevant_per_query": spread(per_query(levels)),
        "judged_share": {
            str(size): share(int((candidates == size).sum()), len(candidates)) for size in JUDGED
        },
    }


def _split(sources: Sources, split: str) -> dict[str, int | None]:
    queries = int((sources.queries["split"] == split).sum())
    if split not in release.SPLITS:
        return {"queries": queries, **dict.fromkeys(JUDGED_FIGURES)}
    shown, judged = sources.collection.pairs, sources.collection.judged
    levels = judged[judged["split"] == split]
    relevant = levels[levels["level"] >= RELEVANT]
    return {
        "queries": queries,
        "judged_queries": levels["query_id"].nunique(),
        "shown": int((shown["split"] == split).sum()),
        "with_level": len(levels),
        "relevant": len(relevant),
        "moments": len(levels[["video_id", "start", "end"]].drop_duplicates()),
        "videos": levels["video_id"].nunique(),
    }


def spread(values: pd.Series) -> Spread:
    """Return mean, median, lowest and highest; null of nothing."""
    known = values.dropna()
    if known.empty:
        return dict.fromkeys(SPREAD)
    return {name: round(float(getattr(known, name)()), 6) for name in SPREAD}


def table_1(found: dict[str, Any]) -> Grid:
    """Return the collection by split."""
    head = ("Split", "Queries", "Judged", "Pairs shown", "With level", "Relevant", "Moments",
            "Videos")  # fmt: skip
    rows = [(SPLITS[name], *map(count, own.values())) for name, own in found["splits"].items()]
    return Grid(
        "Table 1. The collection",
        head,
        rows,
        "Judged: queries of which a pair has a level. Relevant: pairs of level 1 or higher. Moments"
        " and videos: different ones among the pairs with a level. Nobody judges training queries:"
        " their moments are found by similarity.",
    )


def table_4(found: dict[str, Any]) -> Sequence[Grid]:
    """Return queries, moments and videos in figures: the counts, and the lengths."""
    judged = found["judged_share"]
    counts = [
        ("Different words in queries", count(found["vocabulary"])),
        ("Different verbs in queries, at least", count(found["verbs"])),
        ("Different words in all captions", count(found["pool_vocabulary"])),
        ("Different verbs in all captions, at least", count(found["pool_verbs"])),
        ("Moments in the pool", count(found["pool"])),
        ("Videos", count(found["videos"])),
        ("Moments per video", decimal(found["moments_per_video"])),
        *((f"Queries with {size} candidates shown", percent(judged[str(size)])) for size in JUDGED),
    ]
    lengths: list[tuple[Cell, ...]] = [
        ("Words of a query", *_counts(found["query_words"])),
        ("Words of a caption", *_counts(found["caption_words"])),
        ("Seconds of a moment", *_spread(found["moment_seconds"])),
        ("Seconds of a video", *_spread(found["video_seconds"])),
        ("Moment-to-video ratio", *_spread(found["ratio"], 3)),
        ("Relevant candidates of a query", *_counts(found["relevant_per_query"])),
    ]
    note = (
        f"Queries: validation and test. Verbs by the English word list of the package"
        f" {verbs.LEXICON} ({verbs.lexicon_size()} verbs) and their regular forms: verbs that it"
        " lacks are not counted."
    )
    return (
        Grid("Table 4a. Vocabulary and size", ("Figure", "Value"), counts, note),
        Grid("Table 4b. Lengths", ("Figure", "Mean", "Median", "Lowest", "Highest"), lengths),
    )


def _counts(found: Spread) -> list[Cell]:
    """Write a spread of whole numbers: the lowest and the highest have no decimals."""
    mean, median, *ends = (found[name] for name in SPREAD)
    return [decimal(mean), decimal(median, 1), *map(count, ends)]


def _spread(found: Spread, digits: int = 2) -> list[Cell]:
    return [decimal(found[name], digits) for name in SPREAD]
