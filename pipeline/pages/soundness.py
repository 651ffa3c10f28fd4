"""Is the collection sound? Seven checks, each with value, threshold and verdict.

A reopened campaign has an eighth: how far new people judge from those before.
"""

from typing import Literal, NamedTuple

from pipeline.core.sections import Report
from pipeline.pages.html_tables import UNKNOWN, decimal, percent, share
from pipeline.pages.losses import count_lost
from pipeline.pages.report_inputs import Metrics, Sources

NEAR = 0.0005
"""How far the ideal run may be from the best possible score if qrels, runs and scorer agree."""
NDCG = "nDCG(iou=0.5)@20"

Verdict = Literal["pass", "look", "open"]
VERDICTS = {"pass": "Pass", "look": "Check this", "open": "Open"}
"""`open`: there is no answer yet."""


class Check(NamedTuple):
    """One question: the answer in figures, the required value, and the verdict."""

    title: str
    value: str
    threshold: str
    verdict: Verdict
    detail: str

    @property
    def name(self) -> str:
        """The title as a key: `no_consensus`."""
        return self.title.lower().replace(",", "").replace(" ", "_")

    @property
    def verdict_word(self) -> str:
        """The verdict as a word."""
        return VERDICTS[self.verdict]


class Progress(NamedTuple):
    """The progress of judging: pairs wanted, and pairs decided (even without a level).

    `left` lists what keeps the release from being complete; `judgments` counts all valid ones.
    """

    wanted: int
    decided: int
    left: list[str]
    judgments: int = 0

    @property
    def complete(self) -> bool:
        """Whether judging is complete, by the release's definition."""
        return not self.left

    @property
    def text(self) -> str:
        """The state in a sentence."""
        if not self.decided:
            return f"Incomplete: {self.beginning}."
        text = f"{self.decided:,} of {self.wanted:,} pairs are decided"
        if self.complete:
            return f"Complete: {text}."
        return f"Incomplete: {text}; {', '.join(self.left)}."

    @property
    def beginning(self) -> str:
        """The state before any pair is decided."""
        if not self.judgments:
            return "nothing is judged yet"
        plural = "" if self.judgments == 1 else "s"
        return f"{self.judgments:,} judgment{plural}, no pair complete yet"


def measure_progress(sources: Sources) -> Progress:
    """Return the progress of judging.

    While the campaign is open, the plan gives the wanted pairs, including those not shown yet;
    otherwise the ledger does.
    """
    collection, now = sources.collection, sources.collection.counts
    shown, waiting = now["pairs"], now["pairs_waiting"]
    planned = sources.state.get("pairs")
    wanted = shown if collection.status != "open" or not planned else max(planned["all"], shown)
    decided = shown - waiting
    left = {
        "waiting": wanted - decided,
        "given up with too few votes": now["pairs_given_up"],
        "queries never shown": now["queries_never_shown"],
    }
    missing = [f"{number:,} {what}" for what, number in left.items() if number]
    ended = [] if collection.status == "closed" else [f"the campaign is {collection.status}"]
    return Progress(wanted, decided, [*missing, *ended], len(sources.valid))


def check_collection(sources: Sources, progress: Progress, params: Report) -> list[Check]:
    """Return the checks, in the order of the first screen."""
    drifts = sources.metrics["consensus"]["agreement"].get("link", [])
    return [
        _check_progress(progress),
        _check_agreement(sources.metrics["agreement"], params.min_alpha),
        _check_consensus(sources, params.max_discarded),
        _check_same_words(sources.metrics["agreement"]["similarity_1"], params.max_alike_below_top),
        _check_missed(sources.metrics["calibration"].get("missed"), params.max_missed),
        _check_losses(sources, params.max_lost),
        _check_scorer(sources.metrics["reference_runs"]),
        *(_check_drift(drift, params.max_drift) for drift in drifts[-1:]),
    ]


def _check_progress(progress: Progress) -> Check:
    value = f"{progress.decided:,} / {progress.wanted:,}"
    verdict: Verdict = "pass" if progress.complete else "look" if progress.decided else "open"
    left = progress.left or ["every pair is decided"]
    detail = ", ".join(left) if progress.decided else progress.beginning
    return Check("Judged", value, "all pairs, campaign closed", verdict, detail)


