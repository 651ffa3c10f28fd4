"""What the stages need of a machine, and whether this one has it."""
