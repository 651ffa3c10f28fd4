"""The unattended loop of a campaign: `campaign keep`."""
