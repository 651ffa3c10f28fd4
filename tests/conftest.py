"""What several test modules share: hypothesis settings and a small random BERT on disk."""

import contextlib
import gc
import json
import os
import re
import runpy
import shutil
import signal
import ssl
import sys
import time
import warnings
from functools import cache, partial
from multiprocessing import spawn
from pathlib import Path

import pytest
from absl import logging as absl_logging
from filelock import FileLock
from hypothesis import HealthCheck, settings
from offline import without_connection
from prefork import hold, make_environment
from project import run_first

settings.register_profile(
    "momentrank",
    max_examples=50,  # drawn anew in each run
    deadline=None,  # the machines that run this are shared and noisy
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("momentrank")

# As many processes run as there are cores: a second thread would wait for its turn, and busily.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Each client of a server would read all certificates again, 20 ms, for servers without any.
ssl.create_default_context = cache(ssl.create_default_context)

# A shell ignores SIGINT for what it starts by `&`, and every child of ours would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# mlcroissant's logger would keep the stream that pytest captures; Flair's import would close it.
absl_logging.get_absl_handler().python_handler.stream = sys.__stderr__

REPOSITORY = Path(__file__).parent.parent
STARTS = "words[1].endswith('/embedded.py') and words[2] == 'start'"
WORDS = ["a", "man", "woman", "person", "walks", "sits", "on", "the", "sofa", "with", "letter"]
WORDS += ["coffee", "door", "and", "his", "her"]


LONG = (
    # These two wait for a server half of their time; the next ones compute meanwhile.
    "test_campaign_loop.py",
    "test_campaign_faults.py",
    "test_training.py",
    "test_flair_tagger.py",
    "test_scores.py",
    "test_campaign_close.py",
    "test_waves.py",
    "test_benchmarks.py",
    "test_plan.py",
    "test_release.py",
    "test_readme.py",
    "test_dvc.py",
    "test_demo.py",
    "test_on_ray.py",
    "test_server_postgres.py",
    "test_browser.py",
    "test_server.py",
    "test_sharded_stages.py",
    "test_server_people.py",
    "test_embed.py",
    "test_llm_rewriter.py",
    "test_cutter.py",
)
"""Files that take longest, in the order in which they begin."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Start a worker more than there are cores: tests wait for processes a fifth of their time."""
    from pipeline.core.parallel import cores

    return cores() + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests, which all stay: a search for garbage among them would be a fifth of the time.

    Later searches pass over them, too, and over what they have imported.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest, then other slow ones: workers take whole files."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    rank = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(item.path.name, len(LONG) + (item.path not in slow)))


BEGUN = set()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Begin no further file of slow tests once CI has spent its time on them (see .ci/run)."""
    if item.get_closest_marker("slow") and item.path not in BEGUN:
        if time.time() > float(os.environ.get("SLOW_TESTS_UNTIL", "inf")):
            pytest.skip("CI has no time left to begin these slow tests: make test MARKS='not live'")
        BEGUN.add(item.path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Be in an empty folder, for which no Label Studio is configured; return it."""
    monkeypatch.chdir(tmp_path)
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def offline():
    """Be without a network, as the library of the hub sees it."""
    with without_connection():
        yield


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that does `python -m MODULE WORDS...` in this process.

    It returns exit code, stdout and stderr.
    """

    def command(module, *words):
        monkeypatch.setattr(sys, "argv", [module, *map(str, words)])
        code = 0
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # known already
            try:
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            except SystemExit as exc:
                code = exc.code or 0
        return code, *capsys.readouterr()

    return command


@pytest.fixture(scope="session")
def repository():
    """Return the root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory):
    """Return the folder of a random two-layer BERT with a trained-looking pooler."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-bert")
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(WORDS) + 5,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(str(vocabulary)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tagger_folder(tmp_path_factory):
    """Return a folder in which the stage `tagger` has run, on few sentences."""
    return _make_once(tmp_path_factory, "tagger", _train_tagger)


@pytest.fixture(scope="session")
def first_run(tmp_path_factory, repository, forked):
    """Return the folder of a small project in which everything has run once; it stays as it is."""
    make = partial(run_first, repository, environment=forked)
    return _make_once(tmp_path_factory, "first-run", make)


@pytest.fixture(scope="session")
def forked(tmp_path_factory):
    """Return an environment whose commands need not import libraries; see prefork.py."""
    shared = _shared(tmp_path_factory)
    environment, address = shared / "forked", shared / "prefork"
    with FileLock(shared / "prefork.lock"):
        if not environment.exists():
            make_environment(environment, address)
        connection = hold(address)
    with connection:
        yield environment


@pytest.fixture
def forked_workers(forked):
    """Let the processes that this one spawns with multiprocessing be forked; see prefork.py."""
    before = spawn.get_executable()
    spawn.set_executable(str(forked / "bin/python"))
    yield
    spawn.set_executable(before)


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory, repository):
    """Return an environment of Label Studio whose servers start soon; see prefork_studio.py."""
    from annotation.local_server import layout, sqlite

    real = repository / layout.PROGRAM.parts[0]
    if not (repository / layout.PROGRAM).is_file():
        pytest.skip("Label Studio is not installed: make label-studio")
    shared = _shared(tmp_path_factory)
    environment, address = shared / "label-studio", shared / "prefork-studio"
    with FileLock(shared / "prefork-studio.lock"):
        if not environment.exists():
            with contextlib.chdir(tmp_path_factory.mktemp("empty")):
                Path(real.name).symlink_to(real)
                layout.DATA.mkdir(parents=True)
                sqlite.copy_empty()  # into the real environment, for all
            make_environment(environment, address, real, {"python": STARTS})
        program = str(REPOSITORY / "tests/annotation/prefork_studio.py")
        connection = hold(address, str(real / "bin/python"), program)
    with connection:
        yield environment


def _shared(tmp_path_factory):
    """Return the folder of all workers."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def _make_once(tmp_path_factory, name, make):
    """Return a folder that the first worker to want it makes for all."""
    shared = _shared(tmp_path_factory)
    folder = shared / name
    with FileLock(shared / f"{name}.lock"):
        if not folder.exists():
            unfinished = tmp_path_factory.mktemp(name)
            make(unfinished)
            unfinished.rename(folder)
    return folder


def _train_tagger(folder):
    from pipeline import tagger

    text = (REPOSITORY / "params.yaml").read_text()
    text = re.sub(r"sentences: \d+", "sentences: 600", text)
    (folder / "params.yaml").write_text(re.sub(r"epochs: \d+", "epochs: 5", text))
    (folder / "datasets").mkdir()
    (folder / "datasets" / "tagger").symlink_to(REPOSITORY / "datasets" / "tagger")
    with contextlib.chdir(folder):
        tagger.main()


@pytest.fixture(scope="session")
def tagger_file(tagger_folder):
    """Return the file of a small tagger of names."""
    return tagger_folder / "datasets/work/tagger/model.pt"


@pytest.fixture(scope="session")
def tagger_figures(tagger_folder):
    """Return the metrics of the small tagger."""
    return json.loads((tagger_folder / "datasets/work/metrics/tagger.json").read_text())


@pytest.fixture(scope="session")
def chromium():
    """Return the path of Debian's chromium; skip the test where there is none."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no chromium")
    return path
