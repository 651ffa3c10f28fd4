"""`README.md`: the dataset card, with the YAML head that the Hugging Face hub reads."""

import io
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from pipeline.campaign.campaign import Campaign
from pipeline.campaign.collection import Collection
from pipeline.core.params import Params
from pipeline.core.tables import JUDGED_SPLITS
from pipeline.distribution import card_figures
from pipeline.distribution.facts import Facts
from pipeline.distribution.manifest import warnings
from pipeline.distribution.moment_corpus import CORPUS_FILE
from pipeline.distribution.mteb import BY_SPLIT, CAPTIONS_FILE
from pipeline.distribution.release_files import ReleaseFile
from pipeline.pages import collection_section, pool_section, strata_section
from pipeline.pages.html_tables import Grid

ABOUT = """\
Ranked video moment retrieval: given a query, return a ranked list of moments (video, start, end)
from all videos. The queries are imprecise and name no character. For each query, annotators judged
the moments whose captions are most similar to it, on a scale from 0 to 4. They saw the query and
the clip, never the caption. Times are in seconds; a moment is the half-open interval [start, end).
"""

FILES = """\
* `val.json`, `test.json`: each query with its judged moments; `relevance` is the level.
  Moments are in the order of their ids. `train_top*.json`: training queries, each with the N
  moments whose captions are most similar, unjudged; a caption that would show which moment a
  validation or test query was made from is empty. `video_corpus.json`:
  `{video_name: [duration, index]}`. `train_manifest.json`: the hashes of the training sets, the
  video corpus and `corpus/`.
* `qrels/*.qrels`: `query_id Q0 video_id start end level`. `qrels/*.moments.qrels`: TREC format,
  `query_id 0 moment_id level`. `qrels/levels.json`: the meaning of each level. `queries.tsv`: the
  queries. In these files, except `levels.json`, ids are percent-encoded, and each line break or
  tab in a query is replaced by a space.
* `pairs.csv`: every pair of a query and a moment that annotators were shown, with its number. A
  pair keeps its number in later releases. If its text or clip changes, it gets a new number, and
  only the new pair is released.
* `raw_annotation.csv`: the valid votes that have a level; annotators are identified by numbers.
  `cant_judge.csv`: the valid votes without a level (a broken clip, a query that makes no sense).
  These do not count as level 0.
* `consensus.csv`: the result of the votes. `level` is rounded from the exact `mean`. `outcome` is
  `two` or `four` (how many votes led to the consensus), `adjudicated`, `discarded`, `unjudgeable`
  or `waiting`. `origin` is why the moment was judged: it was one of the most similar
  `candidates`, was drawn by an `audit`, or was retrieved by a system's run. `second_look` is
  `True` if the votes had given a level, and the pair was decided again; `reported` also is if
  readers of a release had asked for that. `voted_level` and `voted_outcome` are the values before
  adjudication.
* `queries/`, `corpus/`, `qrels/`: Parquet files in MTEB's layout. The corpus contains every moment
  of the pool, and its `text` is empty: a system reads the videos. `captions/` contains the captions
  of the moments that annotators were shown, and `top_ranked/` those moments for each query, by id.
  MTEB's text loader takes the configuration `captions` (`captions-corpus`, `captions-queries`,
  `captions-qrels`, `captions-top_ranked`). Its score is no system's: it compares queries with the
  captions that they were made from, and ranks only moments that were shown.
* `figures/`: the figures on this page. `changes.json`: what changed since the version before that
  the campaign was reopened from, as `momentrank diff` tells it.
* `croissant.json`: a machine-readable description of the files. `manifest.json`: hashes and
  settings.
"""

RULES = """\
* Two people judge each pair. If their levels differ by at most 1, the consensus is the mean.
  Otherwise two more people judge it. Of the four levels, one highest and one lowest are dropped;
  if the other two differ by more than 1, the pair is discarded. A discarded pair has no level,
  but its votes are in `raw_annotation.csv`.
* A mean between two levels is rounded {rounding}.
* Captions that differ only in case or in surrounding space were drawn as one query. It has the
  text of the moment with the smallest id, and its own id is made from that text.
* An adjudicated pair was decided by the lead or an expert, who saw the votes. It has a level but
  no mean. In a second look they saw neither votes, nor any machine's level, nor readers' remarks.
* A query is released only if at least one of its moments has a level.
* No text is a query in more than one of the training, validation and test sets.
"""
MACHINE = """\
If this release contains a `machine_manifest.json`, a machine judged the same pairs, and possibly
more. Its levels are only in `machine_judgments.csv` and `qrels/*.machine*.qrels`. They are not the
collection's levels, though they may have chosen pairs for a second look: do not report scores
computed from them as scores on this collection. `machine_card.txt` names the model and its prompt,
and states how much it could not judge.
"""
DEFAULT = "qrels"
"""What is loaded by default."""
CAPTIONS = "captions"
"""MTEB's name of the configuration in which documents are captions."""
ROUNDING = {"up": "up", "nearest": "to the nearest level, halves to the even level"}


