"""What can be made to run code when it is read: only a tagger that the lead has named is."""

import ast
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from lazy import Lazy

from pipeline.core import tables
from pipeline.core.files import FileError
from pipeline.core.sections import Embed
from pipeline.retrieval import embeddings
from pipeline.retrieval.embeddings import Embeddings, EmbeddingsError, Store

encoder, torch = Lazy("pipeline.retrieval.encoder"), Lazy("torch")

PACKAGES = ("momentrank", "pipeline", "annotation", "baselines")
UNPICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
CALLS = {"torch.load", "pd.read_pickle", "pandas.read_pickle", "SequenceTagger.load"}
EVALUATORS = {"eval", "exec", "compile", "__import__"}


class Trap:
    """Touches a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.fixture
def trap(tmp_path):
    trap = Trap(tmp_path / "sprung")
    yield trap
    assert not trap.path.exists()


def test_the_trap_works(tmp_path):
    pickle.loads(pickle.dumps(Trap(tmp_path / "sprung")))  # noqa: S301  (our own)
    assert (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", ["ids", "vectors"])
def test_finished_embeddings_are_not_unpickled(tmp_path, trap, name):
    store = Store(tmp_path, "fingerprint")
    ids, _ = embeddings.distinct(["a", "b"])
    store.finish(ids, [(ids, np.ones((2, 4), dtype=np.float32))])
    [path] = tmp_path.glob(f"{name}-*.npy")
    np.save(path, np.array([trap, trap], dtype=object), allow_pickle=True)
    with pytest.raises(EmbeddingsError, match="damaged"):
        Embeddings.open(tmp_path)


def test_weights_of_an_encoder_are_not_unpickled(tmp_path, trap, tiny_bert):
    folder = tmp_path / "model"
    shutil.copytree(tiny_bert, folder)
    (folder / "model.safetensors").unlink()
    torch.save({"embeddings": trap}, folder / "pytorch_model.bin")
    params = {"model": str(folder), "revision": None, "pooling": "mean", "precision": "float32",
              "device": "cpu", "batch_size": 2, "max_tokens": 32}  # fmt: skip
    with pytest.raises(encoder.EncoderError):
        encoder.load(folder, Embed(**params))


def test_a_table_is_not_unpickled(tmp_path, trap):
    path = tmp_path / "moments.parquet"
    path.write_bytes(pickle.dumps(trap))
    with pytest.raises(FileError, match="not readable as Parquet"):
        tables.MOMENTS.read(path)


def modules(repository):
    for package in PACKAGES:
        yield from sorted((repository / package).rglob("*.py"))


def find_unpicklers(path):
    """Yield what a module uses of all that can run what a file says."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in UNPICKLERS)
        elif isinstance(node, ast.ImportFrom) and node.module in UNPICKLERS:
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.Call):
            yield from check_call(node)


def check_call(node):
    name = ast.unparse(node.func)
    options = {option.arg: ast.unparse(option.value) for option in node.keywords}
    if name in CALLS or name in EVALUATORS:
        yield name
    if name.endswith("np.load") and options.get("allow_pickle") != "False":
        yield "np.load that may unpickle"
    if options.get("trust_remote_code", "False") != "False":
        yield "code of a model"
    if options.get("shell", "False") != "False":
        yield "a shell"
    if name.endswith("YAML") and options.get("typ") not in {"'safe'", None}:
        yield "YAML that makes objects"


def test_nothing_else_of_ours_could(repository):
    used = {
        str(path.relative_to(repository)): set(find_unpicklers(path))
        for path in modules(repository)
    }
    assert {path: names for path, names in used.items() if names} == {
        # The error alone; and the one place that unpickles: what params.yaml names.
        "pipeline/names/flair_tagger.py": {"UnpicklingError", "SequenceTagger.load"},
        # Tensors of a published checkpoint, by `weights_only`; a test of its own has a trap.
        "baselines/import_weights.py": {"UnpicklingError", "torch.load"},
    }


@pytest.mark.parametrize(
    ("code", "finding"),
    [
        ("import pickle", "pickle"),
        ("from joblib import load", "load"),
        ("torch.load(path)", "torch.load"),
        ("np.load(path)", "np.load that may unpickle"),
        ("np.load(path, allow_pickle=True)", "np.load that may unpickle"),
        ("AutoModel.from_pretrained(a, trust_remote_code=True)", "code of a model"),
        ("subprocess.run(a, shell=True)", "a shell"),
        ("YAML(typ='unsafe')", "YAML that makes objects"),
        ("eval(text)", "eval"),
    ],
)
def test_the_search_finds_it(tmp_path, code, finding):
    path = tmp_path / "module.py"
    path.write_text(code)
    assert list(find_unpicklers(path)) == [finding]
