"""The formats of benchmarks: one file each, with the names of its fields and its readers.

Fields and units are defined here alone: `pipeline.corpora` reads corpora by the same definitions.
"""
