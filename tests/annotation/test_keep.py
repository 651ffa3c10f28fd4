"""`campaign keep`: turns with a runner of our own, and as a process with a DVC of our own."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from campaign_folder import CampaignFolder, Size
from prefork import make_environment

from annotation.keeper import keep, repro
from annotation.keeper.keep import Keeper, duration
from annotation.keeper.repro import Outcome, Repro, Turn
from annotation.label_studio.errors import StudioUnavailableError, translate_errors
from pipeline.campaign.campaign import TRY_LATER, BusyError, CampaignError
from pipeline.core import files, git, tables
from pipeline.core.params import ParamsError

DONE, LATER = Turn(Outcome.DONE, "plan: 1 of 2"), Turn(Outcome.LATER, "error: no server")
FAILED = Turn(Outcome.FAILED, "error: 9 judgments disappeared from the server")
EVERY = timedelta(minutes=10)
NOTHING = ("without_clip", "discarded", "unjudgeable", "nobody_left")
DVC = """
import json, pathlib, sys, time
assert sys.argv[1:] == ["repro", "push"]
turns = pathlib.Path("turns.json")
now, *rest = json.loads(turns.read_text())
turns.write_text(json.dumps(rest or [now]))
pathlib.Path("began").touch()
print("pull: 3 judgments", flush=True)
time.sleep(now.get("sleep", 0))
for path, text in now.get("files", {}).items():
    pathlib.Path(path).write_text(text)
print(now.get("text", "token=abc"), flush=True)
pathlib.Path("ended").touch()
sys.exit(now.get("code", 0))
"""


def state(*, wanted=0, later=0):
    return {
        "pairs": {"waiting": wanted} | dict.fromkeys(NOTHING, 0),
        "queries": {"for_the_lead": []},
        "annotators": {"1": {"role": "annotator", "active": True, "open": wanted, "done": 3}},
        "later": later,
    }


@pytest.fixture
def camp(tmp_path, repository, monkeypatch):
    """Return the folder of an open campaign with a server's address, under git."""
    campaign = CampaignFolder.make(tmp_path, repository, Size(queries=1, ranks=2, people=4))
    campaign.configure("http://127.0.0.1:9", "token")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".gitignore").write_text("*.private.yaml\n.cache\n.env\n")
    files.write_json(tables.STATE, state(wanted=2))
    for line in ("init -q", "config user.name A", "config user.email a@example.org", "add -A",
                 "commit -qm begin"):  # fmt: skip
        assert git.run(*line.split()).returncode == 0
    return campaign


class Turns:
    """Runs turns that were written down, and what happens with each."""

    def __init__(self, *turns):
        self.turns, self.messages, self.interrupted = list(turns), [], False

    def turn(self):
        done = self.turns.pop(0)
        if isinstance(done, tuple) and not isinstance(done, Turn):
            done[1]()
            return done[0]
        return done

    def write(self, text):
        self.messages.append(text)

    def interrupt(self):
        self.interrupted = True


def run_keeper(monkeypatch, *turns, commit=False):
    """Return what a keeper said, how long it waited, and its error."""
    runner, waits = Turns(*turns), []
    keeper = Keeper(runner, EVERY, commit=commit)
    monkeypatch.setattr(keeper._stopped, "wait", waits.append)
    error = None
    try:
        keeper.run()
    except CampaignError as exc:
        error = str(exc)
    assert runner.turns == []
    return "\n".join(runner.messages), waits, error


def wants(**figures):
    return lambda: files.write_json(tables.STATE, state(**figures))


def test_it_goes_on_while_people_have_work_and_ends_when_nothing_is_wanted(camp, monkeypatch):
    output, waits, error = run_keeper(
        monkeypatch, DONE, (DONE, wants(later=4)), (DONE, wants(wanted=1)), (DONE, wants())
    )
    assert (waits, error) == ([600.0] * 3, None)
    assert "next: close the campaign: python -m annotation.campaign close" in output


def test_it_waits_longer_and_longer_while_a_server_is_away(camp, monkeypatch):
    turns = [LATER] * 9 + [DONE, LATER, (DONE, wants())]
    output, waits, error = run_keeper(monkeypatch, *turns)
    assert waits[:9] == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert (waits[9:], error) == ([600, 30], None)
    assert "no server" in output
    assert "3 times in a row" in output


def test_what_only_a_person_can_settle_ends_it(camp, monkeypatch):
    _, waits, error = run_keeper(monkeypatch, DONE, FAILED)
    assert len(waits) == 1
    assert "9 judgments disappeared" in error
    assert "start `campaign keep` again" in error


def test_a_campaign_that_is_closed_meanwhile_ends_it(camp, monkeypatch):
    def close():
        camp.open(closed_at="2026-02-01T00:00:00Z")

    _, _, error = run_keeper(monkeypatch, (DONE, close))
    assert "is closed" in error


def test_broken_settings_end_it_before_anything_runs(camp, monkeypatch):
    camp.path.joinpath("params.yaml").write_text("plan: 3\n")
    with pytest.raises(ParamsError, match="params"):
        Keeper(Turns(), EVERY, commit=False).run()


def test_without_a_server_there_is_nothing_to_keep_going(camp):
    camp.unconfigure()
    with pytest.raises(CampaignError, match="make label-studio"):
        Keeper(Turns(), EVERY, commit=False).run()


