"""Projects, tasks and answers as the campaign uses them, parsed from the SDK's objects."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

BARE = ("id", "data", "is_labeled", "total_annotations", "cancelled_annotations")
OF_ANSWER = ("id", "completed_by", "updated_by", "was_cancelled", "created_at", "updated_at",
             "lead_time", "result", "parent_prediction", "parent_annotation")  # fmt: skip
OF_DRAFT = ("id", "user", "annotation", "created_at")
# Label Studio applies these names at every level: to a task, its answers and its drafts.
FULL = {"id", "data", "is_labeled", "updated_at", "annotations", "drafts", *OF_ANSWER, *OF_DRAFT}

OPTIONS: dict[str, object] = {
    "show_instruction": True,
    "show_skip_button": False,
    "enable_empty_annotation": False,
    "show_annotation_history": False,
    "show_collab_predictions": False,
    "maximum_annotations": 1,
    "sampling": "Sequential sampling",
    "model_version": "",
    "evaluate_predictions_automatically": False,
    "reveal_preannotations_interactively": False,
    "show_ground_truth_first": False,
    "show_overlap_first": False,
    "overlap_cohort_percentage": 100,
    "skip_queue": "REQUEUE_FOR_OTHERS",
    "task_data_login": None,
}
"""A project's settings in Label Studio, in addition to configuration and instruction."""

OF_PROJECT = (
    "id", "title", "description", "label_config", "expert_instruction", "created_at", "task_number",
    "total_annotations_number", "skipped_annotations_number", "total_predictions_number",
    "created_by", *OPTIONS,
)  # fmt: skip
"""For a list of projects; by default Label Studio counts eight more things in each: slow."""

Purpose = Literal["campaign", "exam", "feedback", "adjudication"]
"""What one of our projects is for: the campaign's votes, or something else."""


class Project(NamedTuple):
    """A project, and its numbers of tasks, of submitted or skipped answers, and of predictions.

    `options` are the values of `OPTIONS`, `creator` is an account.
    """

    id: int
    title: str
    description: str
    label_config: str
    expert_instruction: str
    created_at: str
    tasks: int
    answers: int
    predictions: int = 0
    options: tuple[object, ...] = tuple(OPTIONS.values())
    creator: int | None = None

    @property
    def settings(self) -> dict[str, object]:
        """What `LabelStudio.change` can set, as it is."""
        texts = ("title", "description", "label_config", "expert_instruction")
        named = {name: getattr(self, name) for name in texts}
        return named | dict(zip(OPTIONS, self.options, strict=True))

    @classmethod
    def parse(cls, item: Any) -> "Project":  # noqa: ANN401  (the SDK has several types for it)
        """Return the SDK's project as ours."""
        return cls(
            item.id,
            item.title or "",
            item.description or "",
            item.label_config or "",
            item.expert_instruction or "",
            str(item.created_at),
            item.task_number or 0,
            (item.total_annotations_number or 0) + (item.skipped_annotations_number or 0),
            getattr(item, "total_predictions_number", None) or 0,
            tuple(getattr(item, name, None) for name in OPTIONS),
            item.created_by.id if item.created_by else None,
        )


class Attachment(NamedTuple):
    """Something attached to a project (a storage, webhook, model or view), and when it was made.

    `location` is where a storage has its files, and a view's title; `path` is its own address in
    the API. When a view was made, the server does not say.
    """

    kind: str
    path: str
    location: str
    created_at: str

    def __str__(self) -> str:
        """Say what it is, where it leads, and when it was made."""
        made = f" (created {self.created_at[:19]})" if self.created_at else ""
        return f"{self.kind} {self.location!r}{made}"

    @classmethod
    def parse_storage(cls, kind: str, base: str, item: Mapping[str, Any]) -> "Attachment":
        """Return a storage of the API as ours; `base` is the path of its list."""
        bucket = f"s3://{item.get('bucket')}/{item.get('prefix') or ''}".rstrip("/")
        location = str(item.get("path")) if item["type"] == "localfiles" else bucket
        path = f"{base}{item['type']}/{item['id']}"
        return cls(kind, path, location, str(item.get("created_at")))

    @classmethod
    def parse_address(cls, kind: str, base: str, item: Mapping[str, Any]) -> "Attachment":
        """Return a webhook or a model of the API as ours."""
        address, made = str(item.get("url")), str(item.get("created_at"))
        return cls(kind, f"{base}{item['id']}", address, made)

    @classmethod
    def parse_view(cls, kind: str, base: str, item: Mapping[str, Any]) -> "Attachment | None":
        """Return a view of the API as ours; None if it shows all tasks, in their own order.

        The labeling page offers only what its project's first view shows, whoever made that.
        """
        data = item["data"] if isinstance(item["data"], Mapping) else {}
        parts = [data.get(name) for name in ("filters", "ordering", "selectedItems")]
        inner = [part.values() if isinstance(part, Mapping) else [part] for part in parts]
        steers = [isinstance(value, list) and bool(value) for values in inner for value in values]
        title = str(data.get("title"))
        return cls(kind, f"{base}{item['id']}", title, "") if any(steers) else None


class Task(NamedTuple):
    """A task: its key, whether it is out of the stream, and how many answers the server counts.

    `query` and `clip` are what it shows: a text and the clip's HTML, unless someone put something
    else there.
    """

    id: int
    pair: object
    closed: bool
    answers: int
    query: object = None
    clip: object = None

    @classmethod
    def parse(cls, item: Any) -> "Task":  # noqa: ANN401  (as above)
        """Return the SDK's task, requested with `BARE`, as ours."""
        answers = (item.total_annotations or 0) + (item.cancelled_annotations or 0)
        pair, *shown = _data(item)
        return cls(item.id, pair, bool(item.is_labeled), answers, *shown)

    @property
    def waits(self) -> bool:
        """Whether it is offered to its annotator."""
        return not self.closed and not self.answers


class AnsweredTask(NamedTuple):
    """A task with people's answers, as returned by Label Studio's API.

    `answers` are its annotations, `drafts` those not submitted: only the token owner's own, since
    Label Studio shows nobody another's. `query` and `clip` are as in a `Task`.
    """

    id: int
    pair: object
    closed: bool
    updated_at: datetime
    answers: Sequence[Mapping[str, Any]]
    drafts: Sequence[Mapping[str, Any]]
    query: object = None
    clip: object = None

    @classmethod
    def parse(cls, item: Any) -> "AnsweredTask":  # noqa: ANN401  (as above)
        """Return the SDK's task, requested with `FULL`, as ours."""
        pair, *shown = _data(item)
        return cls(
            item.id,
            pair,
            bool(item.is_labeled),
            item.updated_at.astimezone(UTC),
            [{name: answer.get(name) for name in OF_ANSWER} for answer in item.annotations],
            [
                {name: answer.get(name) for name in OF_DRAFT}
                for answer in map(_fields, item.drafts or ())
            ],
            *shown,
        )


def _data(item: Any) -> list[object]:  # noqa: ANN401  (as above)
    return [item.data.get(name) for name in ("pair", "query", "clip_html")]


def _fields(draft: Any) -> Mapping[str, Any]:  # noqa: ANN401  (as above)
    return draft if isinstance(draft, Mapping) else draft.model_dump(mode="json")
