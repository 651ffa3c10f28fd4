"""What `publish` does: choose files, search for personal data, and upload to a place."""
