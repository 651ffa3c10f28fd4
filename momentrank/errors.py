"""The root of every error that a user can cause.

A message names the file, the line and the field, and says what to do next. Commands
print it as one line and exit with `exit_code`; nothing else in the code ends a run.
"""


class MomentRankError(Exception):
    """Something a user can put right. Its text is the whole message."""

    exit_code = 1


class UsageError(MomentRankError):
    """The command or its parameters are wrong, not the data."""

    exit_code = 2
