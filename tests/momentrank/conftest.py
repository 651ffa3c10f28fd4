"""What the scorer's tests share is beside this file: oracles, small files, one way to score."""
