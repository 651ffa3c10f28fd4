"""Text files: segments and TREC qrels as lines of fields."""
