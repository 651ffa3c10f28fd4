"""What `release` writes: files, card, manifest."""
