"""Baselines for ranked moment retrieval, trained on a release as any outsider would.

They have their own DAG, `baselines/dvc.yaml`, and import `momentrank`, but never `pipeline` or
`annotation`.
"""
