"""The table of models: scores, intervals, tests, and how it is written."""
