"""Measures of silence and who is left out, against slow definitions; and where both are told."""

import csv
import io
import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import momentrank as mr
from momentrank import AUARC, AUROC, NullAcc, nDCG
from momentrank.cli.main import main
from momentrank.collection.declarations import QUERIES
from momentrank.formats import FormatError
from momentrank.formats.source import sha256_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # a missing query is told
ACCURACY = nDCG(iou=0.5, silence=True) @ 2


@st.composite
def collections(draw):
    """Return levels by query, of both sides, and scores of results by query: few, so they tie."""
    levels = draw(st.lists(st.integers(0, 2), min_size=1, max_size=4))
    levels = [*levels, draw(st.integers(1, 2)), 0]
    scores = [draw(st.lists(st.integers(-2, 2), max_size=2)) for _ in levels]
    return levels, [sorted(each, reverse=True) for each in scores]


def files(levels, scores):
    """Return qrels of one moment a query, and a run; of two results the second meets it."""
    qrels = [(f"q{n}", "v", 0, 10, level) for n, level in enumerate(levels)]
    starts = {1: [0], 2: [50, 0]}
    run = [
        (f"q{n}", "v", start, start + 10, score)
        for n, each in enumerate(scores)
        for start, score in zip(starts.get(len(each), []), each, strict=True)
    ]
    return qrels, run


def best(each):
    return max(each, default=-math.inf)


def accuracy(level, each):
    """Return nDCG@2 of one moment, which the last result meets; silence is right without one."""
    if not level:
        return float(not each)
    return 1 / math.log2(1 + len(each)) if each else 0.0


def values(measure, levels, scores):
    result = mr.evaluate(*files(levels, scores), [measure])
    [(names, found)] = result.per_query.values()
    return dict(zip(names, found.tolist(), strict=True)), result[measure]


@given(collections())
def test_auroc_is_the_share_of_pairs_in_the_right_order(drawn):
    levels, scores = drawn
    sides = [[n for n, level in enumerate(levels) if bool(level) is side] for side in (True, False)]

    def right(positive, negative):
        ours, theirs = best(scores[positive]), best(scores[negative])
        return (ours > theirs) + (ours == theirs) / 2

    found, total = values(AUROC, *drawn)
    for n, level in enumerate(levels):
        pairs = [(n, other) if level else (other, n) for other in sides[bool(level)]]
        assert found[f"q{n}"] == pytest.approx(sum(right(*pair) for pair in pairs) / len(pairs))
    every = [right(*pair) for pair in itertools.product(*sides)]
    assert total == pytest.approx(sum(every) / len(every))
    for side in sides:
        assert sum(found[f"q{n}"] for n in side) / len(side) == pytest.approx(total)


@given(collections())
def test_auarc_is_the_mean_over_coverages_and_all_orders_of_ties(drawn):
    levels, scores = drawn
    right = [accuracy(*each) for each in zip(levels, scores, strict=True)]
    areas, curves = [], []
    for order in itertools.permutations(range(len(levels))):
        bests = [best(scores[n]) for n in order]
        if bests == sorted(bests, reverse=True):
            curve = [sum(right[n] for n in order[:k]) / k for k in range(1, len(order) + 1)]
            areas.append(sum(curve) / len(curve))
            curves.append(curve)
    found, total = values(AUARC(iou=0.5) @ 2, *drawn)
    assert total == pytest.approx(sum(areas) / len(areas))
    assert sum(found.values()) / len(found) == pytest.approx(total)
    frame = mr.risk_coverage(*files(*drawn), ACCURACY)
    expected = [1 - sum(at) / len(at) for at in zip(*curves, strict=True)]
    assert frame["risk"].tolist() == pytest.approx(expected)
    assert frame["risk"].mean() == pytest.approx(1 - total)


@given(collections(), st.sampled_from([None, -1, 0, 1.5]))
def test_null_acc_and_ndcg_with_silence(drawn, t):
    levels, scores = drawn
    limit = -math.inf if t is None else t
    found, total = values(NullAcc if t is None else NullAcc(t=t), *drawn)
    nulls = [n for n, level in enumerate(levels) if not level]
    assert found == {f"q{n}": float(all(s <= limit for s in scores[n])) for n in nulls}
    assert total == pytest.approx(sum(found.values()) / len(nulls))
    found, _ = values(ACCURACY, *drawn)
    right = [accuracy(*each) for each in zip(levels, scores, strict=True)]
    assert list(found.values()) == pytest.approx(right)
    found, total = values(nDCG(iou=0.5) @ 2, *drawn)
    rest = [value for value, level in zip(right, levels, strict=True) if level]
    assert list(found.values()) == pytest.approx(rest)
    assert total == pytest.approx(sum(rest) / len(rest))


