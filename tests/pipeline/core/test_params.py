"""`params.yaml`: the two files that are committed, and one clear line for each mistake."""

import json

import pytest

from pipeline.core import files, params
from pipeline.core.params import ParamsError

ABSENT = object()
EVERY_COLUMN = {name: name for name in ("video_id", "start", "end", "duration", "description")}


@pytest.fixture
def load_errors(repository, tmp_path):
    """Return a function that changes one key of params.yaml and gives the error's lines."""

    def _load_errors(key, value):
        content = files.read_yaml(repository / "params.yaml")
        *sections, last = key.split(".")
        section = content
        for name in sections:
            section = section[name]
        if value is ABSENT:
            del section[last]
        else:
            section[last] = value
        path = tmp_path / "params.yaml"
        path.write_text(json.dumps(content).replace("Infinity", ".inf").replace("NaN", ".nan"))
        try:
            params.load(path)
        except ParamsError as exc:
            return str(exc).replace(str(path), "params.yaml").splitlines()
        return []

    return _load_errors


def test_the_papers_settings_load(repository):
    paper = params.load(repository / "params.paper.yaml")
    assert (paper.split.val, paper.split.test) == (500, 2781)
    assert (paper.candidates.top, paper.candidates.batch) == (40, 20)
    assert paper.pseudo.top == [1, 20, 40]
    assert (paper.clips.format, paper.clips.padding) == ("gif", 0)
    assert paper.embed.model == "princeton-nlp/sup-simcse-roberta-large"
    assert paper.embed.pooling == "pooler"
    assert (paper.ingest.corpus, paper.ingest.query_modalities) == ("tvr", ["v"])
    assert paper.names.model == "flair/ner-english-large"
    assert (paper.rewrite.backend, paper.rewrite.rounds) == ("openai", 2)
    assert (paper.rewrite.min_similarity, paper.rewrite.max_name_score) == (0.4, 0.8)
    assert (paper.rewrite.similarity, paper.rewrite.min_detail) == ("raw", None)


def test_both_files_have_the_same_keys(repository):
    ours, paper = (
        files.read_yaml(repository / name) for name in ("params.yaml", "params.paper.yaml")
    )
    assert {name: set(section) for name, section in ours.items()} == {
        name: set(section) for name, section in paper.items()
    }
    assert set(ours["rewrite"]["openai"]) == set(paper["rewrite"]["openai"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ingest.max_rejected", 1),
        ("ingest.videos", None),
        ("ingest.videos", "{video_id}"),
        ("ingest.columns", EVERY_COLUMN | {"modality": "kind"}),
        ("candidates.top", 40),
        ("clips.height", 16),
        ("clips.url", "s3://bucket"),
        ("clips.url", "s3://bucket/a prefix/"),
        ("clips.url", "https://example.org/clips/"),
        ("embed.device", "cuda:1"),
        ("embed.revision", "0123abc"),
    ],
)
def test_values_at_the_edge_are_possible(load_errors, key, value):
    assert load_errors(key, value) == []


