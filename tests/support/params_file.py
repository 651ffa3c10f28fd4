"""The params.yaml of the current folder, as tests change it."""

from pathlib import Path

from pipeline.core import files


def set_params(section: str, **changes: object) -> None:
    """Change keys of a section."""
    path = Path("params.yaml")
    params = files.read_yaml(path)
    params[section] |= changes
    files.write_json(path, params)  # which is YAML
