"""`README.md`: the dataset card, with the YAML head that the Hugging Face hub reads."""

import io
from itertools import pairwise
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from pipeline.campaign.campaign import Campaign
from pipeline.campaign.collection import Collection
from pipeline.core.params import Params
from pipeline.core.tables import JUDGED_SPLITS
from pipeline.distribution import card_figures, figures
from pipeline.distribution.facts import Facts
from pipeline.distribution.figures import Row
from pipeline.distribution.files import ReleaseFile
from pipeline.distribution.manifest import warnings
from pipeline.distribution.mteb import CORPUS_FILE

ABOUT = """\
Ranked video moment retrieval: for a query, return a ranked list of moments (video, start, end)
out of all videos. The queries are imprecise, with no character's name. For each query people
judged the moments whose captions are most similar to it, from 0 to 4, seeing the clip and the
query, never the caption. Times are seconds, a moment is the half-open interval [start, end).
"""

FILES = """\
* `val.json`, `test.json`: each query with its judged moments, the level in `relevance`;
  `train_top*.json`: training queries with the N moments of the most similar captions, unjudged;
  `video_corpus.json`: `{video_name: [duration, index]}`; `train_manifest.json`: their hashes.
* `qrels/*.qrels`: `query_id Q0 video_id start end level`; `qrels/*.moments.qrels`: TREC,
  `query_id 0 moment_id level`; `qrels/levels.json`: what each level means; `queries.tsv`. Ids in
  these, but for `levels.json`, are percent-encoded, and a query's line breaks and tabs are spaces.
* `pairs.csv`: every pair of a query and a moment that was shown, by its number, which it keeps in
  later releases (one whose text or clip changed has a new number, and only that is released).
* `raw_annotation.csv`: the votes with a level that count, an annotator being a number.
  `cant_judge.csv`: those without one (a broken clip, a senseless query), which are no 0.
* `consensus.csv`: what the votes came to: `level`, the exact `mean` that was rounded to it, and
  `outcome`: agreed by `two` or `four`, `adjudicated`, `discarded`, `unjudgeable`, or `waiting`.
  `origin`: one of the most similar `candidates`, drawn by an `audit`, or found by a system's run.
  `voted_level` and `voted_outcome`: the same before anything was adjudicated.
  `skill_level` and `skill_mean`: a second consensus, see below.
* `qrels/*.skill.qrels`: the levels of the second consensus. They are not the collection's levels:
  report no scores by them as scores on this collection.
* `queries/`, `corpus/`, `qrels/`, `top_ranked/`: Parquet as MTEB has it. The corpus holds the
  moments that were shown to people, not the whole pool.
* `figures/`: the figures of this page.
* `croissant.json` describes the files for machines, `manifest.json` holds hashes and settings.
"""

RULES = """\
* Two people judge a pair. Levels that differ by at most 1 are its consensus, by their mean. Else
  two others are asked; of the four levels one highest and one lowest are dropped, and where the
  rest differ by more than 1 the pair is discarded. Discarded pairs have no level, but
  their votes are in `raw_annotation.csv`.
* Means between two levels are rounded: {rounding}.
* Queries that are equal in text, but for case and space around them, were judged once and are
  one query here, that of the smallest id.
* An adjudicated pair was decided by the lead or an expert, who saw the votes: a level, no mean.
* The second consensus weights each vote by its annotator's skill, as all votes together show it
  (Dawid and Skene's model for ordered levels). It is rounded to the nearest level, has one for
  discarded pairs too, and shows how much depends on the rule.
* A query none of whose moments has a level is not released.
* No text is a query of two of the training, validation and test sets.
"""
MACHINE = """\
Where there is a `machine_manifest.json`, a machine judged the same pairs, and maybe more. No person
gave its levels. They are in `machine_judgments.csv` and `qrels/*.machine*.qrels` alone, are not
the collection's levels, and changed nothing of them: report no scores by them as scores on this
collection. `machine_card.txt` says which model it was, by which prompt, and how much it could not
judge.
"""
DEFAULT = "qrels"
"""What is loaded by default."""
ROUNDING = {"up": "up", "nearest": "to the nearest level, halves to the even one"}


