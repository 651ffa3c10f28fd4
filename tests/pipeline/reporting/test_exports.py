"""What people take out of the report: each file is whole without the page, and safe."""

import re
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
import small_collection

from pipeline import report
from pipeline.pages import relevance
from pipeline.pages.exports import exports, latex
from pipeline.pages.html_tables import Grid, count, decimal, percent

SVG = "{http://www.w3.org/2000/svg}"
FIGURES = {"figure-4a", "figure-4b", "figure-5a", "figure-5b", "figure-6a", "figure-6b",
           "relevant-per-query", "query-words", "moment-seconds", "yield"}  # fmt: skip
HARMFUL = 'a_b & 50% #1 $x$ {y} \\end{table} ~^ "q" <b> |'


@pytest.fixture(scope="module")
def folder(small):
    """Return the folder of the small collection's report."""
    small_collection.pages(small)
    return small / report.REPORT


def test_every_figure_is_an_svg_with_its_data_and_every_link_leads_to_a_file(folder):
    assert {path.stem for path in (folder / "figures").glob("*.csv")} == FIGURES
    assert {path.stem for path in (folder / "figures").glob("*.svg")} == FIGURES
    page = (folder / "index.html").read_text()
    links = set(re.findall(r'href="((?:figures|tables)/[^"]+)"', page))
    files = {str(path.relative_to(folder)) for path in folder.glob("*/*")}
    assert links == files
    for name in ("table-1", "table-3", "table-4", "ndcg-validation", "cohens-kappa"):
        assert {f"tables/{name}.csv", f"tables/{name}.tex"} <= files


def test_an_svg_needs_nothing_of_the_page(folder):
    for path in (folder / "figures").glob("*.svg"):
        root = ET.parse(path).getroot()  # noqa: S314  (ours)
        assert root.tag == f"{SVG}svg"
        assert float(root.get("height")) > 100
        style = root.find(f"{SVG}style").text
        assert "var(" not in style
        classes = {name for element in root.iter() for name in (element.get("class") or "").split()}
        used = classes & {"l0", "l1", "l2", "l3", "l4", "one", "mean", "heat", "grid", "cell"}
        assert used
        for name in used:
            assert re.search(rf"\.{name}\b[^{{]*{{[^}}]*#", style), (path.name, name)
    levels = (folder / "figures/figure-4a.svg").read_text()
    assert all(f">level {level}<" in levels for level in range(5))
    assert ">mean level<" in levels


def test_figures_4_and_5_lie_beside_the_page(folder):
    names = ("figure-4a", "figure-4b", "figure-5a", "figure-5b")
    similarity, rank, low, final = (pd.read_csv(folder / f"figures/{name}.csv") for name in names)
    assert (next(iter(similarity)), next(iter(rank))) == ("similarity", "rank")
    assert list(low) == ["min", "max", "pairs"]
    assert final.to_numpy().tolist() == [[0, 1], [1, 0], [2, 1], [3, 1], [4, 0]]


def test_figure_6_is_two_queries_with_level_and_similarity_by_rank(folder):
    few, many = (pd.read_csv(folder / f"figures/figure-6{letter}.csv") for letter in "ab")
    assert few.to_numpy().tolist() == [[2, 0, 0.52]]
    assert many.to_numpy().tolist() == [[1, 3, 1.0], [2, 2, 0.5]]
    page = (folder / "index.html").read_text()
    assert '<q class="text">A man walks in.</q>' in page


def test_examples_are_of_the_first_and_the_last_quarter_whatever_the_order_of_rows():
    rows = [(f"q{n:02}", rank, 4 if rank <= n else 0, 0.9 - rank / 20, "candidates")
            for n in range(9) for rank in range(1, 9)]  # fmt: skip
    levels = pd.DataFrame(rows, columns=["query_id", "rank", "level", "similarity", "origin"])
    queries = pd.DataFrame({"query_id": [f"q{n:02}" for n in range(9)]})
    queries["query"] = queries["query_id"].str.upper()
    for frame in (levels, levels.sample(frac=1, random_state=7)):
        few, many = relevance.examples(frame, queries)
        assert (few.query, many.query) == ("Q02", "Q06")
        assert few.candidates["level"].tolist() == [4, 4, *[0] * 6]
        assert few.candidates["rank"].tolist() == list(range(1, 9))
    assert relevance.examples(levels[:0], queries) == []
    assert len(relevance.examples(levels[levels["query_id"] == "q03"], queries)) == 1


def make_grid(cells, **more):
    return Grid("Table 9. What & how", ("Name", "Number", "Share"), cells, **more)


def test_a_csv_has_numbers_and_no_formula():
    grid = make_grid(
        [("=1+1", count(1234567), percent(0.12345)), ("b, c", count(None), percent(1))]
    )
    files = dict(exports([], [grid]))
    assert files["tables/table-9.csv"].splitlines() == [
        "Name,Number,Share", "'=1+1,1234567,0.12345", '"b, c",,1.0',
    ]  # fmt: skip
    assert decimal(-1234.5).value == -1234.5


def test_latex_is_booktabs_and_escapes_everything():
    grid = make_grid(
        [(HARMFUL, count(1234), percent(0.5)), ("[x]", decimal(-1.5), percent(None))],
        note="50 % & more",
        groups=[("First 10", 2)],
    )
    text = latex(grid)
    assert r"\begin{tabular}{lrr}" in text
    assert r"\label{tab:table-9}" in text
    assert r"\caption{What \& how}" in text
    assert r"\cmidrule(lr){2-3}" in text
    assert r" & \multicolumn{2}{c}{First 10} \\" in text
    assert r"a\_b \& 50\% \#1 \$x\$ \{y\} \textbackslash{}end\{table\}" in text
    assert r"{[x]} & $-$1.50 & -- \\" in text
    assert r"1,234 & 50.0\,\% \\" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1


def count_unescaped(text, character):
    return len(re.findall(rf"(?<!\\){re.escape(character)}", text))


def test_every_tex_file_has_rows_of_equal_width_and_balanced_braces(folder, hostile):
    for path in [*folder.glob("tables/*.tex"), *(hostile / report.REPORT).glob("tables/*.tex")]:
        text = path.read_text()
        assert count_unescaped(text, "{") == count_unescaped(text, "}"), path.name
        columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1])
        body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
        rows = body.splitlines()
        assert rows
        assert {count_unescaped(row, "&") + 1 for row in rows} == {columns}, path.name
        assert all(row.endswith(r" \\") for row in rows)
        assert text.isascii() or "tab:table-3" in text, path.name
        assert not re.search(r"(?<!\\)[%#]", body)


@pytest.mark.slow
@pytest.mark.integration
def test_a_browser_opens_each_svg_alone(folder, chromium):
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        for svg in sorted((folder / "figures").glob("*.svg")):
            page.goto(svg.as_uri())
            assert page.evaluate("document.documentElement.tagName") == "svg"
            fills = page.evaluate(
                "[...document.querySelectorAll('rect.bar, rect.heat, circle')]"
                ".map(one => getComputedStyle(one).fill)"
            )
            assert fills
            assert "rgb(0, 0, 0)" not in fills, "a class without a colour is black"
        browser.close()
