"""What is judged: learned batches, systems' runs and channels; and the audit of the rest."""
