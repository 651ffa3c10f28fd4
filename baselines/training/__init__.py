"""Training: batches, the optimizer, checkpoints, the loop."""
