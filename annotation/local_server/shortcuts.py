"""Faster ways to compute what Label Studio computes for each answer, with the same result.

A person's answer takes two requests, the next task and its annotation, and more than 100 SQL
statements. Most repeat what the same request has already read, or look into empty tables. Each
shortcut returns what Label Studio's own code returns; none changes how an answer is saved.
`workers.py` and `embedded.py` run this in Label Studio's environment; it imports none of our code.
"""

import functools
import json
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

Django = Any
"""A Django or Label Studio object; neither is installed where types are checked."""

ANSWERING = re.compile(r"/api/(?:projects/\d+/next|tasks/\d+/annotations)/?$")
"""The two requests of an answer. Neither changes a project or an organization."""

FIRST_TASKS = 20
ONE_FOR_ALL, DRAFTED = "serializer of annotations", "tasks with drafts"
"""Keys of what a page's serializer caches."""

EXPORTERS = ("azure_blob", "gcs", "localfiles", "redis", "s3")
BY_USER = ("targets", "contextTargets", "rules", "prerequisites")
"""What makes a feature flag differ from user to user."""


def install() -> None:
    """Put all shortcuts in place, once Django is set up."""
    read_rows_once()
    read_one_to_one_rows_plainly()
    keep_counts_of_columns()
    look_for_storages_once()
    look_for_the_next_task_only()
    save_activity_with_the_answer()
    parse_configs_once()
    evaluate_flags_once()
    serialize_pages_at_once()


def load(name: str) -> Django:
    """Return a module of Django or Label Studio."""
    return import_module(name)


def answering_request() -> Django:
    """Return this thread's request if it belongs to an answer, else None."""
    request = load("core.current_request").get_current_request()
    return request if request is not None and ANSWERING.search(request.path_info) else None


def read_rows_once() -> None:
    """Read a project and an organization once per request, not for each copy of a task."""
    project, user = load("projects.models").Project, load("users.models").User
    tasks = load("tasks.models")
    _read_once(tasks.Task, "project")
    _read_once(tasks.Task, "updated_by")
    _read_once(tasks.Annotation, "project")
    _read_once(project, "organization")
    _read_once(user, "active_organization")


def _read_once(model: Django, name: str) -> None:
    descriptor = model.__dict__[name]
    field, read = descriptor.field, descriptor.get_object

    def get_object(instance: Django) -> Django:
        request = answering_request()
        if request is None:
            return read(instance)
        rows = request.__dict__.setdefault("rows_read", {})
        key = field.remote_field.model, getattr(instance, field.attname)
        if key not in rows:
            rows[key] = read(instance)
        return rows[key]

    descriptor.get_object = get_object


def read_one_to_one_rows_plainly() -> None:
    """Read a project's summary like any other row, without a savepoint each time it is used."""
    descriptor = load("annoying.fields").AutoSingleRelatedObjectDescriptor
    create, read = descriptor.__get__, descriptor.__base__.__get__

    def get(self: Django, instance: Django, instance_type: Django = None) -> Django:
        try:
            return read(self, instance, instance_type)
        except self.RelatedObjectDoesNotExist:
            return create(self, instance, instance_type)

    descriptor.__get__ = get


def keep_counts_of_columns() -> None:
    """Keep a project's counts of columns when a task is saved without its data.

    Label Studio subtracts the task's columns and adds them to the counts that it read earlier, so
    the counts grow with each answer. Only the set of columns is ever shown.
    """
    tasks = load("tasks.models")
    tasks._task_data_is_not_updated = lambda fields: bool(fields) and "data" not in fields


def look_for_storages_once() -> None:
    """Check for storages with one statement, not with one for each kind of storage."""
    project, tasks = load("projects.models").Project, load("tasks.models")
    classes = load("io_storages.models").get_storage_classes
    is_one_to_one = load("django.db.models").OneToOneRel
    related = [one for one in tasks.Task._meta.get_fields() if isinstance(one, is_one_to_one)]
    links = [one.related_model for one in related if "io_storages_" in one.get_accessor_name()]
    imports = _exists(classes("import"), "project")
    linked = _exists(links, "task")
    stores, link = project.get_all_import_storage_objects.func, tasks.Task.get_storage_link
    no_link = "_find_first_one_to_one_related_field_by_prefix_cache"

    def get_stores(self: Django) -> Django:
        return stores(self) if imports(self.pk) else []

    def get_link(self: Django) -> Django:
        if not hasattr(self, no_link) and not linked(self.pk):
            setattr(self, no_link, None)
        return link(self)

    project.get_all_import_storage_objects.func = get_stores
    tasks.Task.get_storage_link = get_link
    _export_where_storages_are(tasks.Annotation)


def _export_where_storages_are(annotation: Django) -> None:
    saved = load("django.db.models.signals").post_save
    modules = [load(f"io_storages.{name}.models") for name in EXPORTERS]
    names = {name: value for module in modules for name, value in vars(module).items()}
    exporters = [one for name, one in names.items() if name.startswith("export_annotation_to_")]
    classes = [one for name, one in names.items() if name.endswith("ExportStorage")]
    classes = [one for one in classes if not one._meta.abstract]
    for one in exporters:
        saved.disconnect(one, sender=annotation)
    exists = _exists(classes, "project")

    def export(sender: Django, instance: Django, **others: Django) -> None:
        if exists(instance.project_id):
            for one in exporters:
                one(sender=sender, instance=instance, **others)

    saved.connect(export, sender=annotation, weak=False)


