"""Rewriting by rules of English: who is meant, once or again, and what to call them.

`rewriter.RulesRewriter` is the way in; words and titles stand in `words.toml`.
"""
