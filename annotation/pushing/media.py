"""Let the people of a project see the clips, wherever `clips.url` says they are."""

from annotation import env
from annotation.opened import CampaignError
from annotation.studio.client import LabelStudio
from annotation.studio.records import Project
from pipeline import clip_store


def place(setting: str) -> str:
    """Return where clips are: a folder as the server sees it, a bucket, or an address.

    Raises:
        CampaignError: nobody said where the server has its local files.
    """
    if setting != clip_store.LABEL_STUDIO:
        return setting
    root = env.value(env.ROOT)
    if root is None:
        raise CampaignError(
            f"{env.ROOT} is not set (in the environment or in {env.ENV}): say which folder the"
            " Label Studio server serves files from, as the server sees it;"
            " docs/campaign.md, `Clips`"
        )
    return f"{root.rstrip('/')}/clips"


def serve(studio: LabelStudio, project: Project, clips: str) -> None:
    """Add the storage that a project needs for its clips; those of a web server need none.

    Raises:
        StudioError: the server does not know the folder or the bucket, and says why.
    """
    if clips.startswith(clip_store.S3_SCHEME):
        studio.serve_s3(project, *clip_store.bucket_and_prefix(clips))
    elif not clips.startswith(("http://", "https://")):
        studio.serve_local(project, clips)
