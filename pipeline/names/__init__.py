"""Names of people in texts: the tagger, the corpus's letter case, the characters of a corpus."""
