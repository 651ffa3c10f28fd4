"""Training: what a batch has, the same weights after kill -9, and that something is learnt."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lazy import Lazy
from tiny_release import write_params

from baselines import score
from baselines.collection.release import read_release
from baselines.comparison.render import TITLES
from baselines.core import paths
from baselines.core.files import FileError
from baselines.core.params import load
from baselines.features.inputs import open_inputs
from momentrank.errors import UsageError

torch, safetensors, devices = (
    Lazy(name) for name in ("torch", "safetensors.torch", "baselines.core.devices")
)
registry = Lazy("baselines.models.registry")
train, predict = Lazy("baselines.train"), Lazy("baselines.predict")
loop, batches = Lazy("baselines.training.loop"), Lazy("baselines.training.batches")

REPOSITORY = Path(__file__).parent.parent.parent
KILLED = """
import os, signal, sys
from baselines import train
from baselines.training.batches import BatchMaker
made, make = [], BatchMaker.make
def killing(self, places):
    made.append(places)
    if len(made) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return make(self, places)
BatchMaker.make = killing
train.main("reloclnet")
"""


@pytest.fixture
def maker(tiny):
    params = load()
    release = read_release(tiny / "datasets/release")
    inputs = open_inputs(params, release.all_queries([2]))
    return batches.BatchMaker(inputs, release.read_pairs(2)), inputs


def test_a_batch_says_which_pairs_are_positive(maker):
    own, _ = maker
    batch = own.make(np.array([0, 1, 8, 2]))  # queries 108, 108, 112 of one kind, and 109
    # Both moments of a query are in its two videos, and 112 asks for the same as 108.
    assert batch.positive[:3, :3].all()
    assert batch.weight.tolist() == pytest.approx([0.8] * 4)
    assert batch.row_mask.shape == (len(set(batch.video.tolist())), 12)
    assert batch.inside.sum(1).tolist() == [int(b - a + 1) for a, b in batch.span]


def test_a_batch_says_which_rows_are_in_a_moment_of_a_query(maker):
    own, inputs = maker
    pairs, places = inputs.release.read_pairs(2), np.array([0, 8, 2, 3])
    batch = own.make(places)
    videos = sorted(set(pairs.video[places].tolist()))
    expected = torch.zeros(4, len(videos), 12, dtype=torch.bool)
    for i, place in enumerate(places):
        for number in np.flatnonzero(pairs.query == pairs.query[place]):
            if pairs.video[number] in videos:
                first, last = own._spans[number]
                expected[i, videos.index(pairs.video[number]), first : last + 1] = True
    assert torch.equal(batch.covered, expected)
    assert torch.equal(batch.covered.any(dim=2)[:, batch.video], batch.positive)


def test_the_rows_of_a_moment_are_tvrs(maker):
    _, inputs = maker
    pairs = inputs.release.read_pairs(2)
    rows = batches.span_rows(pairs, inputs)
    assert (rows[:, 0] == np.floor(pairs.start / 0.5)).all()
    last = inputs.row_counts()[pairs.video] - 1
    assert (rows[:, 1] == np.minimum(np.ceil(pairs.end / 0.5), last)).all()


def test_an_epoch_has_every_pair_once_in_an_order_of_its_own(maker):
    own, _ = maker

    def sums(epoch, done=0):
        batches = own.epoch(1, epoch, 6, done)
        return [float(batch.streams[0][batch.video].sum()) for batch in batches]

    assert sums(0) == sums(0) != sums(1)
    assert sum(sums(0)) == pytest.approx(sum(sums(1)), rel=1e-4)
    assert len(sums(0)) == own.steps(6) == 3
    assert sums(0, done=2) == sums(0)[2:]


def weights(folder, name, top=2):
    return safetensors.load_file(folder / paths.checkpoint(name, top, 2024))


def train_straight(folder, name):
    """Return the weights of a training that nothing stops; it leaves no checkpoint."""
    train.main(name)
    trained = weights(folder, name)
    (folder / paths.checkpoint(name, 2, 2024)).unlink()
    return trained


def refuse_difference(straight, resumed):
    assert straight.keys() == resumed.keys()
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


class StoppedError(BaseException):
    """Nobody catches it."""


def stop_at(monkeypatch, number):
    """Stop the training when it makes that batch."""
    calls, make = [], batches.BatchMaker.make

    def stopping(self, places):
        calls.append(places)
        if len(calls) == number:
            raise StoppedError
        return make(self, places)

    monkeypatch.setattr(batches.BatchMaker, "make", stopping)


@pytest.mark.parametrize(
    ("every", "models", "stops"),
    [
        ("1", ("reloclnet", "conquer"), (6, 3)),  # whose first stage is the other
        ("0.5", ("reloclnet",), (6, 2)),
        ("2", ("reloclnet",), (6, 2)),
    ],
)
def test_a_stopped_training_ends_in_the_same_weights(tiny, every, models, stops):
    """Stopped twice in the middle of an epoch, between two checkpoints or validations."""
    write_params(tiny, validate_every=every)
    for model in models:
        straight = train_straight(tiny, model)
        for batch in stops:  # of 9: three epochs of three; a checkpoint after the second of each
            with pytest.MonkeyPatch.context() as patch:
                stop_at(patch, batch)
                with pytest.raises(StoppedError):
                    train.main(model)
        train.main(model)
        refuse_difference(straight, weights(tiny, model))


def test_other_judgments_or_features_are_another_training(tiny):
    """The judgments of val choose the epoch; other features of the same shapes, the weights."""
    write_params(tiny, epochs="1")
    train.main("xml")
    path, release = paths.checkpoint("xml", 2, 2024), tiny / "datasets/release"
    before = path.read_bytes()

    def change(path, old, new):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    change(release / "test.json", '"relevance": 3', '"relevance": 2')
    train.main("xml")
    assert path.read_bytes() == before
    contents = {before}
    for action in (
        lambda: change(release / "val.json", '"relevance": 3', '"relevance": 2'),
        lambda: change(release / "train_top02.json", '"v0"', '"v1"'),
        lambda: write_params(tiny, epochs="1", normalize_video="true"),
        lambda: write_params(tiny, epochs="1", sub="features/video.h5"),
    ):
        action()
        train.main("xml")
        assert path.read_bytes() not in contents
        contents.add(path.read_bytes())


def test_another_first_stage_is_another_training(tiny):
    write_params(tiny, epochs="1")
    train.main("reloclnet")
    train.main("conquer")
    path = paths.checkpoint("conquer", 2, 2024)
    before = path.read_bytes()
    train.main("conquer")
    assert path.read_bytes() == before
    write_params(tiny, epochs="1", learning_rate="0.1")
    train.main("reloclnet")
    write_params(tiny, epochs="1")
    train.main("conquer")
    assert path.read_bytes() != before


@pytest.mark.slow
def test_after_kill_9_training_ends_in_the_same_weights(tiny):
    straight = train_straight(tiny, "reloclnet")
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", KILLED, "6"]
    done = subprocess.run(command, env=environment, cwd=tiny, check=False)
    assert done.returncode == -9
    train.main("reloclnet")
    refuse_difference(straight, weights(tiny, "reloclnet"))


def test_what_is_trained_is_not_trained_again_but_other_settings_are(tiny):
    train.main("xml")
    path = paths.checkpoint("xml", 2, 2024)
    before = path.read_bytes()
    train.main("xml")
    assert path.read_bytes() == before
    write_params(tiny, learning_rate="0.1", epochs="1")
    train.main("xml")
    assert path.read_bytes() != before
    write_params(tiny, hidden="8")
    with pytest.raises(FileError, match="trained with other sizes"):
        predict.main("xml")


def test_n_0_is_the_model_before_training(tiny):
    write_params(tiny, top=r"[0, 2]", epochs="1")
    train.main("xml")
    predict.main("xml")
    rows = (tiny / paths.PLOTS / "train_xml.csv").read_text().splitlines()
    assert [row.split(",")[:3] for row in rows[1:]] == [["0", "2024", "0"], ["2", "2024", "1"]]
    before = weights(tiny, "xml", 0)
    torch.manual_seed(2024)
    params = load()
    first = registry.build("xml", open_inputs(params, []).widths, params, "as_paper").state_dict()
    assert all(torch.equal(before[f"best.{name}"], first[name]) for name in first)
    assert {path.name for path in (tiny / paths.RUNS / "xml").iterdir()} == {
        f"top{top}-2024.{split}.{kind}"
        for top in ("00", "02")
        for split in ("val", "test")
        for kind in ("run", "json")
    }


def test_the_epoch_is_chosen_by_the_mean_of_the_last_scores(tiny, monkeypatch):
    """Not by its own score: an early epoch was lucky."""
    scores = [0.1, 0.6, 0.1, 0.5, 0.5, 0.45, 0.2, 0.0]
    upcoming = iter(scores)
    monkeypatch.setattr("baselines.train.validator", lambda *_: lambda: next(upcoming))
    write_params(tiny, epochs="20", smoothing="3", patience="2")
    train.main("xml")  # ends by patience after epoch 8
    [figures] = json.loads((tiny / paths.METRICS / "train_xml.json").read_text())["runs"]
    means = [np.mean(scores[max(0, last - 2) : last + 1]) for last in range(len(scores))]
    assert figures["epoch"] == 1 + int(np.argmax(means)) == 6
    assert figures["watched"] == pytest.approx(max(means))
    assert figures["validation"] == 0.45
    assert next(upcoming, None) is None
    state = weights(tiny, "xml")  # the best ones are not the last ones
    pairs = [(state[name], state[f"best{name[5:]}"]) for name in state if name.startswith("model.")]
    assert any(not torch.equal(last, best) for last, best in pairs)


@pytest.mark.parametrize(
    ("every", "epochs", "validated"),
    [
        ("1", "3", [1, 2, 3]),
        ("0.5", "2", [0.667, 1, 1.667, 2]),  # three batches an epoch
        ("2", "5", [2, 4, 5]),  # the end too
        ("0.01", "1", [0.333, 0.667, 1]),
    ],
)
def test_validation_is_every_so_many_epochs(tiny, every, epochs, validated):
    write_params(tiny, epochs=epochs, validate_every=every, patience="9")
    train.main("xml")
    table = pd.read_csv(tiny / paths.PLOTS / "train_xml.csv")
    assert table["epoch"].tolist() == validated
    assert table["loss"].between(0.01, 10).all()  # means over the batches since the last one


def test_an_n_may_have_a_schedule_of_its_own(tiny):
    """Patience counts validations, not epochs; another N's schedule changes nothing."""
    release = tiny / "datasets/release"
    (release / "train_top01.json").write_text((release / "train_top02.json").read_text())
    own = "{top01: {epochs: 6, validate_every: 2}}"
    write_params(tiny, top="[1, 2]", epochs="2", by_top=own, learning_rate="1.0e-9", patience="2")
    train.main("xml")
    figures = pd.read_csv(tiny / paths.PLOTS / "train_xml.csv")
    assert figures["top"].tolist() == [1, 1, 1, 2, 2]
    assert figures["epoch"].tolist() == [2, 4, 6, 1, 2]
    before = weights(tiny, "xml")
    write_params(tiny, top="[2]", epochs="2", by_top="{}", learning_rate="1.0e-9", patience="2")
    path, read = tiny / paths.checkpoint("xml", 2, 2024), safetensors.load_file
    stamp = path.stat().st_mtime_ns
    train.main("xml")
    assert path.stat().st_mtime_ns == stamp
    refuse_difference(before, read(path))


