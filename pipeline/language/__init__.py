"""The language of texts: `detection` finds it, `support` knows which settings support it."""
