"""Baselines of ranked moment retrieval, trained on a release as anybody outside would.

A DAG of its own, `baselines/dvc.yaml`. May import `momentrank`, never `pipeline` or `annotation`.
"""
