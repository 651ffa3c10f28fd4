"""The quality of people's work: the exam, hidden checks, and who should be stopped."""
