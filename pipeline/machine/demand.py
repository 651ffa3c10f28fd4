"""Hours, memory and disk that each stage needs, computed from measurements.

The rates are those of docs/scaling.md: 2 cores, no GPU, beside other work, where a core's seconds
count for half of those of a free core. Other machines differ, most of all if a GPU encodes.
"""

from typing import NamedTuple

from pipeline.core.parallel import cores
from pipeline.core.params import Params
from pipeline.core.sections import Engine
from pipeline.core.storage import database
from pipeline.core.strata import count_planned

HOUR = 3600.0
GB = 1e9
MEASURED_CORES = 2
START_SECONDS = 2.0
"""To import what a stage needs, and to read samples of the corpus."""
READ_SECONDS, SETTLE_SECONDS = 2.6e-5, 2e-5
"""Per moment: to read it from the corpus, and until it is in its table; on one core."""
RULES_SECONDS = 9.3e-3
"""Per description, with both checks."""
TEXTS_PER_SECOND = 170
"""The rate of MiniLM, at best, on two cores that are free; a larger model is slower."""
PAIR_SECONDS = 6e-9
"""Per compared query and text."""
LEAD_SECONDS, MERGE_SECONDS = 3e-5, 1.8e-4
"""Per moment that is read, and per training query whose lists are merged and written: on one core,
however many there are."""
NEIGHBOUR_SECONDS, NEIGHBOUR_BYTES, NEIGHBOUR_DISK = 4e-6, 50, 15
"""For each of a query's `candidates.depth` neighbours; `benchmarks.scaling`."""
CLIP_SECONDS, CLIP_BYTES = 0.05, 1.5e5
"""Per clip of a small video; larger ones take longer."""
TABLE_BYTES, SPLIT_BYTES = 1.1e3, 780
"""Per moment in memory; `split` reads fewer columns."""
DATABASE_BYTES = 250
"""Per moment of a table that DuckDB makes, within its share of the memory."""
SPLIT_SECONDS, SPLIT_DATABASE_SECONDS = 1.3e-5, 2e-5
"""Per moment: in memory, and by DuckDB."""
SEARCH_GB, TRAINING_QUERY_BYTES = 0.5, 230
"""Of a search, without the vectors; and per training query with its moment."""
VECTOR_BYTES = 1.6e3
"""Per text: its vector of 384 numbers and its id."""
PART_BYTES = 8
"""Per moment that a shard finds for a training query."""
TRAINING_BYTES = 160
"""Per moment in a training query's list."""


class Demand(NamedTuple):
    """What a stage needs: `hours` by the clock, `memory` at its peak and `disk`, both in GB.

    Of the memory, `mapped` are vectors in files: the system takes it back if others need it.
    """

    stage: str
    hours: float
    memory: float
    disk: float
    mapped: float = 0.0


def calc_demands(moments: int, params: Params) -> list[Demand]:
    """Return what each expensive stage needs for `moments`, in the order of dvc.yaml.

    Every moment counts as a text of its own, and every candidate as a clip: the upper limit.
    `ingest`, `split`, `candidates` and `pseudo` make tables larger than `engine.table_memory`
    within it; the other stages read them whole.
    """
    n, share = moments, MEASURED_CORES / count_workers(params.engine) / HOUR
    queries = min(n, count_planned(params))
    neighbours = queries * min(n, params.candidates.depth)
    train = count_training(n, params)
    clips = queries * min(n, params.candidates.top) if params.ingest.videos else 0
    whole = TABLE_BYTES * n / GB
    readers, splitting = 1, SPLIT_SECONDS
    ingesting, dividing = 0.2 + whole, 0.2 + SPLIT_BYTES * n / GB
    mapped = VECTOR_BYTES * n / GB if params.engine.shards == 1 else 0.0
    if not database.fits(params.engine.table_memory, n):
        readers = min(count_workers(params.engine), params.engine.shards)
        splitting = SPLIT_DATABASE_SECONDS
        used = min(database.SHARE * params.engine.table_memory, DATABASE_BYTES * n / GB)
        ingesting, dividing = 0.6 + used, 0.5 + used
    training_memory = SEARCH_GB + TRAINING_QUERY_BYTES * train / GB + mapped
    rewriting = RULES_SECONDS * n * share if params.rewrite.backend == "rules" else 0.0
    start = START_SECONDS / HOUR
    lead = start + LEAD_SECONDS * n / HOUR
    training = PAIR_SECONDS * train * n * share + lead + MERGE_SECONDS * train / HOUR
    reading = READ_SECONDS / readers + SETTLE_SECONDS
    written = TRAINING_BYTES * sum(params.pseudo.top) * train / GB
    return [
        Demand("ingest", start + reading * n / HOUR, ingesting, 2e2 * n / GB),
        Demand("rewrite", rewriting, 1.0 + whole, 2e2 * n / GB),
        Demand("split", start + splitting * n / HOUR, dividing, 1e2 * n / GB),
        Demand("embed", n / TEXTS_PER_SECOND * share, 1.0 + whole, VECTOR_BYTES * n / GB),
        Demand(
            "candidates",
            PAIR_SECONDS * queries * n * share + lead + NEIGHBOUR_SECONDS * neighbours / HOUR,
            SEARCH_GB + NEIGHBOUR_BYTES * neighbours / GB + mapped,
            NEIGHBOUR_DISK * neighbours / GB,
            mapped,
        ),
        Demand("clips", CLIP_SECONDS * clips * share, 0.5 + whole, CLIP_BYTES * clips / GB),
        Demand("pseudo", training, training_memory, written, mapped),
    ]


def count_parts(moments: int, params: Params) -> float:
    """Return the GB of the parts of the most demanding stage; they are deleted when it ends."""
    shards = params.engine.shards
    answers = PART_BYTES * max(params.pseudo.top) * count_training(moments, params) * shards
    if shards == 1:
        return VECTOR_BYTES * moments / GB
    return max(2 * VECTOR_BYTES * moments, answers) / GB  # descriptions and captions


def count_training(moments: int, params: Params) -> int:
    """Return the number of training queries: all not judged, or `split.train` at most."""
    left = moments - min(moments, count_planned(params))
    return left if params.split.train is None else min(left, params.split.train)


def count_workers(engine: Engine) -> int:
    """Return how many cores work; for a cluster, `engine.workers` is how many it provides."""
    if engine.kind != "local" and engine.shards == 1:
        return 1
    return engine.workers or cores()


def describe(moments: int, params: Params) -> str:
    """Return hours, memory and disk of the stages as a page of text."""
    engine = params.engine
    lines = [
        f"{moments:,} moments on {count_workers(engine)} cores ({engine.kind}), computed:",
        f"{'stage':12}{'hours':>9}{'memory, GB':>13}{'disk, GB':>11}",
    ]
    for stage, hours, memory, disk, _ in calc_demands(moments, params):
        lines.append(f"{stage:12}{hours:>9,.2f}{memory:>13,.1f}{disk:>11,.1f}")
    return "\n".join(lines)
