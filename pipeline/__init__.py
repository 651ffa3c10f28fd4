"""The stages that need no people, one module each, as `dvc.yaml` lists them.

A stage is a pure function from tables to tables under a thin `main` that reads, calls
and writes. May import `momentrank`, never `annotation`.
"""
