"""What is published, where and how; what is refused; and servers that fail."""

import io
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import fake_hub
import fake_server
import fake_zenodo
import huggingface_hub
import pandas as pd
import pytest
from checkouts import CLOSED, OPEN, PAIRS, PRIVATE, Checkout, read_json, write_training
from offline import without_connection
from project import NAMED, OWNER
from werkzeug import Response

import momentrank as mr
from momentrank.errors import MomentRankError
from pipeline.core import files, owner, tables
from pipeline.distribution import versions
from pipeline.publication import folder as folder_module
from pipeline.publication.folder import publish_to_folder
from pipeline.publication.hub import publish_to_hub
from pipeline.publication.package import PublishError, collect_package
from pipeline.publication.zenodo import DRAFT, FOLDERS, describe_for_doi, publish_to_zenodo

COMPLETE = [PAIRS[1], PAIRS[2], PAIRS[5]]


@pytest.fixture(scope="module")
def original(tmp_path_factory, repository):
    """Return a checkout whose closed campaign is released, with training sets."""
    checkout = Checkout(tmp_path_factory.mktemp("publish"), repository)
    checkout.private()
    checkout.write(pairs=COMPLETE)
    checkout.release()
    write_training(checkout.folder)
    return checkout


@pytest.fixture
def checkout(original, tmp_path, monkeypatch):
    """Be in a copy of that checkout; return it."""
    subprocess.run(["cp", "-r", f"{original.folder}/.", tmp_path], check=True)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / owner.FILE).write_text(OWNER)
    monkeypatch.chdir(tmp_path)
    own = Checkout.__new__(Checkout)
    own.folder = tmp_path
    return own


@pytest.fixture
def package(checkout):
    return collect_package(tables.RELEASE)


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """Don't wait; return how long it would have been, in seconds."""
    asked = []
    monkeypatch.setattr(time, "sleep", asked.append)
    return asked


def to_hub(package):
    return publish_to_hub(package, "ann/kitchen")


def to_zenodo(package, before=None):
    return publish_to_zenodo(package, describe_for_doi(package.manifest), before)


def unpack(record):
    """Return the files of a record, with those in the archive."""
    there = dict(record["files"])
    with zipfile.ZipFile(io.BytesIO(there.pop(FOLDERS.name))) as archive:
        return there | {name: archive.read(name) for name in archive.namelist()}


def contents(package):
    return {file.path: file.source.read_bytes() for file in package.files}


def list_paths(folder=tables.RELEASE):
    """Return every path that the two manifests name, and these."""
    names = ("manifest.json", "train_manifest.json")
    return {*names, *(path for name in names for path in read_json(folder, name)["files"])}


def rewrite_manifest(path, sha256=None, name="manifest.json", **changes):
    """Let a manifest list a file as it is, as if `release` had written it."""
    manifest = {**read_json(tables.RELEASE, name), **changes}
    listed = sha256 or files.file_sha256(tables.RELEASE / path)
    manifest["files"].setdefault(path, {})["sha256"] = listed
    files.write_json(tables.RELEASE / name, manifest)


def change_release(version):
    """Let a released file be another one, under another version."""
    path = tables.RELEASE / "qrels/val.qrels"
    path.write_text(path.read_text().replace(" 3\n", " 4\n"))
    rewrite_manifest("qrels/val.qrels", version=version)
    return collect_package(tables.RELEASE)


def smuggle(path, edit):
    """Add a text to a file that the manifest lists."""
    source = tables.RELEASE / path
    if path.endswith(".parquet"):
        pd.read_parquet(source).assign(text=edit).to_parquet(source)
    else:
        source.write_text(f"{source.read_text()}{edit}\n")
    rewrite_manifest(path)


@pytest.fixture
def to_folder(checkout, command):
    """Publish in the folder `public`, as it is typed; return the error, if any."""

    def publish(*words) -> str | None:
        code, _, message = command("pipeline.publish", "--to", "folder", "public", *words)
        assert code in {0, 1}, message
        return message if code else None

    return publish


