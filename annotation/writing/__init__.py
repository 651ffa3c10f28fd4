"""Queries by people who do not know the corpus: their pages, answers and checks."""
