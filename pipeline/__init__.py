"""The stages that need no people, one module per stage, as listed in `dvc.yaml`.

A stage is a pure function from tables to tables, under a thin `main` that reads, calls
and writes. Stages may import `momentrank`, never `annotation`.
"""
