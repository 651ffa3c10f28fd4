"""Simulated annotators: for rehearsals, tests and figures."""
