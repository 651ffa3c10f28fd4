"""Votes on pairs, and the rule that makes a consensus from them."""
