"""Clips in a bucket, as an annotator gets them: signed by the real server, one by one."""

import contextlib
import html
import re

import httpx
import pytest
from opened import STANDARD
from s3_server import SECRET, serve_bucket
from support.studio import studio

from annotation.label_studio import guideline, page, settings
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.errors import StudioError
from pipeline.video import store

pytestmark = [pytest.mark.integration, pytest.mark.slow]

CLIPS_URL, CLIP = "s3://campaign/of/clips", "ab12.mp4"
CONFIG = page.label_config(guideline.current(STANDARD))


@pytest.fixture(scope="module")
def bucket():
    with serve_bucket("campaign") as s3:
        s3.put_object(Bucket="campaign", Key=f"of/clips/{CLIP}", Body=b"a clip")
        yield


@pytest.fixture(scope="module")
def lead(bucket, tmp_path_factory, label_studio):
    with studio(tmp_path_factory.mktemp("s3"), label_studio) as lead:
        yield lead


@pytest.fixture
def client(lead):
    return LabelStudio(settings.Endpoint(lead.url, lead.token))


def test_an_annotator_gets_a_signed_address_of_each_clip(lead, client):
    project = client.create({"title": "signed", "label_config": CONFIG})
    for _ in range(2):
        client.serve_s3(project, "campaign", "of/clips")
    assert len(lead.api("GET", f"/api/storages/s3/?project={project.id}")) == 1
    payload = page.task_data("A dog barks.", store.clip_url(CLIP, CLIPS_URL), "key")
    [task] = client.add(project, [payload])

    [pushed] = client.tasks(project)
    assert (pushed.query, pushed.clip) == (payload["query"], payload["clip_html"]), "not as signed"
    [pulled] = client.answers(project, None)
    assert (pulled.query, pulled.clip) == (pushed.query, pushed.clip)

    with contextlib.closing(lead.sign_up("ann@example.org", "a-good-password")) as ann:
        data = ann.api("GET", f"/api/tasks/{task}/")["data"]
        assert "s3://" not in data["clip_html"]
        [address] = re.findall(r'src="([^"]+)"', data["clip_html"])
        response = ann.http.get(html.unescape(address))
        assert response.is_redirect
        signed = response.headers["location"]
        assert SECRET not in signed
        assert httpx.get(signed).content == b"a clip"
    stranger = httpx.get(f"{lead.url}{html.unescape(address)}")
    assert b"a clip" not in stranger.content
    assert not stranger.is_success


def test_a_bucket_that_is_not_there_is_said_in_one_line(client):
    project = client.create({"title": "none", "label_config": CONFIG})
    with pytest.raises(StudioError) as caught:
        client.serve_s3(project, "elsewhere", "")
    message = str(caught.value)
    assert "elsewhere" in message
    assert "\n" not in message
    assert SECRET not in message
