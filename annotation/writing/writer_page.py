"""The writer's page: what it says and asks, and how its answers are read.

A page is a Label Studio project of one kind, and its tasks have fields that answers keep: `query`
is the heading, `clip_html` what is shown, `pair` the kind and what it is about.
"""

import html
from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any, Literal, NamedTuple, get_args
from xml.sax.saxutils import quoteattr

from annotation.label_studio.page import CONFIG, clip_html

Kind = Literal["person", "unanswerable", "seen", "recall"]
"""Five queries; five that nothing answers; a clip to see; that clip described a day later."""
KINDS: Sequence[Kind] = get_args(Kind)
FIELDS: Mapping[Kind, int] = {"person": 5, "unanswerable": 5, "seen": 0, "recall": 1}
"""How many queries a page has room for."""
_STYLE = CONFIG.read_text(encoding="utf-8").partition("<Style>")[2].partition("</Style>")[0]
_STILLS = """
    .momentrank input[type=text] { font-size: 16px; padding: 7px 11px; }
    .momentrank .stills { display: flex; flex-wrap: wrap; gap: 6px; margin: 8px 0; }
    .momentrank .stills video { width: calc(20% - 5px); height: auto; }
"""


class Texts(NamedTuple):
    """The page's texts in one language."""

    headings: Mapping[Kind, str]
    tasks: Mapping[Kind, str]
    rules: str
    collection: str
    stills: str
    titles: str
    field: str
    seen: str
    this: str


TEXTS: Mapping[str, Texts] = {
    "en": Texts(
        {
            "person": "What would you search for?",
            "unanswerable": "What would you search for in vain?",
            "seen": "Watch this clip",
            "recall": "What was in the clip that you watched last time?",
        },
        {
            "person": "Think of five moments that may well happen in these videos, and write each"
            " as you would type it to find it. Don't describe these pictures.",
            "unanswerable": "Think of five moments that would fit these videos, but that probably"
            " never happen in them, and write each as you would type it to find it.",
            "seen": "In a day or more you are asked to describe it from memory. Take no notes.",
            "recall": "Describe it from memory, as you would type it to find it again. Don't look"
            " it up; if you are not sure of a detail, write what you believe you saw. Name nobody.",
        },
        "One sentence or phrase each, without anybody's name.",
        "{name} is a collection of {videos} videos, {hours} hours in all.",
        "Some pictures from it, drawn at random:",
        "Some of its videos, drawn at random:",
        "Query {number}",
        "I have watched it",
        "This",
    ),
    "de": Texts(
        {
            "person": "Wonach würden Sie suchen?",
            "unanswerable": "Wonach würden Sie vergeblich suchen?",
            "seen": "Sehen Sie sich diesen Clip an",
            "recall": "Was war in dem Clip, den Sie letztes Mal gesehen haben?",
        },
        {
            "person": "Denken Sie an fünf Momente, die in diesen Videos gut vorkommen können, und"
            " schreiben Sie jeden so, wie Sie ihn suchen würden. Die Bilder sind nicht gemeint.",
            "unanswerable": "Denken Sie an fünf Momente, die zu diesen Videos passen würden, aber"
            " wohl nie darin vorkommen, und schreiben Sie jeden so, wie Sie ihn suchen würden.",
            "seen": "Frühestens in einem Tag sollen Sie ihn aus dem Gedächtnis beschreiben. Machen"
            " Sie keine Notizen.",
            "recall": "Beschreiben Sie ihn aus dem Gedächtnis, so, wie Sie ihn suchen würden. Sehen"
            " Sie nicht nach; wo Sie unsicher sind, schreiben Sie, woran Sie sich zu erinnern"
            " glauben. Nennen Sie keine Namen.",
        },
        "Jeweils ein Satz oder ein paar Wörter, ohne Namen von Personen.",
        "{name} ist eine Sammlung von {videos} Videos, zusammen {hours} Stunden.",
        "Einige Bilder daraus, zufällig gezogen:",
        "Einige Videos daraus, zufällig gezogen:",
        "Anfrage {number}",
        "Ich habe ihn gesehen",
        "Dies",
    ),
}
"""By language; another language gets English."""


