"""What release, report and annotation share about a campaign."""