def look_for_the_next_task_only() -> None:
    """Search the first few open tasks, not all of them, for one that nobody has locked.

    They are not joined with the locks of someone who has none, and nothing is annotated for a
    filter or an order that was not requested.
    """
    functions = load("projects.functions.next_task")
    find = functions._get_first_unlocked

    def find_first(tasks: Django, user: Django) -> Django:
        return find(tasks[:FIRST_TASKS], user) or find(tasks, user)

    functions._get_first_unlocked = find_first
    tasks, now = load("tasks.models"), load("django.utils.timezone").now
    find_locked = tasks.Task.get_locked_by

    def find_locked_by(user: Django, **where: Django) -> Django:
        own = tasks.TaskLock.objects.filter(user=user, expire_at__gt=now())
        return find_locked(user, **where) if own.exists() else None

    tasks.Task.get_locked_by = staticmethod(find_locked_by)
    manager = load("data_manager.managers").PreparedTaskManager
    annotate = manager.annotate_queryset

    def annotate_queryset(
        queryset: Django,
        fields_for_evaluation: Django = None,
        all_fields: bool = False,
        **others: Django,
    ) -> Django:
        if answering_request() is not None and not (fields_for_evaluation or all_fields):
            return queryset
        return annotate(queryset, fields_for_evaluation, all_fields, **others)

    manager.annotate_queryset = staticmethod(annotate_queryset)


def _exists(models: Iterable[Any], name: str) -> Callable[[int], bool]:
    """Return a function that checks whether a row of any model has this foreign key."""
    fields = [model._meta.get_field(name) for model in models]
    tables = sorted({(field.model._meta.db_table, field.column) for field in fields})
    each = [
        f'EXISTS (SELECT 1 FROM "{table}" WHERE "{column}" = %s)'  # noqa: S608  (Django's names)
        for table, column in tables
    ]
    sql = f"SELECT {' OR '.join(each)}"
    connection = load("django.db").connection

    def exists(key: int) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(sql, [key] * len(each))
            return bool(cursor.fetchone()[0])

    return exists


def save_activity_with_the_answer() -> None:
    """Save a person's last activity with the user row that an answer saves anyway."""
    user = load("users.models").User
    now = load("django.utils.timezone").now
    update = user.update_last_activity

    def update_last_activity(self: Django) -> None:
        if answering_request() is None:
            update(self)
        else:
            self.last_activity = now()

    user.update_last_activity = update_last_activity


def parse_configs_once() -> None:
    """Parse a labeling config once, not for each copy of a project."""
    projects = load("projects.models")
    parse = functools.lru_cache(maxsize=1000)(projects.extract_data_types)
    projects.extract_data_types = lambda config: dict(parse(config))


def evaluate_flags_once() -> None:
    """Evaluate a feature flag once where no rule makes it depend on the user."""
    flags = load("core.feature_flags.base")
    if not flags.settings.FEATURE_FLAGS_FROM_FILE:
        return
    content = json.loads(Path(flags.get_feature_file_path()).read_text("utf-8"))["flags"]
    same = {
        name
        for name, flag in content.items()
        if not any(flag.get(key) for key in BY_USER) and "variation" in flag["fallthrough"]
    }
    flags.client = Flags(flags.client, same)
    describe = flags.get_user_repr
    flags.get_user_repr = lambda user: functools.partial(describe, user)


def serialize_pages_at_once() -> None:
    """Serialize a page of tasks with one annotation serializer and one query for drafts.

    Label Studio creates a serializer for each task, and queries each task's drafts.
    """
    module, drafts = load("data_manager.serializers"), load("tasks.models")
    serializer = module.DataManagerTaskSerializer
    annotations_of, drafts_of = serializer.get_annotations, serializer.get_drafts

    def get_annotations(self: Django, task: Django) -> Django:
        context = self.context
        if not context.get("annotations") or context.get("annotations_stub"):
            return annotations_of(self, task)
        if ONE_FOR_ALL not in context:
            make = module.AnnotationsDMFieldSerializer
            context[ONE_FOR_ALL] = make(many=True, read_only=True, context=context)
        return context[ONE_FOR_ALL].to_representation(task.annotations.all())

    def get_drafts(self: Django, task: Django) -> Django:
        context = self.context
        if not context.get("drafts") or "request" not in context:
            return drafts_of(self, task)
        if DRAFTED not in context:
            rows = drafts.AnnotationDraft.objects.filter(user=context["request"].user)
            context[DRAFTED] = set(rows.values_list("task_id", flat=True))
        return drafts_of(self, task) if task.id in context[DRAFTED] else []

    serializer.get_annotations, serializer.get_drafts = get_annotations, get_drafts


class Flags:
    """The feature flag client; it describes a user only to a flag that needs it."""

    def __init__(self, client: Django, same: set[str]) -> None:
        """Take Label Studio's client, and the flags that are the `same` for all users."""
        self._client, self._same = client, same
        self._values = dict[tuple[str, bool], Django]()

    def variation(self, name: str, user: Django, default: bool) -> Django:
        """Return a flag's value for a user."""
        key = name, default
        if key not in self._values:
            value = self._client.variation(name, _describe(user), default)
            if name not in self._same:
                return value
            self._values[key] = value
        return self._values[key]

    def all_flags_state(self, user: Django) -> Django:
        """Return all flags' values for a user."""
        return self._client.all_flags_state(_describe(user))


def _describe(user: Django) -> Django:
    return user() if callable(user) else user
