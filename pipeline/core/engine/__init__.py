"""Where a stage's work is done: in parts, on this machine's cores, on Ray or on Slurm."""