QRELS = "q1 Q0 v 0 10 2\nq2 Q0 v 0 10 1\nq3 Q0 v 0 10 0\nq4 Q0 v 0 10 3\n"
RUN = "q1 Q0 v 0 10 1 0.9 x\nq2 Q0 v 0 10 1 0.8 x\nq4 Q0 v 50 60 1 0.3 x\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a release: of q1 to q4, q2 is declared negative, and q3 has no relevant moment."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.qrels").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "b.run").write_text(RUN.splitlines()[0] + "\n")
    rows = ["query_id query split number stratum origin negative", "q1 a test 1 easy asked ",
            "q2 b test 2 none made yes", "q3 c test 3 easy asked ", "q4 d test 4 hard asked ",
            "q9 e val 1 none made yes"]  # fmt: skip
    (tmp_path / "queries.tsv").write_text("".join(row.replace(" ", "\t") + "\n" for row in rows))
    list_files(tmp_path)
    return tmp_path


def list_files(folder):
    """Write the manifest of the files as they are."""
    files = {name: {"sha256": sha256_of(folder / name)} for name in ("qrels/test.qrels", QUERIES)}
    manifest = {"name": "k", "version": "1.0", "files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def scored(capsys, *arguments):
    assert main(["evaluate", "qrels/test.qrels", "a.run", *arguments, "--json"]) == 0
    said = capsys.readouterr()
    return json.loads(said.out), said.err


def test_level_1_of_a_negative_scores_0_and_it_may_be_missing(folder, capsys):
    content, err = scored(capsys, "R(iou=0.5)@1", "NullAcc", "NumRel", "-q")
    assert content["a.run"]["R(iou=0.5,strict=True)@1"] == 1 / 2
    assert content["a.run"]["NullAcc"] == 1 / 2
    assert content["a.run"]["queries"]["q2"] == {"NullAcc": 0, "NumRel": 0}
    assert content["a.run"]["queries"]["q1"] == {"R(iou=0.5,strict=True)@1": 1, "NumRel": 1}
    assert content["momentrank"]["left_out"].startswith("2 of 4 queries")
    assert "not in the run" not in err
    (folder / "queries.tsv").write_text("query_id\tquery\tsplit\nq2\tb\ttest\n")  # an older one
    list_files(folder)
    content, _ = scored(capsys, "R(iou=0.5)@1", "NullAcc")
    assert content["a.run"]["NullAcc"] == 1
    assert content["momentrank"]["left_out"].startswith("1 of 4 queries")


@pytest.mark.parametrize("by_file", [True, False])
def test_negatives_are_declared_by_a_file_or_in_python(folder, capsys, by_file):
    (folder / "queries.tsv").unlink()
    (folder / "negatives").write_text("# made\nq2\nq%38\n")
    if by_file:
        content, err = scored(capsys, "NullAcc", "--negatives", "negatives")
        assert content["a.run"]["NullAcc"] == 2 / 3, "there is no answer to q8 either"
        assert "negatives: queries that the qrels lack: 1, such as 'q8'" in err
        assert content["momentrank"]["negatives"] == "negatives"
    result = mr.evaluate("qrels/test.qrels", "a.run", ["NullAcc", "mIoU"], negatives=["q2"])
    assert result["NullAcc"] == 1 / 2
    assert result.left_out == ["q2", "q3"]
    frame = result.to_frame(per_query=True)
    assert frame["query_id"].tolist() == ["q1", "q2", "q3", "q4"]
    assert frame["mIoU"].isna().tolist() == [False, True, True, False]
    assert frame["NullAcc"].isna().tolist() == [True, False, False, True]
    with pytest.raises(FormatError, match=r"'q4' is declared negative.*v 0 to 10 s the level 3"):
        mr.evaluate("qrels/test.qrels", "a.run", "NullAcc", negatives=["q4"])


def test_a_collection_knows_its_negatives(folder):
    test = mr.load(folder)["test"]
    assert test.qrels.value.tolist() == [2, 0, 0, 3]
    assert [row.level for row in test.qrels_iter()] == test.judged.value.tolist() == [2, 1, 0, 3]


def test_what_is_declared_is_the_manifests_and_yes_or_nothing(folder):
    path = folder / "queries.tsv"
    path.write_text(path.read_text().replace("made\tyes", "made\tYes"))
    with pytest.raises(FormatError, match=r"queries\.tsv: not the file that manifest\.json lists"):
        mr.evaluate("qrels/test.qrels", "a.run", "NullAcc")
    list_files(folder)
    with pytest.raises(FormatError, match=r"line 3: negative must be 'yes' or empty"):
        mr.evaluate("qrels/test.qrels", "a.run", "NullAcc")


def test_a_release_of_links_is_one(folder, tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    (cache / "snapshot/qrels").mkdir(parents=True)
    for name in ("manifest.json", QUERIES, "qrels/test.qrels"):
        blob = cache / sha256_of(folder / name)
        blob.write_bytes((folder / name).read_bytes())
        (cache / "snapshot" / name).symlink_to(blob)
    result = mr.evaluate(cache / "snapshot/qrels/test.qrels", "a.run", "mIoU")
    assert result.left_out == ["q2", "q3"]


def test_a_scripts_convention_takes_the_levels_that_people_gave(folder):
    measure = "nDCG(iou=0.5)@10"
    declared = mr.evaluate("qrels/test.qrels", "a.run", measure, "tvr-ranking")
    (folder / "manifest.json").unlink()
    assert (
        mr.evaluate("qrels/test.qrels", "a.run", measure, "tvr-ranking")[measure]
        == (declared[measure])
    )
    with pytest.raises(mr.UsageError, match="tvr-ranking has none; use the convention paper"):
        mr.evaluate("qrels/test.qrels", "a.run", measure, "tvr-ranking", negatives=["q2"])


def test_groups_are_the_releases_strata(folder, capsys):
    content, _ = scored(capsys, "mIoU", "NullAcc", "--by", "stratum")
    groups = content["a.run"]["groups"]
    assert groups == {
        "easy": {"n": 2, "counted": {"mIoU": 1, "NullAcc": 1}, "mIoU": 1, "NullAcc": 1},
        "hard": {"n": 1, "counted": {"mIoU": 1, "NullAcc": 0}, "mIoU": 0, "NullAcc": None},
        "none": {"n": 1, "counted": {"mIoU": 0, "NullAcc": 1}, "mIoU": None, "NullAcc": 0},
    }
    command = ["evaluate", "qrels/test.qrels", "a.run", "mIoU", "NullAcc", "--by", "stratum"]
    assert main([*command, "--format", "csv"]) == 0
    rows = csv.DictReader(capsys.readouterr().out.splitlines())
    shown = {(row["group"], row["measure"]): (row["n"], row["value"]) for row in rows}
    assert (shown["easy", "mIoU"], shown["hard", "NullAcc"]) == (("1", "1.0"), ("0", ""))
    assert main(command) == 0
    assert "queries\tgroup:easy\t2\n" in (out := capsys.readouterr().out)
    assert "mIoU\tgroup:easy\t1.0000\nqueries of mIoU\tgroup:easy\t1\n" in out
    assert main([*command, "b.run"]) == 0
    assert "mIoU easy (n=1)" in capsys.readouterr().out
    assert main([*command, "--format", "markdown"]) == 0
    assert "none (n=0 to 1)" in capsys.readouterr().out
    assert main(["compare", "qrels/test.qrels", "a.run", "b.run", "NullAcc", "mIoU", "--by",
                 "origin", "--json"]) == 0  # fmt: skip
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    shown = [(pair["measure"], pair["group"], pair["queries"]) for pair in pairs]
    assert shown == [("NullAcc", "", 2), ("NullAcc", "asked", 1),
                     ("NullAcc", "made", 1), ("mIoU", "", 2),
                     ("mIoU", "asked", 2)]  # fmt: skip
    runs = {"a": "a.run", "b": "b.run"}
    compared = mr.compare("qrels/test.qrels", runs, ["NullAcc", "mIoU"], by="origin")
    assert [(pair.group, pair.queries) for pair in compared] == [row[1:] for row in shown]
    assert main(["compare", "qrels/test.qrels", "a.run", "b.run", "mIoU", "--by", "origin"]) == 0
    assert "asked  2  " in capsys.readouterr().out
    (folder / "manifest.json").unlink()
    assert main(["evaluate", "qrels/test.qrels", "a.run", "--by", "stratum"]) == 2
    assert "in no release whose queries.tsv has the column 'stratum'" in capsys.readouterr().err


def test_csv_of_groups_has_each_value_under_its_column(folder, capsys):
    command = ["compare", "qrels/test.qrels", "a.run", "b.run", "mIoU", "--by", "origin"]
    assert main([*command, "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert main([*command, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    for row, pair in zip(rows, pairs, strict=True):
        assert {name: row[name] for name in pair} == {
            name: "" if value is None else str(value) for name, value in pair.items()
        }


def test_a_missing_query_without_a_relevant_moment_is_no_warning(folder, capsys):
    (folder / "c.run").write_text("q1 Q0 v 0 10 1 0.9 x\n")
    for query, warned in (("q2", False), ("q3", False), ("q4", True)):
        assert main(["explain", "qrels/test.qrels", "c.run", query, "NullAcc"]) == 0
        assert ("has no query" in capsys.readouterr().err) == warned


def test_a_measure_over_no_query_is_nan_and_not_tested(folder, capsys):
    (folder / "pos.qrels").write_text("q1 Q0 v 0 10 2\nq4 Q0 v 0 10 3\n")
    command = ["evaluate", "pos.qrels", "a.run", "b.run", "NullAcc", "mIoU", "--marks"]
    assert main(command) == 0
    output = capsys.readouterr().out
    assert "not tested: NullAcc" in output
    assert "1 comparison" in output


def test_without_a_relevant_moment_nothing_is_said_of_boundaries(folder, capsys):
    command = ["evaluate", "qrels/test.qrels", "a.run", "NullAcc"]
    assert main(command) == 0
    assert "would be" in capsys.readouterr().err
    (folder / "qrels/test.qrels").write_text("q1 Q0 v 0 10 0\nq2 Q0 v 0 10 1\n")
    list_files(folder)
    assert main(command) == 0
    assert "would be" not in capsys.readouterr().err


def test_explain_says_why_a_query_does_not_count_and_its_place(folder, capsys):
    explained = mr.explain("qrels/test.qrels", "a.run", "q2", "nDCG(iou=0.5)@10")
    assert explained.summary.endswith("does not count (paper): it has no relevant moment")
    explained = mr.explain("qrels/test.qrels", "a.run", "q1", "NullAcc")
    assert explained.summary.endswith("does not count (paper): it has a relevant moment")
    for measure in (AUROC, AUARC(iou=0.5) @ 10):
        whole = mr.evaluate("qrels/test.qrels", "a.run", [measure]).to_frame(per_query=True)
        explained = mr.explain("qrels/test.qrels", "a.run", "q2", measure)
        assert explained.value == whole.iloc[1, 1]
        assert ", place 2 of 4" in explained.summary
        assert explained.ranking[-1].value == explained.value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q, r: mr.evaluate(q[:1], r, "AUROC"), "needs queries with and without"),
        (lambda q, r: mr.evaluate(q, r, "AUROC", "tvr-ranking"), "use convention paper"),
        (lambda q, r: mr.evaluate(q, r, "nDCG(iou=.5,silence=True)", "spr"), "convention paper"),
        (lambda q, r: mr.evaluate(q, r, str(ACCURACY), unjudged="bounds"), "counts silence"),
        (lambda q, r: mr.evaluate(q, r, "NullAcc", unjudged="bounds"), "no measure is named"),
        (lambda q, r: mr.compare(q, {"a": r, "b": r}, "AUROC"), "depends on the others"),
        (lambda q, r: mr.evaluate_with_machine(q, r, q, "AUROC"), "of the whole collection"),
        (lambda q, r: mr.score_runs(q, {"a": r, "b": r}, ["mIoU", "NullAcc"]), "a different set"),
        (lambda q, r: mr.risk_coverage(q, r, "mIoU"), "leaves out queries"),
    ],
)
def test_what_has_no_meaning_is_refused(call, message):
    with pytest.raises(mr.UsageError, match=message):
        call(*files([2, 0, 1, 0], [[1], [], [0, 1], [0]]))


def test_an_unreadable_relevant_moment_is_missed_and_not_absent(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.qrels").write_text("q1 Q0 v 0 10 2\nq2 Q0 v 9 3 1\nq3 Q0 v 9 3 0\n")
    (tmp_path / "a.run").write_text(RUN)
    measures = ["mIoU", "NullAcc", "NumRel", "VideosRel"]
    arguments = ["evaluate", "test.qrels", "a.run", *measures, "--lenient", "--json"]
    assert main(arguments) == 0
    values = json.loads(capsys.readouterr().out)["a.run"]
    assert values == {"mIoU": 1 / 2, "NullAcc": 1, "NumRel": 1, "VideosRel": 1}
    (tmp_path / "negatives.txt").write_text("q2\n")
    assert main([*arguments, "--negatives", "negatives.txt"]) == 0
    values = json.loads(capsys.readouterr().out)["a.run"]
    assert values["mIoU"] == 1  # q2 is declared negative, so it is not missed
    assert main(["explain", "test.qrels", "a.run", "q2", "mIoU", "--lenient"]) == 0
    shown = capsys.readouterr().out
    assert "= 0.0000" in shown
    assert "\0" not in shown
