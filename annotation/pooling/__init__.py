"""The audit of the candidates, and the top-up of their pool."""
