"""Every Python process of CI looks for cyclic garbage rarely: a fifth of the time of an import."""

import gc

gc.set_threshold(100_000, 50, 1_000)
