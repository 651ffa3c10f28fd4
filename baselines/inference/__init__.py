"""Inference: video scores, spans, one ranked list per query."""
