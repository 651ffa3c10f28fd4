"""The stage `rewrite` from the outside: what it wants before it begins, and whose cast it reads."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from german import GERMAN
from support.fake_openai.process import serving
from support.params_file import set_params

from momentrank.errors import UsageError
from pipeline import rewrite
from pipeline.captions import review
from pipeline.captions.checks import Limits, check, excuse_style
from pipeline.captions.rewriter import Rewrite
from pipeline.captions.rules.gender import normalize_cast, read_cast
from pipeline.core import cli, csv_files, files, params, tables
from pipeline.core.files import FileError
from pipeline.core.table import TableError
from pipeline.language.detection import LanguageError
from pipeline.names.base import Span
from pipeline.names.evidence.cast import Cast
from pipeline.names.finder import Doubt
from pipeline.retrieval.similarity import unit_on_grid


def moments(descriptions):
    rows = [
        (chr(ord("a") + number), "v", 0.0, 1.0, text, "v")
        for number, text in enumerate(descriptions)
    ]
    return pd.DataFrame(rows, columns=tables.MOMENTS.columns)


MOMENTS = moments(["Okonkwo waves.", "Mary waves to Quill."])


@pytest.fixture
def project(tmp_path, repository, monkeypatch):
    """Go to a folder with two moments, where nothing that takes long may be loaded."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts").symlink_to(repository / "prompts")
    (tmp_path / "params.yaml").write_text((repository / "params.yaml").read_text())
    tables.MOMENTS.write(MOMENTS)
    for table in (tables.REVIEW, tables.CAST):
        table.write(table.empty())

    def load_nothing(*_):
        pytest.fail("nothing is loaded before what is written by hand is checked")

    monkeypatch.setattr(rewrite, "load_finder", load_nothing)
    monkeypatch.setattr(rewrite, "load_encoder", load_nothing)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return tmp_path


def test_a_bad_decision_is_told_before_anything_is_loaded(project):
    tables.REVIEW.path.write_text("moment_id,caption\na,drop\nz,drop\n")
    with pytest.raises(review.ReviewError, match="line 3: there is no moment 'z'"):
        rewrite.main()


@pytest.mark.parametrize("gender", ["f", "woman", "Male"])
def test_a_bad_cast_is_told_before_anything_is_loaded(project, gender):
    tables.CAST.path.write_text(f"name,gender\nNora,female\nOmar,{gender}\n")
    with pytest.raises(
        TableError, match=f"line 3, gender: '{gender}' is not one of female, male, no name"
    ):
        rewrite.main()


@pytest.mark.parametrize(
    ("prompt", "url", "error", "message"),
    [
        ("rewrite-v2.yaml", "", UsageError, "OPENAI_API_KEY is not set"),
        ("rewrite-v2.yaml", "here", UsageError, "OPENAI_BASE_URL must start with"),
        ("none.yaml", "", FileError, "prompts/none.yaml: no such file"),
    ],
)
def test_what_the_llm_wants_is_told_before_anything_is_loaded(
    project, monkeypatch, prompt, url, error, message
):
    set_params("rewrite", backend="openai", prompt=f"prompts/{prompt}")
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(error, match=message):
        rewrite.main()


def test_a_corpus_that_is_not_english_is_refused_before_anything_is_loaded(project):
    tables.MOMENTS.write(moments(GERMAN))
    with pytest.raises(LanguageError, match="German") as refused:
        rewrite.main()
    assert "rewrite.backend: rules" in str(refused.value)
    set_params("rewrite", backend="none")
    rewrite.main()
    assert list(tables.CAPTIONS.read()["caption"]) == GERMAN


def test_no_key_is_wanted_where_nothing_is_asked(project, monkeypatch):
    set_params("rewrite", backend="openai")
    items = rewrite.distinct_moments(MOMENTS)
    with serving(latency=0.0) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        with pytest.raises(UsageError):
            rewrite.make_llm(params.load()).check_ready(items)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        drafts = list(rewrite.make_llm(params.load()).rewrite(items, 0))
        monkeypatch.delenv("OPENAI_API_KEY")
        again = rewrite.make_llm(params.load())
        again.check_ready(items)
        assert list(again.rewrite(items, 0)) == drafts


class Nobody:
    """A finder that finds the cast alone, and an encoder to which all is alike."""

    def __init__(self, *parts, **_):
        self.cast = next((part for part in parts if isinstance(part, Cast)), None)

    def find(self, texts):
        return [self.cast.spans(text) for text in texts]

    def doubts(self, texts):
        quills = (re.finditer("Quill", text) for text in texts)
        return [
            [Doubt(Span(*m.span(), m[0], 0.75), "unknown") for m in matches] for matches in quills
        ]

    def encode(self, texts):
        return unit_on_grid(np.ones((len(texts), 4), dtype=np.float32))


