"""What makes a capitalised word the name of a person: lists, its place, and its corpus.

`judging.judge` is the way in; the words are in `words.toml`.
"""
