"""Trials of a pool's order: collections whose true levels are all known, and judges with noise.

A trial is either drawn from the sample's screenplay (a fresh corpus for each seed) or read from a
folder with a collection in SMART's format, which many classic test collections have: documents
(`*all*`: .I, .T, .W), queries (`*.qry`, in the order of the judgments' numbers) and judgments
(`*qrels*`: query, anything, document, grade). There, the first 60 words of a document stand for a
caption, and the grades are spread over the levels 2 to 4.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from annotation.pooling import level_model
from annotation.votes.votes import Floats, Ints
from baselines.features.pictures import PictureExtractor
from baselines.features.video import FRAMES
from pipeline.campaign.yields import RELEVANT_FROM
from pipeline.core import tables
from pipeline.core.params import load
from pipeline.retrieval import encoder
from pipeline.sample import annotate
from pipeline.sitcom.drawing.frame import Painter
from pipeline.sitcom.screenplay import Screenplay, load_screenplay
from pipeline.sitcom.staging.schedule import Plot
from pipeline.sitcom.true_levels import parse_scene, true_level

FIRST, NEXT, DEPTH = 20, 10, 1000
QUERIES, MOMENTS, VIDEOS, FPS = 150, 690, 130, 12
CAPTION_WORDS = 60
FEWEST_RELEVANT = 3
PEOPLE = {"woman": "a woman", "man": "a man", "unknown": "someone"}


class Trial(NamedTuple):
    """Unit vectors of the captions (n, d), similarities (q, n) and true levels (q, n), 0 to 4.

    `channels` (q, n, c) are the features of channels
    that have been admitted.
    """

    vectors: Floats
    similarity: Floats
    true: Ints
    channels: Floats | None = None

    def features(self, query: int, moments: Ints) -> Floats:
        """Return the similarity of a query's moments (m,), and what channels say: (m, 1 + c)."""
        similarity = self.similarity[query, moments, None]
        if self.channels is None:
            return similarity
        return np.hstack([similarity, self.channels[query, moments]])

    def judge(self, noise: float, seed: int) -> Ints:
        """Return the level that two people of this standard deviation agree on, (q, n)."""
        rng = np.random.default_rng(seed)
        votes = self.true[..., None] + rng.normal(0, noise, (*self.true.shape, 2))
        mean = np.clip(np.rint(votes), tables.LEVELS[0], tables.LEVELS[-1]).mean(axis=-1)
        levels: Ints = np.floor(mean + 0.5).astype(np.int64)
        return levels

    def share_found(self, pools: list[Ints], judged: int) -> float:
        """Return the mean share of each query's relevant moments in the first so many of its pool.

        Queries without a relevant moment are left out.
        """
        relevant = self.true >= RELEVANT_FROM
        some = relevant.any(axis=1)
        found = [row[pool[:judged]].sum() for row, pool in zip(relevant, pools, strict=True)]
        return float(np.mean(np.array(found)[some] / relevant.sum(axis=1)[some]))


class Pools(NamedTuple):
    """Each query's pool in the order judged, and what was expected and found in each round."""

    pools: list[Ints]
    rounds: list[tuple[int, float, int]]
    """Queries that went on, relevant moments expected, and judged relevant."""


def by_similarity(trial: Trial) -> list[Ints]:
    """Return each query's pool in the paper's order, to the depth that is searched."""
    return list(np.argsort(-trial.similarity, axis=1, kind="stable")[:, :DEPTH])


def learned(trial: Trial, levels: Ints, rounds: int, min_yield: float = 0.0) -> Pools:
    """Extend each query's first batch by what its judges taught, a batch at a time."""
    ranking = by_similarity(trial)
    pools = [row[:FIRST] for row in ranking]
    batches: list[Ints] = [np.ones(FIRST, np.int64)] * len(ranking)
    ended, history = [False] * len(ranking), []
    for number in range(2, rounds + 2):
        judged = [
            level_model.Judged(trial.vectors[pool], trial.features(query, pool), level[pool], batch)
            for query, (pool, level, batch) in enumerate(zip(pools, levels, batches, strict=True))
        ]
        model, going, expected, found = level_model.learn(judged), 0, 0.0, 0
        for query, row in enumerate(ranking):
            rest = row[~np.isin(row, pools[query])]
            features = trial.features(query, rest)
            choice = level_model.choose(model, judged[query], trial.vectors[rest], features, NEXT)
            ended[query] |= level_model.has_ended(judged[query], choice, min_yield)
            if not ended[query]:
                chosen = rest[choice.chosen]
                pools[query] = np.concatenate([pools[query], chosen])
                batches[query] = np.append(batches[query], np.full(len(chosen), number))
                going, expected = going + 1, expected + choice.relevant
                found += int((levels[query, chosen] >= RELEVANT_FROM).sum())
        history.append((going, expected, found))
    return Pools(pools, history)


