"""The board of a benchmark's host: entries, what is computed of them, and its page."""
