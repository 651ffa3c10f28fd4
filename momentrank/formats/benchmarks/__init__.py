"""The formats of benchmarks: one file each, with the names of its fields and its readers.

Fields and units are defined only here: `pipeline.corpora` reads corpora by the same definitions.
"""