def draw_screenplay(seed: int, misdescribed: float = 0.0) -> Trial:
    """Draw a corpus of 690 moments, of which 150 are queries.

    This share of the moments is described by another event.
    """
    script, rng = load_screenplay(), np.random.default_rng(seed)
    takes = Plot(script, seed, FPS).takes(VIDEOS)
    records = list(annotate(script, takes, seed))[:MOMENTS]
    scenes = [parse_scene(record) for record in records]
    vectors = _encode([_without_names(record["desc"], script) for record in records])
    queries = _draw_queries(rng)
    asked = vectors[queries]
    other = rng.choice(MOMENTS, round(misdescribed * MOMENTS), replace=False)
    vectors[other] = vectors[rng.choice(MOMENTS, len(other))]
    true = [[true_level(scenes[query], scene, script) for scene in scenes] for query in queries]
    return Trial(vectors, asked @ vectors.T, np.array(true))


def see_pictures(seed: int) -> Floats:
    """Return how much each moment of `draw_screenplay` looks like each query's own, (q, n).

    It is the cosine of the features that `baselines` embeds, of pictures drawn as small as they
    are, less their mean.
    """
    script, rows = load_screenplay(), list[Floats]()
    describe = PictureExtractor("", 1.0).describe
    for take in Plot(script, seed, FPS).takes(VIDEOS):
        painter = Painter(script, take, PictureExtractor.size[1])
        for step in (step for step in take.steps if step.cue is not None):
            numbers = np.linspace(step.first, step.last - 1, FRAMES).astype(int).tolist()
            seen = describe(np.stack([painter.frame(number) for number in numbers]))
            rows.append(np.concatenate([seen["video"][0], seen["sub"][0]]))
    features = np.array(rows[:MOMENTS], dtype=np.float64)
    features -= features.mean(axis=0)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return features[_draw_queries(np.random.default_rng(seed))] @ features.T


def _draw_queries(rng: np.random.Generator) -> Ints:
    return rng.choice(MOMENTS, QUERIES, replace=False)


def read_collection(folder: Path) -> Trial:
    """Read a collection in SMART's format; queries have three relevant documents or more."""
    documents = dict(_read_smart(_find(folder, "*all*")))
    queries = [text for _, text in _read_smart(_find(folder, "*.qry"))]
    rows = {number: row for row, number in enumerate(documents)}
    grades = np.zeros((len(queries), len(documents)), dtype=np.int64)
    for line in _find(folder, "*qrels*").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = map(int, line.split())
        if document in rows:
            grades[query - 1, rows[document]] = max(grade, 0)
    asked = (grades > 0).sum(axis=1) >= FEWEST_RELEVANT
    vectors = _encode([" ".join(text.split()[:CAPTION_WORDS]) for text in documents.values()])
    found = _encode([text for text, keep in zip(queries, asked, strict=True) if keep])
    spread = RELEVANT_FROM / max(int(grades.max()) - 1, 1)
    true = np.where(grades > 0, np.floor(RELEVANT_FROM + (grades - 1) * spread + 0.5), 0)
    return Trial(vectors, found @ vectors.T, true[asked].astype(np.int64))


def _find(folder: Path, pattern: str) -> Path:
    found = sorted(path for path in folder.iterdir() if fnmatch(path.name.lower(), pattern))
    if not found:
        raise SystemExit(f"error: {folder}: no file {pattern}")
    return found[0]


def _read_smart(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each record's number and text; its title, if there is no text."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for record in re.split(r"^\.I\s+", text, flags=re.MULTILINE)[1:]:
        number, *parts = re.split(r"^(?:\.([A-Z])\s*)$", record, flags=re.MULTILINE)
        fields = dict(zip(parts[::2], parts[1::2], strict=True))
        yield int(number), " ".join((fields.get("W", "").strip() or fields.get("T", "")).split())


def _without_names(text: str, script: Screenplay) -> str:
    for name, character in script.cast.items():
        text = re.sub(rf"\b{re.escape(name)}\b", PEOPLE[character.gender], text)
    return text


@cache
def _encoder() -> encoder.SentenceEncoder:
    params = load().embed
    return encoder.load(encoder.locate(params.model, params.revision), params)


def _encode(texts: list[str]) -> Floats:
    return _encoder().encode(texts).astype(np.float64)