def card(
    collection: Collection,
    facts: Facts,
    meanings: dict[str, Any],
    params: Params,
    changes: Mapping[str, Any],
) -> ReleaseFile:
    """Return the card: head, warnings, changes, tables, files and rules."""
    levels = meanings["levels"]
    names = [levels[str(level)]["name"] for level in range(len(levels))]
    release, batch = params.release, params.candidates.batch
    decided = pool_section.decided_pairs(collection, batch)
    numbers = collection_section.collect_judged_statistics(collection)
    sections = [
        _head(collection, facts, params),
        f"# {_line(facts.name)} {_line(release.version)}\n",
        *(f"> **{_line(text)}**\n" for text in warnings(collection, facts)),
        ABOUT,
        *_changes(collection.campaign, changes),
        "## How it was made\n",
        "".join(f"* **{_line(topic)}.** {_line(text)}\n" for topic, text in facts.said.items()),
        "## The collection\n",
        _table(collection_section.table_1(numbers)),
        _table(collection_section.table_4(numbers)),
        *map(_table, strata_section.strata_grids(collection)),
        _outcomes(collection),
        "## Levels\n",
        _meanings(meanings) + _earlier_guidelines(collection.campaign),
        _table(collection_section.level_grid(collection, names)),
        *_show_figures(collection, batch),
        "## The pool\n",
        _table(pool_section.yield_grid(decided, collection)),
        *map(_table, pool_section.learned_grids(collection)),
        _table(pool_section.leave_one_out_grid(facts.pool)),
        *map(_table, pool_section.strata_grids(collection)),
        "## Files\n",
        FILES,
        "## Rules\n",
        RULES.format(rounding=ROUNDING[params.consensus.rounding]),
        "## Machine levels\n",
        MACHINE,
        *_origin(collection, params),
    ]
    return ReleaseFile("\n".join(sections).encode())


def _head(collection: Collection, facts: Facts, params: Params) -> str:
    release = params.release
    terms = {"license": DoubleQuotedScalarString(release.license)} if release.license else {}
    marks = {"rehearsal": collection.rehearsal, "incomplete": not collection.complete}
    states = [name for name, holds in marks.items() if holds]
    head = {
        "pretty_name": DoubleQuotedScalarString(facts.name),
        **terms,
        "language": [DoubleQuotedScalarString(facts.language)],  # `no` is not a truth value
        "task_categories": ["text-retrieval"],
        "size_categories": [_size(len(collection.judged))],
        "tags": ["video-moment-retrieval", "ranked-video-moment-retrieval", *states],
        "configs": configs(collection, params.pseudo.top),
    }
    stream = io.StringIO()
    yaml = YAML()
    yaml.width = 1000
    yaml.dump(head, stream)
    return f"---\n{stream.getvalue()}---\n"


def _size(rows: int) -> str:
    """Return the hub's term for a number of rows."""
    bounds = ["1K", "10K", "100K", "1M", "10M", "100M", "1B"]
    above = max(len(str(rows)) - 3, 0)
    return f"{bounds[above - 1]}<n<{bounds[above]}" if above else "n<1K"


def configs(collection: Collection, sizes: list[int]) -> list[dict[str, Any]]:
    """Return what the hub offers to load: MTEB's tables, and the training sets by size.

    All of them are Parquet, as `load_dataset` reads all files of a folder in one way. It can't load
    files without rows. MTEB reads `corpus`, `queries` and `qrels`, or the tables whose names begin
    with that of a configuration; it searches only what is in `top_ranked`, if there is one.
    """

    def config(name: str, files: dict[str, str]) -> dict[str, Any]:
        listed = [{"split": split, "path": path} for split, path in files.items()]
        default = {"default": True} if name == DEFAULT else {}
        return {"config_name": name, **default, "data_files": listed}

    splits = [split for split in JUDGED_SPLITS if (collection.queries["split"] == split).any()]
    documents = {"corpus": CORPUS_FILE, f"{CAPTIONS}-corpus": CAPTIONS_FILE}
    folders = {DEFAULT: DEFAULT, "queries": "queries"}
    folders |= {f"{CAPTIONS}-{name}": name for name in BY_SPLIT}
    tables = {name: {"corpus": path} for name, path in documents.items()}
    tables |= {
        name: {split: f"{folder}/{split}.parquet" for split in splits}
        for name, folder in folders.items()
    }
    return [
        *(config(name, files) for name, files in tables.items() if splits),
        *(config(f"train_top{n:02}", {"train": f"train_top{n:02}.parquet"}) for n in sorted(sizes)),
    ]


