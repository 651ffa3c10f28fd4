"""The sample corpus: its counts, its sentences, its true relevance levels, its bytes."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import read_frame_number, read_video
from support.params_file import set_params

from pipeline import sample
from pipeline.sample import annotate
from pipeline.sitcom import true_levels
from pipeline.sitcom.drawing.frame import frame_size
from pipeline.sitcom.screenplay import SCREENPLAY, load_screenplay
from pipeline.sitcom.staging.schedule import Plot
from pipeline.sitcom.staging.world import Scene
from pipeline.sitcom.true_levels import FACETS, parse_scene, true_level

SEED, VIDEOS, FPS = 2024, 64, 12
FEW = 4
RECORDS = "annotations.jsonl"
SCRIPT = load_screenplay(Path(__file__).parents[2] / SCREENPLAY)


def corpus(seed=SEED, videos=VIDEOS):
    return list(annotate(SCRIPT, Plot(SCRIPT, seed, FPS).takes(videos), seed))


@pytest.fixture(scope="module")
def records():
    return corpus()


def test_there_are_64_videos_and_at_least_320_moments(records):
    moments = Counter(record["vid_name"] for record in records)
    assert len(moments) == VIDEOS
    assert len(records) >= 320
    assert all(4 <= count <= 7 for count in moments.values())


def test_records_are_as_tvr_writes_them(records):
    for record in records:
        fields = ["vid_name", "duration", "ts", "desc", "type", "desc_id", "scene"]
        assert list(record) == fields
        assert re.fullmatch(r"flights_s01e\d\d_clip_\d\d", record["vid_name"])
        assert 20 <= record["duration"] <= 60
        start, end = record["ts"]
        assert 0 <= start < end <= record["duration"]
        assert record["type"] == "v"
    ids = [record["desc_id"] for record in records]
    assert ids == sorted(set(ids))
    assert all(isinstance(number, int) for number in ids)


def test_every_action_occurs_often_by_many_in_many_places(records):
    for action in SCRIPT.actions:
        scenes = [parse_scene(record) for record in records if record["scene"]["action"] == action]
        assert len(scenes) >= 12, action
        assert len({scene.who for scene in scenes}) >= 6, action
        assert len({scene.place for scene in scenes}) >= 4, action
        assert {scene.object for scene in scenes} >= set(SCRIPT.action(action).objects), action


def test_the_cast_shares_the_work(records):
    appearances = Counter(name for record in records for name in record["scene"]["who"])
    assert set(appearances) == set(SCRIPT.cast)
    assert min(appearances.values()) >= 15


def test_at_least_three_phrasings_of_every_action_are_used(records):
    """Seen by the sentences themselves, their names and things blotted out."""
    used = {}
    for record in records:
        names = "|".join([*SCRIPT.cast, "she|he|they|her|him|his|their|them"])
        bare = re.sub(rf"\b({names})\b", "X", record["desc"])
        used.setdefault(record["scene"]["action"], set()).add(bare)
    assert all(len(sentences) >= 3 for sentences in used.values())


def test_descriptions_read_as_sentences(records):
    for record in records:
        text = record["desc"]
        assert re.fullmatch(r"[A-Z][^{}]*[a-zé]\.", text), text
        assert "  " not in text
        assert "None" not in text
        for name in record["scene"]["who"]:
            assert re.search(rf"\b{name}\b", text), text


def test_a_sentence_says_what_its_scene_mentions_and_no_more(records):
    for record in records:
        scene = record["scene"]
        place = SCRIPT.places[scene["place"]]
        has_place = any(it in record["desc"].lower() for it in (place.at, place.into, place.out_of))
        assert has_place is ("place" in scene["mentions"]), record["desc"]
        if "object" in scene["mentions"]:
            assert re.search(scene["object"], record["desc"]), record["desc"]
        elif scene["object"] and scene["object"] != "phone":
            assert not re.search(rf"\b{scene['object']}\b", record["desc"]), record["desc"]


def test_a_name_that_tells_nothing_gets_no_gender(records):
    for record in records:
        genders = {SCRIPT.cast[name].gender for name in record["scene"]["who"]}
        if genders == {"unknown"}:
            assert not re.search(r"\b(he|she|his|her|him|himself|herself)\b", record["desc"])


def test_the_plan_does_not_depend_on_how_python_hashes_text(repository):
    """Sets of words are in another order in every process; the corpus must not be."""
    paths = "import sys; sys.path[:0] = ['tests/pipeline', 'tests', '.']"
    code = f"{paths}; import test_sample as t; print(t.corpus(videos=6))"
    env = os.environ | {"PYTHONHASHSEED": "1"}
    output = subprocess.check_output(
        [sys.executable, "-c", code], cwd=repository, env=env, text=True
    )
    assert output == f"{corpus(videos=6)}\n"


def test_a_scene_survives_being_written(records):
    for record in records[:20]:
        again = json.loads(json.dumps(record))
        assert true_levels.scene_record(parse_scene(again)) == record["scene"]


def test_queries_have_many_graded_answers(records):
    """Every level is found, and most queries have answers above 'loosely related'."""
    scenes = [parse_scene(record) for record in records]
    levels = [Counter(true_level(query, moment, SCRIPT) for moment in scenes) for query in scenes]
    assert all(counts[4] >= 1 for counts in levels)
    partly = sorted(counts[2] + counts[3] + counts[4] for counts in levels)
    assert partly[len(partly) // 10] >= 10
    assert sum(counts[4] >= 2 for counts in levels) >= 0.6 * len(levels)
    assert set().union(*levels) == {0, 1, 2, 3, 4}


# The true relevance level.

ALL = frozenset(FACETS)


def scene(who, action, thing=None, place="kitchen", mentions=ALL):
    return Scene(tuple(who.split("+")), action, thing, place, frozenset(mentions))


LETTER = scene("Nora+Felix", "hand_over", "letter")
NO_PLACE = scene("Rose", "read", "book", mentions={"people", "action", "object"})
DOOR = scene("Nora", "open", "door", mentions={"people", "action"})


@pytest.mark.parametrize(
    ("query", "moment", "level"),
    [
        # names are gone: another woman hands another man a letter in the kitchen
        (LETTER, scene("Rose+Ben", "hand_over", "letter"), 4),
        # one detail differs: the giver's gender, or the place
        (LETTER, scene("Omar+Ben", "hand_over", "letter"), 3),
        (scene("Rose", "read", "book"), scene("Rose", "read", "book", "office"), 3),
        # he gives her, where she should give him: two people are wrong
        (LETTER, scene("Felix+Nora", "hand_over", "letter"), 2),
        # in a hug it does not matter who is named first
        (scene("Nora+Felix", "hug"), scene("Ben+Rose", "hug"), 4),
        # the action is right, its object is not
        (scene("Rose", "read", "book"), scene("Rose", "read", "letter"), 2),
        (scene("Rose", "read", "book"), scene("Ben", "read", "letter"), 2),
        (scene("Rose", "read", "book"), scene("Ben", "read", "letter", "office"), 1),
        # two details differ, or three
        (scene("Rose", "read", "book"), scene("Ben", "read", "book", "office"), 2),
        (scene("Nora+Rose", "hug"), scene("Ben+Omar", "hug", None, "office"), 2),
        # a place that the sentence does not mention is not asked for
        (NO_PLACE, scene("Nora", "read", "book", "office"), 4),
        # the same family: all else equal, or not
        (scene("Nora", "open", "window"), scene("Rose", "close", "window"), 2),
        (scene("Nora", "open", "window"), scene("Ben", "close", "fridge"), 1),
        # a family akin to it, with all else equal, or not
        (DOOR, scene("Rose", "enter"), 1),
        (DOOR, scene("Ben", "enter"), 0),
        # nothing to do with it
        (scene("Nora", "pour", "coffee"), scene("Nora", "dance"), 0),
        # one who dances is not two who dance
        (scene("Nora", "dance"), scene("Nora+Felix", "dance"), 3),
        (scene("Nora+Felix", "dance"), scene("Rose", "dance"), 3),
        # whose name tells nothing may be either
        (scene("Robin", "dance"), scene("Ben", "dance"), 4),
        (scene("Nora+Felix", "hand_over", "book"), scene("Robin+Dr. Hale", "hand_over", "book"), 4),
    ],
)
def test_true_level_by_the_guideline(query, moment, level):
    assert true_level(query, moment, SCRIPT) == level


@st.composite
def scenes(draw):
    name = draw(st.sampled_from(sorted(SCRIPT.actions)))
    action = SCRIPT.action(name)
    people = draw(st.sampled_from(action.people))
    who = draw(st.permutations(sorted(SCRIPT.cast)))[:people]
    thing = draw(st.sampled_from(action.objects)) if action.objects else None
    place = draw(st.sampled_from(sorted(SCRIPT.places)))
    mentions = draw(st.sets(st.sampled_from(FACETS)))
    return Scene(tuple(who), name, thing, place, frozenset(mentions | {"people", "action"}))


@given(scenes(), scenes())
def test_a_level_is_0_to_4_and_at_most_2_of_another_action(query, moment):
    assert true_level(query, moment, SCRIPT) in range(5)
    assert true_level(query, query, SCRIPT) == 4
    if query.action != moment.action:
        assert true_level(query, moment, SCRIPT) <= 2


@given(scenes(), scenes(), st.sampled_from(FACETS))
def test_asking_for_more_never_raises_a_level(query, moment, facet):
    less = replace(query, mentions=query.mentions - {facet})
    more = replace(query, mentions=query.mentions | {facet})
    assert true_level(more, moment, SCRIPT) <= true_level(less, moment, SCRIPT)


@given(scenes(), scenes(), st.randoms(use_true_random=False))
def test_names_do_not_matter_only_gender_and_number(query, moment, random):
    def recast(who):
        genders = [SCRIPT.cast[name].gender for name in who]
        by_gender = {g: [n for n, c in SCRIPT.cast.items() if c.gender == g] for g in set(genders)}
        return tuple(random.choice(by_gender[gender]) for gender in genders)

    recast_query = replace(query, who=recast(query.who))
    recast_moment = replace(moment, who=recast(moment.who))
    assert true_level(recast_query, recast_moment, SCRIPT) == true_level(query, moment, SCRIPT)


@given(scenes(), scenes())
def test_what_the_moments_own_sentence_says_does_not_matter(query, moment):
    bare = replace(moment, mentions=frozenset())
    assert true_level(query, bare, SCRIPT) == true_level(query, moment, SCRIPT)


# The stage.


@pytest.fixture
def workplace(repository, tmp_path, monkeypatch):
    """Return a folder with screenplay and parameters for two small videos."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(repository / "params.yaml", tmp_path)
    set_params("sample", videos=2, fps=FEW, height=120)
    target = tmp_path / SCREENPLAY
    target.parent.mkdir(parents=True)
    target.write_bytes((repository / SCREENPLAY).read_bytes())
    return tmp_path


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


