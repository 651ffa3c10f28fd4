"""The root of all errors that a user can cause.

A message names the file, the line and the field, and says what to do next. Commands print it
and exit with `exit_code`; nothing else in the code ends a run.
"""


class MomentRankError(Exception):
    """An error that the user can fix. Its text is the whole message."""

    exit_code = 1


class UsageError(MomentRankError):
    """An error in the command line or parameters, not in the data."""

    exit_code = 2
