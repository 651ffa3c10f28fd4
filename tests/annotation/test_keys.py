"""Keys: what we signed is ours; everything else is nobody's, and never an error."""

import base64
import json

import jwt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotation import env, keys
from annotation.keys import Key, Signer
from annotation.opened import CampaignError

SECRET = "a secret of thirty-two bytes, or so"  # noqa: S105
OURS = Signer("6f1c2a34-0000-0000-0000-000000000001", SECRET)
KEY = Key("q", "m", 3, "first", "text", "clip", "1")
TEXT = OURS.sign(KEY)

ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
any_key = st.builds(
    Key, ids, ids, st.integers(0, 10**6), st.sampled_from(["first", "gold"]), ids, ids, ids
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@given(any_key)
def test_what_was_signed_is_read(key):
    assert OURS.read(OURS.sign(key)) == key


@given(any_key)
def test_another_secret_or_campaign_reads_nothing(key):
    assert Signer("6f1c2a34-0000-0000-0000-000000000001", SECRET + "!").read(OURS.sign(key)) is None
    assert Signer("6f1c2a34-0000-0000-0000-000000000002", SECRET).read(OURS.sign(key)) is None


@given(st.integers(0, len(TEXT) - 1), st.sampled_from("AZaz09-_.="))
def test_a_changed_letter_never_makes_another_key(place, letter):
    changed = TEXT[:place] + letter + TEXT[place + 1 :]
    assert OURS.read(changed) in (None, KEY), "base64 has letters that mean nothing"


@given(st.dictionaries(st.sampled_from(Key._fields), json_values))
def test_changed_claims_under_the_old_signature_are_nobodys(changes):
    head, _, signature = TEXT.split(".")
    claims = {"campaign": OURS._campaign, **KEY._asdict(), **changes}
    if claims == {"campaign": OURS._campaign, **KEY._asdict()}:
        return
    assert OURS.read(f"{head}.{part(claims)}.{signature}") is None


@pytest.mark.parametrize("algorithm", ["none", "None", "HS384", "RS256", "", None, 7, [], {}])
def test_another_algorithm_is_nobodys(algorithm):
    _, claims, signature = TEXT.split(".")
    assert OURS.read(f"{part({'alg': algorithm, 'typ': 'JWT'})}.{claims}.{signature}") is None
    assert OURS.read(f"{part({'alg': algorithm})}.{claims}.") is None


@given(st.none() | st.booleans() | st.integers() | st.text() | st.binary() | json_values)
@example("..")
@example("\ud800")
@example("." * 5000)
@example("[" * 100_000)
@example(f"{part([])}.{part([])}.")
@example(base64.urlsafe_b64encode(b"[" * 100_000).decode() + ".e30.e30")
@example(base64.urlsafe_b64encode(b'{"alg":' + b"9" * 5000 + b"}").decode() + ".e30.e30")
def test_garbage_is_nobodys_and_no_error(garbage):
    assert OURS.read(garbage) is None


@given(json_values, json_values, st.binary())
def test_a_forged_token_is_nobodys_and_no_error(header, claims, signature):
    mark = base64.urlsafe_b64encode(signature).decode()
    assert OURS.read(f"{part(header)}.{part(claims)}.{mark}") is None
    if isinstance(header, dict):
        assert OURS.read(f"{part(header | {'alg': 'HS256'})}.{part(claims)}.{mark}") is None


@given(st.dictionaries(st.text(), json_values, max_size=3))
def test_signed_by_us_but_for_something_else_is_no_key(claims):
    assert OURS.read(jwt.encode(claims, SECRET, "HS256")) is None
    more = {"campaign": OURS._campaign, **KEY._asdict(), "and": 1}
    assert OURS.read(jwt.encode(more, SECRET, "HS256")) is None


def test_a_first_and_an_escalated_vote_are_one_task_and_gold_is_another():
    assert KEY.place == KEY._replace(kind="escalated", guideline="2").place
    others = [KEY._replace(kind="gold"), KEY._replace(annotator=4), KEY._replace(clip_sha="new")]
    assert len({KEY.place, *(other.place for other in others)}) == 4


def test_the_secret_stands_in_env_alone_and_shows_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(keys.SECRET, raising=False)
    with pytest.raises(CampaignError, match=f"{keys.SECRET} is missing.*copy .env from"):
        keys.signer("c")
    secret = keys.new_secret()
    assert keys.new_secret() == secret
    assert secret in env.ENV.read_text()
    assert env.ENV.stat().st_mode & 0o777 == 0o600
    signer = keys.signer("c")
    assert signer.read(signer.sign(KEY)) == KEY
    assert secret not in repr(signer)
    claims = signer.sign(KEY).split(".")[1]
    assert secret.encode() not in base64.urlsafe_b64decode(claims + "==")
