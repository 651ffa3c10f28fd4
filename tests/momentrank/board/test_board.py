"""`momentrank board`: the page says what `evaluate` and `compare` say, or nothing is written."""

import contextlib
import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from momentrank.board import entries
from momentrank.board.standings import choose_telling, compute_medians, cover
from momentrank.cli.main import main
from momentrank.significance import TESTS, compare, compare_all

MEASURES = ("nDCG(iou=0.5)@10", "AxIoU@5")
QUERIES = 60
HOSTILE = "<script>alert(1)</script> & \"quoted\" 'so'"


def describe(name, reads="[video]", **fields):
    content = {"name": json.dumps(name), "authors": "A. Author", "link": "https://example.org/a",
               "date": "2026-11-27", "reads": reads} | fields  # fmt: skip
    return "".join(f"{key}: {value}\n" for key, value in content.items() if value is not None)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with qrels and runs: two alike, others better and worse, one on captions."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    start = rng.uniform(0, 50, QUERIES)
    (tmp_path / "runs").mkdir()
    lines = [f"q{n} Q0 v {at} {at + 9} {1 + n % 4}" for n, at in enumerate(start)]
    (tmp_path / "test.qrels").write_text("\n".join(lines) + "\n")
    groups = [f"q{n} {'odd' if n % 2 else 'even'}" for n in range(QUERIES)]
    (tmp_path / "groups.txt").write_text("\n".join(groups) + "\n")
    shares = {"good": 0.95, "fair": 0.5, "alike": 0.52, "poor": 0.1, "reader": 0.8}
    for name, share in shares.items():
        rows = [
            f"q{n} Q0 {'v' if rng.random() < share else HOSTILE[:8]} {at + rng.uniform(0, 2)}"
            f" {at + 9} 1 1 t\nq{n} Q0 w 0 5 2 0.5 t\n"
            for n, at in enumerate(start)
        ]
        (tmp_path / f"runs/{name}.run").write_text("".join(rows))
        reads = "[video, captions]" if name == "reader" else "[video, sound]"
        text = describe(HOSTILE if name == "good" else name, reads)
        (tmp_path / f"runs/{name}.yaml").write_text(text)
    return tmp_path


def board(*options, code=0, measures=MEASURES):
    arguments = ["board", "runs", "--qrels", "test.qrels", "--out", "site", *options]
    assert main([*arguments, *measures]) == code


def read_board():
    return json.loads(Path("site/board.json").read_text())


