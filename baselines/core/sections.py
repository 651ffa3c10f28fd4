"""The sections of `baselines/params.yaml`, as strict models."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Weight = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Seconds = Annotated[float, Field(gt=0)]
Threshold = Annotated[float, Field(gt=0, le=1)]
TopName = Annotated[str, Field(pattern=r"^top\d\d+$")]
"""A training set, as its file has it: top01, top20. (DVC can't show numbers as keys.)"""
MODELS = ("reloclnet", "xml", "spr", "conquer")
"""The trained models, as stages and sections name them."""
ZERO_SHOT = "zero_shot"
"""The stage and section of what is not trained."""
Mode = Literal["as_paper", "as_published"]


def _odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError("must be odd: as many rows before a row as after it")
    return value


Odd = Annotated[Positive, AfterValidator(_odd)]


class Section(BaseModel):
    """A model that rejects unknown keys and wrong types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Features(Section):
    """Where features are, or how they are made."""

    videos: str | None
    folder: str
    video: str
    sub: str | None
    queries: str
    clip_seconds: Seconds
    max_rows: Positive
    max_tokens: Positive
    normalize_video: bool
    normalize_sub: bool
    normalize_queries: bool


class Schedule(Section):
    """How long a training is, in epochs."""

    epochs: Positive
    validate_every: Seconds


class Train(Schedule):
    """How all models are trained; `by_top` has the schedule of an N that has its own."""

    release: str
    top: list[Natural] = Field(min_length=1)
    seeds: list[Natural] = Field(min_length=1)
    mode: Mode
    device: str
    precision: Literal["float32", "bf16"]
    by_top: dict[TopName, Schedule]
    patience: Positive
    smoothing: Positive
    batch_size: Positive
    learning_rate: Seconds
    warmup: Share
    weight_decay: Weight
    max_norm: Seconds
    save_every: Positive

    def of_top(self, top: int) -> "Train":
        """Return the settings of one N."""
        schedule = self.by_top.get(f"top{top:02d}", self)
        own = {"epochs": schedule.epochs, "validate_every": schedule.validate_every}
        return self.model_copy(update={"by_top": {}, **own})


class Attentive(Section):
    """What all models have in common."""

    hidden: Positive
    heads: Positive
    dropout: Share
    input_dropout: Share

    @model_validator(mode="after")
    def _heads_share_hidden(self) -> Self:
        if self.hidden % self.heads:
            raise ValueError(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        return self


class TwoStreams(Attentive):
    """What XML and ReLoCLNet have in common."""

    kernel: Odd
    margin: Weight
    span_weight: Weight
    video_ranking_weight: Weight
    query_ranking_weight: Weight
    hard_negatives_from: Natural
    hard_pool: Positive
    alpha: Weight


class ReLoCLNet(TwoStreams):
    """ReLoCLNet (Zhang et al., SIGIR 2021)."""

    frame_weight: Weight
    video_weight: Weight


class XML(TwoStreams):
    """XML (Lei et al., ECCV 2020)."""


class SPR(ReLoCLNet):
    """SPR, simplified (Zhang et al., 2025); the other settings are its refiner's."""

    segment_seconds: Seconds
    context_seconds: Weight
    window_seconds: Seconds
    segments: Positive
    gap: Natural
    moments: Positive


class SpanBounds(Section):
    """In how many videos moments are sought, and how long they may be."""

    videos: Positive
    min_rows: Natural
    max_rows: Positive

    @model_validator(mode="after")
    def _some_length_is_possible(self) -> Self:
        if self.min_rows >= self.max_rows:
            raise ValueError(
                f"min_rows must be below max_rows ({self.max_rows}), the first that is too long"
            )
        return self


class CONQUER(Attentive, SpanBounds):
    """CONQUER (Hou et al., ACM MM 2021)."""

    first_stage: Literal["reloclnet", "xml", "spr"]
    clusters: Positive
    kernel: Odd
    channels: Positive
    span_weight: Weight
    negatives: Positive
    negative_pool: Positive


class Predict(SpanBounds):
    """How lists are made."""

    min_rows: Positive
    moments: Positive
    nms: Threshold | None
    query_block: Positive
    row_block: Positive


class ZeroShot(Section):
    """How moments are found without training."""

    model: Annotated[str, Field(pattern="^(builtin|open_clip:.+)$")] | None
    seconds: list[Seconds] = Field(min_length=1)
    nms: Threshold | None


class Score(Section):
    """How runs are scored."""

    references: str | None
    rounds: Positive
    confidence: Annotated[float, Field(gt=0, lt=1)]


class Params(Section):
    """The whole of `baselines/params.yaml`."""

    features: Features
    train: Train
    reloclnet: ReLoCLNet
    xml: XML
    spr: SPR
    conquer: CONQUER
    predict: Predict
    zero_shot: ZeroShot
    score: Score

    @model_validator(mode="after")
    def _a_moment_fits(self) -> Self:
        window = round(self.spr.window_seconds / self.features.clip_seconds)
        rows = {"features.max_rows": self.features.max_rows, "spr.window_seconds, in rows,": window}
        for key, count in rows.items():
            if count <= self.predict.min_rows:
                raise ValueError(f"{key} must be above predict.min_rows ({self.predict.min_rows})")
        return self
