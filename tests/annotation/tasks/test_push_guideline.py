"""A running campaign's guideline is not changed without a word."""

import pytest
from opened import OPEN, STANDARD

from annotation.label_studio import guideline
from annotation.label_studio.connection import Connection
from annotation.roster.roster import Roster
from annotation.tasks import pushing
from pipeline.campaign.campaign import CampaignError
from pipeline.core.params import load

OURS = guideline.current(STANDARD)


def connection(version, sha):
    versions = [OPEN.guidelines[0].model_copy(update={"version": version, "sha": sha})]
    campaign = OPEN.model_copy(update={"guideline": version, "guidelines": versions})
    return Connection(campaign, None, None, Roster([], {}))


@pytest.mark.parametrize(("version", "sha"), [(OURS.version, "another"), ("2", OURS.sha)])
def test_a_guideline_that_is_not_the_campaigns_is_not_shown(version, sha, repository):
    params = load(repository / "params.yaml")
    with pytest.raises(CampaignError, match=r"git restore .*en.md.* open --revise REASON"):
        pushing.push(connection(version, sha), None, params)
