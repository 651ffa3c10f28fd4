"""What several test modules share: hypothesis settings and a small random BERT on disk."""

import contextlib
import json
import os
import re
import runpy
import shutil
import signal
import sys
import warnings
from functools import partial
from pathlib import Path

import pytest
from absl import logging as absl_logging
from filelock import FileLock
from hypothesis import HealthCheck, settings
from offline import without_connection
from project import run_first

from annotation.local_server import layout

settings.register_profile(
    "momentrank",
    max_examples=50,  # drawn anew in each run
    deadline=None,  # the machines that run this are shared and noisy
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("momentrank")

# As many processes run as there are cores: a second thread would wait for its turn, and busily.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tests and what they start commit, whoever runs them.
for _role in ("AUTHOR", "COMMITTER"):
    os.environ |= {f"GIT_{_role}_NAME": "Test", f"GIT_{_role}_EMAIL": "test@example.org"}

# A shell ignores SIGINT for what it starts by `&`, and every child of ours would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# mlcroissant's logger would keep the stream that pytest captures; Flair's import would close it.
absl_logging.get_absl_handler().python_handler.stream = sys.__stderr__

REPOSITORY = Path(__file__).parent.parent
WORDS = ["a", "man", "woman", "person", "walks", "sits", "on", "the", "sofa", "with", "letter"]
WORDS += ["coffee", "door", "and", "his", "her"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Start a worker more than this process may use cores: tests often wait for a server."""
    from pipeline.core.parallel import cores

    return cores() + 1


def pytest_collection_modifyitems(items):
    """Begin with the files of slow tests: workers take whole files, and would end far apart."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Fail the file of tests that leaves its worker elsewhere: the next one would read others."""
    yield
    if nextitem is None or nextitem.path != item.path:  # fixtures of a file may stay in a folder
        left = Path.cwd()
        os.chdir(REPOSITORY)
        assert left.samefile(REPOSITORY), f"the working directory is {left} afterwards"


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
def first_run(tmp_path_factory, repository):
    """Return the folder of a small project in which everything has run once; it stays as it is."""
    return _make_once(tmp_path_factory, "first-run", partial(run_first, repository))


@pytest.fixture(scope="session")
def label_studio(repository):
    """Return the folder of Label Studio's environment; skip the test where there is none."""
    if not (repository / layout.PROGRAM).is_file():
        pytest.skip("Label Studio is not installed: make label-studio-environment")
    return repository / layout.PROGRAM.parts[0]


def _make_once(tmp_path_factory, name, make):
    """Return a folder that the first worker to want it makes for all."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
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
