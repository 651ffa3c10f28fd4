"""Speed and memory against peers: `python -m benchmarks.NAME` prints ratios of one run."""
