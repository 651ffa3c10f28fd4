"""The two checks of captions, alone and as a command on any CSV file."""

import argparse
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support.taggers import make_finder

from momentrank.formats import FormatError
from pipeline import check as command
from pipeline.captions import checks as module
from pipeline.captions.checks import Limits, check, read_limits, similarities
from pipeline.check import COLUMNS, CheckError, add_checks, read_file
from pipeline.core import csv_files
from pipeline.core.captions import LEARNED_MIN_SIMILARITY
from pipeline.core.files import FileError
from pipeline.core.params import ParamsError, load
from pipeline.names.base import Span
from pipeline.retrieval.similarity import unit_on_grid

LIMITS = Limits(min_similarity=0.4, max_name_score=0.8)


class Scores:
    """A tagger that takes texts for names, with these scores."""

    def __init__(self, scores):
        self.scores = scores

    def find(self, texts):
        return [
            [Span(0, len(text), text, score) for score in self.scores.get(text, ())]
            for text in texts
        ]


class Angles:
    """An encoder in the plane: the angle of a text is what stands in it, in degrees."""

    def __init__(self):
        self.encoded = []

    def encode(self, texts):
        assert texts, "as sentence-transformers, which stacks nothing to no array"
        self.encoded += texts
        angles = np.deg2rad([float(text) for text in texts])
        return unit_on_grid(np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))


def test_the_limits_themselves_pass():
    finder = Scores({"0": [0.8], "1": [0.80001], "2": [0.1, 0.95]})
    angle = float(np.rad2deg(np.arccos(0.4)))
    others = [str(angle - 1e-6), "1", str(angle + 3)]
    checks = check(["0", "1", "2"], others, finder, Angles(), LIMITS)
    assert checks["names_ok"].tolist() == [True, False, False]
    assert checks["name_score"].tolist() == [0.8, 0.80001, 0.95]
    assert checks["names"].tolist() == ["0", "1", "2; 2"]
    assert checks["similarity_ok"].tolist() == [True, True, False]
    assert checks["similarity"].iloc[:2].tolist() == [0.4, 1.0]


def test_similarity_is_the_cosine_and_each_distinct_text_is_encoded_once():
    encoder, captions, descriptions = Angles(), ["0", "60", "90", "0"], ["60", "60", "0", "60"]
    alike = similarities(captions, descriptions, encoder)
    np.testing.assert_allclose(alike, [0.5, 1.0, 0.0, 0.5], atol=1e-6)
    assert sorted(encoder.encoded) == ["0", "60", "90"]


def test_many_pairs_in_blocks_are_as_each_alone(monkeypatch):
    angles = [str(angle) for angle in range(0, 180, 7)]
    whole = similarities(angles, angles[::-1], Angles())
    monkeypatch.setattr(module, "BLOCK", 4)
    assert similarities(angles, angles[::-1], Angles()).tolist() == whole.tolist()


@pytest.mark.parametrize(("descriptions", "encoder"), [(None, Angles()), (["0"], None)])
def test_what_is_not_compared_has_no_similarity(descriptions, encoder):
    checks = check(["0"], descriptions, Scores({}), encoder, LIMITS)
    assert checks["similarity"].isna().all()
    assert checks["similarity_ok"].isna().all()
    assert checks["names_ok"].tolist() == [True]


class Bags:
    """An encoder of words: each of these is a dimension."""

    words = ("waves", "soap", "dish", "nora", "omar", "someone", "woman", "man")

    def encode(self, texts):
        read = [re.findall(r"\w+", text.lower()) for text in texts]
        rows = [[words.count(word) for word in self.words] for words in read]
        return unit_on_grid(np.array(rows, dtype=np.float32))


TWO_PEOPLE = SimpleNamespace(find=make_finder("Nora", "Omar"))
MASKED = LIMITS._replace(masked=True, min_detail=0.6)


def check_pair(caption, description, limits):
    checks = check([caption], [description], TWO_PEOPLE, Bags(), limits).iloc[0]
    return checks["similarity_ok"], checks["detail_ok"]


def test_how_many_names_a_sentence_holds_is_no_difference():
    caption, description = "Someone waves to someone.", "Nora waves to Omar."
    assert check_pair(caption, description, LIMITS) == (False, pd.NA)
    assert check_pair(caption, description, MASKED) == (True, True)


def test_what_is_no_name_must_not_become_somebody():
    """Half of what stands in the sentence is lost, however alike the two are."""
    caption, description = "Someone is in a dish.", "Soap is in a dish."
    assert check_pair(caption, description, LIMITS) == (True, pd.NA)
    assert check_pair(caption, description, MASKED) == (True, False)


def test_a_name_that_is_left_makes_a_caption_no_less_alike():
    checks = check(["Nora waves."], ["Nora waves."], TWO_PEOPLE, Bags(), MASKED).iloc[0]
    assert (checks["names_ok"], checks["similarity"]) == (False, 1.0)


@pytest.mark.parametrize(
    ("key", "value", "encoder"),
    [("similarity", "raw", "builtin"), ("similarity", "masked", "another/encoder")],
)
def test_no_limit_is_guessed_for_what_none_was_learned_for(repository, key, value, encoder):
    params = load(repository / "params.yaml")
    assert read_limits(params) == Limits(LEARNED_MIN_SIMILARITY, 0.8, 0.6, masked=True)
    rewrite = params.rewrite.model_copy(update={key: value})
    embed = params.embed.model_copy(update={"model": encoder})
    with pytest.raises(ParamsError, match=r"rewrite\.min_similarity: set a number"):
        read_limits(params.model_copy(update={"rewrite": rewrite, "embed": embed}))


