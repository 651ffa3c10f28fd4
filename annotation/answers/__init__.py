"""What `pull` reads: answers, and the history of each."""
