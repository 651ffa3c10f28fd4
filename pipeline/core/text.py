"""What a caption must be, whoever wrote it: one line of text."""

import re

# Controls, line and paragraph separators, and halves of a character.
_NO_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def is_line(text: str) -> bool:
    """Tell whether a text is one line of something: no line end, control or broken character."""
    return bool(text.strip()) and not _NO_LINE.search(text)