def _outcomes(collection: Collection) -> str:
    now = collection.counts
    number = now["votes_withdrawn"]
    withdrawn = f" ({number:,} more were withdrawn and are not released)" if number else ""
    return (
        f"Annotators were shown {now['pairs']:,} pairs and cast {now['votes']:,} valid votes with a"
        f" level and {now['votes_without_level']:,} without one{withdrawn}."
        f" Two votes decided {now['pairs_two']:,} pairs and four votes {now['pairs_four']:,};"
        f" {now['pairs_adjudicated']:,} were adjudicated, {now['pairs_discarded']:,} discarded"
        f" ({now['pairs_given_up']:,} with too few votes), {now['pairs_unjudgeable']:,} are"
        f" unjudgeable and {now['pairs_waiting']:,} are waiting.\n"
    )


def _changes(campaign: Campaign | None, changes: Mapping[str, Any]) -> list[str]:
    """Return what changed since the version before, if the campaign was reopened."""
    if campaign is None or not campaign.reopenings or not changes["old"]:
        return []
    kinds = ("queries_added", "pairs_added", "pairs_removed", "levels")
    splits, last = changes["splits"].values(), campaign.reopenings[-1]
    queries, added, removed, levels = (sum(len(s[kind]) for s in splits) for kind in kinds)
    return [
        f"## Changes since version {_line(changes['old'])}\n",
        (
            f"The campaign was reopened on {last.at[:10]}. Reason: {_line(last.reason)}\n\n"
            f"{queries:,} queries and {added:,} judged pairs were added; {removed:,} judged pairs"
            f" lost their level, and {levels:,} got another one. `changes.json` lists them.\n"
        ),
    ]


def _meanings(meanings: dict[str, Any]) -> str:
    rows = [
        f"* **{level} {_line(meaning['name'])}**: {_line(meaning['meaning'])}\n"
        for level, meaning in sorted(meanings["levels"].items(), reverse=True)
    ]
    return f"As defined in guideline version {_line(meanings['guideline'])}:\n\n" + "".join(rows)


def _earlier_guidelines(campaign: Campaign | None) -> str:
    """Return the versions of the guideline that people judged by, if several, and their ends."""
    versions = [] if campaign is None else campaign.guidelines
    changes = [
        f"* Version {_line(old.version)} until {new.since[:10]}. Reason for the change:"
        f" {_line(new.reason or 'not given')}\n"
        for old, new in pairwise(versions)
    ]
    return (
        "\nMore than one version of the guideline was used:\n\n" + "".join(changes)
        if changes
        else ""
    )


def _table(grid: Grid) -> str:
    """Return a table with its title and note."""
    lines = [grid.head, ["---", *["---:"] * (len(grid.head) - 1)], *grid.rows]
    rows = "".join(f"| {' | '.join(_line(cell) for cell in row)} |\n" for row in lines)
    return f"{grid.title}:\n\n{rows}" + (f"\n{grid.note}\n" if grid.note else "")


def _show_figures(collection: Collection, batch: int) -> list[str]:
    """Return the figures that have content, with their captions."""
    figures = card_figures.draw_figures(collection, batch)
    drawn = [figure for figure in figures if figure.chart is not None]
    return [
        f"![{_line(figure.title)}]({card_figures.path(figure)})\n\n{_line(figure.caption)}\n"
        for figure in drawn
    ]


def _origin(collection: Collection, params: Params) -> list[str]:
    release = params.release
    details = {"Campaign": collection.campaign.name if collection.campaign else "none"}
    creators = "; ".join(release.creators or ())
    stated = {
        "Creators": creators,
        "License": release.license,
        "URL": release.url,
        "Citation": release.citation,
    }
    lines = [f"* {name}: {_line(text)}\n" for name, text in (details | stated).items() if text]
    method = "Built with MomentRank, following the method of TVR-Ranking (Liang et al., 2024).\n"
    return ["## Origin\n", "".join(lines), method]


def _line(text: str) -> str:
    """Return a text in one line, safe in a table."""
    return " ".join(text.split()).replace("|", "\\|")