@pytest.fixture
def refusal(to_folder):
    """Return the error of publishing in a folder, in which nothing appears."""

    def publish(*words) -> str:
        message = to_folder(*words)
        assert not Path("public").exists()
        return message or ""

    return publish


# The whole way, as it is typed


def test_into_a_folder_go_exactly_the_files_of_the_manifests(checkout, command, tmp_path):
    (tables.RELEASE / "notes.txt").write_text("mine")
    (tables.RELEASE / "lead").mkdir()
    (tables.RELEASE / "lead/annotators.csv").write_text("1")
    out = tmp_path / "public"
    code, output, message = command("pipeline.publish", "--to", "folder", out)
    assert code == 0, message
    folder = out / "0.1.0"
    assert f"version 0.1.0 is published: {folder}" in output
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == list_paths(folder)
    assert "lead/annotators.csv, notes.txt" in message
    [publication] = versions.read_published()
    assert (publication.version, publication.to, publication.complete) == ("0.1.0", "folder", True)
    assert publication.files["qrels/val.qrels"] == files.file_sha256(folder / "qrels/val.qrels")
    assert command("pipeline.publish", "--to", "folder", out)[0] == 0, "again: nothing to do"
    assert len(versions.read_published()) == 1


def test_a_dry_run_shows_all_and_reaches_out_to_nobody(checkout, command, zenodo):
    code, output, _ = command("pipeline.publish", "--to", "zenodo", "--dry-run")
    assert code == 0
    assert list_paths() <= set(output.split())
    assert '"name": "Cook, Ada"' in output
    assert zenodo.requests == []
    assert not versions.FILE.exists()


@pytest.mark.parametrize(
    ("words", "names"),
    [(["hf"], "OWNER/NAME"), (["folder"], "FOLDER"), (["zenodo", "x"], "no PLACE")],
)
def test_a_place_that_does_not_fit_is_refused(checkout, command, words, names):
    code, _, message = command("pipeline.publish", "--to", *words)
    assert (code, names in message) == (2, True)


# What is refused


def test_what_is_not_complete_goes_out_only_when_asked_for_and_says_so(
    checkout, refusal, to_folder
):
    checkout.write()  # a pair waits
    checkout.release()
    assert "Incomplete." in refusal()
    assert to_folder("--incomplete") is None
    assert "Incomplete." in Path("public/0.1.0/README.md").read_text()
    assert not versions.read_published()[0].complete


def test_a_rehearsal_gets_no_doi(checkout, command, zenodo):
    checkout.campaign({**CLOSED, "rehearsal": True})
    checkout.release()
    code, _, message = command("pipeline.publish", "--to", "zenodo", "--incomplete")
    assert (code, "a rehearsal gets no DOI" in message, zenodo.requests) == (1, True, [])


@pytest.mark.parametrize("place", [["hf", "ann/kitchen"], ["zenodo"]])
def test_in_public_nothing_goes_out_before_its_owner_can_be_found(
    checkout, command, hub, zenodo, place
):
    owner.FILE.write_text(OWNER.replace("security@example.org", ""))
    code, _, message = command("pipeline.publish", "--to", *place)
    assert (code, hub.requests, zenodo.requests) == (2, [], [])
    assert "owner.toml: security: empty" in message
    assert command("pipeline.publish", "--to", *place, "--dry-run")[0] == 0


@pytest.mark.parametrize("campaign", [OPEN, {**CLOSED, "name": "Another"}])
def test_a_release_of_another_state_of_the_campaign_is_refused(checkout, refusal, campaign):
    checkout.campaign(campaign)
    assert "run: dvc repro release" in refusal()


def test_a_file_that_was_changed_or_is_missing_or_a_link_is_refused(refusal, tmp_path):
    path = tables.RELEASE / "pairs.csv"
    content = path.read_bytes()
    path.write_bytes(content + b"1,2\n")
    assert "pairs.csv: is not the file that the manifest lists" in refusal()
    path.unlink()
    assert "pairs.csv: no such file" in refusal()
    (tmp_path / "elsewhere.csv").write_bytes(content)
    path.symlink_to(tmp_path / "elsewhere.csv")
    assert "pairs.csv: is a link to outside" in refusal()


