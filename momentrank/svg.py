"""SVG elements, of which charts are made: no script, no other file, colours from the page."""

from collections.abc import Iterable
from html import escape


def element(tag: str, *content: str, **attributes: str | float) -> str:
    """Return an element around `content`, which is SVG; attributes are escaped.

    `kind` is the class, and `_` in a name stands for `-`. Numbers are in pixels, to the hundredth.
    """
    pairs = {"class" if name == "kind" else name: value for name, value in attributes.items()}
    head = "".join(f' {name.replace("_", "-")}="{_write(pairs[name])}"' for name in pairs)
    return f"<{tag}{head}>{''.join(content)}</{tag}>" if content else f"<{tag}{head}/>"


def _write(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else f"{round(value, 2):.10g}"


def text(words: str, kind: str, x: float, y: float, turn: int = 0) -> str:
    """Return a text at a place, turned by some degrees: with -90 it runs upwards."""
    transform = f"translate({_write(x)} {_write(y)}) rotate({turn})"
    place = {"transform": transform} if turn else {"x": x, "y": y}
    return element("text", escape(words), kind=kind, **place)


def polyline(points: Iterable[tuple[float, float]], kind: str, *content: str) -> str:
    """Return a line through points."""
    path = " ".join(f"{_write(x)},{_write(y)}" for x, y in points)
    return element("polyline", *content, kind=kind, points=path)
