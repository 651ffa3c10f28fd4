"""The sections of `params.yaml` of the stages and commands with people in them."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline.core.validation import Name, Natural, Positive, Section, Share


class Annotation(Section):
    """Where people judge, by which guideline, and in which language their page is.

    `files` exchanges import and export files in `folder` with a server out of reach. `language`
    is of the page and the guideline (annotation/guideline/), never of the queries; the guideline
    `paper` follows the paper where ours departs from it.
    """

    backend: Literal["label-studio", "files"]
    folder: Name
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")]
    guideline: Literal["standard", "paper"]


class Exam(Section):
    """The exam before somebody judges: `queries` with their `top` moments, the same for all.

    The truth is the lead's gold, else the median of the first `group` people, then frozen. Who
    fails a larger share than `max_failed` has failed it; `required`: only who passed is asked.
    """

    required: bool
    queries: Positive
    top: Positive
    group: Annotated[int, Field(ge=3)]
    max_failed: Share


class Pull(Section):
    """How answers are fetched: tasks in one request."""

    page: Annotated[int, Field(ge=10, le=10_000)]


class Plan(Section):
    """Who is asked what, how much at once, and how people are checked meanwhile.

    A query's second batch is judged if the mean level over the last `last_ranks` of the first is
    `min_mean` or more. `pause` (minutes) is the longest time counted for a judgment, `queue` the
    number of tasks a person has open at most, `patience` (days) how long a task waits for them.
    `gold` and `repeats` are shares of a person's tasks; a repeat comes `repeat_gap` tasks after
    the first time at the earliest. Nobody gets new tasks whose hits on their last `gold_window`
    gold pairs are below `min_gold` beyond chance, or whose answers are unlike any honest
    annotator's; `max_wrong` is the chance that somebody honest is ever stopped by that.
    """

    last_ranks: Positive
    min_mean: Annotated[float, Field(ge=0, le=4)]
    pause: Annotated[float, Field(gt=0)]
    queue: Annotated[int, Field(ge=20)]
    patience: Annotated[float, Field(gt=0)]
    gold: Annotated[float, Field(ge=0, le=0.5)]
    repeats: Annotated[float, Field(ge=0, le=0.5)]
    repeat_gap: Natural
    min_gold: Share
    gold_window: Positive
    max_wrong: Annotated[float, Field(gt=0, le=0.1)]


class Push(Section):
    """How tasks are added: how many in one request."""

    batch: Annotated[int, Field(ge=10, le=10_000)]


class Consensus(Section):
    """How a mean between two levels is rounded (`annotation.votes.rule.Rounding`)."""

    rounding: Literal["up", "nearest"]


class Agreement(Section):
    """The bootstrap of agreement, and the limits beyond which an annotator is flagged.

    `min_seconds` applies to the median judgment and to each of a `burst` in a row, `max_same` to
    the share of one level, `min_correlation` to a person's levels and the others' mean.
    """

    seed: Natural
    resamples: Positive
    confidence: Annotated[float, Field(gt=0, lt=1)]
    min_judgments: Positive
    min_seconds: Annotated[float, Field(ge=0)]
    burst: Annotated[int, Field(ge=2)]
    max_same: Share
    min_correlation: Annotated[float, Field(ge=-1, le=1)]


class Calibration(Section):
    """How a machine's levels are held against people's, and which faults it is told of.

    `resamples` and `confidence` are of the bootstrap over queries. `epsilon` is what a person costs
    beyond the machine, in the alternative annotator test. A machine fails where more than
    `max_failed` of its answers have no level; it is constant where more than `max_same` of its
    levels are one, no better than similarity where the correlation with people that this leaves may
    be below `min_beyond` (the low end of its interval), lenient or severe where its levels lie more
    than `max_bias` above or below people's on average. Below `min_pairs` nothing is said. Levels
    `min_difference` or more apart are worth a second look. `runs` are files of test runs beside the
    reference runs.
    """

    seed: Natural
    resamples: Positive
    confidence: Annotated[float, Field(gt=0, lt=1)]
    epsilon: Annotated[float, Field(ge=0, lt=1)]
    min_pairs: Positive
    max_failed: Share
    max_same: Share
    min_beyond: Annotated[float, Field(ge=0, lt=1)]
    max_bias: Annotated[float, Field(gt=0, le=4)]
    min_difference: Annotated[int, Field(ge=1, le=4)]
    runs: list[Name]
