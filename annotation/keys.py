"""The key that a task carries: which pair it is, for whom, and what is shown of it.

A JSON Web Token (HS256) over all of it: whoever edits a task's data, or copies it into another
project or campaign, makes a key that is not ours. The secret stands in `.env`.
"""

import secrets
from typing import Any, NamedTuple

import jwt

from annotation import env
from annotation.opened import CampaignError

SECRET = "MOMENTRANK_SECRET"  # noqa: S105  (its name, not its value)
ALGORITHM = "HS256"
VOTES = {"first": "vote", "escalated": "vote"}


class Key(NamedTuple):
    """What a task is."""

    query_id: str
    moment_id: str
    annotator: int
    kind: str
    query_sha: str
    clip_sha: str
    guideline: str

    @property
    def place(self) -> tuple[str, str, int, str, str, str]:
        """What one person is shown once: a first and an escalated vote are the same task."""
        purpose = VOTES.get(self.kind, self.kind)
        return (*self[:3], purpose, self.query_sha, self.clip_sha)


class Signer:
    """Writes and reads the keys of one campaign."""

    def __init__(self, campaign: str, secret: str) -> None:
        """Take the campaign's UUID and the secret."""
        self._campaign, self._secret = campaign, secret

    def __repr__(self) -> str:
        """Show the campaign alone."""
        return f"Signer({self._campaign!r})"

    def sign(self, key: Key) -> str:
        """Return a key as text."""
        return jwt.encode({"campaign": self._campaign, **key._asdict()}, self._secret, ALGORITHM)

    def read(self, text: object) -> Key | None:
        """Return a key that was signed in this campaign, else None."""
        if not isinstance(text, str):
            return None
        try:
            claims: dict[str, Any] = jwt.decode(text, self._secret, [ALGORITHM])
        except (jwt.InvalidTokenError, ValueError, RecursionError):
            return None
        ours = claims.pop("campaign", None) == self._campaign
        return Key(**claims) if ours and claims.keys() == set(Key._fields) else None


def new_secret() -> str:
    """Return the secret of `.env`; write a new random one if there is none."""
    known = env.value(SECRET)
    if known is None:
        known = secrets.token_hex(32)
        env.write({SECRET: known})
    return known


def signer(campaign: str) -> Signer:
    """Return the campaign's signer.

    Raises:
        CampaignError: the secret is not here.
    """
    secret = env.value(SECRET)
    if secret is None:
        raise CampaignError(
            f"{env.ENV}: {SECRET} is missing, so that nobody can tell our tasks from others';"
            f" copy {env.ENV} from where the campaign was opened"
        )
    return Signer(campaign, secret)
