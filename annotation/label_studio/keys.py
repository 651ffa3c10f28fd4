"""The key in each task: which pair it is, for whom, and what is shown of it.

All of it is encrypted with AES-SIV (RFC 5297), using a secret from `.env`: nobody else can read a
key, and a key that was edited, or copied into another campaign, is not valid. Equal keys have equal
texts.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import NamedTuple

from annotation.label_studio import page, settings
from annotation.label_studio.records import AnsweredTask, Task
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import query_sha
from pipeline.core import tables

SECRET = "MOMENTRANK_SECRET"  # noqa: S105  (its name, not its value)
VOTES = {"first": "vote", "escalated": "vote"}
KEY_BYTES, SEAL_DIGITS = 64, 32
PADDED_TO = 64
"""Keys are padded to a multiple of this many bytes: their length reveals nothing."""


PAIR_FIELDS = ["query_id", "moment_id", "annotator", "query_sha", "clip_sha"]
Pair = tuple[str, str, int, str, str]
"""A query and a moment, as they were shown to one annotator: `PAIR_FIELDS` of a key."""


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
    def pair(self) -> Pair:
        """The query and moment of the task, as its annotator sees them."""
        return (*self[:3], self.query_sha, self.clip_sha)

    @property
    def identity(self) -> tuple[str, str, int, str, str, str]:
        """What one person is shown only once: a first and an escalated vote are the same task."""
        purpose = VOTES.get(self.kind, self.kind)
        return (*self[:3], purpose, self.query_sha, self.clip_sha)


class SignedKey(NamedTuple):
    """A key made in this campaign, and the hash of everything its task shows."""

    key: Key
    shown: str


class Signer:
    """Writes and reads the keys of one campaign."""

    def __init__(self, campaign: str, secret: str) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415  (--help needs none)
        from cryptography.hazmat.primitives.hashes import SHA512  # noqa: PLC0415  (--help needs none)
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415  (--help needs none)

        self._campaign = campaign
        info = f"MomentRank task keys of {campaign}".encode()
        key = HKDF(SHA512(), KEY_BYTES, salt=None, info=info).derive(secret.encode())
        self._cipher = AESSIV(key)

    def __repr__(self) -> str:
        return f"Signer({self._campaign!r})"

    def sign(self, key: Key, shown: str) -> str:
        """Return a key as text, bound to what its task shows (`page.digest`)."""
        values = key._replace(kind=str(tables.TASK_KINDS.index(key.kind)))
        plain = json.dumps([*values, shown]).encode()
        padded = plain.ljust(-(-len(plain) // PADDED_TO) * PADDED_TO)
        return base64.urlsafe_b64encode(self._cipher.encrypt(padded, None)).decode()

    def seal(self, settings: Mapping[str, object]) -> str:
        """Return the seal of a project's settings: nobody else can make it for others."""
        text = json.dumps(settings, sort_keys=True).encode()
        return hashlib.sha256(self._cipher.encrypt(text, [b"setup"])).hexdigest()[:SEAL_DIGITS]

    def read(self, text: object) -> Key | None:
        """Return the key if it was made in this campaign, else None."""
        signed = self._open(text)
        return signed and signed.key

    def shows(self, task: Task | AnsweredTask) -> bool:
        """Return whether a task shows what its key says."""
        signed, query, clip = self._open(task.pair), task.query, task.clip
        if signed is None or not isinstance(query, str) or not isinstance(clip, str):
            return False
        shown = (query_sha(query), page.clip_of(clip), page.digest(query, clip))
        return shown == (signed.key.query_sha, signed.key.clip_sha, signed.shown)

    def read_shown(self, task: Task | AnsweredTask) -> Key | None:
        """Return a task's key if the task shows what it says, else None."""
        return self.read(task.pair) if self.shows(task) else None

    def _open(self, text: object) -> SignedKey | None:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415  (--help needs none)

        if not isinstance(text, str):
            return None
        try:
            sealed = base64.b64decode(text, altchars="-_", validate=True)
            *values, shown = json.loads(self._cipher.decrypt(sealed, None))
        except (InvalidTag, ValueError):
            return None
        key = Key(*values)
        return SignedKey(key._replace(kind=tables.TASK_KINDS[int(key.kind)]), shown)


def ensure_secret() -> str:
    """Return the secret of `.env`; write a new random one if there is none."""
    secret = settings.value(SECRET)
    if secret is None:
        secret = secrets.token_hex(32)
        settings.write({SECRET: secret})
    return secret


def signer(campaign: str) -> Signer:
    """Return the campaign's signer.

    Raises:
        CampaignError: the secret is missing.
    """
    secret = settings.value(SECRET)
    if secret is None:
        raise CampaignError(
            f"{settings.ENV}: {SECRET} is missing, so our tasks can't be recognised;"
            f" copy {settings.ENV} from where the campaign was opened"
        )
    return Signer(campaign, secret)