def _check_agreement(agreement: Metrics, least: float) -> Check:
    groups = agreement["groups"]
    name = "first_two" if groups.get("first_two") else "all"
    alpha = groups[name]["alpha"]["ordinal"]
    votes = {"first_two": "first two votes", "all": "all votes"}[name]
    if alpha["alpha"] is None:
        return Check(
            "Agreement", "\u2013", f"\u2265 {least:.3f}", "open", "no pair was judged by two people"
        )
    verdict: Verdict = "pass" if alpha["alpha"] >= least else "look"
    interval = (
        "" if alpha["low"] is None else f", {decimal(alpha['low'])} to {decimal(alpha['high'])}"
    )
    detail = f"ordinal \u03b1, {votes}{interval}"
    return Check("Agreement", f"{alpha['alpha']:.3f}", f"\u2265 {least:.3f}", verdict, detail)


def _check_consensus(sources: Sources, most: float) -> Check:
    now = sources.collection.counts
    without = now["pairs_discarded"] + now["pairs_unjudgeable"]
    decided = now["pairs"] - now["pairs_waiting"]
    detail = f"{without:,} of {decided:,} decided pairs have no level"
    return _at_most("No consensus", share(without, decided), most, detail)


def _check_same_words(agreement: Metrics | None, most: float) -> Check:
    numbers = agreement or {"pairs": 0, "below_top": 0, "share": None}
    detail = (
        f"{numbers['below_top']:,} of {numbers['pairs']:,} moments in the query\u2019s own words"
        " have a level below 4"
    )
    return _at_most("Same words, lower level", numbers["share"], most, detail)


def _check_missed(missed: Metrics | None, most: float) -> Check:
    """Pass if the whole interval is at most `most`; look if all of it is above; else open."""
    title, threshold = "Missed", f"\u2264 {percent(most)}, the whole interval"
    if missed is None:
        return Check(title, UNKNOWN, threshold, "open", "no audit of what the pool left out")
    if missed["share"] is None:
        return Check(title, UNKNOWN, threshold, "open", missed["left"])
    low, high = missed["low"], missed["high"]
    verdict: Verdict = "pass" if high <= most else "look" if low > most else "open"
    detail = (
        f"of level {missed['level']} and up, outside the pool: {percent(low)} to {percent(high)},"
        f" {missed['queries']:,} queries, {missed['depth']:,} deep"
    )
    if missed.get("deeper") is not None:
        detail += f"; deeper (no verdict) at most {missed['deeper']:,.1f} moments per query"
    return Check(title, percent(missed["share"]), threshold, verdict, detail)


def _check_losses(sources: Sources, most: float) -> Check:
    number, whole = count_lost(sources)
    detail = f"{number:,} of {whole:,} moments were lost before judging"
    return _at_most("Lost on the way", share(number, whole), most, detail)


def _check_drift(drift: Metrics, most: float) -> Check:
    """Look if the drift, or its whole interval, is beyond `most`; open while that is wide."""
    title, threshold = "Drift", f"within \u00b1{most:g} levels"
    mean, low, high = drift["drift"], drift["low"], drift["high"]
    number = f"{drift['pairs']:,} pairs judged again by {drift['people']:,} new people"
    if low is None:
        return Check(title, UNKNOWN, threshold, "open", number)
    verdict: Verdict = "pass" if abs(mean) <= most else "look"
    if high - low > 2 * most and low <= most and high >= -most:
        verdict = "open"
    detail = f"{low:+.2f} to {high:+.2f}, new votes less old; {number}"
    if drift["unasked"]:
        detail += f", none of level {', '.join(map(str, drift['unasked']))}"
    return Check(title, f"{mean:+.2f}", threshold, verdict, detail)


def _at_most(title: str, value: float | None, most: float, detail: str) -> Check:
    verdict: Verdict = "open" if value is None else "pass" if value <= most else "look"
    return Check(title, percent(value), f"\u2264 {percent(most)}", verdict, detail)


def _check_scorer(metrics: Metrics) -> Check:
    """Compare the ideal run with the best possible score, 1."""
    title, scored = "Scorer", [metrics[split] for split in ("test", "val")]
    split = next((candidate for candidate in scored if candidate["runs"]["ideal"]), None)
    threshold = "the ideal order gets the best possible score"
    if split is None:
        return Check(title, UNKNOWN, threshold, "open", "no judged query has a relevant moment")
    runs = split["runs"]
    ideal, random, captions = (runs[name][NDCG] for name in ("ideal", "random", "captions"))
    sound = abs(ideal - 1) <= NEAR and random < captions
    asked = "1.000, with random below captions"
    detail = f"{NDCG}: ideal; captions {captions:.3f}, random {random:.3f}"
    return Check(title, f"{ideal:.3f}", asked, "pass" if sound else "look", detail)
