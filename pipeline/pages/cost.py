"""What the collection has cost: hours of judging, and payments for rewriting."""

from pipeline.campaign.effort import HOUR, active_seconds
from pipeline.pages.html_tables import Grid, Num, count, decimal
from pipeline.pages.report_inputs import Sources


def cost(sources: Sources) -> Grid:
    """Return time and money as a table; a judgment counts for at most `sources.pause` minutes."""
    judgments = sources.valid
    timed = judgments["seconds"].dropna()
    seconds = active_seconds(timed, sources.pause)
    rows: list[tuple[str, Num]] = [
        ("Judgments", count(len(judgments))),
        ("Hours of judging", decimal(seconds.sum() / HOUR if len(seconds) else None, 1)),
        ("Median seconds per judgment", decimal(seconds.median(), 1)),
        (f"Judgments cut off at {sources.pause:g} minutes", count((timed > seconds).sum())),
        ("Judgments without a time", count(len(judgments) - len(seconds))),
        *_withdrawn(len(sources.judgments) - len(judgments)),
        *_rewriting(sources),
    ]
    backend = sources.metrics["rewrite"]["backend"]
    free = "" if "llm" in sources.metrics["rewrite"] else " (no language model, no cost)"
    note = (
        f"The server measured the time; a judgment counts for at most {sources.pause:g} minutes,"
        " because a page may have been left open. The hours exclude judgments without a time."
        f" Rewriting used the backend \u201c{backend}\u201d{free}."
    )
    return Grid("Cost", ("What", "Amount"), rows, note)


def _withdrawn(number: int) -> list[tuple[str, Num]]:
    return [("Judgments withdrawn, not counted above", count(number))] if number else []


def _rewriting(sources: Sources) -> list[tuple[str, Num]]:
    spent = sources.metrics["rewrite"].get("llm")
    if spent is None:
        return []
    return [
        ("Tokens read for rewriting", count(spent["result_tokens_in"])),
        ("Tokens written", count(spent["result_tokens_out"])),
        ("Rewriting, USD", decimal(spent["result_cost_usd"])),
        ("of it in the last run, USD", decimal(spent["cost_usd"])),
    ]