def tell(capsys, verb, folder, *options):
    runs = sorted(str(path.relative_to(folder)) for path in folder.glob("runs/*.run"))
    capsys.readouterr()
    assert main([verb, "test.qrels", *runs, *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_values_bounds_and_strata_are_those_of_evaluate(folder, capsys):
    board("--by", "groups.txt")
    content = read_board()
    told = tell(
        capsys,
        "evaluate",
        folder,
        *MEASURES,
        "--json",
        "--unjudged",
        "bounds",
        "--by",
        "groups.txt",
    )
    values = [row["values"][MEASURES[0]] for row in content["runs"]]
    assert values == sorted(values, reverse=True)
    for row in content["runs"]:
        of_run = told[f"runs/{row['run']}"]
        assert row["values"] == {name: of_run[name] for name in content["measures"]}
        assert row["upper"] == of_run["upper"]
        for group, each in row["strata"].items():
            assert each == {name: of_run["groups"][group][name] for name in content["measures"]}
        assert all(low <= row["values"][m] <= high for m, (low, high) in row["intervals"].items())
    assert content["strata"] == {"even": 30, "odd": 30}


@pytest.mark.parametrize("test", TESTS)
def test_runs_share_a_letter_if_and_only_if_compare_does_not_tell_them_apart(folder, capsys, test):
    board("--test", test)
    groups = {f"runs/{row['run']}": set(row["groups"]) for row in read_board()["runs"]}
    pairs = tell(capsys, "compare", folder, MEASURES[0], "--test", test, "--json")["pairs"]
    assert len(pairs) == math.comb(5, 2)
    apart = {(row["first"], row["second"]) for row in pairs if row[f"p_{test}_holm"] < 0.05}
    assert 0 < len(apart) < len(pairs)
    for one, other in combinations(sorted(groups), 2):
        assert bool(groups[one] & groups[other]) == ((one, other) not in apart)


@given(st.integers(0, 2**32), st.sampled_from(TESTS), st.sampled_from([2, 5, 1000]))
def test_all_pairs_at_once_have_the_p_of_each_pair(seed, test, grades):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, grades, (5, 30)) / (grades - 1)
    values[1, 3:] = values[0, 3:]  # few queries differ, and sums tie
    rows = [values[b] - values[a] for a, b in combinations(range(5), 2)]
    expected = compare(rows, rounds=99, confidence=0.95, seed=seed)
    p_values = compare_all(values, test, 99, seed)
    assert p_values == pytest.approx([row.p_holm(test) for row in expected], abs=1e-12)


@given(st.integers(1, 8), st.integers(0, 2**32))
def test_groups_cover_exactly_the_pairs_that_are_alike(runs, seed):
    rng = np.random.default_rng(seed)
    alike = np.triu(rng.random((runs, runs)) < 0.6, 1)
    alike |= alike.T | np.eye(runs, dtype=bool)
    together = np.zeros_like(alike)
    for group in cover(alike):
        together |= np.outer(group, group)
    assert (together == alike).all()


def test_telling_queries_are_the_greatest_gain_loss_and_the_most_contested():
    values = np.array([[0.9, 0.2, 0.0, 0.5], [0.3, 0.4, 1.0, 0.5], [0.3, 0.6, 0.0, 0.5]])
    middle, spread = compute_medians(values), values.std(axis=0)
    assert middle[0].tolist() == pytest.approx([0.3, 0.5, 0.5, 0.5])
    assert choose_telling(values[0], middle[0], spread) == [
        ("greatest gain", 0),
        ("greatest loss", 2),
        ("most contested", 1),
    ]
    equal = np.full(2, 0.5)
    assert choose_telling(equal, equal, np.zeros(2)) == []
    alone = compute_medians(values[:1])
    assert [query for _, query in choose_telling(values[0], alone[0], np.zeros(4))] == [0, 2]


@given(st.integers(2, 9), st.data())
def test_the_median_of_the_other_runs_is_that_without_the_run(runs, data):
    cells = st.sampled_from([0, 0.1, 0.3, 1])
    values = np.array(data.draw(st.lists(cells, min_size=3 * runs, max_size=3 * runs)))
    values = values.reshape(runs, 3)
    expected = [np.median(np.delete(values, at, axis=0), axis=0) for at in range(runs)]
    assert (compute_medians(values) == expected).all()


def test_the_page_escapes_text_links_and_needs_no_other_host(folder):
    board("--title", HOSTILE, "--by", "groups.txt")
    pages = [folder / "site/index.html", *folder.glob("site/runs/*.html")]
    assert len(pages) == 6
    for page in pages:
        assert "<script" not in page.read_text()
        assert "src=" not in page.read_text()


def test_a_telling_query_is_explained_as_momentrank_explain_does(folder, capsys):
    board()
    row = next(row for row in read_board()["runs"] if row["name"] == "poor")
    [query, *_] = row["telling"].values()
    capsys.readouterr()
    assert (
        main(["explain", "test.qrels", "runs/poor.run", query, MEASURES[0], "--html", "own"]) == 0
    )
    own = Path("own").read_text().split("</h1>")[1].split("<p><small>momentrank")[0]
    assert own.strip() in Path("site/runs/poor.html").read_text()


def test_a_rerun_gives_the_same_bytes_and_removes_what_is_gone(folder):
    def read():
        files = (path for path in folder.glob("site/**/*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    board()
    first = read()
    board()
    assert read() == first
    for path in folder.glob("runs/poor.*"):
        path.unlink()
    board()
    assert set(first) - set(read()) == {"site/runs/poor.html"}
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_what_a_killed_run_has_left_is_removed_and_nothing_else(folder):
    board()
    left = folder / ".site.board-abcd1234"
    left.mkdir()
    (folder / "site").rename(left / "old")
    others = [".site-original", ".sites.board-abcd1234"]
    for name in others:
        (folder / name).mkdir()
    board()
    assert (folder / "site/index.html").is_file()
    assert sorted(path.name for path in folder.glob(".*")) == others


@pytest.mark.parametrize(
    ("by", "heading"), [("groups.txt", "group"), ("length", "length"), ("length:10", "length")]
)
def test_the_heading_says_what_values_are_by(folder, by, heading):
    lines = [f"q{n} Q0 v 0 {5 + 9 * (n % 2)} 1\n" for n in range(QUERIES)]
    (folder / "test.qrels").write_text("".join(lines))
    board("--by", by)
    assert f"<h2>By {heading}</h2>" in (folder / "site/index.html").read_text()


def test_label_noise_is_of_differences_to_the_best_run(folder):
    board("--label-noise", "4")
    best, *others = read_board()["runs"]
    assert best["noise"] is None
    assert all(low <= high < 0.5 for low, high in (row["noise"] for row in others))


def test_a_hidden_board_has_no_query_and_no_full_value(folder):
    board("--hidden", "--by", "groups.txt", measures=MEASURES[:1])
    content = read_board()
    assert content["hidden"]
    assert list(folder.glob("site/runs/*")) == []
    values = [value for row in content["runs"] for value in row["values"].values()]
    assert values == [round(value, 2) for value in values]
    assert not any(row["upper"] or row["intervals"] or row["telling"] for row in content["runs"])


ERRORS = {
    "runs/fair.yaml: reads: missing": describe("fair", reads=None),
    "runs/fair.yaml, line 6: colour: unknown key": describe("fair", colour="red"),
    "runs/fair.yaml, line 4: date: ": describe("fair", date="2026-13-01"),
    "runs/fair.yaml, line 5: reads: ": describe("fair", reads="[video, smell]"),
    "runs/fair.yaml, line 3: link: ": describe("fair", link="javascript:alert(1)"),
    "runs/fair.yaml, line 6: name: already in line 1": describe("fair") + "name: other\n",
    "all have the name 'poor'": describe("poor"),
    "runs/fair.yaml, line 2: authors: write it in quotes": describe("fair", authors="a: b"),
    "runs/fair.yaml, line 2: authors: the quotes": describe("fair", authors="'a"),
    "runs/fair.yaml, line 6: must be": describe("fair") + "just words\n",
}


@pytest.mark.parametrize(("message", "text"), list(ERRORS.items()))
def test_what_is_wrong_is_listed_with_its_place_and_nothing_is_written(
    folder, capsys, message, text
):
    (folder / "runs/fair.yaml").write_text(text)
    (folder / "runs/lone.run").write_text("q1 Q0 v 0 5 1 1 t\n")
    (folder / "runs/absent.yaml").write_text(describe("absent"))
    board(code=1)
    told = capsys.readouterr().err
    assert message in told
    assert "runs/lone.run: no lone.yaml" in told
    assert "runs/absent.yaml: no run" in told
    assert not (folder / "site").exists()


def test_a_malformed_run_leaves_the_earlier_site(folder):
    board()
    before = (folder / "site/index.html").read_bytes()
    (folder / "runs/poor.run").write_text("q1 Q0 v 9 x 1 1 t\n")
    board(code=1)
    assert (folder / "site/index.html").read_bytes() == before


def test_a_folder_that_is_no_board_is_not_replaced(folder):
    (folder / "site").mkdir()
    (folder / "site/thesis.tex").write_text("mine")
    board(code=2)
    assert (folder / "site/thesis.tex").read_text() == "mine"


TEXTS = st.text(st.sampled_from("abc 1:#'\"[]{},-?&*!|>%@`~.=\u00e9"), max_size=8)


@given(TEXTS, st.lists(TEXTS, max_size=3), st.booleans())
def test_what_is_read_is_what_yaml_reads(tmp_path_factory, text, items, is_block):
    listed = "".join(f"\n  - {item}" for item in items) if is_block else f" [{', '.join(items)}]"
    path = tmp_path_factory.mktemp("entry") / "a.yaml"
    path.write_text(f"name: {text}\nreads:{listed}\n")
    with contextlib.suppress(entries.FormatError):
        fields = entries._read_fields(path)
        theirs = yaml.load(path.read_text(), Loader=yaml.BaseLoader)  # noqa: S506  (text stays text)
        assert {key: field.value or [] for key, field in fields.items()} == {
            key: value or [] for key, value in theirs.items()
        }


@pytest.mark.integration
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_nothing_is_wider_than_the_page(folder, chromium, width):
    sync_api = pytest.importorskip("playwright.sync_api")
    board("--by", "groups.txt", "--title", "W" * 60)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 800})
        messages = []
        page.on("dialog", lambda event: messages.append(event.message))
        page.on("pageerror", lambda event: messages.append(str(event)))
        page.goto((folder / "site/index.html").as_uri())
        links = page.eval_on_selector_all("a[href^=runs]", "all => all.map(one => one.href)")
        assert len(links) == 5
        for url in (page.url, *links):
            page.goto(url)
            assert page.evaluate("document.documentElement.scrollWidth") == width
            inside = "all => all.every(one => one.scrollWidth <= one.clientWidth || "
            assert page.eval_on_selector_all(
                ".box", inside + "getComputedStyle(one).overflowX == 'auto')"
            )
        browser.close()
    assert messages == []
