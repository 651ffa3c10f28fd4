"""A practice project: a query's pairs that anyone may judge, and that count nowhere."""

import pandas as pd

from annotation.label_studio import guideline, page, storage
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.records import OPTIONS
from pipeline.core.params import Params
from pipeline.video import store

TITLE = "Practice (counts nowhere)"
SIZE = 20


def practice(studio: LabelStudio, shown: pd.DataFrame, params: Params) -> str:
    """Return the address of the practice project; create it if there is none.

    `shown` are pairs with `query, clip`; the first are taken.

    Raises:
        StudioError: the server can't be reached or fails.
    """
    project = next((listed for listed in studio.projects() if listed.title == TITLE), None)
    if project is None:
        config = page.label_config(guideline.current(params.annotation))
        project = studio.create({**OPTIONS, "title": TITLE, "label_config": config})
    if not project.tasks:
        storage.attach(studio, project, storage.location(params.clips.url))
        rows = zip(shown["query"].head(SIZE), shown["clip"].head(SIZE), strict=True)
        urls = ((query, store.clip_url(clip, params.clips.url)) for query, clip in rows)
        studio.add(project, [page.task_data(query, url, "practice") for query, url in urls])
    return studio.page_url(project)
