"""Inference: video scores, spans, one ranked list a query."""
