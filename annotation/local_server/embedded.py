"""Run Label Studio on SQLite: one process of Django's own server.

    PYTHON -I embedded.py start --no-browser --internal-host HOST -p PORT --data-dir FOLDER
    PYTHON -I embedded.py version --data-dir FOLDER     # create its tables only

It is Label Studio's own command, in its environment, and imports none of our code. It adds two of
Django's settings (`WRITING`). As in plain Label Studio, a request is not one transaction.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

SETTINGS = "label_studio.core.settings.label_studio"
WRITING = {"transaction_mode": "IMMEDIATE", "timeout": 60}  # seconds
"""A transaction waits for other writers when it begins. By default it begins by reading, and its
first write fails at once ("database is locked") if someone else has written in between."""


def main() -> None:
    """Run Label Studio with these settings of its database."""
    program: Any = import_module("label_studio.server")
    sys.path.insert(0, str(Path(program.__file__).parent))  # the settings import from there
    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS
    import_module("django.conf").settings.DATABASES["default"]["OPTIONS"] |= WRITING
    sys.argv[0] = "label-studio"
    program.main()


if __name__ == "__main__":
    main()
