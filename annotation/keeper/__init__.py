"""The loop of a campaign, unattended: `campaign keep`."""
