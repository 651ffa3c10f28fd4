"""Rewriting by rules of English: who is mentioned, first or again, and what to call them.

`rules_rewriter.RulesRewriter` is the entry point. A text passes through mentions, gender, people,
units, context, discourse and wording, in this order; words and word classes come from
`pipeline/language`.
"""
