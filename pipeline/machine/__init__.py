"""What the stages take of machines, and whether this one has it."""
