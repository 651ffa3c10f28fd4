"""An open campaign, for tests of what it makes possible."""

from annotation.label_studio import guideline
from pipeline.campaign.campaign import FORMAT, Campaign, GuidelineVersion
from pipeline.core.params import load_defaults

STANDARD = load_defaults().annotation
"""The guideline that params.yaml chooses."""
LABELS = dict(guideline.current(STANDARD).labels)
"""The texts of its page's choices."""
OPEN = Campaign(
    format=FORMAT,
    commit="0123456789" * 4,
    id="348075d9-cac8-4995-ad38-d2f981dd1cde",
    name="Spring",
    guideline="1",
    rehearsal=False,
    opened_at="2024-05-01T07:00:00Z",
    closed_at=None,
    guidelines=[
        GuidelineVersion(
            version="1", sha="a" * 12, since="2024-05-01T07:00:00Z", reason=None, labels=LABELS
        )
    ],
)
