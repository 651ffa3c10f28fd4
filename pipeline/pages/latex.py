r"""Tables as LaTeX, in the style of the package booktabs.

The file is a `table` environment for a paper: \usepackage{booktabs}, then \input it. What a table
says comes from corpora and people, so everything is escaped.
"""

from collections.abc import Sequence

from pipeline.pages.tables import Cell, Grid

ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\u2212": "$-$",
        "\u2013": "--",
        "\u2018": "`",
        "\u2019": "'",
        "\u201c": "``",
        "\u201d": "''",
        "\u202f": r"\,",
        "\u00a0": "~",
        "\u03b1": r"$\alpha$",
        "\u03ba": r"$\kappa$",
    }
)


def escaped(text: str) -> str:
    """Return a text in one line that LaTeX sets as it is written."""
    printable = "".join(one for one in text if one.isprintable() or one.isspace())
    return " ".join(printable.translate(ESCAPED).split())


def latex(grid: Grid) -> str:
    """Return a table."""
    columns = "".join("r" if numeric else "l" for numeric in grid.numeric)
    title = grid.title.partition(". ")[2] or grid.title
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(title)}}}",
        rf"\label{{tab:{grid.name}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *_groups(grid),
        _row(grid.head),
        r"\midrule",
        *map(_row, grid.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip\footnotesize {escaped(grid.note)}"] if grid.note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: Cell) -> str:
    """Return a cell; at the start of a row [ and * would belong to the line break before it."""
    text = escaped(cell)
    return f"{{{text}}}" if text.startswith(("[", "*")) else text


def _groups(grid: Grid) -> list[str]:
    if not grid.groups:
        return []
    spans = [rf"\multicolumn{{{size}}}{{c}}{{{escaped(name)}}}" for name, size in grid.groups]
    ends, rules = 1, []
    for _, size in grid.groups:
        rules.append(rf"\cmidrule(lr){{{ends + 1}-{ends + size}}}")
        ends += size
    return [" & ".join(["", *spans]) + r" \\", "".join(rules)]
