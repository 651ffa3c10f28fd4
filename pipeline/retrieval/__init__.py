"""Embeddings of texts, and the exact search over them."""
