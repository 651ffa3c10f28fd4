"""Prompt files: what is committed loads, every mistake is a line, the hash tells prompts apart."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentrank.errors import UsageError
from pipeline.captions import rewrite_prompt as prompts
from pipeline.captions.variants.vary_prompt import VaryPrompt
from pipeline.core import files
from pipeline.judges.judge_prompt import JudgePrompt
from pipeline.llm.prompt import PromptError, load_prompt

EXAMPLE = {"description": "Omar sits.", "caption": "A man sits."}
ALL, KNOWN = "{{descriptions}}", "known: descriptions, language"


def example_with(**change):
    return {"examples": [EXAMPLE | change]}


KINDS = {"judge": JudgePrompt, "rewrite": prompts.RewritePrompt, "vary": VaryPrompt}


@pytest.fixture
def content(repository):
    """Return what the committed prompt says."""
    return files.read_yaml(repository / "prompts" / "rewrite-v1.yaml")


@pytest.fixture
def load_changed(tmp_path, repository):
    """Return a function that loads a committed prompt with some keys changed."""

    def _load(kind="rewrite", **changes):
        path = tmp_path / "prompt.yaml"
        changed = files.read_yaml(repository / "prompts" / f"{kind}-v1.yaml") | changes
        files.write_json(path, {key: value for key, value in changed.items() if value is not None})
        return load_prompt(KINDS[kind], path)

    return _load


def complaints(load, *kind, **changes):
    with pytest.raises(PromptError) as caught:
        load(*kind, **changes)
    assert isinstance(caught.value, UsageError)
    lines = str(caught.value).splitlines()
    assert all("prompt.yaml: " in line for line in lines)
    return [line.split("prompt.yaml: ", 1)[1] for line in lines]


def test_every_committed_prompt_loads_and_is_named_as_its_file(repository):
    paths = sorted((repository / "prompts").glob("*.yaml"))
    assert paths
    for path in paths:
        kind = KINDS[path.stem.split("-")[0]]
        prompt = load_prompt(kind, path)
        assert path.stem == f"{prompt.name}-v{prompt.version}"
        assert re.fullmatch(rf"{path.stem}@[0-9a-f]{{12}}", prompt.label)


def test_the_committed_prompt_has_not_changed(load_changed):
    # A campaign's captions name it: change it by writing the next version beside it.
    assert load_changed().label == "rewrite-v1@943a200e9f70"


def test_the_examples_do_what_the_prompt_asks(load_changed):
    for example in load_changed().examples:
        names = re.findall(r"(?<!^)\b(?!I\b)[A-Z][a-z]+", example.caption)
        assert names == []
        assert example.caption.endswith(".")


def test_the_schema_is_one_that_strict_mode_takes(load_changed):
    """OpenAI: every property is required, and no other may come."""

    def objects(schema):
        if schema["type"] == "object":
            yield schema
        for part in schema.get("properties", {}).values():
            yield from objects(part)
        if schema["type"] == "array":
            yield from objects(schema["items"])

    schemas = list(objects(load_changed().answer))
    assert len(schemas) == 2
    for schema in schemas:
        assert schema["additionalProperties"] is False
        assert sorted(schema["required"]) == sorted(schema["properties"])


def test_the_conversation_holds_rules_examples_and_descriptions(load_changed):
    prompt = load_changed()
    asked = {"ab": 'He says "{{descriptions}}" \\1\nand\u2028goes.', "cd": "Omar sits."}
    system, question, answer, last = prompt.messages(asked)
    roles = [message["role"] for message in (system, question, answer, last)]
    assert roles == ["system", "user", "assistant", "user"]
    lines = [json.loads(line) for line in last["content"].split("\n") if line.startswith("{")]
    assert lines == [{"id": id_, "description": text} for id_, text in asked.items()]
    example_lines = [
        json.loads(line) for line in question["content"].split("\n") if line.startswith("{")
    ]
    example_captions = json.loads(answer["content"])["captions"]
    assert [line["id"] for line in example_lines] == [line["id"] for line in example_captions]
    assert [line["description"] for line in example_lines] == [
        e.description for e in prompt.examples
    ]


def test_the_language_stands_where_the_prompt_asks_for_it(load_changed):
    asking = load_changed(system="Write {{ language }}.", user="In {{language}}:\n{{descriptions}}")
    german = asking.in_language("German")
    system, *_, last = german.messages({"ab": "Er sagt {{language}}."})
    assert system["content"] == "Write German."
    assert last["content"].startswith("In German:\n")
    assert "Er sagt {{language}}." in last["content"]
    assert german.messages({})[1]["content"].startswith("In German:\n")
    assert len({asking.sha, german.sha, asking.in_language("English").sha}) == 3


def test_a_prompt_for_english_alone_refuses_another_language(load_changed):
    assert load_changed().in_language("English").label == load_changed().label
    with pytest.raises(PromptError, match=r"rewrite-v1@.* English, and the corpus is German"):
        load_changed().in_language("German")


def test_the_default_prompt_takes_any_language(repository):
    path = repository / files.read_yaml(repository / "params.yaml")["rewrite"]["prompt"]
    [system, *_] = prompts.load(path).in_language("German").messages({})
    assert "German" in system["content"]
    assert "{{" not in system["content"]


def test_without_examples_there_are_none(load_changed):
    roles = [message["role"] for message in load_changed(examples=[]).messages({"a": "b"})]
    assert roles == ["system", "user"]


def test_any_change_is_another_hash_and_no_change_the_same(load_changed, content):
    shas = [
        load_changed().sha,
        load_changed(version=2).sha,
        load_changed(system=content["system"] + " ").sha,
        load_changed(user="Now {{descriptions}}").sha,
        load_changed(examples=content["examples"][:-1]).sha,
        load_changed(schema={**content["schema"], "description": "captions"}).sha,
    ]
    assert len(set(shas)) == len(shas)
    assert load_changed(**dict(reversed(content.items()))).sha == shas[0]
    assert (
        load_changed(user="Now {{descriptions}}").sha
        == load_changed(user="Now {{descriptions}}").sha
    )


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"user": "Rewrite."}, "user: must contain {{descriptions}} once, not 0 times"),
        ({"user": f"{ALL} {{{{tongue}}}}"}, f"user: unknown placeholder {{{{tongue}}}}; {KNOWN}"),
        ({"system": " \n "}, "system: must not be blank"),
        ({"system": "You {{x"}, "system: a {{ without a }} on the same line"),
        ({"examples": [EXAMPLE, EXAMPLE]}, "examples: 'Omar sits.' appears twice"),
        (example_with(caption=" "), "examples.0.caption: must not be blank"),
        ({"user": None}, "user: this key is missing"),
        ({"sistem": "You"}, "sistem: unknown key; did you mean 'system'?"),
        ({"version": 0}, "version: input should be greater than or equal to 1 (it is 0)"),
        ({"name": "R e"}, "name: string should match pattern '^[a-z][a-z0-9-]*$' (it is 'R e')"),
        ({"schema": {}}, "schema: must ask for captions[].id, a string"),
    ],
)
def test_a_mistake_is_one_line(load_changed, changes, complaint):
    assert complaints(load_changed, **changes) == [complaint]


@pytest.mark.parametrize(
    ("kind", "changes", "complaint"),
    [
        ("vary", {"system": "No task."}, "system: must contain {{task}} once"),
        ("judge", {"system": "No guideline."}, "system: must contain {{guideline}} once, not 0"),
        ("judge", {"user": "{{query}} {{query}}"}, "user: must contain {{query}} once, not 2"),
        (
            "judge",
            {"clip": "{{seconds}} {{pictures}} {{caption}}"},
            "clip: unknown placeholder {{caption}}",
        ),
        ("judge", {"blind": "x"}, "blind: must contain {{caption}} once, not 0 times"),
        ("judge", {"schema": {}}, "schema: must ask for level, one of 0, 1, 2, 3, 4 and null"),
        ("judge", {"examples": []}, "examples: unknown key"),
    ],
)
def test_a_mistake_in_another_kind_of_prompt_is_told(load_changed, kind, changes, complaint):
    assert any(line.startswith(complaint) for line in complaints(load_changed, kind, **changes))


@pytest.mark.parametrize(
    "levels", [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5, None], ["0", 1, 2, 3, 4, None], [False, True]]
)
def test_the_schema_of_judging_allows_every_level_and_none(load_changed, repository, levels):
    schema = files.read_yaml(repository / "prompts/judge-v1.yaml")["schema"]
    schema["properties"]["level"]["enum"] = levels
    [complaint] = complaints(load_changed, "judge", schema=schema)
    assert complaint.startswith("schema: must ask for level")


ODD = ({"required": None}, {"properties": []}, {"properties": None})


@pytest.mark.parametrize(
    ("part", "change", "asked"),
    [
        *((part, change, "[].id, a string") for part in ("all", "items") for change in ODD),
        *(("captions", {"type": kind}, ", an array") for kind in ("object", None, ["array"])),
        ("items", {"required": ["caption"]}, "[].id, a string"),
        ("items", {"required": ["id"]}, "[].caption, a string"),
    ],
)
def test_the_schema_must_ask_for_what_is_read(load_changed, content, part, change, asked):
    schema = json.loads(json.dumps(content["schema"]))
    captions = schema["properties"]["captions"]
    {"all": schema, "captions": captions, "items": captions["items"]}[part].update(change)
    assert complaints(load_changed, schema=schema) == [f"schema: must ask for captions{asked}"]


@given(st.lists(st.text(), unique=True, max_size=60))
def test_ids_differ_and_come_from_the_description_alone(descriptions):
    ids = prompts.short_ids(descriptions)
    assert len(set(ids)) == len(descriptions)
    assert prompts.short_ids(descriptions[::-1]) == ids[::-1]
    assert all(re.fullmatch(r"[a-z]{4,}", id_) for id_ in ids)


def test_ids_grow_where_short_ones_meet():
    descriptions = [str(number) for number in range(2000)]
    ids = prompts.short_ids(descriptions)
    assert len(set(ids)) == 2000
    assert {len(id_) for id_ in ids} == {len(ids[0])}
    assert len(ids[0]) > 4
    with pytest.raises(ValueError, match="twice"):
        prompts.short_ids(["a", "a"])
