"""The campaign's order: one for all, so that people work on the same queries at the same time."""

from pipeline.core import rng


def place(campaign: str, query_id: str) -> str:
    """Return a query's place in the campaign: to sort by it is the order in which it is judged."""
    return rng.draw(campaign, query_id)