def test_a_loss_that_is_no_number_is_one_line(tiny, monkeypatch):
    monkeypatch.setattr("baselines.training.loop.learning_rate", lambda *_: float("nan"))
    with pytest.raises(loop.TrainingError, match=r"the loss is nan in epoch 1, batch 2; lower"):
        train.main("xml")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "epochs", "rate", "least"),
    [(["reloclnet", "conquer"], "24", "0.015", 0.35), (["spr"], "25", "0.02", 0.5)],
)
def test_it_learns_and_the_table_shows_it(tiny, names, epochs, rate, least):
    """Before training, the first two come to 0.1 to 0.27, by the seed."""
    learning = {"epochs": epochs, "patience": epochs, "learning_rate": rate}
    write_params(tiny, **learning, save_every="1000", hard_negatives_from="8")
    for name in names:
        train.main(name)
        predict.main(name)
    score.main()
    lines = (tiny / paths.WORK / "table.md").read_text().splitlines()
    figures = json.loads((tiny / paths.METRICS / "score.json").read_text())
    for name in names:
        title = TITLES[name]
        [row] = [line for line in lines if title in line and "nDCG" not in line][:1]
        assert row.startswith(f"| {title} | 2 |")
        assert figures["test"][f"{name}.top02"]["nDCG(iou=0.5)@20"] > least
        assert title in (tiny / paths.WORK / "table.html").read_text()
    assert "tabular" in (tiny / paths.WORK / "table.tex").read_text()


def test_the_rate_rises_and_falls(tiny):
    own = load().train.model_copy(update={"warmup": 0.1, "learning_rate": 1.0})
    rates = [loop.learning_rate(step, 100, own) for step in range(100)]
    assert rates[0] == 0
    assert max(rates) == rates[10] == pytest.approx(1)
    assert rates[55] == pytest.approx(0.5)
    assert rates[-1] == pytest.approx(0.01 / 0.9)


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match=r"train\.device"):
        devices.choose_device("cuda:7")
