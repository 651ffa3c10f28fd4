"""The language of texts: `detection` finds it, `support` says which settings know it."""
