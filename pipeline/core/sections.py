"""The sections of `params.yaml`, one per stage, each with the stage's name.

A section defines its keys, and the values that each of them may have.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from pipeline.core.validation import Name, Natural, Positive, Section, Share

Modality = Literal["v", "t", "vt"]
Further = Literal["similarity", "learned"]
Corpus = Literal["tvr", "charades-sta", "activitynet-captions", "qvhighlights", "didemo", "table"]
Modalities = Annotated[list[Modality], Field(min_length=1)]
Column = Literal["moment_id", "video_id", "start", "end", "duration", "description", "modality"]
Columns = Mapping[Column, str | None]
END_SLACK: Mapping[Corpus, float] = {
    "tvr": 1.0,
    "charades-sta": 2.5,
    "activitynet-captions": 1.0,
    "qvhighlights": 2.5,
    "didemo": 1.0,
    "table": 2.5,
}
"""The default of `ingest.end_slack`, in seconds, by format.

Where durations are rounded down to whole seconds and ends up, an end may be two seconds past.
"""
RESERVED_PARAMETERS = {"model", "messages", "max_tokens", "max_completion_tokens", "stream", "n"}


class Engine(Section):
    """Where the expensive stages do their work; never what they write.

    `workers` is how many tasks run in parallel (0: one per core, or as many as the cluster takes),
    `shards` is how many parts a stage's work is divided into, `address` is that of a Ray cluster
    (null: one started on this machine), `folder` is where parts are kept; every machine must see
    it. A stage whose tables would need more than `table_memory` GB of memory lets DuckDB make them
    within it.
    """

    kind: Literal["local", "ray", "slurm"]
    workers: Natural
    shards: Positive
    address: Name | None
    folder: Name
    table_memory: Annotated[float, Field(gt=0)]

    @field_validator("folder")
    @classmethod
    def _is_a_path(cls, folder: str) -> str:
        if "://" in folder:
            raise ValueError("must be a folder that every machine sees, not an address")
        return folder


class Sample(Section):
    """The sample corpus: how many videos, and how they are drawn."""

    seed: Natural
    videos: Positive
    fps: Annotated[int, Field(ge=4, le=60)]
    height: Annotated[int, Field(ge=120, le=1080, multiple_of=2)]


class Ingest(Section):
    """The corpus, and which of its moments become queries and pool.

    Null as `end_slack` means the format's (`END_SLACK`).
    """

    corpus: Corpus
    source: Name
    videos: str | None
    query_modalities: Modalities
    pool_modalities: Modalities
    max_rejected: Share
    end_slack: Annotated[float, Field(ge=0)] | None
    max_characters: Positive
    language: Annotated[str, Field(pattern=r"^(auto|[a-z]{2})$")]
    columns: dict[Column, Name | None]

    @property
    def slack(self) -> float:
        """The seconds by which an end may be past the video's."""
        return END_SLACK[self.corpus] if self.end_slack is None else self.end_slack

    @field_validator("videos")
    @classmethod
    def _videos_is_a_template(cls, videos: str | None) -> str | None:
        if videos is not None and "{video_id}" not in videos:
            raise ValueError("must contain {video_id}, as in videos/{video_id}.mp4")
        if videos is not None and "*" in videos.removesuffix("{video_id}.*"):
            raise ValueError("may have a * only at its end, as in videos/{video_id}.*")
        return videos


class Tagger(Section):
    """The `builtin` name tagger: how many templated sentences it learns from, and how long."""

    seed: Natural
    sentences: Positive
    epochs: Positive


class Names(Section):
    """The tagger of person names: `builtin`, a hub id or a local path."""

    model: Name
    revision: Name | None


