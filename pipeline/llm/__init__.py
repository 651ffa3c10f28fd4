"""Requests to a large language model over HTTP; no answer is paid for twice."""
