"""Numbered clips, a server with eyes, a judge that asks it, and a checkout with judgments."""

import contextlib
from itertools import count

import pytest
from judged_pairs import write_checkout
from model_server import ASKING, KEY, QUICK, serving
from support.numbered_clips import Plan, make_world

from pipeline.campaign.guideline import split_guideline
from pipeline.core.sections import LanguageModel
from pipeline.judges.clip_pictures import Look
from pipeline.judges.judge_prompt import JudgePrompt
from pipeline.judges.vision import Options, Setup, VisionJudge
from pipeline.llm.asker import Access
from pipeline.llm.client import Endpoint
from pipeline.llm.prompt import load_prompt

SETTINGS = LanguageModel(**ASKING, max_output_tokens=500, timeout=10.0, cache=".cache/judge")
PLAN = Plan(
    videos=2, seconds=12, clips=8, queries=3, size=(320, 180), fps=12, shortest=0.4, longest=5
)


@pytest.fixture(scope="session")
def settings():
    return SETTINGS


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    return make_world(tmp_path_factory.mktemp("numbered"), PLAN)


@pytest.fixture
def serve(tmp_path, world):
    """Return a function that starts a server that knows the truth."""
    numbers = count()
    with serving() as serve:

        def _serve(*, world=world, **script):
            truth = world.write_truth(tmp_path / f"truth{next(numbers)}.json")
            return serve(truth=str(truth), **script)

        yield _serve


@pytest.fixture(scope="session")
def prompt(repository):
    return load_prompt(JudgePrompt, repository / "prompts" / "judge-v1.yaml")


@pytest.fixture(scope="session")
def guideline(repository):
    path = repository / "annotation" / "guideline" / "en.md"
    return split_guideline(path.read_text(), path)


@pytest.fixture
def judge(prompt, guideline, tmp_path):
    """Return a function that makes a judge for a server, with changed settings."""

    def _judge(server, *, frames=6, height=180, repeats=1, blind=False, policy=QUICK, **settings):
        settings = {"cache": str(tmp_path / "cache"), **settings}
        options = Options(Look(frames, height), repeats, blind)
        return VisionJudge(
            Setup(SETTINGS.model_copy(update=settings), prompt, guideline, options),
            Access(Endpoint(getattr(server, "url", server), KEY), policy),
        )

    return _judge


@pytest.fixture
def folder(tmp_path):
    """Be in a checkout in which people have judged the candidates of each query; return it."""
    with contextlib.chdir(tmp_path):
        write_checkout(tmp_path)
        yield tmp_path