class LanguageModel(Section):
    """A model behind a backend `openai` (address and key come from the environment).

    `timeout` is in seconds; prices are in USD per million tokens. `extra` is sent with every
    request; null removes a parameter.
    """

    model: Name
    in_flight: Annotated[int, Field(ge=1, le=1000)]
    requests_per_minute: Positive
    tokens_per_minute: Positive
    max_output_tokens: Positive
    output_limit: Literal["max_tokens", "max_completion_tokens"]
    extra: dict[Name, Any]
    timeout: Annotated[float, Field(gt=0)]
    input_price: Annotated[float, Field(ge=0)]
    output_price: Annotated[float, Field(ge=0)]
    cache: Name

    @field_validator("extra")
    @classmethod
    def _extra_leaves_the_question_alone(cls, extra: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(extra.keys() & RESERVED_PARAMETERS):
            raise ValueError(f"must not set {taken[0]}: it has its own key or is never changed")
        return extra


class OpenAI(LanguageModel):
    """The model that rewrites, several descriptions in one request."""

    per_request: Annotated[int, Field(ge=1, le=100)]


class Rewrite(Section):
    """How descriptions become captions, and which checks a caption must pass.

    None: for `min_similarity` the learned limit, for `min_detail` not measured.
    """

    backend: Literal["openai", "rules", "none"]
    prompt: Name
    rounds: Natural
    similarity: Literal["masked", "raw"]
    min_similarity: Share | None
    min_detail: Share | None
    max_name_score: Share
    openai: OpenAI


class MaxDetail(Section):
    """The largest share of a caption's details that a vaguer one may keep, by degree."""

    vague: Share
    gist: Share

    @field_validator("gist")
    @classmethod
    def _less_than_vague(cls, gist: float, info: ValidationInfo) -> float:
        if gist >= (vague := info.data.get("vague", 1.0)):
            raise ValueError(f"must be less than max_detail.vague, {vague} (it is {gist})")
        return gist


Bounds = Annotated[list[Share], Field(min_length=2, max_length=2)]
"""The least and the largest value."""


class SimilarityBounds(Section):
    """How similar a variant must be to its caption, at least and at most."""

    vague: Bounds
    gist: Bounds
    changed: Bounds

    @field_validator("*")
    @classmethod
    def _least_comes_first(cls, bounds: list[float]) -> list[float]:
        if bounds[0] > bounds[1]:
            raise ValueError(f"the least must come first (they are {bounds})")
        return bounds


class Vary(Section):
    """How many captions become further test queries, by what is done to them.

    A `vague` one keeps more than `max_detail.gist`, and at most `max_detail.vague`, of the
    caption's details; a `gist` at most the former.
    """

    backend: Literal["rules", "openai"]
    prompt: Name
    seed: Natural
    vague: Natural
    gist: Natural
    changed: Natural
    max_detail: MaxDetail
    similarity: SimilarityBounds


class Split(Section):
    """The number of queries for people to judge, and the maximum for training."""

    seed: Natural
    val: Natural
    test: Natural
    train: Positive | None


class Embed(Section):
    """The sentence encoder of query and caption."""

    model: Name
    revision: Name | None
    pooling: Literal["mean", "cls", "pooler"]
    precision: Literal["float32", "bf16"]
    device: Annotated[str, Field(pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")]
    batch_size: Positive
    max_tokens: Annotated[int, Field(ge=8)]


class Candidates(Section):
    """The first batch, what chooses the others, and the most moments judged and searched per query.

    With `similarity`, a second batch of the same size follows by the rule of section `plan`. With
    `learned`, batches of `pool.learned_batch` follow while at least `min_yield` relevant moments
    are expected in the next.
    """

    batch: Positive
    further: Further
    min_yield: Annotated[float, Field(gt=0)]
    top: Positive
    depth: Positive

    @field_validator("top")
    @classmethod
    def _two_batches(cls, top: int, info: ValidationInfo) -> int:
        batch = info.data.get("batch", top)
        if info.data.get("further") == "similarity" and top > 2 * batch:
            raise ValueError(f"must be at most two batches of {batch} (it is {top})")
        return top

    @field_validator("depth")
    @classmethod
    def _no_less_than_top(cls, depth: int, info: ValidationInfo) -> int:
        if depth < (top := info.data.get("top", depth)):
            raise ValueError(f"must be at least candidates.top, {top} (it is {depth})")
        return depth


class Pool(Section):
    """How many moments of a query a learned batch has."""

    learned_batch: Positive


class Clips(Section):
    """The clips that annotators see: `padding` in s, `height` in pixels, `workers` 0: all cores.

    With `audio` they keep their sound, for a pool with moments about what is said (`t`, `vt`).
    """

    format: Literal["mp4", "gif"]
    height: Annotated[int, Field(ge=16)]
    padding: Annotated[float, Field(ge=0)]
    audio: bool
    url: Annotated[str, Field(pattern=r"^(label-studio|s3://[a-z0-9.-]+(/.*)?|https?://[^\s?#]+)$")]
    workers: Natural

    @field_validator("audio")
    @classmethod
    def _pictures_are_silent(cls, audio: bool, info: ValidationInfo) -> bool:
        if audio and info.data.get("format") == "gif":
            raise ValueError("needs clips.format mp4: a GIF has no sound")
        return audio


class Judge(Section):
    """The machine that judges pairs alongside people; none of its levels becomes one of theirs.

    `pool_top` is how many more moments per query, below the candidates, it alone judges. `frames`
    is the most pictures per clip, `height` their greatest height in pixels, `repeats` how often it
    judges each pair. `blind`: the caption in place of the pictures.
    """

    backend: Literal["similarity", "openai", "none"]
    pool_top: Natural
    prompt: Name
    frames: Positive
    height: Annotated[int, Field(ge=16)]
    repeats: Positive
    blind: bool
    openai: LanguageModel


class Pseudo(Section):
    """The sizes N of the pseudo training sets."""

    top: Annotated[list[Positive], Field(min_length=1)]

    @field_validator("top")
    @classmethod
    def _sizes_differ(cls, top: list[int]) -> list[int]:
        if len(set(top)) != len(top):
            raise ValueError("a size appears twice")
        return top


class ResponsibleAI(Section):
    """What only the lead knows about the collection, for its card and its Croissant file.

    `annotators`: who judged, how they were found and paid; `personal_information`: what videos and
    queries may reveal about people; `social_impact`; `use_cases`: what it is for, and what not;
    `maintenance`: who keeps it, and where to report an error.
    """

    annotators: Name | None
    personal_information: Name | None
    social_impact: Name | None
    use_cases: Name | None
    maintenance: Name | None


class Release(Section):
    """The name and terms of the released collection.

    `license` and `language` are identifiers of the Hugging Face hub, `creators` are written as
    `Family, Given`. Replace every None before a closed campaign is released, except for
    `language` (detected) and a `corpus` of a known format.
    """

    name: Name | None
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    license: Name | None
    language: Name | None
    url: Annotated[str, Field(pattern=r"^https?://\S+$")] | None
    citation: Name | None
    creators: Annotated[list[Name], Field(min_length=1)] | None
    corpus: Name | None
    rai: ResponsibleAI


class ReferenceRuns(Section):
    """Runs to compare with: `jitter` is the share of its length by which a boundary moves."""

    seed: Natural
    jitter: Annotated[float, Field(ge=0, lt=0.5)]


class Report(Section):
    """The limits of the checks on the report's first screen.

    `min_alpha` is for Krippendorff's ordinal alpha; the shares are those of pairs without
    consensus, of pairs with the query's own words below level 4, of moments not in use, and of
    relevant moments that the pool missed. `max_drift` (levels) is how far new people may judge from
    those before a reopening.
    """

    min_alpha: Annotated[float, Field(ge=-1, le=1)]
    max_discarded: Share
    max_alike_below_top: Share
    max_lost: Share
    max_missed: Share
    max_drift: Annotated[float, Field(gt=0, le=4)]
