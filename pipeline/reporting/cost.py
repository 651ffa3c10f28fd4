"""What the collection has cost: hours of judging, and what rewriting was paid."""

from pipeline.reporting.grid import Grid, Num, count, decimal
from pipeline.reporting.sources import Sources

HOUR = 3600


def cost(sources: Sources) -> Grid:
    """Return time and money as a table.

    The time of a judgment is what the server says, so a page that was left open counts; the
    median times the number is free of that.
    """
    seconds = sources.judgments["seconds"].dropna()
    typical = seconds.median() * len(sources.judgments) / HOUR if len(seconds) else None
    rows: list[tuple[str, Num]] = [
        ("Judgments", count(len(sources.judgments))),
        ("Hours of judging", decimal(seconds.sum() / HOUR if len(seconds) else None, 1)),
        ("Hours at the median time", decimal(typical, 1)),
        ("Seconds for a judgment, median", decimal(seconds.median(), 1)),
        ("Judgments without a time", count(len(sources.judgments) - len(seconds))),
        *_rewriting(sources),
    ]
    backend = sources.metrics["rewrite"]["backend"]
    free = "" if "llm" in sources.metrics["rewrite"] else " costs nothing"
    note = f"Judging as the server timed it. Rewriting by the backend {backend}{free}."
    return Grid("Cost", ("What", "Amount"), rows, note)


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
