"""Who sent an answer: an annotator, another account, or nobody that the server recorded."""

import pandas as pd


def name_sender(annotator: int) -> str:
    """Return an annotator as `sent_by` of `tables.REJECTED_JUDGMENTS` has them."""
    return f"annotator {annotator}"


def is_own(refused: pd.DataFrame) -> pd.Series:
    """Mark the refused answers that the annotators themselves sent."""
    return refused["sent_by"] == "annotator " + refused["annotator"].astype("str")
