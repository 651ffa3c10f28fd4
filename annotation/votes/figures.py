"""Figures of a collection's files, as commands print them."""

import io
import json
import sys
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML


def print_figures(metrics: Mapping[str, Any], *, as_json: bool) -> None:
    """Print figures as JSON, or as YAML, which people read more easily."""
    if as_json:
        sys.stdout.write(json.dumps(metrics, indent=2, allow_nan=False) + "\n")
        return
    stream = io.StringIO()
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.width, yaml.sort_base_mapping_type_on_output = 1000, False
    yaml.dump(dict(metrics), stream)
    sys.stdout.write(stream.getvalue())
