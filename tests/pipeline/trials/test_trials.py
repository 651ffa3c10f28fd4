"""Trials of what is outside: stand-ins prove what a trial does, and are never taken for the thing.

`pytest -m live` runs every trial; those whose keys, network or machine are missing fail.
"""

import json
import os
import re
import socket
from datetime import date
from types import SimpleNamespace

import pytest
from s3_server import serve_bucket
from support import stand_in_slurm
from support.fake_openai.answers import answer
from support.fake_openai.script import Script
from werkzeug import Response

from momentrank.errors import MomentRankError
from pipeline.core.engine import on_slurm
from pipeline.core.params import load
from pipeline.retrieval import shortlist
from pipeline.trials import TRIALS, computing, met_page, services, weights
from pipeline.trials.base import Inputs, Met, NotMetError, refuse_this_machine
from pipeline.trials.met_page import PageError
from pipeline.video.store import StoreError

KEYS = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "HF_TOKEN", "ZENODO_TOKEN"),
    *("ZENODO_URL", "LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"),
)
BUCKET = "s3://clips/kitchen"
SAID = re.compile(r"([\w-]+): not met: \S.*\n")


@pytest.fixture
def inputs(repository):
    return Inputs(load(repository / "params.paper.yaml"))


@pytest.fixture
def nothing(monkeypatch, repository):
    """Be in the checkout, without a key, token or address."""
    monkeypatch.chdir(repository)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def closed():
    """Return a port of this machine at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture
def outside(nothing, command):
    """Return a function that tries things by the command, none of which is met; it returns why."""

    def outside(*words):
        code, said, _ = command("pipeline.outside", "--yes", *words)
        assert code == 1
        assert SAID.fullmatch(said), "one line: no line for the table"
        return said

    return outside


def made(function, *arguments):
    """Return what a trial says that it met, as the row that is printed."""
    met = function(*arguments)
    return met_page.format_row(met_page.make_row(date(2026, 1, 2), "s3", met, "abc"))


# The command and its page


@pytest.mark.parametrize("name", sorted(TRIALS.keys() - {"simcse", "flair", "gpu"}))
def test_without_keys_and_addresses_nothing_is_met(outside, name):
    assert outside(name).startswith(f"{name}: not met: ")


def test_without_a_network_no_weights_are_met(offline, outside, monkeypatch, tmp_path):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert "can't be fetched from the hub" in outside("simcse")
    assert "can't be fetched from the hub" in outside("flair")


@pytest.mark.parametrize(
    "failure", [NotMetError("no"), StoreError("no"), OSError("no"), ValueError(), KeyError("x")]
)
def test_whatever_a_trial_raises_was_not_met(outside, monkeypatch, failure):
    def fail(_):
        raise failure

    changed = dict(TRIALS, s3=TRIALS["s3"]._replace(run=fail))
    monkeypatch.setattr("pipeline.trials.TRIALS", changed)
    assert outside("s3")


def test_it_asks_before_each_and_prints_the_line_that_the_page_takes(
    nothing, command, monkeypatch, tmp_path, repository
):
    met = Met("1.0", "example.org", "two | files\nread back")
    changed = dict(TRIALS, zenodo=TRIALS["zenodo"]._replace(run=lambda _: met))
    monkeypatch.setattr("pipeline.trials.TRIALS", changed)
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or "n")
    assert command("pipeline.outside", "zenodo") == (0, "", "")
    assert TRIALS["zenodo"].cost in asked[0]
    monkeypatch.setattr("builtins.input", lambda text: "y")
    code, said, _ = command("pipeline.outside", "zenodo")
    line = said.splitlines()[1]
    assert code == 0
    page = tmp_path / "outside.md"
    page.write_text((repository / met_page.PAGE).read_text() + line + "\n")
    row = met_page.read_rows(TRIALS, page)[-1]
    assert (row.name, row.version, row.result) == ("zenodo", "1.0", "two / files read back")
    monkeypatch.setattr(met_page.read_rows, "__defaults__", (page,))
    assert f"{'Zenodo':28}met on {row.day}: 1.0" in command("pipeline.outside")[1]


def test_with_nobody_to_answer_nothing_is_tried(nothing, command, monkeypatch):
    def end(_):
        raise EOFError

    monkeypatch.setattr("builtins.input", end)
    code, said, message = command("pipeline.outside", "zenodo")
    assert (code, said, "--yes" in message) == (2, "", True)
    code, said, message = command("pipeline.outside", "--yes", "moon")
    assert (code, said, "must be one of simcse, flair" in message) == (2, "", True)


@pytest.mark.parametrize(
    "line", ["| 2026-01-02 | moon | 1 | a | b | c |", "| today | s3 | 1 | a | b | c |",
             "| 2026-01-02 | s3 | 1 | a | | c |", "| 2026-01-02 | s3 | 1 | a | b |"],
)  # fmt: skip
def test_a_row_that_no_trial_prints_is_an_error(tmp_path, line):
    page = tmp_path / "outside.md"
    page.write_text(f"{met_page.HEADING}\n\n| day | name |\n|---|---|\n{line}\n")
    with pytest.raises(PageError, match=r"outside.md, line 5: "):
        met_page.read_rows(TRIALS, page)


def test_the_page_names_every_trial_and_its_rows_are_what_trials_print(repository):
    page = (repository / met_page.PAGE).read_text()
    first = re.findall(r"^\| `([\w-]+)` \| ([^|]*?) \|", page, re.MULTILINE)
    assert first == [(trial.name, trial.what) for trial in TRIALS.values()]
    met_page.read_rows(TRIALS, repository / met_page.PAGE)


CLAIMS = re.compile(r"SimCSE|ner-english|Ollama|vLLM|Zenodo|Slurm|s3://|--to hf|GPU")
PLACES = {"outside.md", "architecture.md", "installation.md"}
"""The page itself, and those that say where the code is and what is installed."""


def test_every_page_that_claims_to_work_with_one_of_them_says_where_to_see_whether_it_does(
    repository,
):
    pages = {path.name: path.read_text() for path in (repository / "docs").glob("*.md")}
    claiming = {name for name, text in pages.items() if CLAIMS.search(text)} - PLACES
    assert {name for name in claiming if "(outside.md" not in pages[name]} == set()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "studio.localhost"])
def test_this_machine_is_not_outside(host):
    with pytest.raises(NotMetError, match="a stand-in, not S3"):
        refuse_this_machine(f"http://user:secret@{host}:80/x", "S3")
    assert refuse_this_machine("https://user:secret@example.org:80/x", "S3") == "example.org"


# Language models


@pytest.fixture
def model(httpserver, nothing, monkeypatch):
    """Return a function that lets a server say who it is, and answer with faults."""

    def model(*, path="/api/version", version="0.9", owner="library", **how):
        def complete(request):
            fault = how.get("fault", "")
            reply = answer(Script(wrapping=how.get("wrapping", "")), request.get_json(), fault)
            body = reply.body.replace(b"Someone does", how.get("word", b"Someone does"))
            return Response(body, reply.status, content_type="application/json")

        httpserver.expect_request(path).respond_with_json({"version": version})
        models = {"data": [{"id": "small", "owned_by": owner}]}
        httpserver.expect_request("/v1/models").respond_with_json(models)
        httpserver.expect_request("/v1/chat/completions").respond_with_handler(complete)
        monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
        monkeypatch.setenv("OPENAI_API_KEY", "none")

    return model


def test_a_server_of_ones_own_that_names_itself_is_met(model, inputs):
    model()
    line = made(TRIALS["ollama"].run, inputs)
    assert "| Ollama 0.9, small | localhost | 3 of 3 descriptions without their names" in line


def test_vllm_is_met_where_a_server_says_so(model, inputs):
    model(path="/version", owner="vllm", version="0.11.0")
    assert "| vLLM 0.11.0, small |" in made(TRIALS["vllm"].run, inputs)


@pytest.mark.parametrize(
    "how", [{"path": "/other"}, {"owner": "somebody"}, {"version": ""}, {"fault": "missing"},
            {"fault": "broken-json"}, {"fault": "refused"}, {"fault": "rejected"},
            {"fault": "empty"}, {"wrapping": "prose"}, {"word": b"Hannah does"}],
    ids=str,
)  # fmt: skip
def test_a_server_that_answers_wrongly_is_not_met(model, outside, how):
    model(**how)
    outside("ollama")


def test_a_server_that_refuses_a_connection_is_not_met(outside, monkeypatch, closed):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{closed}/v1")
    assert "does not answer as vLLM does" in outside("vllm")


def test_another_server_is_not_openais(model, outside, httpserver):
    model()
    assert "localhost, which is not OpenAI's" in outside("openai")
    assert httpserver.log == []


# The hub, Zenodo, S3, Label Studio


def test_the_hub_gets_a_private_repository_that_is_deleted(nothing, hub):
    line = made(services.publish_to_hub, "hub.example")
    assert "| hub.example | 2 files published in a private repository, read back" in line
    assert hub.count("POST /api/repos/create") == 1
    assert (hub.branch, hub.tags) == (None, {})


def test_a_draft_on_zenodo_is_filled_read_back_and_deleted(nothing, zenodo):
    assert "none published" in made(services.fill_draft, "zenodo.example")
    assert zenodo.records == {}
    assert zenodo.count("publish") == 0


@pytest.mark.parametrize(
    ("place", "pattern", "what"),
    [
        ("hub", "GET .*resolve.*README", "wrong"), ("hub", "POST .*commit", 403),
        ("hub", "GET .*whoami", 401), ("hub", "DELETE /api/repos", 403),
        ("zenodo", "GET /api/files", "wrong"), ("zenodo", "PUT /api/files", 403),
        ("zenodo", "POST", 401), ("zenodo", "DELETE /api/deposit", 403),
        ("zenodo", "GET .*/files", 404),
    ],
)  # fmt: skip
def test_a_place_that_fails_is_not_met_and_what_is_left_there_is_named(
    nothing, hub, zenodo, place, pattern, what
):
    server = {"hub": hub, "zenodo": zenodo}[place]
    server.fail(pattern, what, times=9)
    attempt = services.publish_to_hub if place == "hub" else services.fill_draft
    with pytest.raises(MomentRankError) as failed:
        attempt(f"{place}.example")
    if pattern.startswith("DELETE"):
        assert "delete it by hand" in str(failed.value)
    else:
        assert (hub.branch, zenodo.records) == (None, {})


def test_a_clip_goes_to_s3_and_back(nothing):
    with serve_bucket("clips") as client:
        line = made(services.upload_clip, client, BUCKET, "s3.example")
        assert "| s3.example | a clip of 1 KB uploaded, read back and deleted" in line
        assert client.list_objects_v2(Bucket="clips")["KeyCount"] == 0
        with pytest.raises(StoreError, match="NoSuchBucket"):
            services.upload_clip(client, "s3://other", "s3.example")


def test_what_s3_changes_was_not_met(nothing):
    with serve_bucket("clips") as client:
        own = client.get_object
        client.get_object = lambda **words: (
            own(**words) | {"Body": SimpleNamespace(read=lambda: b"other")}
        )
        with pytest.raises(NotMetError, match="reads back differently"):
            services.upload_clip(client, BUCKET, "s3.example")
        assert client.list_objects_v2(Bucket="clips")["KeyCount"] == 0


def test_stand_ins_on_this_machine_are_refused_before_anything_is_sent(outside, hub, zenodo):
    assert "a stand-in, not the hub" in outside("hub")
    assert "a stand-in, not Zenodo" in outside("zenodo")
    with serve_bucket("clips") as client:
        assert "a stand-in, not S3" in outside("s3", "--bucket", BUCKET)
        assert client.list_objects_v2(Bucket="clips")["KeyCount"] == 0
    assert (hub.requests, zenodo.requests) == ([], [])


SAYS = "{} answers and accepts the token (Label Studio {}, 4 accounts); a project was made, read"


@pytest.mark.parametrize(
    ("code", "said", "met"),
    [
        (0, SAYS.format("https://studio.example", "1.23.2"), True),
        (0, SAYS.format("http://127.0.0.1:80", "1.23.2"), False),
        (0, SAYS.format("https://studio.example", "of an unknown version"), False),
        (1, "error: https://studio.example: refuses the token", False),
        (0, "", False),
    ],
)
def test_a_label_studio_elsewhere_is_met_by_what_the_check_says(
    monkeypatch, inputs, code, said, met
):
    done = SimpleNamespace(returncode=code, stderr=said + "\n")
    monkeypatch.setattr(services.subprocess, "run", lambda *_, **__: done)
    if met:
        assert "| Label Studio 1.23.2 | studio.example |" in made(
            TRIALS["label-studio"].run, inputs
        )
    else:
        with pytest.raises(NotMetError):
            TRIALS["label-studio"].run(inputs)


def test_a_label_studio_that_refuses_a_connection_is_not_met(outside, monkeypatch, closed):
    monkeypatch.setenv("LABEL_STUDIO_URL", f"http://127.0.0.1:{closed}")
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "x" * 40)
    assert str(closed) in outside("label-studio")


# Weights and machines


def test_other_weights_are_not_simcses(inputs, tiny_bert):
    embed = inputs.paper.embed.model_copy(update={"model": str(tiny_bert), "max_tokens": 64})
    changed = inputs._replace(paper=inputs.paper.model_copy(update={"embed": embed}))
    with pytest.raises(NotMetError, match="similarities"):
        weights.try_simcse(changed)
    mean = embed.model_copy(update={"pooling": "mean"})
    changed = inputs._replace(paper=inputs.paper.model_copy(update={"embed": mean}))
    with pytest.raises(NotMetError, match="not what transformers computes"):
        weights.try_simcse(changed)


@pytest.mark.parametrize(
    ("spans", "said"), [([["Washington"], []], "found"), ([["George Washington"], []], "scores")]
)
def test_a_tagger_that_errs_is_not_met(inputs, monkeypatch, spans, said):
    from pipeline.names import flair_tagger
    from pipeline.names.base import Span

    found = [[Span(0, len(text), text, 0.5) for text in texts] for texts in spans]
    tagger = SimpleNamespace(find=lambda _: found)
    monkeypatch.setattr(flair_tagger, "locate", lambda *_: None)
    monkeypatch.setattr(flair_tagger, "load", lambda _: tagger)
    with pytest.raises(NotMetError, match=said):
        weights.try_flair(inputs)


def test_torch_finds_what_faiss_finds_and_one_that_does_not_is_not_met(inputs, monkeypatch):
    assert computing.compare_search("cpu").startswith("the 40 nearest of 256")
    assert computing.compare_encoding(inputs.paper.embed, "cpu") == "vectors within 0e+00"
    right = shortlist.torch_knn

    def wrong(device):
        def knn(queries, texts, size):
            scores, places = right(device)(queries, texts, size)
            return scores, (places + 1) % len(texts)

        return knn

    monkeypatch.setattr(shortlist, "torch_knn", wrong)
    with pytest.raises(MomentRankError):
        computing.compare_search("cpu")


def test_without_a_gpu_none_is_met(outside, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "torch sees no GPU" in outside("gpu")


def test_jobs_run_by_slurms_commands_which_alone_are_no_slurm(
    inputs, nothing, outside, monkeypatch, tmp_path, repository
):
    pytest.importorskip("submitit", reason="make engines")
    for name, value in stand_in_slurm.install(tmp_path / "slurm").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(repository), str(repository / "tests")]))
    monkeypatch.setattr(on_slurm, "POLL_SECONDS", 0.1)
    assert "does not say which Slurm it is of" in outside("slurm")
    engine = inputs.paper.engine.model_copy(update={"folder": str(tmp_path / "parts")})
    line = made(computing.run_jobs, engine, "slurm 99")
    assert "| slurm 99 | 1 machine | an array of 2 jobs" in line
    monkeypatch.setattr(computing, "JOBS", 3)
    monkeypatch.setattr(computing.shards, "map_shards", lambda *_: {})
    with pytest.raises(NotMetError, match="wrote"):
        computing.run_jobs(engine, "slurm 99")


@pytest.mark.live
@pytest.mark.parametrize("name", TRIALS)
def test_it_is_met(name, inputs, capsys):
    line = made(TRIALS[name].run, inputs._replace(bucket=os.environ.get("S3_BUCKET")))
    with capsys.disabled():
        print(json.dumps([name, line]))  # noqa: T201  (what a person wants to see)
