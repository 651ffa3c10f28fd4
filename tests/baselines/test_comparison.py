"""The table: what its figures are, three seeds, reference runs, and what is refused."""

import json

import numpy as np
import pytest
from tiny_release import write_params

import momentrank
from baselines import score
from baselines.comparison import render
from baselines.comparison.scores import JUDGED, MEASURES, System
from baselines.core import files, paths
from baselines.core.params import load
from momentrank.segments import build_run
from momentrank.significance import compare, mean_intervals

SEEDS = (1, 2, 3)
NDCG = "nDCG(iou=0.5)@20"


def write_run(path, release, right, seed):
    """Write a run: of each query, so many of its relevant moments, and wrong ones."""
    rng = np.random.default_rng(seed)
    split = path.name.split(".")[-2]
    rows = []
    for record in json.loads((release / f"{split}.json").read_text()):
        moments = record["relevant_moment"]
        for rank, moment in enumerate(moments):
            start, end = moment["timestamp"]
            if rank >= right or rng.random() < 0.2:
                start, end = start + 1.5, end + 1.5
            rows.append((str(record["query_id"]), moment["video_name"], start, end, 9.0 - rank))
    path.parent.mkdir(parents=True, exist_ok=True)
    momentrank.write_run(path, build_run(*map(list, zip(*rows, strict=True))), tag="test")


@pytest.fixture
def runs(tiny):
    """Runs of two models with three seeds each, and two reference runs."""
    write_params(tiny, seeds=r"[1, 2, 3]", references="references")
    release = tiny / "datasets/release"
    for split in ("val", "test"):
        for model, right in (("xml", 9), ("reloclnet", 1)):
            for seed in SEEDS:
                path = paths.RUNS / model / f"{paths.run_name(2, seed)}.{split}.run"
                write_run(path, release, right, seed)
        write_run(paths.RUNS / f"zero_shot/{split}.run", release, 2, 1)
        for reference, right in (("ideal", 99), ("random", 0)):
            write_run(tiny / f"references/{reference}.{split}.run", release, right, 1)
    return tiny


def per_query(folder, system, seed):
    path = paths.RUNS / system / f"{paths.run_name(2, seed)}.test.run"
    result = momentrank.evaluate(folder / "datasets/release/test.json", path, [NDCG], "paper")
    [(_, column)] = result.per_query.values()
    return np.asarray(column)


def test_a_cell_is_the_mean_of_seeds_with_interval_deviation_and_p(runs):
    params = load()
    system_runs = score.find_runs(params, "test")
    table = score.score(runs / "datasets/release/test.json", system_runs, params.score)
    systems = [System("reloclnet", 2), System("xml", 2), System("ideal", None)]
    assert list(table) == [System("zero_shot", 0), *systems, System("random", None)]
    values = {
        name: np.array([per_query(runs, name, s) for s in SEEDS]) for name in ("xml", "reloclnet")
    }
    own = params.score
    for name, columns in values.items():
        cell = table[System(name, 2)][NDCG]
        assert cell.mean == pytest.approx(columns.mean())
        assert cell.deviation == pytest.approx(np.std(columns.mean(axis=1), ddof=1))
        [(low, high)] = mean_intervals(columns.mean(axis=0)[None], own.rounds, own.confidence, 2024)
        assert (cell.low, cell.high) == (low, high)
        assert low < cell.mean < high
    [alone] = compare(
        [values["xml"].mean(axis=0) - values["reloclnet"].mean(axis=0)],
        rounds=own.rounds, confidence=own.confidence, seed=2024,
    )  # fmt: skip
    assert table[System("xml", 2)][NDCG].p is None
    # Holm: corrected for the other measures too, so never smaller than on its own.
    assert table[System("reloclnet", 2)][NDCG].p >= alone.p_randomisation
    for reference in ("ideal", "random"):
        cell = table[System(reference, None)][NDCG]
        assert cell.p is cell.deviation is None
    assert set(table[systems[0]]) == {*MEASURES, *JUDGED}


def test_three_layouts_have_the_same_figures(runs):
    score.main()
    figures = json.loads((runs / paths.METRICS / "score.json").read_text())
    texts = {
        kind: (runs / paths.WORK / f"table.{kind}").read_text() for kind in ("md", "tex", "html")
    }
    for system in ("zero_shot.top00", "xml.top02", "reloclnet.top02", "ideal", "random"):
        for split in ("val", "test"):
            for value in figures[split][system].values():
                assert all(f"{value:.3f}" in text for text in texts.values())
    rows = [line for line in texts["md"].splitlines() if line.startswith("| XML | 2 |")]
    assert len(rows) == 3  # cutoffs
    assert all(row.count("±") == 8 for row in rows)  # 3 IoUs and Judged, of val and test
    assert all(row.count("[") == 8 for row in rows)
    assert "**" in rows[0]
    assert texts["tex"].count(r"\begin{tabular}") == texts["html"].count("<table>") == 3
    assert texts["html"].count("against the best") == 36  # the others: 9 measures, 2 splits


def test_a_simplified_model_is_called_so():
    names = [*MEASURES, *JUDGED]
    cells = dict.fromkeys(names, render.Cell(0.5, 0.4, 0.6, None))
    table = {System(name, 20): cells for name in ("xml", "spr", "conquer")}
    for write in (render.markdown, render.latex, render.html):
        text = write({"test": table})
        assert text.count("SPR, simplified") == text.count("simplified") - 1 == 3
        assert text.count("CONQUER") == 3
        assert "docs/baselines.md lists the differences" in text


def test_a_worse_model_has_a_star():
    cell = render.Cell(0.25, 0.2, 0.3, None, p=0.049)
    best = render.Cell(0.5, 0.4, 0.6, 0.0125)
    names = [*MEASURES, *JUDGED]
    table = {
        System("a_b", 1): dict.fromkeys(names, cell),
        System("xml", 1): dict.fromkeys(names, best),
    }
    assert "| 0.250* [0.200, 0.300] |" in render.markdown({"test": table})
    assert "| **0.500 ± 0.013** [0.400, 0.600] |" in render.markdown({"test": table})
    assert r"\textbf{0.500 $\pm$ 0.013}" in render.latex({"test": table})
    assert "a\\_b & 1 & 0.250$^*$" in render.latex({"test": table})
    assert 'title="p = 0.0490 against the best">0.250*</span>' in render.html({"test": table})


def test_a_seed_without_a_run_is_refused_and_a_model_without_any_left_out(runs):
    (runs / paths.RUNS / "xml" / f"{paths.run_name(2, 3)}.val.run").unlink()
    with pytest.raises(files.FileError, match=r"top02-3\.val\.run: no such run.*predict@xml"):
        score.main()
    for path in (runs / paths.RUNS / "xml").iterdir():
        path.unlink()
    score.main()
    assert "XML" not in (runs / paths.WORK / "table.md").read_text()
