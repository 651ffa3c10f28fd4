"""What makes a capitalised word the name of a person: lists, its place, and its corpus.

`judging.judge` is the entry point; the words are in `words.toml`.
"""
