"""The stand-in's eyes: only the right pictures, at the right times, are those of a moment."""

import base64
import io

import numpy as np
import pytest
from PIL import Image
from support.fake_openai.eyes import Eyes, Moment, UnseenError, read_shots
from support.numbered_clips import Plan, make_world

from pipeline.video.pictures import picture_times, take_pictures

NUMBER, FINER = 4, 2


@pytest.fixture(scope="module")
def long(world):
    """Return the two longest moments."""
    return sorted(world.moments, key=lambda moment: moment.start - moment.end)[:2]


def take(world, moment, number=NUMBER):
    """Return pictures of a moment's clip."""
    seconds = round(moment.end - moment.start, 3)
    return take_pictures(world.clips[moment.moment_id], seconds, number, 180)


def list_times(moment, number=NUMBER):
    return picture_times(moment.end - moment.start, number)


def message(pictures, times, kind="jpeg"):
    """Return the parts of a message with these pictures, each after its time."""
    return [
        part
        for picture, time in zip(pictures, times, strict=True)
        for part in (
            {"type": "text", "text": f"t = {time:.2f} s"},
            {"type": "image_url", "image_url": {
                "url": f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"}},
        )
    ]  # fmt: skip


def see(world, parts, moments=None, **how):
    eyes = Eyes(world.moments if moments is None else moments, world.plan.fps, **how)
    return eyes.find_moments(read_shots(parts))


def encode(picture, kind="JPEG"):
    stream = io.BytesIO()
    picture.save(stream, kind)
    return stream.getvalue()


def test_pictures_from_other_instants_than_told_are_of_no_moment(world, long):
    moment, other = long
    fine = take(world, moment, FINER * NUMBER)
    times = list_times(moment)
    wrong = {
        "first half": fine[:NUMBER],
        "last half": fine[-NUMBER:],
        "backwards": take(world, moment)[::-1],
        "one twice": [*take(world, moment)[:-1], fine[0]],
        "another clip": take(world, other),
    }
    for pictures in wrong.values():
        with pytest.raises(UnseenError, match="of no moment"):
            see(world, message(pictures, times))


def test_pictures_at_uneven_times_are_of_no_moment_though_they_are_told_rightly(world, long):
    [moment, _] = long
    fine, times = take(world, moment, FINER * NUMBER), list_times(moment, FINER * NUMBER)
    chosen = [0, 1, 3, 7]
    with pytest.raises(UnseenError, match="no middles of equal parts"):
        see(world, message([fine[n] for n in chosen], [times[n] for n in chosen]))


def test_what_is_no_picture_with_its_time_is_not_seen(world, long):
    [moment, _] = long
    pictures, times = take(world, moment), list_times(moment)
    grey = encode(Image.fromarray(np.full((180, 320, 3), 128, np.uint8)))
    png = [encode(Image.open(io.BytesIO(picture)), "PNG") for picture in pictures]
    with pytest.raises(UnseenError, match="without a number"):
        see(world, message([grey, *pictures[1:]], times))
    with pytest.raises(UnseenError, match="no JPEG in the request"):
        see(world, message(png, times, "png"))
    with pytest.raises(UnseenError, match="that is PNG, not JPEG"):
        see(world, message(png, times))
    with pytest.raises(UnseenError, match="can't be read"):
        see(world, message([pictures[0][:40], *pictures[1:]], times))
    with pytest.raises(UnseenError, match="without its time"):
        see(world, message(pictures, times)[1:])
    with pytest.raises(UnseenError, match="no pictures"):
        see(world, [{"type": "text", "text": "A man sits."}])


def test_moments_that_give_the_same_pictures_are_not_guessed_at(world, long):
    [moment, _] = long
    parts = message(take(world, moment), list_times(moment))
    near = Moment("near", moment.video, moment.start + 0.01, moment.end + 0.01)
    twin = Moment("twin", *moment[1:])
    assert see(world, parts, [moment, twin]) == [moment.moment_id, "twin"]
    with pytest.raises(UnseenError, match="of several moments"):
        see(world, parts, [moment, near])


def test_more_frames_than_there_are_numbers_are_refused(tmp_path):
    with pytest.raises(SystemExit, match="ask for fewer"):
        make_world(tmp_path, Plan(1, 400, 1, 1, (320, 180), 12, 1, 2))
