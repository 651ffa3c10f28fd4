"""Votes on pairs, and the rule that makes a consensus of them."""