def card(
    collection: Collection, facts: Facts, meanings: dict[str, Any], params: Params
) -> ReleaseFile:
    """Return the card: head, warnings, tables, files and rules."""
    levels = meanings["levels"]
    names = [levels[str(level)]["name"] for level in range(len(levels))]
    release, batch = params.release, params.candidates.batch
    sections = [
        _head(collection, facts, params),
        f"# {_line(facts.name)} {_line(release.version)}\n",
        *(f"> **{_line(text)}**\n" for text in warnings(collection, facts)),
        ABOUT,
        "## How it was made\n",
        "".join(f"* **{_line(topic)}.** {_line(text)}\n" for topic, text in facts.said.items()),
        "## The collection\n",
        _table(figures.collection_table(collection)),
        _outcomes(collection),
        "## Levels\n",
        _meanings(meanings) + _earlier_guidelines(collection.campaign),
        _table(figures.level_table(collection, names)),
        "## Judged and relevant candidates of a query\n",
        _table(figures.query_table(collection, batch)),
        *_show_figures(collection),
        "## Files\n",
        FILES,
        "## Rules\n",
        RULES.format(rounding=ROUNDING[params.consensus.rounding]),
        "## Levels by a machine\n",
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
    """Return what the hub offers to load: four tables, and the training sets by size.

    All of them are Parquet, as `load_dataset` reads all files of a folder in one way. It can't load
    files without rows.
    """

    def config(name: str, files: dict[str, str]) -> dict[str, Any]:
        listed = [{"split": split, "path": path} for split, path in files.items()]
        default = {"default": True} if name == DEFAULT else {}
        return {"config_name": name, **default, "data_files": listed}

    corpus = [config("corpus", {"corpus": CORPUS_FILE})] if len(collection.pairs) else []
    splits = [split for split in JUDGED_SPLITS if (collection.queries["split"] == split).any()]
    tables = (DEFAULT, "queries", "top_ranked") if splits else ()
    return [
        *corpus,
        *(config(name, {split: f"{name}/{split}.parquet" for split in splits}) for name in tables),
        *(config(f"train_top{n:02}", {"train": f"train_top{n:02}.parquet"}) for n in sorted(sizes)),
    ]


def _outcomes(collection: Collection) -> str:
    now = collection.counts
    number = now["votes_withdrawn"]
    withdrawn = f" ({number:,} more were withdrawn, and are not released)" if number else ""
    return (
        f"People were shown {now['pairs']:,} pairs; {now['votes']:,} votes count{withdrawn}."
        f" Agreed by two {now['pairs_two']:,}, by four {now['pairs_four']:,}, adjudicated"
        f" {now['pairs_adjudicated']:,}, discarded {now['pairs_discarded']:,} (for want of votes"
        f" {now['pairs_given_up']:,}), unjudgeable {now['pairs_unjudgeable']:,}, waiting"
        f" {now['pairs_waiting']:,}.\n"
    )


def _meanings(meanings: dict[str, Any]) -> str:
    rows = [
        f"* **{level} {_line(meaning['name'])}**: {_line(meaning['meaning'])}\n"
        for level, meaning in sorted(meanings["levels"].items(), reverse=True)
    ]
    return f"As the guideline says, version {_line(meanings['guideline'])}:\n\n" + "".join(rows)


def _earlier_guidelines(campaign: Campaign | None) -> str:
    """Return the versions of the guideline that people judged by, if several, and their ends."""
    versions = [] if campaign is None else campaign.guidelines
    changes = [
        f"* Until {new.since[:10]} version {_line(old.version)}; reason for the change:"
        f" {_line(new.reason or 'not given')}\n"
        for old, new in pairwise(versions)
    ]
    return "\nPeople judged by more than one version:\n\n" + "".join(changes) if changes else ""


def _table(rows: list[Row]) -> str:
    header, *rest = rows
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rest]
    return "".join(f"| {' | '.join(_line(cell) for cell in row)} |\n" for row in lines)


def _show_figures(collection: Collection) -> list[str]:
    """Return the figures that have content, with their captions."""
    drawn = [figure for figure in card_figures.draw_figures(collection) if figure.chart is not None]
    return [
        f"![{_line(figure.title)}]({card_figures.path(figure)})\n\n{_line(figure.caption)}\n"
        for figure in drawn
    ]


def _origin(collection: Collection, params: Params) -> list[str]:
    release = params.release
    details = {"Campaign": collection.campaign.name if collection.campaign else "none"}
    creators = "; ".join(release.creators or ())
    stated = {
        "Made by": creators,
        "License": release.license,
        "Address": release.url,
        "To be cited as": release.citation,
    }
    lines = [f"* {name}: {_line(text)}\n" for name, text in (details | stated).items() if text]
    method = "Built by MomentRank after the method of TVR-Ranking (Liang et al., 2024).\n"
    return ["## Origin\n", "".join(lines), method]


def _line(text: str) -> str:
    """Return a text in one line, safe in a table."""
    return " ".join(text.split()).replace("|", "\\|")
