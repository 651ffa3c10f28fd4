"""Whole campaigns as annotators see them: every task of every push, and what it tells of gold.

Each round is a plan and a push; then people answer what is at the front of their queue, some more
than others. Two people differ as in `support.simulated_group`.

`PYTHONPATH=tests python -m support.pushes` prints the areas of docs/quality.md (ten minutes).
"""

import sys
from collections import defaultdict
from collections.abc import Iterable
from random import Random
from typing import NamedTuple

import numpy as np
import pandas as pd
from lazy import Lazy
from support.simulated import Simulated, candidates_of, people
from support.simulated_group import SHARES, create_person

from annotation.assignment.inputs import CheckInputs, Rule
from annotation.label_studio.keys import Key
from annotation.quality.gold import collect_gold
from annotation.simulation.kinds import answer
from annotation.tasks.tasks import shuffle
from annotation.votes.rule import LEVELS
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import rng, tables
from pipeline.core.params import load_defaults

ensemble, linear_model = Lazy("sklearn.ensemble"), Lazy("sklearn.linear_model")
metrics, model_selection = Lazy("sklearn.metrics"), Lazy("sklearn.model_selection")
pipeline, preprocessing = Lazy("sklearn.pipeline"), Lazy("sklearn.preprocessing")

QUERIES, BATCH = 60, 20
DEFAULTS = load_defaults().plan.model_dump(include={"gold", "repeats"})
SHARES_DONE = (0.3, 0.6, 1.0)
"""Of their open tasks, what people do between two pushes."""
MOST_ROUNDS = 60


class Setting(NamedTuple):
    """How much gold there is: the default checks so many `times`.

    The lead has judged `known` pairs of each batch of a query.
    """

    times: float
    known: int
    queue: int = 200
    people: int = 8


MEASURED = {
    Setting(1, 1): 6,
    Setting(1, 2): 6,
    Setting(3, 3): 6,
    Setting(3, 3, queue=70): 4,
    Setting(1, 2, people=6): 4,
    Setting(3, 3, people=6): 4,
}
"""The settings in the docs, each with the number of campaigns."""


class Task(NamedTuple):
    """A task of a push, and its place there."""

    annotator: int
    push: int
    place: int
    query_id: str
    moment_id: str
    kind: str


class Pushed(Simulated):
    """A campaign under way in which people work through what was pushed to them."""

    def run(self, seed: int) -> list[Task]:
        """Return the tasks of the whole campaign, in the order in which people get them."""
        random, queues, tasks = Random(seed), defaultdict(list), []
        raters = {who.number: create_person(who.number, "honest", seed) for who in self.annotators}
        draws = rng.generator("truth", seed).choice(LEVELS, len(self.candidates), p=SHARES)
        pairs = self.candidates[PAIR_KEY].itertuples(index=False, name=None)
        truth = dict(zip(pairs, draws.tolist(), strict=True))
        for number in range(MOST_ROUNDS):
            before = set(self.tasks.itertuples(index=False, name=None))
            _, planned = self.plan()
            now = set(planned.assignments.itertuples(index=False, name=None))
            if not now:
                return tasks
            for who, rater in raters.items():
                queues[who] = [row for row in queues[who] if row in now]
                new = [row for row in sorted(now - before) if row[2] == who]
                keys = [Key(*row, "text", "clip", "1") for row in new]
                pushed = [key[:4] for key in shuffle(keys, self.rest["id"])]
                tasks += [
                    Task(who, number, place, query, moment, kind)
                    for place, (query, moment, _, kind) in enumerate(pushed)
                ]
                queues[who] += pushed
                share = random.choice(SHARES_DONE)
                done = queues[who][: round(share * len(queues[who]) + 0.5)]
                queues[who] = queues[who][len(done) :]
                self.answer_as(rater, done, truth)
        raise AssertionError("the campaign does not end")

    def answer_as(self, rater, done, truth) -> None:
        """Answer these tasks as a simulated person does, who errs around the truth."""
        levels = {row: answer(rater, truth[row[:2]], *row[:2]).level for row in done}
        self.rows += [
            dict(zip(tables.ASSIGNMENTS.columns, row, strict=True)) | {"level": level}
            for row, level in levels.items()
        ]
        marks = [row not in levels for row in self.tasks.itertuples(index=False, name=None)]
        self.tasks = self.tasks[np.array(marks, dtype=bool)]


def run_campaigns(setting: Setting, seeds: Iterable[int]) -> pd.DataFrame:
    """Return the tasks of campaigns as `describe` does; a `group` is a person of one of them."""
    by_seed = {seed: describe(run_campaign(seed, setting)) for seed in seeds}
    groups = (one.assign(group=1000 * seed + one["annotator"]) for seed, one in by_seed.items())
    return pd.concat(groups, ignore_index=True)


