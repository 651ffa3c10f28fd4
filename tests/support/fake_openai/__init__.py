"""A stand-in for an OpenAI-compatible server, with faults from a seeded script.

It serves Chat Completions over local HTTP, for tests and benchmarks. Each caption contains a hash
of its description, so that callers can check which description it is for. There is no model.
"""