LOW = "input should be greater than or equal to"
NO_ITEM = "list should have at least 1 item after validation, not 0 (it is [])"
NO_TEXT = "string should have at least 1 character (it is '')"
MISSING = "this key is missing; params.paper.yaml has a line for it to copy"
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        # a key that is none, or is missing
        ("spilt", {"seed": 1}, "unknown key; did you mean 'split'?"),
        ("ingest.end_slak", 1.0, "unknown key; did you mean 'end_slack'?"),
        *((key, ABSENT, MISSING) for key in ("ingest.end_slack", "plan.link", "report.max_drift")),
        # the wrong type
        ("split", None, "must contain keys with values (it is None)"),
        ("split.val", "10", "input should be a valid integer (it is '10')"),
        ("pseudo.top", 20, "input should be a valid list (it is 20)"),
        # a value that can't be meant
        (
            "engine.folder",
            "s3://bucket/prefix",
            "must be a folder that every machine sees, not an address",
        ),
        ("split.val", -1, f"{LOW} 0 (it is -1)"),
        ("ingest.max_rejected", NAN, "input should be a finite number (it is nan)"),
        ("ingest.end_slack", INF, "input should be a finite number (it is inf)"),
        ("ingest.source", "", NO_TEXT),
        ("ingest.videos", "a.mp4", "must contain {video_id}, as in videos/{video_id}.mp4"),
        ("embed.pooling", "max", "input should be 'mean', 'cls' or 'pooler' (it is 'max')"),
        ("candidates.top", 41, "must be at most two batches of 20 (it is 41)"),
        ("candidates.depth", 39, "must be at least candidates.top, 40 (it is 39)"),
        ("pseudo.top", [], NO_ITEM),
        ("pseudo.top", [20, 20], "a size appears twice"),
        ("agreement.confidence", 1.0, "input should be less than 1 (it is 1.0)"),
        ("sample.height", 181, "input should be a multiple of 2 (it is 181)"),
        ("rewrite.openai.timeout", 0, "input should be greater than 0 (it is 0)"),
    ],
)
def test_a_mistake_is_one_line_with_the_keys_path(load_errors, key, value, complaint):
    assert load_errors(key, value) == [f"params.yaml: {key}: {complaint}"]


COLUMNS = "'moment_id', 'video_id', 'start', 'end', 'duration', 'description' or 'modality'"


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("ingest.pool_modalities", ["v", "x"], ".1: input should be 'v', 't' or 'vt' (it is 'x')"),
        ("pseudo.top", [1, 0], f".1: {LOW} 1 (it is 0)"),
        ("ingest.columns", {"video_id": ""}, f".video_id: {NO_TEXT}"),
        ("ingest.columns", {"video": "v"}, f".video: unknown key; must be {COLUMNS}"),
    ],
)
def test_a_mistake_inside_a_value_is_told_by_its_own_path(load_errors, key, value, line):
    assert load_errors(key, value) == [f"params.yaml: {key}{line}"]


def test_a_limit_that_another_key_sets_is_told_by_the_key_that_passes_it(load_errors):
    line = "candidates.top: must be at most two batches of 19 (it is 40)"
    assert load_errors("candidates.batch", 19) == [f"params.yaml: {line}"]
    ranks = "with candidates.top these are 1001 ranks: raise candidates.depth, which is 1000"
    assert load_errors("judge.pool_top", 961) == [f"params.yaml: judge.pool_top: {ranks}"]


@pytest.mark.parametrize(("key", "value"), [("ingest.corpus", "msrvtt"), ("embed.device", "gpu")])
def test_an_unknown_choice_is_refused(load_errors, key, value):
    [line] = load_errors(key, value)
    assert line.startswith(f"params.yaml: {key}: ")
    assert line.endswith(f"(it is {value!r})")


def test_a_misspelt_key_and_a_wrong_value_are_two_lines(repository, tmp_path):
    content = files.read_yaml(repository / "params.yaml")
    content["split"] = {"seed": 1, "vall": 10, "test": -1, "train": None}
    path = tmp_path / "params.yaml"
    files.write_json(path, content)
    with pytest.raises(ParamsError) as caught:
        params.load(path)
    assert sorted(str(caught.value).splitlines()) == [
        f"{path}: split.test: input should be greater than or equal to 0 (it is -1)",
        f"{path}: split.vall: unknown key; did you mean 'val'?",
    ]


@pytest.mark.parametrize(
    ("content", "value"), [("", "None"), ("- a\n", "['a']"), ("hello\n", "'hello'")]
)
def test_a_file_without_sections_says_so(tmp_path, content, value):
    path = tmp_path / "params.yaml"
    path.write_text(content)
    with pytest.raises(ParamsError) as caught:
        params.load(path)
    assert str(caught.value) == f"{path}: the file: must contain keys with values (it is {value})"
