"""What makes a capitalised word the name of a person: lists, its place, and its corpus.

`evidence.Evidence` is the way in; the words stand in `words.toml`.
"""