def run_campaign(seed: int, setting: Setting) -> list[Task]:
    """Return all tasks of a campaign."""
    candidates = candidates_of(QUERIES, 2 * BATCH, BATCH)
    chosen = candidates.groupby(["query_id", "batch"]).sample(setting.known, random_state=seed)
    gold = chosen[PAIR_KEY].assign(level=2, note=None)
    levels = collect_gold(
        tables.GOLD.check(gold), tables.EXAM.empty(), tables.ADJUDICATIONS.empty()
    )
    shares = {name: setting.times * share for name, share in DEFAULTS.items()}
    world = Pushed(candidates, people(setting.people), Random(seed))
    world.rest = {
        "id": f"campaign {seed}",
        "rule": Rule(BATCH, min_mean=2.4, max_open=setting.queue),
        "checks": CheckInputs(known=levels, **shares),
    }
    return world.run(seed)


def describe(tasks: list[Task]) -> pd.DataFrame:
    """Return what an annotator sees of each task, if it is `gold`, and if its pair is `new`."""
    table = pd.DataFrame(tasks)
    table["new"] = ~table.duplicated(["annotator", *PAIR_KEY])
    table["gold"] = table["kind"] == "gold"
    push, query = table.groupby(["annotator", "push"]), ["annotator", "query_id"]
    table["size"] = push["place"].transform("size")
    table["where"] = (table["place"] + 0.5) / table["size"]
    changes = (table["query_id"] != push["query_id"].shift()).astype(int)
    run = [table["annotator"], table["push"], changes.cumsum()]
    runs = table.groupby(run)
    table["length"] = runs["place"].transform("size")
    table["within"] = (runs.cumcount() + 0.5) / table["length"]
    table["first"], table["last"] = runs.cumcount() == 0, runs.cumcount() == table["length"] - 1
    same = table.groupby(["annotator", "push", "query_id"])
    table["together"] = same["place"].transform("size")
    table["seen_together"] = table["together"] - same["new"].transform("sum")
    table["earlier"] = table.groupby(query).cumcount() - same.cumcount()
    pushes = table.groupby(query)["push"]
    table["first_push"] = table["push"] - pushes.transform("min")
    number = table.groupby("annotator")["query_id"].transform(lambda names: pd.factorize(names)[0])
    table["query_number"] = number
    ends = push["length"]
    for name, step in (("before", 1), ("after", -1)):
        edge = table["first"] if step == 1 else table["last"]
        near = ends.shift(step).fillna(0).where(edge)
        table[name] = near.groupby(run).transform("max")
    return table


SEEN = ("push", "size", "where", "length", "within", "first", "last", "together", "seen_together",
        "earlier", "first_push", "before", "after", "query_number")  # fmt: skip


class Area(NamedTuple):
    """The area under a classifier's ROC curve, and the standard error of one that tells nothing."""

    area: float
    error: float


def classify(table: pd.DataFrame) -> dict[str, Area]:
    """Return how well gold is told from votes among new pairs, by classifier.

    Each is tested on people (`group`) from whom it has not learnt.
    """
    rows = table[table["new"]]
    seen, gold = rows[list(SEEN)].astype("float64").to_numpy(), rows["gold"].to_numpy()
    models = {
        "linear": pipeline.make_pipeline(
            preprocessing.StandardScaler(),
            linear_model.LogisticRegression(C=0.1, class_weight="balanced", max_iter=1000),
        ),
        "trees": ensemble.HistGradientBoostingClassifier(
            max_iter=60, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=30, random_state=0
        ),
    }
    some, rest = int(gold.sum()), int((~gold).sum())
    error = float(np.sqrt((some + rest + 1) / (12 * some * rest)))
    folds = model_selection.GroupKFold(8)
    result = {}
    for name, model in models.items():
        score = model_selection.cross_val_predict(
            model, seen, gold, groups=rows["group"], cv=folds, method="predict_proba"
        )[:, 1]
        result[name] = Area(float(metrics.roc_auc_score(gold, score)), error)
    return result


def main() -> None:
    """Print how well gold is told in each setting of the docs."""
    for setting, campaigns in MEASURED.items():
        areas = classify(run_campaigns(setting, range(300, 300 + campaigns)))
        told = " ".join(f"{name} {one.area:.3f}" for name, one in areas.items())
        error = areas["trees"].error
        sys.stdout.write(f"{setting} campaigns {campaigns} {told} error {error:.3f}\n")


if __name__ == "__main__":
    main()
