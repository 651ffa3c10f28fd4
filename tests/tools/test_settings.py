"""Settings of a command line: what they change, that comments stay, and one line per mistake."""

import difflib
import shlex

import hypothesis
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from pipeline.core import params
from tools import settings
from tools.settings import SettingsError, apply, parse


@pytest.fixture(scope="module", params=["params.yaml", "params.paper.yaml"])
def text(request, repository):
    return (repository / request.param).read_text()


def changed_lines(before, after):
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return ([line[2:] for line in lines if line[0] == sign] for sign in "-+")


def comment(line):
    return line.rpartition(" # ")[2] if " # " in line else ""


def test_only_the_lines_of_the_settings_change_and_their_comments_stay(text):
    changes = {
        "ingest.source": "/data/my corpus/tvr #1.jsonl",
        "ingest.query_modalities": "[v, t]",
        "ingest.videos": "null",
        "split.val": "17",
        "rewrite.openai.input_price": "0.5",
    }
    removed, added = changed_lines(text, apply(text, changes))
    keys = [line.split(":")[0].strip() for line in added]
    assert keys == ["source", "videos", "query_modalities", "input_price", "val"]
    for old, new in zip(removed, added, strict=True):
        assert comment(old) == comment(new)
    assert added[0].strip().startswith("source: '/data/my corpus/tvr #1.jsonl'")
    assert added[1].strip().startswith("videos: null")
    assert added[2].strip().startswith("query_modalities: [v, t]")
    assert [line.split("#")[0].strip() for line in added[3:]] == ["input_price: 0.5", "val: 17"]


def test_without_settings_not_a_byte_changes(text):
    assert apply(text, {}) == text


@hypothesis.settings(max_examples=30)
@example(value="=")
@given(value=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
def test_a_text_is_taken_as_it_was_typed(repository, value):
    text = (repository / "params.yaml").read_text()
    plain = YAML(typ="safe", pure=True)
    try:
        typed = plain.load(value)
    except Exception:  # noqa: BLE001  (whatever is no YAML is a text)
        typed = value
    if not isinstance(typed, str) or value[0] in "'\"":
        return
    changed = apply(text, parse(f"release.citation={shlex.quote(value)}"))
    assert plain.load(changed)["release"]["citation"] == value


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("ingest.sorce=x", ["SET: ingest.sorce: unknown key; did you mean 'source'?"]),
        ("ingst.source=x", ["SET: ingst: unknown key; did you mean 'ingest'?"]),
        ("split.val.low=1", ["SET: split.val.low: unknown key"]),
        ("split.val=many", ["SET: split.val: input should be a valid integer (it is 'many')"]),
        ("split.val", ["SET: 'split.val' is not KEY=VALUE; a value with spaces needs quotes"]),
        ("split.val=1 split.val=2", ["SET: split.val: appears twice"]),
        ("split.val='1", ['SET: no closing quotation in "split.val=\'1"']),
        (
            "split.val=-1 split.test=x",
            [
                "SET: split.val: input should be greater than or equal to 0 (it is -1)",
                "SET: split.test: input should be a valid integer (it is 'x')",
            ],
        ),
        ("ingest.query_modalities=[v", ["SET: ingest.query_modalities: "]),
    ],
)
def test_a_mistake_is_one_line_with_the_key(text, arguments, lines):
    with pytest.raises(SettingsError) as caught:
        apply(text, parse(arguments))
    assert caught.value.exit_code == 2
    for line, expected in zip(str(caught.value).splitlines(), lines, strict=True):
        assert line.startswith(expected)


def test_a_file_is_rewritten_whole_or_not_at_all(repository, tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text((repository / "params.yaml").read_text())
    settings.main(settings.argparse.Namespace(file=path, settings="split.val=7"))
    assert params.load(path).split.val == 7
    before = path.read_bytes()
    with pytest.raises(SettingsError):
        settings.main(settings.argparse.Namespace(file=path, settings="split.val=8 split.tst=9"))
    assert path.read_bytes() == before
