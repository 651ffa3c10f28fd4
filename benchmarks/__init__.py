"""Figures that a reader would doubt: `python -m benchmarks.NAME` measures those of one claim.

Run from the repository's root. Simulations that the tests use too are in tests/support.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
