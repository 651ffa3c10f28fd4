"""Machines that judge pairs alongside people: each one's judgments are a separate table."""
