"""Releases of a collection: loading one, what changed between two, and their versions."""
