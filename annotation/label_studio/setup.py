"""The setup of a project: all that its annotator meets, as push makes it, and what differs from it.

push seals the settings that it writes. The seal, in the project's description, shows that they are
as it left them, even if the guideline has changed since. Anything else in a project is not ours:
predictions, other storages, webhooks, models, views that hide tasks.
"""

from collections.abc import Mapping
from typing import NamedTuple

from annotation.label_studio import projects, storage
from annotation.label_studio.connection import Connection
from annotation.label_studio.keys import Signer
from annotation.label_studio.records import Attachment, Project
from pipeline.campaign.campaign import CampaignError

SEAL = " Setup: "
Settings = Mapping[str, object]
"""What `LabelStudio.change` sets in a project."""


class Difference(NamedTuple):
    """What is not as push made it, in words, and what to remove from the project."""

    texts: list[str]
    foreign: list[Attachment]


def seal_settings(signer: Signer, settings: Settings) -> dict[str, object]:
    """Return settings with their seal at the end of the description."""
    return {**settings, "description": f"{settings['description']}{SEAL}{signer.seal(settings)}"}


def find_differences(
    connection: Connection, project: Project, clips: str, expected: Settings | None = None
) -> Difference:
    """Compare a project with what push made of it; `clips` is `clips.url`.

    `expected` are its settings by the present guideline: they name what was changed.

    Raises:
        StudioError: the server can't be reached or fails.
    """
    if not project.tasks and projects.MARK.fullmatch(project.description):
        return Difference([], [])  # a push that was killed has only begun it
    base, _, seal = project.description.rpartition(SEAL)
    settings = {**project.settings, "description": base}
    texts = []
    if seal != connection.signer.seal(settings):
        changed = [name for name, value in (expected or {}).items() if settings[name] != value]
        texts.append(", ".join(changed) or "its settings")
    if project.predictions:
        texts.append(f"{project.predictions} predictions")
    found = connection.studio.attachments(project)
    imports = [item for item in found if item.kind == "import storage"]
    location = _clips_location(clips)
    if location is None or projects.clips_mark(location) not in base:
        others = [item for item in found if item not in imports]
        return Difference([*texts, *map(str, others)], found)  # the clips have moved: by the lead
    ours = [item for item in imports if item.location == location.rstrip("/")][:1]
    if not ours and not location.startswith(("http://", "https://")):
        texts.append("the storage of its clips is missing")
    foreign = [item for item in found if item not in ours]
    return Difference([*texts, *map(str, foreign)], foreign)


def _clips_location(clips: str) -> str | None:
    try:
        return storage.location(clips)
    except CampaignError:  # only push needs to know the folder
        return None
