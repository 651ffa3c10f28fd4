"""Put settings from the command line into a params file; comments and all else stay as they are.

    python -m tools.settings FILE 'KEY=VALUE KEY=VALUE ...'

A key is a path (`ingest.source`), a value is YAML (`100`, `[v, t]`, `null`) or plain text. Values
with spaces need quotes: `release.name='Kitchen videos'`. If `pipeline/core/params.py` does not
allow a setting, nothing is written.
"""

import argparse
import io
import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.scalarstring import SingleQuotedScalarString

from momentrank.errors import UsageError
from pipeline.core import cli, files, params
from pipeline.core.validation import validate

NAME = "SET"
"""The name of the settings in errors: the Makefile's variable."""
VERY_WIDE = 100_000
"""Columns, so that no line is folded."""


class SettingsError(UsageError):
    """A setting that the parameters do not allow."""


class _Representer(RoundTripRepresenter):
    """Writes null as `null`: ruamel leaves it empty."""


_Representer.add_representer(
    type(None), lambda dumper, _: dumper.represent_scalar("tag:yaml.org,2002:null", "null")
)


def parse(text: str) -> dict[str, str]:
    """Return the settings from a command line, with values as they were typed.

    Raises:
        SettingsError: a word is not KEY=VALUE, a key appears twice, or a quote is not closed.
    """
    try:
        words = shlex.split(text)
    except ValueError as exc:
        raise SettingsError(f"{NAME}: {str(exc).lower()} in {text!r}") from exc
    settings: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not key or not equals:
            raise SettingsError(
                f"{NAME}: {word!r} is not KEY=VALUE; a value with spaces needs quotes"
            )
        if key in settings:
            raise SettingsError(f"{NAME}: {key}: appears twice")
        settings[key] = value
    return settings


def apply(text: str, settings: Mapping[str, str]) -> str:
    """Return the text of a valid params file with the settings in it.

    Raises:
        SettingsError: a key is unknown or its value impossible; one line each.
    """
    if not settings:
        return text
    yaml = YAML()
    yaml.Representer = _Representer
    yaml.preserve_quotes, yaml.width = True, VERY_WIDE
    document = yaml.load(text)
    for key, value in settings.items():
        _put(document, key, _value(yaml, value))
    stream = io.StringIO()
    yaml.dump(document, stream)
    plain = YAML(typ="safe", pure=True).load(stream.getvalue())
    validate(params.Params, plain, NAME, SettingsError)
    return stream.getvalue()


def _value(yaml: YAML, text: str) -> Any:  # noqa: ANN401  (any YAML)
    """Return a value as YAML; text that is not YAML, or contains a ` #`, stays as it is."""
    try:
        YAML(typ="safe", pure=True).load(text)
    except YAMLError:
        return SingleQuotedScalarString(text)
    value = yaml.load(text)
    return text if isinstance(value, str) and text[:1] not in {"'", '"'} else value


def _put(document: CommentedMap, key: str, value: object) -> None:
    *sections, last = key.split(".")
    section = document
    for name in sections:
        section = section.setdefault(name, CommentedMap())
        if not isinstance(section, CommentedMap):
            raise SettingsError(f"{NAME}: {key}: unknown key")
    section[last] = value


def main(options: argparse.Namespace) -> None:
    """Rewrite the file."""
    params.load(options.file)
    changed = apply(options.file.read_text(encoding="utf-8"), parse(options.settings))
    with files.unfinished(options.file) as stream:
        stream.write(changed)


def _arguments() -> argparse.Namespace:
    parser = cli.parser("It also checks the whole file.")
    parser.add_argument("file", type=Path, help="a params file")
    parser.add_argument("settings", help="KEY=VALUE, separated by spaces")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
