"""A small collection in the layout of the files published with TVR-Ranking; the text is our own.

Queries are integers, moments are lists in a query, videos of predictions are indices that begin
anywhere, and predictions name their query `desc_id`.
"""

import json

QUERIES = {"val": range(4), "test": range(4, 6)}
SHOWN = ((0.0, 20.0, 1.0, 4), (30.0, 50.0, 0.5, 2), (60.0, 70.0, 0.4, None))
"""Start, end, similarity and level of each query's moments; the last one is discarded."""
VOTES = {4: (4, 3), 2: (2, 2), None: (0, 4, 1, 3)}
DELAYS = {"one": 0, "two": 20, "three": 3}
"""Seconds by which a run ends too late; with 20 some IoUs are 0.5, where the scorers differ."""


def _moment(pair, start, end, similarity, level):
    times = {"video_name": "v", "timestamp": [start, end], "duration": 90.0}
    texts = {"caption": "A dog.", "similarity": similarity, "relevance": level}
    return {"pair_id": pair, **times, **texts}


def _moments(query):
    rows = enumerate(SHOWN, start=20 * query)
    return [_moment(pair, *moment) for pair, moment in rows if moment[-1] is not None]


def _predictions(query, delay):
    first = [2179, 0.0, 20.0 + query * delay, 0.9]
    return {"desc_id": query, "predictions": [first, [2179, 30.0, 50.0 + delay, 0.8]]}


def write(folder):
    """Write all of them."""
    files = {
        f"{split}.json": [
            {"query_id": query, "query": "A dog.", "relevant_moment": _moments(query)}
            for query in queries
        ]
        for split, queries in QUERIES.items()
    }
    files["video_corpus.json"] = {"v": [90.0, 2179]}
    for name, delay in DELAYS.items():
        files[f"runs/{name}.json"] = [_predictions(query, delay) for query in QUERIES["val"]]
    (folder / "runs").mkdir()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    votes = [
        f"{20 * query + place},{who},{level}"
        for queries in QUERIES.values()
        for query in queries
        for place, moment in enumerate(SHOWN)
        for who, level in enumerate(VOTES[moment[-1]])
    ]
    table = ["pair_id,worker,relevance", *votes]
    (folder / "raw_annotation.csv").write_text("\n".join(table) + "\n")
