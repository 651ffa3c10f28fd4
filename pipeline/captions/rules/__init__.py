"""Rewriting by rules of English: who is meant, once or again, and what to call them.

`rules_rewriter.RulesRewriter` is the entry point. A text passes mentions, gender, people, units,
context, discourse and wording, in this order; words and word classes are `pipeline/language`'s.
"""