@pytest.mark.parametrize("path", ["lead/a.csv", "../a.csv", ".env", "/etc/passwd", "campaign/a"])
def test_a_manifest_can_not_smuggle_a_file_out(refusal, path):
    rewrite_manifest(path, "0" * 64)
    assert f"files.{path}: may not be published" in refusal()


@pytest.mark.parametrize(
    ("path", "edit", "what"),
    [
        ("README.md", "Ask anna  BERG.", "line {last}: contains a name"),
        ("consensus.csv", "9,,,by Anna Berg", "line {last}: contains a name"),
        ("README.md", "ask someone@example.com", "line {last}: contains an e-mail address"),
        ("README.md", "ask someone\uff20example.com", "line {last}: contains an e-mail address"),
        ("queries.tsv", "q9\tmail two@example.org\tval\t1", "line {last}: contains an address"),
        (
            "captions/corpus.parquet",
            "opensesame",
            "text, row group 0: contains an address",
        ),
        ("qrels/levels.json", f"hf_{'x' * 34}", "line {last}: contains a token"),
        ("pairs.csv", "the-servers-own-key", "line {last}: contains a token"),
    ],
)
def test_what_identifies_somebody_or_opens_a_door_is_refused_with_its_place(
    refusal, monkeypatch, path, edit, what
):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "the-servers-own-key")
    smuggle(path, edit)
    source = tables.RELEASE / path
    last = "" if path.endswith("parquet") else len(source.read_text().splitlines())
    message = refusal()
    assert f"{source}: {what.format(last=last)}" in message
    assert edit not in message


def test_a_secret_that_env_holds_is_refused(refusal):
    Path(".env").write_text("LABEL_STUDIO_API_KEY=the-servers-own-key\n")
    smuggle("pairs.csv", "the-servers-own-key")
    assert "contains a token" in refusal()


def test_the_corpus_may_speak_of_anna_and_an_address_may_be_allowed(refusal, to_folder):
    smuggle("queries.tsv", "q9\tAnna Berg waves to x@example.com\tval\t1")
    assert "queries.tsv" in refusal()
    assert to_folder("--allow", "x@example.com") is None


def test_who_made_it_may_have_judged_too(checkout, to_folder):
    checkout.private(PRIVATE.replace("Anna Berg", "Cook, Ada"))
    checkout.release()
    assert NAMED["creators"] == ["Cook, Ada"]
    assert to_folder() is None


def test_a_citation_of_several_lines_may_name_who_judged(checkout, to_folder):
    cited = '@misc{k,\n  author = {Ada Cook and Anna Berg},\n  title = {"Kitchen | moments"}}'
    checkout.change((json.dumps(NAMED["citation"]), json.dumps(cited)))
    checkout.release()
    assert to_folder() is None


def test_a_short_word_of_the_lead_hides_no_name(checkout, refusal):
    checkout.private(PRIVATE.replace("Anna Berg", "Karen Lenz"))
    checkout.change(("language: null ", "language: en "))
    checkout.release()
    smuggle("README.md", "Ask Karen Lenz.")
    assert "contains a name" in refusal()


def test_one_version_is_the_same_everywhere_with_its_training_sets(command, to_folder):
    assert command("pipeline.publish", "--to", "folder", "elsewhere")[0] == 0
    path = next(iter(read_json(tables.RELEASE, "train_manifest.json")["files"]))
    (tables.RELEASE / path).write_text("[]\n")
    rewrite_manifest(path, name="train_manifest.json")
    assert f"published with another {path}" in to_folder()


def test_without_the_list_of_names_nothing_goes_out(refusal):
    (tables.CAMPAIGN / "annotators.private.yaml").unlink()
    assert "annotators.private.yaml: no such file" in refusal()


