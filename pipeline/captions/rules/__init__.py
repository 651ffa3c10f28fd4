"""Rewriting by rules of English: who is meant, once or again, and what to call them.

`rewriter.RulesRewriter` is the way in. A text passes mentions, gender, people, units, context,
discourse and wording, in this order; words and word classes are `pipeline/language`'s.
"""
