"""What `release` writes: files, card and manifest."""