# The version


def test_a_changed_level_must_raise_the_minor_version_and_a_format_the_major_one(
    checkout, to_folder
):
    assert to_folder() is None
    checkout.release()  # as it was
    checkout.write(pairs=[(1, "q1", "m2", "c", (4, 4.0, [4, 4], "two")), *COMPLETE[1:]])
    with pytest.raises(MomentRankError, match=r"release.version is 0.1.0, .* 0.2.0 .minor. or"):
        checkout.release()
    checkout.change(("version: 0.1.0 ", "version: 0.1.1 "))
    with pytest.raises(MomentRankError, match=r"0.2.0 .minor. or higher"):
        checkout.release()
    checkout.change(("version: 0.1.1 ", "version: 0.2.0 "))
    checkout.release()
    [before] = versions.read_published()
    columns = {**before.columns, "pairs.csv": ["pair_id"]}
    versions.write_published([before.model_copy(update={"columns": columns})])
    # The columns alone are no change: the file is the same.
    checkout.release()
    hashes = {**before.files, "pairs.csv": "0" * 64}
    versions.write_published([before.model_copy(update={"columns": columns, "files": hashes})])
    with pytest.raises(MomentRankError, match=r"pairs.csv has other columns.* 1.0.0 .major. or"):
        checkout.release()


def test_a_changed_description_raises_the_patch_and_an_open_campaign_is_only_warned(
    checkout, to_folder, capsys
):
    assert to_folder() is None
    checkout.change((NAMED["rai.use_cases"], "Something else."))
    with pytest.raises(MomentRankError, match=r"0.1.1 .patch. or higher"):
        checkout.release()
    checkout.campaign(OPEN)
    checkout.release()
    assert "WARNING: params.yaml: release.version is 0.1.0" in capsys.readouterr().err


# The hub


def test_the_hub_gets_the_files_in_one_commit_with_a_tag_and_a_second_run_sends_nothing(
    package, hub
):
    address = to_hub(package)
    assert hub.files == contents(package)
    assert hub.tags == {"v0.1.0": hub.branch}
    assert len(hub.commits) == 2
    assert address.url == f"{hub.url}/datasets/ann/kitchen/tree/v0.1.0"
    assert address.revision == hub.branch
    sent = hub.count("PUT /lfs/|POST .*/commit/")
    assert to_hub(package) == address
    assert hub.count("PUT /lfs/|POST .*/commit/") == sent


def test_a_new_version_sends_what_differs_and_removes_what_is_gone(package, hub):
    to_hub(package)
    hub.commits[hub.branch]["old.csv"] = ("regular", b"1")
    uploads = hub.count("PUT /lfs/")
    to_hub(change_release("0.2.0"))
    assert hub.files.keys() == list_paths()
    assert set(hub.tags) == {"v0.1.0", "v0.2.0"}
    assert hub.count("PUT /lfs/") == uploads, "no Parquet file has changed"


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        ("POST /api/repos/create", 503), ("POST .*/preupload/", 500),
        ("POST .*/objects/batch", "cut"), ("PUT /lfs/", 500), ("POST .*/commit/", 429),
        ("POST .*/commit/", "lost"), ("GET .*/resolve/", 502), ("GET /cdn/", "cut"),
        ("POST .*/tag/", "lost"),
    ],
)  # fmt: skip
def test_what_fails_on_the_hub_and_passes_is_tried_again(package, hub, request_, fault):
    hub.fail(request_, fault)
    to_hub(package)
    assert hub.faults[0][2] == 0, "it did fail"
    assert hub.files == contents(package)
    assert hub.tags == {"v0.1.0": hub.branch}
    assert len(hub.commits) == 2, "nothing was committed twice"


def test_what_reads_back_otherwise_is_not_tagged(package, hub):
    hub.fail("GET .*/resolve/.*/pairs.csv", "wrong")
    with pytest.raises(PublishError, match=r"pairs.csv reads back with another SHA-256"):
        to_hub(package)
    assert hub.tags == {}
    to_hub(package)
    assert hub.tags == {"v0.1.0": hub.branch}
    assert len(hub.commits) == 2


