"""A GPU and a Slurm cluster: the tool's own work there, compared with what it gives here."""

import re
import shutil
import socket
import subprocess
from pathlib import Path

import numpy as np

from pipeline.core.engine import shards
from pipeline.core.sections import Embed, Engine
from pipeline.trials.base import Inputs, Met, NotMetError, Trial

TEXTS, QUERIES, WIDTH, NEAREST = 20_000, 256, 384, 40
FARTHEST = 1e-3
"""The most by which a GPU's vectors may differ from the processor's."""
JOBS = 2
SLURM = re.compile(r"slurm[\w-]* \d")
"""How `sbatch --version` begins: Debian's says `slurm-wlm 22.05.8`."""


def try_gpu(inputs: Inputs) -> Met:
    """Search and encode on the GPU, and compare with the processor.

    Raises:
        NotMetError: torch sees no GPU, or a result differs.
    """
    import torch  # noqa: PLC0415  (takes seconds)

    if not torch.cuda.is_available():
        raise NotMetError("torch sees no GPU (CUDA)")
    compared = f"{compare_search('cuda')}; {compare_encoding(inputs.paper.embed, 'cuda')}"
    version = f"torch {torch.__version__}, CUDA {torch.version.cuda}"
    return Met(version, torch.cuda.get_device_name(), compared)


def compare_search(device: str) -> str:
    """Return that the nearest of random vectors are the same by `device` and by faiss.

    Raises:
        NotMetError: they are not.
    """
    from pipeline.retrieval.ranking import Pool, concatenate  # noqa: PLC0415  (--help needs none)
    from pipeline.retrieval.search import Execution, nearest  # noqa: PLC0415
    from pipeline.retrieval.shortlist import faiss_knn, torch_knn  # noqa: PLC0415
    from pipeline.retrieval.similarity import unit_on_grid  # noqa: PLC0415

    vectors = unit_on_grid(np.random.default_rng(1).standard_normal((TEXTS, WIDTH)))
    rows = np.arange(TEXTS)
    pool, queries = Pool.arrange(rows, rows, NEAREST), rows[:QUERIES]
    here, there = (
        concatenate(list(nearest(vectors, queries, pool, Execution(knn=knn))))
        for knn in (faiss_knn, torch_knn(device))
    )
    if not all(np.array_equal(*columns) for columns in zip(here, there, strict=True)):
        raise NotMetError(f"{device}: other nearest vectors than the processor's")
    return f"the {NEAREST} nearest of {QUERIES} in {TEXTS:,} as on the processor"


def compare_encoding(settings: Embed, device: str) -> str:
    """Return how far the built-in encoder's vectors on `device` are from the processor's.

    Raises:
        EncoderError: there is no such device.
        NotMetError: they are too far.
    """
    from pipeline.retrieval import encoder  # noqa: PLC0415  (--help needs none)
    from pipeline.trials.weights import TEXTS as SENTENCES  # noqa: PLC0415

    builtin = {"model": "builtin", "revision": None, "pooling": "mean"}
    here, there = (
        encoder.load(
            encoder.locate("builtin", None),
            settings.model_copy(update={**builtin, "device": name}),
        ).encode(SENTENCES)
        for name in ("cpu", device)
    )
    farthest = float(np.abs(here - there).max())
    if not farthest <= FARTHEST:
        raise NotMetError(f"{device}: vectors differ by {farthest:.1e} from the processor's")
    return f"vectors within {farthest:.0e}"


def try_slurm(inputs: Inputs) -> Met:
    """Run two jobs of the engine, each of which writes the name of its machine.

    Raises:
        NotMetError: there is no Slurm here, or a job wrote something else.
        EngineError: Slurm refuses the jobs, or they fail.
        UsageError: this machine submits no jobs.
    """
    if not shutil.which("sbatch"):
        raise NotMetError("no sbatch on the PATH: run this where jobs are submitted")
    command = ["sbatch", "--version"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (no shell)
    version = asked.stdout.strip()
    if asked.returncode or not SLURM.match(version):
        raise NotMetError("sbatch does not say which Slurm it is of")
    return run_jobs(inputs.paper.engine, version)


def run_jobs(engine: Engine, version: str) -> Met:
    """Do what `try_slurm` does, on whatever answers to Slurm's commands."""
    stage = "trial"
    engine = engine.model_copy(update={"kind": "slurm", "shards": JOBS})
    shards.clear_parts(stage, engine)  # else jobs that ran once would not run again
    try:
        paths = shards.map_shards(stage, write_machine, {str(n): n for n in range(JOBS)}, engine)
        written = [path.read_text(encoding="utf-8").split() for path in paths.values()]
    finally:
        shards.clear_parts(stage, engine)
    if sorted(number for number, *_ in written) != [str(n) for n in range(JOBS)]:
        raise NotMetError(f"the jobs wrote {written}")
    machines = len({machine for _, machine in written})
    where = "1 machine" if machines == 1 else f"{machines} machines"
    return Met(version, where, f"an array of {JOBS} jobs, whose parts came back")


def write_machine(number: int, path: Path) -> None:
    """Write a job's number and the name of the machine that it runs on."""
    path.write_text(f"{number} {socket.gethostname()}\n", encoding="utf-8")


TRIALS = (
    Trial("gpu", "a GPU (CUDA)", "half a minute of it", try_gpu),
    Trial("slurm", "Slurm", f"{JOBS} jobs of a few seconds", try_slurm),
)