def test_what_people_made_is_committed_when_it_has_changed_and_nothing_else(camp, monkeypatch):
    judged = camp.path / tables.JUDGMENTS.path

    def judge():
        text = judged.read_text()
        judged.write_text(f"{text}q000,q000-m01,1,2,,2026-01-02T00:00:00Z,4,1@a,1,first,ab,cd\n")
        camp.path.joinpath("params.yaml").write_text((camp.path / "params.yaml").read_text() + "#")

    run_keeper(monkeypatch, (DONE, judge), DONE, (DONE, wants()), commit=True)
    log = git.run("log", "--format=%s").stdout.splitlines()
    assert log == ["Faults: 1 judgments", "begin"]
    changed = git.run("show", "--name-only", "--format=").stdout.split()
    assert changed == [str(tables.JUDGMENTS.path)]
    before = git.run("rev-parse", "HEAD").stdout
    files.write_json(tables.STATE, state(wanted=2))
    run_keeper(monkeypatch, (DONE, judge), (DONE, wants()))
    assert git.run("rev-parse", "HEAD").stdout == before


def test_a_signal_ends_it_after_the_turn_and_a_second_one_ends_that(camp):
    runner = Turns()
    keeper = Keeper(runner, EVERY, commit=False)

    def twice():
        keeper.stop()
        assert not runner.interrupted
        keeper.stop()

    runner.turns = [(DONE, twice)]
    keeper.run()
    assert runner.interrupted
    assert "stopped" in runner.messages[-1]


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("10m", 600), ("10", 600), ("2h", 7200), ("1d", 86400)]
)
def test_how_often(text, seconds):
    assert duration(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["", "0", "-1m", "1.5h", "soon", "10 m"])
def test_how_often_is_refused(text):
    with pytest.raises(keep.argparse.ArgumentTypeError, match="must be like"):
        duration(text)


def test_errors_that_may_pass_have_an_exit_code_of_their_own():
    assert BusyError.exit_code == StudioUnavailableError.exit_code == TRY_LATER
    with pytest.raises(StudioUnavailableError), translate_errors("http://x"):
        raise TimeoutError


# As processes


@pytest.fixture(scope="module")
def python(forked, tmp_path_factory):
    """Return a Python that forks the command, and never DVC, which is our own."""
    environment = tmp_path_factory.mktemp("own") / "environment"
    ours = {"python": "words[1:2] == ['annotation.campaign']"}
    make_environment(environment, forked.with_name("prefork"), forked=ours)
    return environment / "bin/python"


@pytest.fixture
def command(camp, repository, python):
    """Return what starts `campaign keep` with a DVC that does what it is told, turn by turn."""
    fake = camp.path / "fake" / "dvc"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    (fake / "__main__.py").write_text(DVC)
    path = f"{fake.parent}:{repository}"
    environment = camp.environment | {"PYTHONPATH": path}
    started = []

    def start(*turns, every="1s", python=python):
        (camp.path / "turns.json").write_text(json.dumps(turns))
        words = [python, "-m", "annotation.campaign", "keep", "--no-commit"]
        process = subprocess.Popen(
            [*words, "--every", every], env=environment, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stderr.close()


def make_turn(*, wanted=0, **rest):
    return {"files": {str(tables.STATE): json.dumps(state(wanted=wanted))}, **rest}


def await_file(path, seconds=60):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not come"
        time.sleep(0.02)


def test_turn_after_turn_until_nothing_is_wanted_and_the_log_has_no_token(camp, monkeypatch):
    turns = [make_turn(wanted=1), {"code": 255, "text": "x, exited with 69"}, make_turn()]
    (camp.path / "turns.json").write_text(json.dumps(turns))
    monkeypatch.setattr(repro, "COMMAND", (sys.executable, "-c", DVC, "repro", "push"))
    monkeypatch.setattr(keep, "FIRST_WAIT", timedelta(seconds=0.1))
    with contextlib.closing(Repro()) as runner:
        Keeper(runner, timedelta(seconds=0.1), commit=False).run()
    log = (camp.path / repro.LOG).read_text()
    assert log.count("pull: 3 judgments") >= 3
    assert log.count("this failed; next try at") == 1
    assert "next: close the campaign" in log
    assert "token=[hidden]" in log


def test_it_runs_once_in_a_folder_and_ends_cleanly_between_turns(camp, command):
    slow = command(make_turn(wanted=1, sleep=2), make_turn(wanted=1), every="1h")
    await_file(camp.path / "began")
    second = command(make_turn(wanted=1, sleep=2), make_turn(wanted=1))
    errors = second.communicate(timeout=60)[1]
    assert (second.returncode, "is already running in this folder" in errors) == (1, True)
    slow.send_signal(signal.SIGTERM)
    errors = slow.communicate(timeout=60)[1]
    assert slow.returncode == 0, errors
    assert "stopped; people" in errors
    assert (camp.path / "ended").exists(), "the turn went to its end"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_its_waiting(camp, command, number):
    process = command(make_turn(wanted=1), every="1h")
    await_file(camp.path / "ended")
    time.sleep(0.5)
    process.send_signal(number)
    errors = process.communicate(timeout=20)[1]
    assert (process.returncode, "stopped; people" in errors) == (0, True)


def test_after_a_kill_it_can_be_started_again(camp, command):
    killed = command(make_turn(wanted=1, sleep=1), python=sys.executable)
    await_file(camp.path / "began")
    killed.kill()
    killed.communicate()
    await_file(camp.path / "ended")  # DVC lives on
    again = command(make_turn(), python=sys.executable)
    errors = again.communicate(timeout=60)[1]
    assert again.returncode == 0, errors


def test_a_failure_is_shown_by_its_last_lines(camp, monkeypatch):
    script = "print('a'); print('error: no candidates'); raise SystemExit(1)"
    monkeypatch.setattr(repro, "COMMAND", (sys.executable, "-c", script))
    with contextlib.closing(Repro()) as runner:
        assert runner.turn() == Turn(Outcome.FAILED, "error: no candidates")
    assert "no candidates" in repro.LOG.read_text()
