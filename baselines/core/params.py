"""`baselines/params.yaml`, read and checked; each unknown key or invalid value is one line."""

from pathlib import Path

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from baselines.core.sections import Params
from momentrank.errors import UsageError

PARAMS = Path("baselines/params.yaml")


class ParamsError(UsageError):
    """A parameter is unknown, missing or invalid."""


def load(path: Path = PARAMS) -> Params:
    """Read and check the parameters.

    Raises:
        ParamsError: the file is missing or not YAML, or a key is unknown, missing or invalid.
    """
    try:
        return Params.model_validate(YAML(typ="safe", pure=True).load(path))
    except OSError as exc:
        raise ParamsError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc
    except YAMLError as exc:
        raise ParamsError(f"{path}: not YAML ({' '.join(str(exc).split())})") from exc
    except ValidationError as exc:
        lines = (
            ": ".join([str(path), *key, error["msg"].removeprefix("Value error, ").lower()])
            for error in exc.errors()
            for key in [[".".join(map(str, error["loc"]))] if error["loc"] else []]
        )
        raise ParamsError("\n".join(lines)) from exc
