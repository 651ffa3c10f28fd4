"""What release, report and annotation share of a campaign."""
