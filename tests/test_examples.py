"""The examples in docstrings: they run, and say what the code returns."""

import doctest
import inspect
import json
import re
from importlib import import_module

import pytest
from support.simulated import campaign_of, candidates_of, people

import momentrank as mr
from momentrank.cli import demo
from momentrank.formats.source import sha256_of

MODULES = {
    *("momentrank.functions", "momentrank.collection.release", "momentrank.measures.parse"),
    "momentrank.formats.read",
    *(type(measure).__module__ for measure in mr.REGISTRY.values()),
    *("annotation.votes.rule", "annotation.reliability.alpha", "annotation.assignment.planning"),
}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_the_examples_print_what_they_say(name, tmp_path, monkeypatch):
    demo.write(tmp_path)
    (release := tmp_path / "release").mkdir()
    (release / "queries.tsv").write_text("query_id\tquery\tsplit\nq1\tShe waves.\ttest\n")
    hashes = {"queries.tsv": {"sha256": sha256_of(release / "queries.tsv")}}
    manifest = {"name": "Kitchens", "version": "1.0.0", "files": hashes}
    (release / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.chdir(tmp_path)
    names = {"mr": mr, "campaign": campaign_of(candidates_of(1, 1), people(2))}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for example in doctest.DocTestFinder().find(import_module(name), extraglobs=names):
        runner.run(example)
    assert runner.tries > 0
    assert runner.failures == 0


def test_every_public_function_and_measure_has_an_example():
    public = {name: getattr(mr, name) for name in dir(mr)}
    documented = {
        name: inspect.getdoc(value) or ""
        for name, value in public.items()
        if inspect.isfunction(value) or isinstance(value, mr.Measure)
    }
    assert {name for name, doc in documented.items() if ">>> " not in doc} == set()


def test_the_page_says_of_each_measure_what_its_class_says(repository):
    page = (repository / "docs/scoring.md").read_text()
    _, table = page.split("| measure | value of a query | source |\n|---|---|---|\n")
    rows = {}
    for line in table.split("\n\n")[0].splitlines():
        names, values, source = (cell.strip() for cell in line.strip("|").split(" | "))
        for name in dict.fromkeys(re.findall(r"`(\w+)", names)):
            rows[name] = values, source
    assert rows.keys() == mr.REGISTRY.keys()
    for name, measure in mr.REGISTRY.items():
        [summary, *_] = inspect.getdoc(measure).split("\n")
        assert summary.rstrip(".") in rows[name][0].split("; ")
        assert rows[name][1] == measure.SOURCE
        assert f"Source: {measure.SOURCE}" in inspect.getdoc(measure)
