"""Features of videos and queries: the published layouts, their checks, and the extractors."""
