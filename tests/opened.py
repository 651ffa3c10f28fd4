"""An open campaign, for tests of what it makes possible."""

from pipeline.campaign.campaign import Campaign
from pipeline.core.people_sections import Annotation

OPEN = Campaign(
    id="348075d9-cac8-4995-ad38-d2f981dd1cde",
    name="Spring",
    guideline="1",
    rehearsal=False,
    opened_at="2024-05-01T07:00:00Z",
    closed_at=None,
)
STANDARD = Annotation(language="en", guideline="standard")
"""The guideline that params.yaml chooses as it comes."""