def test_the_cast_of_the_corpus_is_found_and_tells_genders(project, monkeypatch):
    monkeypatch.setattr(rewrite, "load_finder", Nobody)
    monkeypatch.setattr(rewrite, "load_encoder", Nobody)
    tables.CAST.path.write_text("name,gender\nDr. Okonkwo,female\nMary,\n")
    rewrite.main()
    first, second = tables.CAPTIONS.read()["caption"]
    assert first in {"A woman waves.", "A lady waves.", "She waves."}
    assert second in {"Someone waves to Quill.", "A person waves to Quill."}


def test_what_may_be_a_name_stays_and_is_listed_and_names_are_counted(project, monkeypatch):
    monkeypatch.setattr(rewrite, "load_finder", Nobody)
    monkeypatch.setattr(rewrite, "load_encoder", Nobody)
    tables.CAST.path.write_text("name,gender\nOkonkwo,female\nMary,no name\n")
    rewrite.main()
    assert tables.CAPTIONS.read()["caption"][1] == MOMENTS["description"][1]
    [listed] = csv_files.read_csv(rewrite.REVIEW_LIST).to_dict("records")
    assert (listed["moment_id"], listed["status"], listed["check"]) == ("b", "passed", "weak-name")
    assert listed["names"] == "Quill (unknown)"
    [row] = csv_files.read_csv(rewrite.NAMES_FOUND).to_dict("records")
    assert (row["word"], row["count"], row["example"]) == ("Okonkwo", "1", "Okonkwo waves.")
    assert row["replaced_by"] in {"woman", "lady", "she"}


def test_two_of_one_name_and_of_two_genders_are_of_none():
    names = {"Mr. Lee": "male", "Mrs. Lee": "female", "Dr.": None, "Quill": None}
    names["A\u200bnn"] = "female"  # nobody sees a zero-width space
    table = pd.DataFrame(names.items(), columns=["name", "gender"])
    genders = normalize_cast(read_cast(table))
    assert genders == {"lee": "unknown", "ann": "woman", "quill": "unknown"}


class Habitual:
    """A rewriter that begins each caption in the same way, and ends one with a stop token."""

    source, model, prompt = "llm", "a-model", "a-prompt"

    def rewrite(self, items, attempt):
        for item in items:
            caption = item.description.replace("Mary", "Here someone")
            yield Rewrite(item.moment_id, caption + "</s>" * (item.moment_id == "a"))


ACTS = ["waves", "sits", "eats soup", "opens a door", "runs away", "reads a letter"]


def rewrite_acts(corpus, rewriter, excuse=lambda look: look):
    """Return a run of a rewriter on what Mary does."""
    mary = pd.DataFrame({"name": ["Mary"], "gender": ["female"]})
    limits = Limits(min_similarity=0.0, max_name_score=1.0)
    finder = Nobody(Cast.from_table(mary))
    look = excuse(partial(check, finder=finder, encoder=None, limits=limits))
    return rewrite.RewriteRun(rewrite.rewrite(corpus, rewriter, look, repairs=1), {}, finder.find)


def test_a_habit_is_one_finding_and_a_mark_is_named(project, monkeypatch, capsys):
    tables.MOMENTS.write(corpus := moments([f"Mary {act}." for act in ACTS]))
    run = rewrite_acts(corpus, Habitual())
    monkeypatch.setattr(rewrite, "rewrite_by_params", lambda *_: run)
    rewrite.main()
    listed = csv_files.read_csv(rewrite.REVIEW_LIST).set_index("moment_id")[["check", "form"]]
    found = '6 of 6 captions begin with "here someone"'
    assert listed.loc["a", "check"] == "form"
    assert '"</s>"' in listed.loc["a", "form"]
    assert listed.drop("a").to_numpy().tolist() == [["habit", found]]
    assert capsys.readouterr().err.count(found) == 1
    metrics = files.read_json(cli.METRICS / "rewrite.json")
    assert metrics["habits"] == [{"captions": 6, "of": 6, "begin": "here someone"}]
    assert metrics["rounds"]["1"]["failed_form"] == 1


class Careless:
    """A rewriter that leaves out every final mark, and cuts one caption off."""

    source, model, prompt = "llm", "a-model", "a-prompt"

    def rewrite(self, items, attempt):
        for item in items:
            caption = item.description.replace("Mary", "Someone").removesuffix(".")
            yield Rewrite(item.moment_id, caption.removesuffix(" door"))


def test_where_every_caption_lacks_its_final_mark_it_is_a_habit(project):
    corpus = moments([f"Mary {act}." for act in ACTS])
    run = rewrite_acts(corpus, Careless(), excuse_style)
    assert run.result.failed[["moment_id", "form"]].to_numpy().tolist() == [["d", 'ends with "a"']]
    [habit] = rewrite.find_habits(run, corpus)
    assert str(habit) == "6 of 6 captions end with no final mark"
