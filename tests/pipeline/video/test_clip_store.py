"""Where browsers get clips: addresses, and a bucket that is filled with what it lacks."""

import boto3
import pytest
from moto import mock_aws

from pipeline.video.store import StoreError, clip_url, open_store

SECRET = "wJalrXUtnFEMI-not-a-real-one"  # noqa: S105
KEY_ID = "AKIDTESTTESTTEST"
CLIP = "3ffadae77b059a9478690142d3629f76.mp4"


@pytest.fixture(autouse=True)
def _no_account(monkeypatch, tmp_path):
    """Take away whatever account the machine has."""
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
                 "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)


@pytest.fixture
def account(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


@pytest.fixture
def bucket(account):
    """Return an empty bucket called `clips`."""
    with mock_aws():
        new = boto3.resource("s3").Bucket("clips")
        new.create()
        yield new


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / name for name in ("a.mp4", "b.gif", "c.mp4")]
    for path in paths:
        path.write_bytes(path.name.encode())
    return paths


def keys(bucket):
    return [entry.key for entry in bucket.objects.all()]


@pytest.mark.parametrize(
    ("setting", "url"),
    [
        ("label-studio", f"/data/local-files/?d=clips/{CLIP}"),
        ("s3://bucket", f"s3://bucket/{CLIP}"),
        ("s3://bucket/", f"s3://bucket/{CLIP}"),
        ("s3://bucket/a b/c%20d/", f"s3://bucket/a b/c%20d/{CLIP}"),
        ("https://example.org/clips", f"https://example.org/clips/{CLIP}"),
        ("https://example.org/my%20clips/", f"https://example.org/my%20clips/{CLIP}"),
    ],
)
def test_a_clip_has_an_address_wherever_it_lies(setting, url):
    assert clip_url(CLIP, setting) == url


@pytest.mark.parametrize("setting", ["label-studio", "https://example.org"])
def test_nothing_in_a_name_becomes_part_of_an_address(setting):
    assert clip_url("../a b?c#d&50%.mp4", setting).endswith("/..%2Fa%20b%3Fc%23d%2650%25.mp4")


@pytest.mark.parametrize("setting", ["label-studio", "https://example.org/clips"])
def test_only_a_bucket_is_filled_from_here(setting, files):
    assert open_store(setting) is None


@pytest.mark.parametrize(
    ("setting", "prefix"),
    [("s3://clips", ""), ("s3://clips/tvr/one/", "tvr/one/"), ("s3://clips//x y", "x y/")],
)
def test_a_clip_lies_where_its_address_says(bucket, files, setting, prefix):
    assert open_store(setting).upload(files) == 3
    assert keys(bucket) == [f"{prefix}{path.name}" for path in files]
    urls = [f"s3://clips/{key}" for key in keys(bucket)]
    assert [clip_url(path.name, setting) for path in files] == urls


def test_a_browser_is_told_what_it_gets(bucket, files):
    open_store("s3://clips").upload(files)
    got = [bucket.Object(path.name).get() for path in files]
    assert [answer["ContentType"] for answer in got] == ["video/mp4", "image/gif", "video/mp4"]
    assert [answer["Body"].read() for answer in got] == [path.read_bytes() for path in files]


def test_only_what_the_bucket_lacks_is_uploaded_and_nothing_is_taken_away(bucket, files):
    bucket.put_object(Key="p/b.gif", Body=b"there before")
    bucket.put_object(Key="p/other.mp4", Body=b"another campaign's")
    bucket.put_object(Key="a.mp4", Body=b"outside of the prefix")
    assert open_store("s3://clips/p").upload(files) == 2
    assert open_store("s3://clips/p").upload(files) == 0
    assert keys(bucket) == ["a.mp4", "p/a.mp4", "p/b.gif", "p/c.mp4", "p/other.mp4"]
    assert bucket.Object("p/b.gif").get()["Body"].read() == b"there before"


def test_a_bucket_of_many_pages_is_read_to_its_end(bucket, files, monkeypatch):
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "2")
    store = open_store("s3://clips")
    store.upload(files)
    assert store.upload(files) == 0


def complaint(setting, clips):
    with pytest.raises(StoreError) as caught:
        open_store(setting).upload(clips)
    [line] = str(caught.value).splitlines()
    assert SECRET not in line
    assert KEY_ID not in line
    return line


def test_no_such_bucket_is_one_line_without_secrets(bucket, files):
    message = complaint("s3://another/p", files)
    assert message.startswith("clips.url: s3://another: ")
    assert "NoSuchBucket" in message


def test_no_account_is_one_line_that_says_what_to_set(files):
    message = complaint("s3://clips", files)
    assert message.startswith("clips.url: s3://clips: no credentials; set AWS_PROFILE")


def test_an_unknown_profile_is_one_line(files, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert complaint("s3://clips", files).startswith("clips.url: s3://clips: The config profile")


def test_a_server_that_is_not_there_is_one_line(account, files, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    assert "Could not connect" in complaint("s3://clips", files)


def test_a_clip_that_goes_missing_is_no_matter_of_s3(bucket, tmp_path):
    with pytest.raises(FileNotFoundError):
        open_store("s3://clips").upload([tmp_path / "none.mp4"])
