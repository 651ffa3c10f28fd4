"""Storage of the clips: their location according to `clips.url`, attached to a project."""

from annotation.label_studio import settings
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.records import Project
from pipeline.campaign.campaign import CampaignError
from pipeline.video import store


def location(setting: str) -> str:
    """Return where clips are: a folder as the server sees it, a bucket, or an address.

    Raises:
        CampaignError: the folder of the server's local files is not set.
    """
    if setting != store.LABEL_STUDIO:
        return setting
    root = settings.value(settings.ROOT)
    if root is None:
        raise CampaignError(
            f"{settings.ROOT} is not set (in the environment or in {settings.ENV}): set it to the"
            " folder that the Label Studio server serves files from, as the server sees it;"
            " docs/server.md, Clips"
        )
    return f"{root.rstrip('/')}/clips"


def attach(studio: LabelStudio, project: Project, clips: str) -> None:
    """Add the storage that a project needs for its clips; clips on a web server need none.

    Raises:
        StudioError: the server does not know the folder or the bucket; it says why.
    """
    if clips.startswith(store.S3_SCHEME):
        studio.serve_s3(project, *store.bucket_and_prefix(clips))
    elif not clips.startswith(("http://", "https://")):
        studio.serve_local(project, clips)
