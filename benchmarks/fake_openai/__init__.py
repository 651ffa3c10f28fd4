"""A stand-in for an OpenAI-compatible server, with a bad day by a seeded script.

Speaks Chat Completions, Files and Batches over plain HTTP on this machine; for tests and
benchmarks. Every caption carries the hash of its description, so that it can be told whether it
came to the right one. Nothing here is a model.
"""
