"""The settings that keep Label Studio in a folder, quiet, and working behind HTTPS."""

import json
from pathlib import Path

from annotation.label_studio import settings
from annotation.local_server.layout import DATABASE

QUIET = {
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "SENTRY_RATE": "0",
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
}

SUBMIT = {"annotation:submit": {"key": "enter,ctrl+enter", "mac": "enter,command+enter"}}
KEYS = {"LABEL_STUDIO_EDITOR_KEYMAP": json.dumps(SUBMIT)}
"""Enter alone submits too. A key that an annotator has set in their account overrides it."""


def folder_settings(data: Path) -> dict[str, str]:
    """Return the settings that keep Label Studio in a folder, and its data private."""
    return {
        **QUIET,
        **KEYS,
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "DJANGO_DB": "sqlite",
        "DATABASE_NAME": str(data / DATABASE.name),
    }


def behind_https(host: str | None) -> dict[str, str]:
    """Return the settings of a server behind a proxy that people reach over HTTPS."""
    if not host or not host.startswith("https://"):
        return {}
    parts = settings.split_address(host)
    origin = f"{parts.scheme}://{parts.netloc}"
    secure = {"CSRF_TRUSTED_ORIGINS": origin, "SESSION_COOKIE_SECURE": "1"}
    return {settings.HOST: host.rstrip("/"), **secure}