def test_the_papers_settings_are_the_papers_checks(repository):
    assert read_limits(load(repository / "params.paper.yaml")) == LIMITS


def test_nothing_to_check_is_no_error():
    assert list(check([], [], Scores({}), Angles(), LIMITS).columns) == COLUMNS


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("description\nx\n", FileError, "caption"),
        ("caption,names\na,b\n", CheckError, "'names' already exists"),
        ("caption,description\na,b\n,c\n", CheckError, "line 3: no caption"),
        ("caption,description\na,b\nb,\nc,\n", CheckError, r"line 3: no description \(2 such"),
        ("caption\na\n   \n", CheckError, "line 3: no caption"),
        ("caption,description\na,b\nc,\u2003\n", CheckError, "line 3: no description"),
    ],
)
def test_a_file_that_cannot_be_checked_is_a_clear_error(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read_file(write(tmp_path / "x.csv", text))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("caption\na\nZoë waves.\n", 3),
        ("clip,caption\n1,a\n2,b\nö,c\n", 4),
        ("caption,Länge\na,1\n", 1),
    ],
)
def test_a_file_in_another_encoding_is_a_clear_error(tmp_path, content, line):
    path = tmp_path / "x.csv"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises((CheckError, FileError), match=rf"x\.csv, line {line}: not UTF-8"):
        read_file(path)


@pytest.mark.parametrize("out", ["folder", "x.csv/y.csv", "x.csv/a/b/y.csv"])
def test_where_nothing_can_be_written_nothing_is_checked(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    write(tmp_path / "x.csv", "caption\na\n")
    monkeypatch.setattr(command, "add_checks", lambda *_, **__: pytest.fail("checked"))
    with pytest.raises(CheckError, match="--out"):
        command.main(options(out=Path(out)))


@pytest.fixture
def project(tmp_path, tagger_file, repository, monkeypatch):
    """Go to a folder whose params.yaml names a small tagger."""
    text = (repository / "params.yaml").read_text()
    names, _, rest = text.partition("names:\n  model: builtin")
    (tmp_path / "params.yaml").write_text(f"{names}names:\n  model: {tagger_file}{rest}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILE = """clip,caption,description
1,A woman waves to a man.,Nora waves to Omar.
2,Jennifer waves to Michael.,Jennifer waves to Michael.
3,The train is late again.,Nora waves to Omar.
"""


def options(**changes):
    values = {"file": Path("x.csv"), "out": None, "no_similarity": False}
    return argparse.Namespace(**{**values, **changes})


def test_the_command_adds_its_columns_and_keeps_the_others(project, capsys):
    write(project / "x.csv", FILE)
    command.main(options(out=Path("y.csv")))
    rows = csv_files.read_csv(project / "y.csv", ["clip", "caption", "description", *COLUMNS])
    assert rows["clip"].tolist() == ["1", "2", "3"]
    assert rows["names_ok"].tolist() == ["True", "False", "True"]
    assert rows["names"].tolist()[1] == "Jennifer; Michael"
    assert rows["similarity_ok"].tolist() == ["True", "True", "False"]
    assert rows["detail_ok"].tolist() == ["True", "True", "False"]
    assert float(rows["similarity"].tolist()[1]) == 1.0
    assert re.findall(r"\d+", capsys.readouterr().err) == ["3", "1", "1", "1", "0", "0"]


def test_without_descriptions_names_and_what_no_caption_has_are_looked_for(project, capsys):
    write(project / "x.csv", "caption\nA woman waves.\n")
    command.main(options())
    output = capsys.readouterr()
    assert output.out == f"caption,{','.join(COLUMNS)}\nA woman waves.,,0.0,True,,,,,,,,True\n"
    assert "(not compared)" in output.err


RELEASED = """[{"query_id": 7, "query": "A woman waves.", "relevant_moment": [{"pair_id": 0,
"video_name": "v", "timestamp": [0.0, 2.5], "duration": 9.0, "caption": "A woman waves.",
"similarity": 1.0, "relevance": 4}]},
{"query_id": 9, "query": "Jennifer waves to Michael.", "relevant_moment": []}]"""


def test_the_queries_of_a_published_collection_are_checked_for_names(project, capsys):
    write(project / "val.json", RELEASED)
    command.main(options(file=Path("val.json"), out=Path("y.csv")))
    rows = csv_files.read_csv(project / "y.csv", ["query_id", "caption", *COLUMNS])
    assert rows["query_id"].tolist() == ["7", "9"]
    assert rows["names_ok"].tolist() == ["True", "False"]
    assert "of 2 captions, 1 name someone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"query_id": 7, "video_name": "v", "timestamp": [0, 1], "relevance": 4}]', "no query"),
        ('[{"query_id": 7, "relevant_moment": 3}]', "must be a list, not 3"),
        ("caption\na\n", "no known format of qrels"),
    ],
)
def test_judged_moments_that_cannot_be_checked_are_a_clear_error(tmp_path, text, message):
    with pytest.raises((CheckError, FormatError), match=message):
        read_file(write(tmp_path / "x.json", text))


def test_similarity_can_be_left_out(project):
    frame = pd.DataFrame({"caption": ["A woman waves."], "description": ["Nora waves."]})
    assert add_checks(frame, load(), with_similarity=False)["similarity"].isna().all()
