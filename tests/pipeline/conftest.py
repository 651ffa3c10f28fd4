"""Numbered videos, which tests of the clips cut and read back; an engine; places to publish at."""

import fake_hub
import fake_zenodo
import pytest
from numbered import write_numbered

from pipeline.core.params import load


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    """What listens on this machine is asked without a proxy."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def engine(repository, tmp_path):
    """Return the engine of params.yaml, with the parts in a folder of the test."""
    folder = str(tmp_path / "parts")
    return load(repository / "params.yaml").engine.model_copy(update={"folder": folder})


@pytest.fixture(scope="session")
def numbered(tmp_path_factory):
    """Return a video of 8 s: 12 frames a second, each with its number, keyframes at 0 and 4 s."""
    path = tmp_path_factory.mktemp("numbered") / "numbered.mp4"
    write_numbered(path, 96)
    return path


@pytest.fixture
def hub(monkeypatch):
    """Serve a hub, which the hub's library takes for its own."""
    from huggingface_hub import constants, file_download

    monkeypatch.setenv("HF_TOKEN", fake_hub.TOKEN)
    server = fake_hub.FakeHub()
    monkeypatch.setattr(constants, "ENDPOINT", server.url)  # as HF_ENDPOINT does
    template = server.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(file_download, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    yield server
    server.close()


@pytest.fixture
def zenodo(monkeypatch):
    """Serve Zenodo's API; the environment says where."""
    monkeypatch.setenv("ZENODO_TOKEN", fake_zenodo.TOKEN)
    server = fake_zenodo.FakeZenodo()
    monkeypatch.setenv("ZENODO_URL", server.url)
    yield server
    server.close()
