"""A release as an outsider reads it: queries, training pairs, videos, qrels."""
