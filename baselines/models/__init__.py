"""The models, one file each, and the blocks that they share."""