@pytest.mark.slow
def test_the_stage_writes_the_same_bytes_again_and_others_of_another_seed(workplace):
    out = workplace / true_levels.OUT
    sample.main()
    first = contents(out)
    lines = (out / RECORDS).read_text(encoding="utf-8").splitlines()
    durations = {r["vid_name"]: r["duration"] for r in map(json.loads, lines)}
    for name, duration in durations.items():
        frames = read_video(out / "videos" / f"{name}.mp4", frame_size(120))
        assert [read_frame_number(frame) for frame in frames] == list(range(round(duration * FEW)))
    (out / "videos" / "stale.mp4").write_bytes(b"of a larger corpus")
    sample.main()
    assert contents(out) == first
    names = {RECORDS, "flights_s01e01_clip_00.mp4", "flights_s01e01_clip_01.mp4"}
    assert {path.name for path in first} == names
    set_params("sample", seed=1)
    sample.main()
    second = contents(out)
    assert first.keys() == second.keys()
    assert all(first[path] != second[path] for path in first)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("./datasets/work/sample/annotations.jsonl", True),
        ("datasets/work/sample", True),
        ("/somebody's own/tvr_val_release.jsonl", False),
        ("datasets/work/sample.jsonl", False),
        ("datasets/work/sample/../mine.jsonl", False),
    ],
)
def test_it_is_drawn_only_where_it_is_the_corpus(workplace, monkeypatch, source, expected):
    monkeypatch.setattr(sample, "draw", lambda params: {"videos": 2, "moments": 3, "seconds": 4.0})
    set_params("ingest", source=source)
    (workplace / true_levels.OUT).mkdir(parents=True)
    (workplace / true_levels.OUT / RECORDS).write_text("of the corpus before")
    sample.main()
    figures = json.loads((workplace / "datasets/work/metrics/sample.json").read_text())
    assert (figures["drawn"], figures["videos"]) == (expected, 2 if expected else 0)
    assert list((workplace / true_levels.OUT).iterdir()) == []
