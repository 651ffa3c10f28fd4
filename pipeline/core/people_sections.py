"""The sections of `params.yaml` for the stages and commands that involve people."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline.core.validation import Name, Natural, Positive, Section, Share


class Annotation(Section):
    """By which guideline people judge, and in which language their page is.

    `language` is that of the page and the guideline (annotation/guideline/), never of the queries;
    the guideline `paper` follows the paper where ours departs from it.
    """

    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")]
    guideline: Literal["standard", "paper"]


class Exam(Section):
    """The exam before people judge: `queries` with their `top` moments, the same for all.

    The truth is the lead's gold, else the median of the first `group` people, then frozen. A person
    fails with a larger share of failed answers than `max_failed`; `required`: only people who
    passed get tasks.
    """

    required: bool
    queries: Positive
    top: Positive
    group: Annotated[int, Field(ge=3)]
    max_failed: Share


class Pull(Section):
    """How answers are fetched: tasks per request."""

    page: Annotated[int, Field(ge=10, le=10_000)]


class Plan(Section):
    """Who gets which tasks, how many at a time, and how people are checked meanwhile.

    A query's second batch is judged if the mean level over the last `last_ranks` of the first is
    `min_mean` or more. `pause` (minutes) is the longest time counted for a judgment, `queue` the
    most tasks that a person has open, `patience` (days) how long a task waits for them. `gold` and
    `repeats` are shares of a person's tasks; a repeat comes at least `repeat_gap` tasks after the
    first time. `link` is the share of judged pairs that new people judge again once a campaign is
    reopened. A person gets no new tasks if their hits on their last `gold_window` gold pairs are
    below `min_gold` beyond chance, or if their answers are unlike any honest annotator's;
    `max_wrong` is the chance that this ever stops an honest person.
    """

    last_ranks: Positive
    min_mean: Annotated[float, Field(ge=0, le=4)]
    pause: Annotated[float, Field(gt=0)]
    queue: Annotated[int, Field(ge=20)]
    patience: Annotated[float, Field(gt=0)]
    gold: Annotated[float, Field(ge=0, le=0.5)]
    repeats: Annotated[float, Field(ge=0, le=0.5)]
    repeat_gap: Natural
    link: Share
    min_gold: Share
    gold_window: Positive
    max_wrong: Annotated[float, Field(gt=0, le=0.1)]


class Push(Section):
    """How tasks are added: tasks per request."""

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
    """How a machine's levels are compared with people's, and which of its faults are reported.

    `resamples` and `confidence` are for the bootstrap over queries. `epsilon` is what a person
    costs beyond the machine, in the alternative annotator test. A machine fails if more than
    `max_failed` of its answers have no level. It is constant if more than `max_same` of its levels
    are the same; no better than similarity if the correlation with people that similarity leaves
    may be below `min_beyond` (the low end of its interval); lenient or severe if its levels are on
    average more than `max_bias` above or below people's. Below `min_pairs` there is no verdict.
    Levels `min_difference` or more apart are worth a second look. `runs` are files of test runs in
    addition to the reference runs.
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