def test_a_file_that_the_hub_ignores_is_found_out(package, hub):
    hub.ignored = {"pairs.csv"}
    with pytest.raises(PublishError, match=r"pairs.csv reads back"):
        to_hub(package)
    assert hub.tags == {}


@pytest.mark.parametrize(
    ("status", "what"),
    [(401, "token is not valid"), (403, "does not allow it"), (404, "Nope"), (409, "Nope")],
)
def test_what_the_hub_refuses_is_told_at_once(package, hub, waits, status, what):
    hub.fail("POST .*/commit/", fake_server.as_json({"error": "Nope"}, status), times=9)
    with pytest.raises(PublishError, match=rf"ann/kitchen: status {status}: .*{what}") as caught:
        to_hub(package)
    assert (waits, fake_hub.TOKEN in str(caught.value)) == ([], False)


def test_a_name_or_a_card_that_the_hub_refuses(package, hub):
    with pytest.raises(PublishError, match="must be owner/name"):
        publish_to_hub(package, "a/b/c")
    hub.card_problem = "license must be one of [...]"
    with pytest.raises(PublishError, match=r"license must be one of"):
        to_hub(package)


def test_somebody_elses_commit_meanwhile_is_not_overwritten_unseen(package, hub):
    def commit_first(request):
        if "/commit/" in request and len(hub.commits) == 1:
            hub.commit({**hub.commits[hub.branch], "theirs.txt": ("regular", b"x")})

    hub.gate = commit_first
    to_hub(package)
    assert "theirs.txt" not in hub.files, "the version is exactly the manifest's files"
    assert len(hub.commits) == 3, "theirs is in the history"


def test_killed_in_the_middle_the_next_run_uploads_the_rest(checkout, package, hub, repository):
    stopped, end, numbers = threading.Event(), threading.Event(), itertools.count(1)

    def pass_three(request):
        if request.startswith("PUT /lfs/") and next(numbers) > 3:
            while len(hub.stored) < 3:
                end.wait(0.05)
            stopped.set()
            end.wait(120)

    hub.gate = pass_three
    env = {**os.environ, "HF_ENDPOINT": hub.url, "PYTHONPATH": str(repository)}
    words = [sys.executable, "-m", "pipeline.publish", "--to", "hf", "ann/kitchen"]
    process = subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL)
    assert stopped.wait(100)
    process.send_signal(signal.SIGKILL)
    process.wait()
    hub.gate, stored = None, set(hub.stored)
    assert (len(hub.commits), len(stored)) == (1, 3)
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    large = [file for file in package.files if file.path.endswith(".parquet")]
    assert len(hub.stored) - 3 == sum(file.sha256 not in stored for file in large)
    end.set()
    assert hub.tags == {"v0.1.0": hub.branch}
    assert versions.read_published()[0].address.startswith(hub.url)


def test_what_was_published_is_loaded_at_its_tag_by_what_is_small(
    package, hub, tmp_path, monkeypatch
):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    to_hub(package)
    to_hub(change_release("0.2.0"))
    hub.requests.clear()
    first, newest = mr.load("hf:ann/kitchen", revision="v0.1.0"), mr.load("hf:ann/kitchen")
    levels = [
        [judgment.level for judgment in version["val"].qrels_iter()] for version in (first, newest)
    ]
    assert (first.version, newest.version, levels) == ("0.1.0", "0.2.0", [[3], [4]])
    assert hub.count("parquet|train_top") == 0
    with pytest.raises(mr.UsageError, match=r"hf:ann/kitchen: can't be fetched: .*v9"):
        mr.load("hf:ann/kitchen", revision="v9")


