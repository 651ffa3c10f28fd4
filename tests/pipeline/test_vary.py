"""The stage `vary` from the outside: what it makes by rules and by a model, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from german import GERMAN
from model_server import serving
from support.fake_openai.answers import caption_of

from pipeline import vary
from pipeline.captions.rewrite_prompt import RewritePrompt
from pipeline.captions.variants import choosing, vary_prompt
from pipeline.core import cli, files, params, tables
from pipeline.language.detection import LanguageError
from tools import settings

TEXTS = (
    "A man picks up a letter from the table and reads it.",
    "A woman opens the old window in the kitchen.",
    "Two men sit down on the sofa in the living room.",
    "A woman hands a man a bouquet of flowers in the office.",
    "A guy walks over to the door and closes it slowly.",
    "A man drinks a glass of water at the café.",
)


@pytest.fixture
def project(folder, repository, monkeypatch):
    """Go to a folder with captions; every two texts are as similar as the stand-in says."""
    (folder / "prompts").symlink_to(repository / "prompts")
    (folder / "params.yaml").write_text((repository / "params.yaml").read_text())
    write(TEXTS)
    monkeypatch.setattr(vary, "load_encoder", lambda _: None)
    monkeypatch.setattr(vary, "similarities", lambda first, *_: np.full(len(first), 0.8))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return folder


def write(texts):
    ids = [f"m{n}" for n in range(len(texts))]
    moments = pd.DataFrame({"moment_id": ids, "video_id": "v", "start": 0.0, "end": 1.0})
    tables.MOMENTS.write(moments.assign(description=texts, modality="v"))
    row = {"source": "none", "model": None, "prompt": None, "rounds": 0}
    scores = {"similarity": 1.0, "name_score": None, "status": "passed"}
    captions = pd.DataFrame({"moment_id": ids, "caption": texts}).assign(**row, **scores)
    tables.CAPTIONS.write(captions)


def change(words):
    path = params.PARAMS
    path.write_text(settings.apply(path.read_text(), settings.parse(words)))


def metrics():
    return files.read_json(cli.METRICS / "vary.json")


def test_by_default_nothing_is_loaded_and_nothing_varied(project, monkeypatch):
    monkeypatch.setattr(vary, "load_encoder", lambda _: pytest.fail("nothing is wanted"))
    vary.main()
    assert tables.VARIANTS.read().empty
    assert metrics()["vague"] == {"wanted": 0, "tried": 0, "passed": 0, "failed": {}}


def test_rules_make_what_is_wanted_and_say_what_lacks(project, capsys):
    change("vary.vague=2 vary.gist=1 vary.changed=9")
    vary.main()
    variants = tables.VARIANTS.read()
    passed = variants.loc[variants["status"] == "passed", "stratum"].value_counts()
    assert passed.to_dict() == {"vague": 2, "gist": 1, "changed": 3}
    assert "vary: changed: 3 of 9 pass" in capsys.readouterr().err
    first = tables.VARIANTS.path.read_bytes()
    vary.main()
    assert tables.VARIANTS.path.read_bytes() == first


def test_rules_refuse_another_language_and_name_the_key(project):
    write(GERMAN)
    change("vary.vague=1")
    with pytest.raises(LanguageError, match=r"vary\.backend: rules: set `openai`"):
        vary.main()


def test_a_models_variants_are_checked_as_the_rules_are(project, monkeypatch):
    change("vary.backend=openai vary.gist=1 vary.changed=1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    with serving() as serve:
        server = serve()
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        vary.main()
        requests = server.stats.requests
        variants = tables.VARIANTS.read()
        vary.main()  # all answers are in the cache
        assert server.stats.requests == requests
    assert len(variants) == 2 * len(TEXTS)
    assert list(variants["query"]) == [caption_of(text) for text in variants["caption"]]
    assert set(variants["status"]) == {"failed"}
    assert set(variants["note"].str.split(":").str[0]) <= {
        "form",
        "added",
        "more than one thing is changed",
    }
    assert (
        variants.loc[variants["stratum"] == "gist", "prompt"].str.startswith("vary-gist-v1@").all()
    )
    assert metrics()["llm"]["gist"]["requests"] == 0


def test_the_estimate_sends_nothing(project, capsys):
    vary.estimate()
    assert "costs nothing" in capsys.readouterr().err
    change("vary.backend=openai vary.gist=3")
    vary.estimate()
    assert capsys.readouterr().out.startswith("gist           1 requests")


@pytest.mark.parametrize("stratum", choosing.STRATA)
def test_the_prompt_of_each_stratum_is_one_that_rewrites(repository, stratum):
    prompt = vary_prompt.load(repository / "prompts/vary-v1.yaml").for_stratum(stratum)
    assert isinstance(prompt, RewritePrompt)
    assert "German" in prompt.in_language("German").system
    assert "{{task}}" not in prompt.system


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("vary.max_detail.gist=0.8", "vary.max_detail.gist: must be less than max_detail.vague"),
        ("'vary.similarity.gist=[0.9, 0.2]'", "vary.similarity.gist: the least must come first"),
        ("vary.backend=none", "vary.backend"),
    ],
)
def test_impossible_settings_are_refused(project, words, problem):
    with pytest.raises(settings.SettingsError, match=problem):
        change(words)
