"""What somebody can put into Label Studio without our page: it must not stop the pull."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from annotation.answers import reader
from annotation.answers.judgments import Owner, sort_answers
from annotation.label_studio import page
from annotation.label_studio.keys import Key, Signer
from annotation.label_studio.records import AnsweredTask
from pipeline.campaign.pairs import query_sha

SIGNER = Signer("6f1c2a34-0000-0000-0000-000000000001", "a secret of thirty-two bytes, or so")
QUERY, CLIP = "a person sings", page.clip_html("/data/local-files/?d=clips/ab12.mp4")
KEY = SIGNER.sign(Key("q", "m", 3, "first", query_sha(QUERY), "ab12", "1"))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROJECT = SimpleNamespace(id=7, created_at="2026-01-01T00:00:00Z", tasks=1, answers=1)
LEVEL = {"from_name": "level", "to_name": "clip", "type": "choices", "value": {"choices": ["3"]}}


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def task(result):
    said = {"id": 1, "completed_by": 30, "updated_by": 30, "was_cancelled": False,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
            "lead_time": 3.0, "result": result}  # fmt: skip
    return AnsweredTask(1, KEY, False, NOW, [said], [], QUERY, CLIP)


class Studio:
    """A server with one task; it notes what was asked for."""

    def __init__(self, one):
        self.one, self.asked = one, []

    def answers(self, project, since):
        self.asked.append(since)
        return [self.one]

    def project(self, number):
        return PROJECT


HOSTILE = {
    "half a character": [{**LEVEL, "value": {"choices": ["\ud800"]}}],
    "a large number": [{**LEVEL, "value": {"choices": [10**40]}}],
    "a deep list": [{**LEVEL, "value": {"choices": nested(400)}}],
    "a key that is half a character": [{**LEVEL, "\udfff": 1}],
    "HTML": [{**LEVEL, "value": {"choices": ["<script>alert(1)</script>"]}}],
    "a formula": [{**LEVEL, "value": {"choices": ["=1+1"]}}],
    "an object": {"level": 3},
    "a text": "3",
    "nothing": None,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_read_and_refused_and_the_next_pull_reads_it_again(
    tmp_path, monkeypatch, name
):
    monkeypatch.chdir(tmp_path)
    one = task(HOSTILE[name])
    for _ in range(2):
        studio = Studio(one)
        tasks = reader.read(studio, PROJECT)
        found = sort_answers(tasks.values(), Owner(3, 30), SIGNER)
        if name == "a key that is half a character":  # beside a level that is one
            assert [row["level"] for row in found.judgments] == [3]
        else:
            assert (found.judgments, len(found.rejected)) == ([], 1)


def test_one_answer_that_cannot_be_remembered_makes_all_be_read_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for result, again in ((HOSTILE["half a character"], None), ([LEVEL], None)):
        studio = Studio(task(result))
        reader.read(studio, PROJECT)
        assert studio.asked == [again]
    studio = Studio(task([LEVEL]))
    reader.read(studio, PROJECT)
    assert None not in studio.asked


@pytest.mark.parametrize(
    "pair",
    [
        "../../etc/passwd",
        "a.b.c",
        "=1+1",
        "\ud800",
        "x" * 10**6,
        10**400,
        [KEY],
        {"pair": KEY},
        None,
    ],
)
def test_a_forged_key_is_nobodys(pair):
    found = sort_answers([task([LEVEL])._replace(pair=pair)], Owner(3, 30), SIGNER)
    assert (found.judgments, [row["reason"] for row in found.rejected]) == ([], ["bad-key"])
