"""What `pull` is made of: reading projects, telling answers from judgments, and the history."""
