"""What `publish` does: which files, a search for what identifies people, and the places."""