class Corpus(NamedTuple):
    """What a writer is told: the collection's name, its size, what it is, and some of it.

    `stills` are addresses of clips, each with the second (from its start) that is shown; `titles`
    stand in their place where there are none.
    """

    name: str | None
    videos: int
    seconds: float
    about: str = ""
    stills: Sequence[tuple[str, float]] = ()
    titles: Sequence[str] = ()


def texts_of(language: str) -> Texts:
    """Return the texts in a language; in English, if there are none."""
    return TEXTS.get(language, TEXTS["en"])


def label_config(kind: Kind, texts: Texts) -> str:
    """Return the labelling configuration (XML) of the pages of a kind; only query 1 is required."""
    if kind == "seen":
        answer = (
            '<Choices name="seen" toName="clip" choice="single-radio" required="true">'
            f"<Choice value={quoteattr(texts.seen)} hotkey='1'/></Choices>"
        )
    else:
        answer = "".join(
            f'<TextArea name="query_{number}" toName="clip" rows="1" maxSubmissions="1"'
            f' editable="true" showSubmitButton="false" required="{str(number == 1).lower()}"'
            f" placeholder={quoteattr(texts.field.format(number=number))}/>"
            for number in range(1, FIELDS[kind] + 1)
        )
    return (
        f'<View className="momentrank"><Style>{_STYLE}{_STILLS}</Style>'
        '<Header value="$query" size="4"/>'
        f'<HyperText name="clip" value="$clip_html" inline="true"/>{answer}</View>'
    )


def task_data(kind: Kind, texts: Texts, subject: str, shown: str) -> dict[str, str]:
    """Return the data of a task: its heading, what it shows (HTML), and what it is about.

    `subject` is the number of the page, or the moment whose clip is shown or remembered.
    """
    return {"query": texts.headings[kind], "clip_html": shown, "pair": f"{kind} {subject}"}


def show_corpus(kind: Kind, texts: Texts, corpus: Corpus) -> str:
    """Return the HTML that tells what the collection is, and asks for queries."""
    hours = f"{corpus.seconds / 3600:,.1f}"
    size = texts.collection.format(
        name=corpus.name or texts.this, videos=f"{corpus.videos:,}", hours=hours
    )
    about = html.escape(f"{size} {corpus.about}".strip())
    if corpus.stills:
        pictures = "".join(starmap(_still, corpus.stills))
        drawn = f'<p>{texts.stills}</p><div class="stills">{pictures}</div>'
    else:
        items = "".join(f"<li>{html.escape(title)}</li>" for title in corpus.titles)
        drawn = f"<p>{texts.titles}</p><ul>{items}</ul>"
    return f"<p>{about}</p>{drawn}{show_text(kind, texts)}"


def _still(url: str, second: float) -> str:
    """Return the HTML of one picture: a clip that nobody can play."""
    return f'<video src="{html.escape(url)}#t={second:.2f}" muted preload="auto"></video>'


def show_clip(texts: Texts, url: str) -> str:
    """Return the HTML of a clip to remember."""
    return f"{clip_html(url)}<p>{texts.tasks['seen']}</p>"


def show_text(kind: Kind, texts: Texts) -> str:
    """Return the HTML that says what to write."""
    rules = texts.rules if FIELDS[kind] > 1 else ""
    return f"<p>{texts.tasks[kind]} {rules}</p>"


def read_queries(result: object) -> list[str]:
    """Return the queries of an annotation's `result`, in the order of their fields.

    Runs of blanks are one; an empty field is none. Half a character becomes a question mark.
    """
    typed: dict[str, str] = {}
    for region in result if isinstance(result, list) else ():
        match region:
            case {"from_name": str(name), "type": "textarea", "value": {"text": [*lines]}}:
                text = " ".join(line for line in lines if isinstance(line, str))
                typed[name] = " ".join(text.encode("utf-8", "replace").decode().split())
    return [typed[name] for name in sorted(typed) if typed[name]]


def result_of(queries: Sequence[str]) -> list[dict[str, Any]]:
    """Return what the page submits for these queries."""
    return [
        {
            "from_name": f"query_{number}",
            "to_name": "clip",
            "type": "textarea",
            "value": {"text": [query]},
        }
        for number, query in enumerate(queries, 1)
    ]
