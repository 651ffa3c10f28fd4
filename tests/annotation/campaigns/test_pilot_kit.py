"""docs/pilot.md, followed to the letter: ten videos, a small table, four colleagues on a server.

What stands in its blocks is written and typed as it is. Only the videos, the table's other rows and
the colleagues' judgments are made here.
"""

import re
import subprocess
import sys
import time
from itertools import product

import pytest
from opened import LABELS
from project import make_checkout
from readme import shell
from support.campaign_folder import PASSWORD
from support.studio import Studio

from annotation.label_studio import page, settings
from annotation.local_server import layout
from annotation.roster.roster import Accounts
from pipeline.core import rng, tables
from pipeline.core.params import read_model
from pipeline.video.ffmpeg import ffmpeg

pytestmark = [pytest.mark.integration, pytest.mark.slow]

BLOCK = re.compile(r"^```(sh|yaml|csv)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WHO = ("A man", "A woman", "A child", "A cook")
DOES = ("opens", "cleans", "carries", "looks into", "closes")
WHAT = ("the fridge", "a drawer", "the oven", "a basket")
MOMENTS, SECONDS = 3, 4
WAITING, MOST_ROUNDS = 75, 8
NOISE = 0.8
QUICK = 30 * 60
"""Seconds for all commands of the page, with a stand-in for the colleagues."""


@pytest.fixture(scope="module")
def blocks(repository):
    """Return the page's blocks in their order, with their languages."""
    return BLOCK.findall((repository / "docs/pilot.md").read_text())


@pytest.fixture(scope="module")
def checkout(repository, tmp_path_factory, label_studio, blocks):
    """Return a checkout beside which ten videos and their table lie; the server is stopped."""
    parent = tmp_path_factory.mktemp("pilot")
    folder = make_checkout(repository, parent, {}).folder
    (parent / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
    [(_, table)] = [block for block in blocks if block[0] == "csv"]
    make_videos(parent / "my-videos", table.splitlines())
    yield folder
    if (parent / "pilot").exists():
        type_(folder, "python -m annotation.server stop")


def make_videos(folder, lines):
    """Make ten videos and a table that begins with these lines."""
    folder.mkdir()
    rows, texts = [line.split(",") for line in lines[1:]], product(WHO, DOES, WHAT)
    sentences = [" ".join(words) for words in texts]
    for number in range(1, 11):
        video = f"{number:02}"
        source = f"testsrc2=size=320x180:rate=12:duration={MOMENTS * SECONDS}"
        subprocess.run(
            [ffmpeg(), "-v", "error", "-f", "lavfi", "-i", source, "-vf", f"hue=h={number * 36}",
             "-pix_fmt", "yuv420p", folder / f"{video}.mp4"],
            check=True,
        )  # fmt: skip
        for at in range(len([row for row in rows if row[0] == video]), MOMENTS):
            begin = str(at * SECONDS)
            rows.append([video, begin, str((at + 1) * SECONDS), sentences.pop(0)])
    text = "\n".join(map(",".join, rows))
    (folder / "moments.csv").write_text(f"{lines[0]}\n{text}\n")


def type_(checkout, script):
    """Type a block in the copy's shell (at first: in the checkout's); return what is written."""
    copy = checkout.parent / "pilot"
    folder, begin = (copy, ". .venv/bin/activate\n") if copy.exists() else (checkout, "")
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(checkout.parent)}
    status = script.rstrip().endswith("annotation.status")
    codes = (0, WAITING) if status else (0,)
    output = shell(f"{begin}{script}", folder, env, codes=codes)
    sys.stdout.write(output)
    return output


def judge(copy, invitations):
    """Have everyone who was invited answer what is open to them; return how many answers."""
    file = settings.read(copy / settings.ENV)
    lead = Studio(file[settings.URL], file[settings.TOKEN], copy / layout.MEDIA)
    accounts = read_model(Accounts, copy / tables.PRIVATE).accounts
    clips = tables.CLIPS.read(copy / tables.CLIPS.path)
    moments = tables.MOMENTS.read(copy / tables.MOMENTS.path)
    shown = clips.merge(moments, on="moment_id").set_index("clip")["description"]
    answered = 0
    for number, account in accounts.items():
        sign_up, project = invitations[account.email]
        person = (
            lead.sign_up(account.email, PASSWORD)
            if sign_up
            else Studio(lead.url, lead.token_of(account.email, PASSWORD), lead.media)
        )
        for task in [task for task in person.tasks(project) if not task["is_labeled"]]:
            name = page.clip_of(task["data"]["clip_html"])
            seen = shown[f"{name}.mp4"]
            answer = make_answer(number, task["data"]["query"], seen)
            person.api("POST", f"/api/tasks/{task['id']}/annotations/", answer)
            answered += 1
        person.close()
    lead.close()
    return answered


def make_answer(number, query, seen):
    """Return a person's answer: the words that query and moment share, and noise of their own."""
    mine, its = (set(text.casefold().split()) for text in (query, seen))
    random = rng.generator(number, query, seen)
    level = 4 * len(mine & its) / len(mine | its) + random.normal(0, NOISE)
    result = page.result_of(LABELS, int(min(4, max(0, round(level)))))
    return {"result": result, "lead_time": float(random.lognormal(2.5, 0.4))}


def read_invitations(output):
    """Return for each address whether it must sign up, and the number of its project."""
    invited = re.findall(r"To: (\S+) .*\n((?:  .*\n)+)", output)
    return {
        email: ("Sign up here" in lines, int(re.search(r"/projects/(\d+)/", lines)[1]))
        for email, lines in invited
    }


def test_the_page_is_followed_to_the_letter(checkout, blocks):
    copy, output, started = checkout.parent / "pilot", {}, time.monotonic()
    for language, text in blocks:
        if language == "yaml":
            [path] = re.findall(r"^# (\S+)\n", text)
            (copy / path).write_text(text)
        elif language == "sh" and "annotation.status" in text:
            output[text] = judge_until_done(checkout, copy, text, output)
        elif language == "sh":
            output[text] = type_(checkout, text)
    assert time.monotonic() - started < QUICK
    [made, opened, _, told] = output.values()
    assert "MISSING" not in made
    assert len(tables.QUERIES.read(copy / tables.QUERIES.path).query("split != 'train'")) == 20
    assert tables.FAILED_CLIPS.read(copy / tables.FAILED_CLIPS.path).empty
    for key in ("release.license", "release.creators", "release.corpus", "release.rai.annotators"):
        assert key in opened
    judgments = tables.JUDGMENTS.read(copy / tables.JUDGMENTS.path)
    assert judgments["annotator"].nunique() == 4
    seconds = round(judgments["seconds"].median(), 1)
    assert f"{seconds:g} s a judgment" in told
    assert re.search(r"ordinal alpha 0\.\d\d \(", told)
    assert re.search(r"^500 queries, 40 candidates each", told, re.MULTILINE)
    assert re.search(r"^as here +[\d,]+ +[\d,]+ +[\d,]+ +[\d,]+$", told, re.MULTILINE)
    assert_disputed_are_told(copy, told)
    assert (copy / "datasets/work/lead/index.html").is_file()
    committed = subprocess.check_output(["git", "status", "--short"], cwd=copy, text=True)
    assert "params.yaml" not in committed


def judge_until_done(checkout, copy, text, output):
    """Type the block of the judging weeks, and judge, until nothing is wanted."""
    [invited] = [said for said in output.values() if "Judge here" in said]
    invitations = read_invitations(invited)
    assert len(invitations) == 4
    for _ in range(MOST_ROUNDS):
        answered = judge(copy, invitations)
        told = type_(checkout, text)
        invitations = {email: (False, project) for email, (_, project) in invitations.items()}
        if " 0 judgments wanted now" in told and not answered:
            return told
    raise AssertionError(told)


def assert_disputed_are_told(copy, told):
    """The pairs that are furthest apart are counted; the lead's page lists them."""
    table = tables.CONSENSUS.read(copy / tables.CONSENSUS.path)
    apart = table["scores"].map(lambda scores: max(scores) - min(scores) if len(scores) else 0)
    assert (apart >= 2).any(), "noise makes some"
    assert f"watch the {(apart >= 2).sum():,} pairs furthest apart" in told
