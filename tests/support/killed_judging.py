"""Judging in processes that are killed: how pairs end, and what is bought twice.

A process of this module (`python -m support.killed_judging TASK`) judges what a file says, and
prints the answers as JSON.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from support.fake_openai.process import read_stats

from pipeline.campaign.guideline import split_guideline
from pipeline.core import files
from pipeline.core.sections import LanguageModel
from pipeline.judges.base import Answer, Pair
from pipeline.judges.clip_pictures import Look
from pipeline.judges.judge_prompt import JudgePrompt
from pipeline.judges.vision import Options, Setup, VisionJudge
from pipeline.llm.asker import Access
from pipeline.llm.client import Endpoint
from pipeline.llm.dispatcher import Policy
from pipeline.llm.prompt import load_prompt

GUIDELINE = Path("annotation/guideline/en.md")


def judge_and_kill(world, settings, url, folder, kills):
    """Judge in processes, all but the last of which are killed on their way; return the answers."""
    lead, task = folder / "lead.json", folder / "task.json"
    pairs = [pair._asdict() | {"clip": str(pair.clip)} for pair in world.pairs()]
    content = {"lead": str(lead), "url": url, "settings": settings.model_dump(mode="json")}
    files.write_json(task, content | {"pairs": pairs})
    command = [sys.executable, "-m", "support.killed_judging", str(task)]
    for kill in range(kills):
        share = (kill + 1) / (kills + 1)
        lead.unlink(missing_ok=True)  # the last one's, which was killed
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            while not lead.exists() or read_stats(url)["answers"] < share * len(pairs):
                assert run.poll() is None, "judging ended before the kill"
                time.sleep(0.05)
            os.kill(files.read_json(lead), signal.SIGKILL)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [Answer(*row) for row in json.loads(done.stdout)]


def count_ends(world, answers):
    """Return how pairs ended: right, wrong, or the reason why there is no level."""
    true = {(pair.query_id, pair.moment_id): world.level(pair) for pair in world.pairs()}
    return Counter(
        answer.reason
        or ("right" if answer.level == true[answer.query_id, answer.moment_id] else "wrong")
        for answer in answers
    )


def main(task):
    """Judge, in a process that may be killed."""
    files.write_json(Path(task["lead"]), os.getpid())
    prompt = load_prompt(JudgePrompt, Path("prompts/judge-v1.yaml"))
    guideline = split_guideline(GUIDELINE.read_text(encoding="utf-8"), GUIDELINE)
    setup = Setup(LanguageModel(**task["settings"]), prompt, guideline, Options(Look(6, 180)))
    access = Access(Endpoint(task["url"], "none"), Policy(tries=8, first=0.1, longest=2.0))
    judge = VisionJudge(setup, access)
    pairs = [Pair(**pair | {"clip": Path(pair["clip"])}) for pair in task["pairs"]]
    json.dump(list(judge.judge(pairs)), sys.stdout)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_bytes()))
