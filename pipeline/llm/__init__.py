"""Asking a large language model over HTTP: what was paid for once is never paid for again."""