def test_what_a_cut_download_left_out_is_fetched_or_said_to_be_missing(
    package, hub, tmp_path, monkeypatch
):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    to_hub(package)
    whole = mr.load("hf:ann/kitchen", revision="v0.1.0")
    lost = ("manifest.json", "train_manifest.json", "qrels/val.qrels")
    for name in lost:
        (whole.folder / name).unlink()
        message = rf"hf:ann/kitchen: {name} is not in the cache, .*load it again with a connection"
        with without_connection(), pytest.raises(mr.UsageError, match=message):
            _ = mr.load("hf:ann/kitchen", revision="v0.1.0")["val"].qrels
        assert len(list(mr.load("hf:ann/kitchen", revision="v0.1.0")["val"].qrels_iter())) == 1
    large = whole.path("captions/corpus.parquet")
    assert large.read_bytes() == (tables.RELEASE / "captions/corpus.parquet").read_bytes()
    (whole.folder / "pairs.csv").unlink()
    assert whole.moments, "what went missing meanwhile is fetched at the same revision"


# Zenodo


def test_zenodo_gets_the_files_their_metadata_and_a_doi(package, zenodo):
    address = to_zenodo(package)
    [record] = zenodo.records.values()
    assert record["submitted"]
    assert unpack(record) == contents(package)
    metadata = record["metadata"]
    assert metadata["creators"] == [{"name": "Cook, Ada"}]
    assert (metadata["title"], metadata["version"], metadata["license"]) == (
        NAMED["name"], "0.1.0", NAMED["license"],
    )  # fmt: skip
    assert "<b>Known bias.</b>" in metadata["description"]
    assert address.doi == "10.5072/zenodo.100"
    assert to_zenodo(package, "100") == address, "again: it is published already"
    assert len(zenodo.records) == 1


@pytest.mark.parametrize("how", ["lost", "forgotten"])
def test_a_new_version_that_was_begun_is_taken_up_and_not_begun_twice(package, zenodo, how):
    """Zenodo keeps one draft of a next version, and refuses to begin another."""
    to_zenodo(package)
    if how == "lost":
        zenodo.fail("POST .*/actions/newversion", "lost")
        package = change_release("0.2.0")
    else:
        zenodo.fail("PUT /api/files/", "cut", times=9)
        with pytest.raises(PublishError, match="run the command again"):
            to_zenodo(change_release("0.2.0"), "100")
        zenodo.faults.clear()
        package = change_release("0.3.0")
    zenodo.requests.clear()
    assert to_zenodo(package, "100").revision == "101"
    assert zenodo.count("PUT /api/files") == 2, "the folders, with the qrels; the manifest"
    assert list(zenodo.records) == [100, 101]
    assert zenodo.records[101]["submitted"]
    assert zenodo.records[101]["metadata"]["version"] == package.manifest["version"]
    assert unpack(zenodo.records[101]) == contents(package)


def test_a_record_of_another_server_is_not_continued(checkout, command, zenodo, monkeypatch):
    assert command("pipeline.publish", "--to", "zenodo")[0] == 0
    [trial] = versions.read_published()
    assert (trial.place, trial.revision, trial.doi) == (zenodo.url, "100", "10.5072/zenodo.100")
    files.write_json(DRAFT, {"place": zenodo.url, "version": "0.1.0", "id": "999"})
    second = fake_zenodo.FakeZenodo()
    monkeypatch.setenv("ZENODO_URL", f"{second.url}/")
    code, output, message = command("pipeline.publish", "--to", "zenodo")
    second.close()
    assert code == 0, message
    assert f"{second.url}/records/100, DOI 10.5072/zenodo.100" in output
    places = [publication.place for publication in versions.read_published()]
    assert places == [zenodo.url, second.url]


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        ("POST .*/depositions$", 503), ("PUT .*/depositions/", "cut"), ("GET .*/files$", 429),
        ("PUT /api/files/.*/pairs.csv", "lost"), ("GET /api/files/.*/pairs.csv", 500),
        ("POST .*/actions/publish", "lost"),
    ],
)  # fmt: skip
def test_what_fails_on_zenodo_and_passes_is_tried_again(package, zenodo, request_, fault):
    zenodo.fail(request_, fault)
    to_zenodo(package)
    assert zenodo.faults[0][2] == 0, "it did fail"
    [record] = zenodo.records.values()
    assert record["submitted"]
    assert unpack(record) == contents(package)
    assert zenodo.count("PUT .*/pairs.csv") == 1, "what arrived is not sent again"


