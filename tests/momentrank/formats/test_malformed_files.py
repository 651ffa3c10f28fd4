"""Hundreds of malformed files over all formats: one line each, with the file and the place."""

import copy
import json
import re
from pathlib import Path

import pytest
from formats_cases import CORPUS, QRELS, RUNS, file_of

from momentrank.cli.main import main


def places(value, path=()):
    """Yield the path of every value inside."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def replace_at(document, path, new):
    """Return a copy with another value at a path; `...` removes a key."""
    whole = copy.deepcopy(document)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    if new is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return whole


def is_free(path):
    """Tell whether a value may be anything, or its record tells the format."""
    if path[1:2] == ("pred_relevant_windows",) and path[-1] == 2:  # a score may be missing
        return True
    return path[-1] in {"query", "sentences"} or path[0] == 0 or "sentences" in path


def damage(document):
    """Yield malformed variants of a document."""
    for path in places(document):
        if is_free(path):
            continue
        yield path, replace_at(document, path, None)
        yield path, replace_at(document, path, {"a": True})
        last = path[-1]
        if (
            isinstance(last, str)
            and last != "model_scores"
            and len(path) > 1
            and path[0] not in {"VCMR", "video2idx"}
        ):
            yield path, replace_at(document, path, ...)
        inner = document
        for key in path:
            inner = inner[key]
        if isinstance(inner, list) and inner[-2:-1] == [0]:
            yield path, replace_at(document, path, [*inner[:-2], 5, 1])
        if isinstance(inner, float | int) and last != "qid":
            yield path, replace_at(document, path, float("nan"))


LINES = {
    "run": (
        "q Q0 v 0 1 1 0.5 t\n",
        ["q Q0 v 0 1 2 0.4", "q Q0 v 1 0 2 0.4 t", "q Q0 v x 1 2 0.4 t", "q Q0 v 0 inf 2 0.4 t",
         "q Q0 v 0 1 x 0.4 t", "q Q0 v 0 1 2 x t", "q% Q0 v 0 1 2 0.4 t", "q Q0 v 0 1 2 0.4 t 9 9",
         "q Q0 v 0 1e400 2 0.4 t", "q Q0 v -1e300 1 2 0.4 t"],
    ),
    "jump-in": (
        "q Q0 v 0 1 0.5 1 0.5\nq Q0 v 0 1 0.25 2 0.25\n",
        ["q Q0 v 1 0 0.5 3 0.4", "q Q0 v 0 1 x 3 0.4", "q Q0 v 0 1 0.5 x 0.4", "q Q0 v 0 1 0 3 x"],
    ),
    "9": (
        "q Q0 v 0 1 0.5 1 0.5 t\n",
        ["q Q0 v 1 0 0.5 2 0.4 t", "q Q0 v 0 1 x 2 0.4 t", "q Q0 v 0 1 0.5 2 x t", "q Q0 v 0 1"],
    ),
    "charades-sta": (
        "v 0 1##x\n",
        ["v 0##x", "v 0 1", "v 1 0##x", "v x 1##x", "v 0 1 2##x", "v 0 nan##x", "##"],
    ),
}  # fmt: skip

CASES = [
    (f"{kind}/{name} {'.'.join(map(str, path))} {number}", json.dumps(document))
    for kind, formats in (("qrels", QRELS), ("run", RUNS), ("other", {"corpus": CORPUS}))
    for name, whole in formats.items()
    for number, (path, document) in enumerate(damage(whole))
]
CASES += [
    (f"jsonl/{name} {number}", "".join(f"{json.dumps(record)}\n" for record in document))
    for name, whole in [*QRELS.items(), *RUNS.items()]
    if isinstance(whole, list)
    for number, (_, document) in enumerate(damage(whole))
]
CASES += [
    (f"lines/{name} {bad}", f"# a comment\n{first}{bad}\n")
    for name, (first, lines) in LINES.items()
    for bad in lines
]
CASES += [
    (f"cut/{kind}/{name} {part}", json.dumps(whole)[: int(len(json.dumps(whole)) * part)])
    for kind, formats in (("qrels", QRELS), ("run", RUNS))
    for name, whole in formats.items()
    for part in (0.3, 0.95)
]
PLACE = r"(, line \d+(, column \d+)?: |: [\w\"\]\[. -]+: |: the key '\w+' (is missing|appears))"


def test_there_are_enough_of_them():
    assert len(CASES) > 400
    assert {name for name, _ in CASES} >= {"lines/run q Q0 v 0 1 2 x t", "lines/charades-sta ##"}


@pytest.mark.parametrize("whole", [*QRELS.values(), *RUNS.values(), CORPUS])
def test_none_of_them_is_malformed_before(tmp_path, capsys, whole):
    assert main(["validate", str(file_of(tmp_path, json.dumps(whole)))]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("name", "text"), CASES, ids=[name for name, _ in CASES])
def test_a_malformed_file_is_one_line_with_its_place(tmp_path, capsys, name, text):
    path = file_of(tmp_path, text, "file")
    assert main(["validate", str(path)]) == 1, name
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"momentrank: {path}")
    assert "Traceback" not in err
    if "no known format" in err:
        assert err.splitlines()[0].endswith("; the formats are:")
        return
    assert len(err.splitlines()) == 1, err
    assert re.match(PLACE, err.removeprefix(f"momentrank: {path}")), err


@pytest.mark.parametrize("verb", ["evaluate", "compare", "explain", "convert"])
def test_every_verb_says_the_same(tmp_path, capsys, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    Path("test.qrels").write_text("1 Q0 v 0 1 1\n")
    Path("good.json").write_text(json.dumps(RUNS["tvr-ranking"]))
    bad = replace_at(RUNS["tvr-ranking"], (1, "predictions", 0, 1), None)
    Path("bad.json").write_text(json.dumps(bad))
    arguments = {
        "evaluate": ["test.qrels", "bad.json", "nDCG(iou=0.5)@10"],
        "compare": ["test.qrels", "good.json", "bad.json", "nDCG(iou=0.5)@10"],
        "explain": ["test.qrels", "bad.json", "1"],
        "convert": ["bad.json", "out.run", "--to", "segments"],
    }
    assert main([verb, *arguments[verb]]) == 1
    *_, last = capsys.readouterr().err.splitlines()
    assert last == "momentrank: bad.json: [1].predictions[0][1]: must be a number, not None"
