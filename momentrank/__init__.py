"""MomentRank: formats and scoring for ranked video moment retrieval.

The ground floor of the house: it imports neither `pipeline` nor `annotation`, and is
all that the wheel carries.
"""

from importlib.metadata import version

from momentrank.errors import MomentRankError, UsageError

__all__ = ["MomentRankError", "UsageError", "__version__"]
__version__ = version("momentrank")