def test_waiting_grows_and_ends_and_the_draft_is_continued(package, zenodo, waits):
    zenodo.fail("PUT /api/files/.*/test.json", "cut", times=9)
    with pytest.raises(PublishError, match=r"run the command again to continue"):
        to_zenodo(package)
    assert waits == [2, 4, 8, 16]
    zenodo.faults.clear()
    zenodo.fail("GET /api/files/.*/README.md", "wrong")
    with pytest.raises(PublishError, match=r"README.md reads back with another SHA-256"):
        to_zenodo(package)
    assert not zenodo.records[100]["submitted"]
    zenodo.requests.clear()
    to_zenodo(package)
    assert zenodo.count("PUT /api/files") == 0
    assert list(zenodo.records) == [100]
    assert zenodo.records[100]["submitted"]


def test_a_draft_that_was_deleted_is_told(package, zenodo):
    zenodo.fail("PUT /api/files/", 403)
    with pytest.raises(PublishError, match="status 403: the token does not allow it"):
        to_zenodo(package)
    zenodo.records.clear()
    with pytest.raises(PublishError, match=rf"deleted the draft, delete {DRAFT} too"):
        to_zenodo(package)


def test_zenodo_without_a_token_or_with_a_license_that_it_does_not_know(
    package, zenodo, monkeypatch
):
    package.manifest["params"]["release"]["license"] = "mine"
    with pytest.raises(PublishError, match=r"status 400: .*Validation"):
        to_zenodo(package)
    monkeypatch.delenv("ZENODO_TOKEN")
    with pytest.raises(PublishError, match=r"ZENODO_TOKEN: not set"):
        to_zenodo(package)


def test_an_address_that_is_not_zenodos_is_told(package, zenodo, monkeypatch):
    zenodo.fail("POST .*/depositions$", Response("<html>"))
    with pytest.raises(PublishError, match=r"the answer is not JSON"):
        to_zenodo(package)
    monkeypatch.setenv("ZENODO_URL", "zenodo.org")
    with pytest.raises(PublishError, match=r"ZENODO_URL: zenodo.org: must begin with https"):
        to_zenodo(package)


# The folder, and every place


def test_a_folder_is_whole_or_not_there(package, tmp_path, monkeypatch):
    public = tmp_path / "public"
    with monkeypatch.context() as patch:
        patch.setattr(folder_module.shutil, "copyfile", lambda _, copy: copy.write_text("?"))
        with pytest.raises(PublishError, match=r"reads back with another SHA-256"):
            publish_to_folder(package, public)
    assert not (public / "0.1.0").exists()
    (public / ".0.1.0.unfinished/old.csv").write_text("1")
    publish_to_folder(package, public)
    assert folder_module.hash_folder(public / "0.1.0") == {f.path: f.sha256 for f in package.files}
    with pytest.raises(PublishError, match="not a directory"):
        publish_to_folder(package, public / "0.1.0/README.md")


@pytest.mark.parametrize("place", ["hub", "zenodo", "folder"])
def test_a_published_version_never_changes(package, hub, zenodo, tmp_path, place):
    publish, records = {
        "hub": (to_hub, hub.commits),
        "zenodo": (lambda package: to_zenodo(package, "100" if zenodo.records else None), {}),
        "folder": (lambda package: publish_to_folder(package, tmp_path / "public"), {}),
    }[place]
    publish(package)
    before = len(records)
    with pytest.raises(PublishError, match=r"0.1.0 is published there, and .* raise release.ver"):
        publish(change_release("0.1.0"))
    assert (len(records), hub.count("/commit/"), zenodo.count("/publish")) == (
        before, int(place == "hub"), int(place == "zenodo"),
    )  # fmt: skip
