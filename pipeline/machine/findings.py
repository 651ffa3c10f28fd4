"""What a run of the pipeline needs, whether it is present, and what to do if it is not.

Each check stands alone: it returns a finding, whatever goes wrong.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import psutil

from momentrank.errors import MomentRankError
from pipeline import corpora
from pipeline.core import tables
from pipeline.core.engine.on_ray import knock
from pipeline.core.engine.on_slurm import COMMANDS
from pipeline.core.params import Params
from pipeline.core.progress import progress
from pipeline.core.sections import Engine, Ingest
from pipeline.machine import demand
from pipeline.machine.demand import GB, Demand
from pipeline.video.corpus_videos import missing_remark, video_path
from pipeline.video.ffmpeg import ffmpeg

LOOKED_AT = 200
"""Number of rows of the corpus whose videos are looked for."""
NOT_CONFIGURED = 3
"""The exit code of `annotation.server check` if no server is configured."""
BOUNDED = {"ingest", "split", "candidates", "pseudo"}
"""Stages that keep to `engine.table_memory`."""
SPARE = 1.2
"""Space counts as enough if it is this many times what the stages need."""


class Finding(NamedTuple):
    """One thing that a run needs: its name, its state, and the next step if it is missing."""

    name: str
    state: Literal["ok", "missing", "note"]
    text: str
    step: str | None = None


def find_all(params: Params, moments: int) -> Iterator[Finding]:
    """Yield what is present and what is missing for `moments`, in the order of need."""
    demands = demand.calc_demands(moments, params)
    yield find_corpus(params.ingest)
    yield find_ffmpeg(params.ingest)
    yield find_memory(demands)
    yield find_disk(demands)
    yield find_parts(params.engine, demand.count_parts(moments, params))
    yield find_model("embed.model", params.embed.model)
    yield find_model("names.model", params.names.model)
    yield find_llm(params)
    yield find_engine(params.engine)
    yield find_gpu()
    yield find_server()


def count_moments(params: Ingest) -> int:
    """Return the number of moments, or of corpus rows if `ingest` has not run."""
    source = Path(params.source)
    if moments := tables.MOMENTS.count_rows():
        return moments
    if not source.exists():
        return 0
    rows = corpora.read(params.corpus, source, params.columns)
    return sum(1 for _ in progress("count", rows, unit="rows"))


def find_corpus(params: Ingest) -> Finding:
    """Read the corpus's first rows, and look for their videos."""
    source = Path(params.source)
    if source.is_relative_to(tables.WORK / "sample"):
        return Finding("corpus", "ok", "the sample corpus, which `dvc repro` draws")
    try:
        rows = list(islice(corpora.read(params.corpus, source, params.columns), LOOKED_AT))
    except MomentRankError as exc:
        return Finding("corpus", "missing", str(exc), "set ingest.source and ingest.corpus")
    named = {str(row.video_id) for row in rows}
    paths = [path for name in named if (path := video_path(params.videos, name))]
    if remark := missing_remark(paths):
        return Finding("corpus", "missing", remark, "set ingest.videos")
    without = "" if params.videos else "; ingest.videos is null, so there are no clips"
    return Finding("corpus", "ok", f"{params.source} ({params.corpus}){without}")


def find_ffmpeg(params: Ingest) -> Finding:
    """Look for ffmpeg, which cuts clips and reads durations."""
    try:
        return Finding("ffmpeg", "ok", ffmpeg())
    except MomentRankError as exc:
        state: Literal["missing", "note"] = "missing" if params.videos else "note"
        return Finding("ffmpeg", state, str(exc), "pip install imageio-ffmpeg")


def find_memory(demands: list[Demand]) -> Finding:
    """Compare the memory of this machine with what the most demanding stage needs."""
    most = max(demands, key=lambda need: need.memory - need.mapped)
    needed = most.memory - most.mapped
    free = psutil.virtual_memory().available / GB
    text = f"{free:.1f} GB available, {most.stage} needs {needed:.1f}"
    if free >= needed * SPARE:
        return Finding("memory", "ok", text)
    step = "lower engine.table_memory" if most.stage in BOUNDED else "use a larger machine"
    return Finding("memory", "missing", text, step)


def find_disk(demands: list[Demand], folder: Path = Path()) -> Finding:
    """Compare the free disk here with what all stages write."""
    wanted, free = sum(need.disk for need in demands), shutil.disk_usage(folder).free / GB
    text = f"{free:.0f} GB free, the stages write {wanted:.1f}"
    if free >= wanted * SPARE:
        return Finding("disk", "ok", text)
    return Finding("disk", "missing", text, "free space, or lower split.train")


def find_parts(engine: Engine, wanted: float) -> Finding:
    """Compare the free space where parts are kept with what they need, in GB."""
    folder = Path(engine.folder).absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free / GB
    text = f"{free:.0f} GB free in {engine.folder}, one stage's parts need {wanted:.1f}"
    if free >= wanted * SPARE:
        return Finding("parts", "ok", text)
    step = "free space, or set engine.folder to another place"
    return Finding("parts", "missing", text, step)


def find_model(key: str, model: str) -> Finding:
    """Tell whether a model is on this machine; hub models are downloaded at first use."""
    if model == "builtin":
        return Finding(key, "ok", "builtin")
    if Path(model).exists():
        return Finding(key, "ok", model)
    if Path(model).is_absolute() or model.startswith("."):
        return Finding(key, "missing", f"{model}: no such folder", f"set {key}")
    from huggingface_hub import scan_cache_dir  # noqa: PLC0415  (few need it, and it takes a second)
    from huggingface_hub.errors import CacheNotFound  # noqa: PLC0415

    try:
        cached = {repo.repo_id for repo in scan_cache_dir().repos}
    except CacheNotFound:
        cached = set()
    if model in cached:
        return Finding(key, "ok", f"{model}, in the hub's cache")
    text = f"{model} is downloaded from the model hub at first use"
    return Finding(key, "note", text, f"without a network: set {key} to a folder")


def find_llm(params: Params) -> Finding:
    """Tell whether rewriting, varying and judging can reach their model."""
    varied = params.vary.vague + params.vary.gist + params.vary.changed
    varies = params.vary.backend if varied else None
    if "openai" not in {params.rewrite.backend, varies, params.judge.backend}:
        backends = f"rewrite.backend is {params.rewrite.backend}, judge.backend"
        return Finding("LLM", "ok", f"not needed: {backends} {params.judge.backend}")
    if os.environ.get("OPENAI_API_KEY", "").strip():
        address = os.environ.get("OPENAI_BASE_URL", "OpenAI")
        return Finding("LLM", "ok", f"OPENAI_API_KEY is set, for {address}")
    return Finding("LLM", "missing", "OPENAI_API_KEY is not set", "export OPENAI_API_KEY=...")


def find_engine(engine: Engine) -> Finding:
    """Tell whether `engine.kind` can run here."""
    module = {"local": None, "ray": "ray", "slurm": "submitit"}[engine.kind]
    if module and importlib.util.find_spec(module) is None:
        return Finding("engine", "missing", f"{module} is not installed", "make engines")
    lacking = [name for name in COMMANDS if shutil.which(name) is None]
    if engine.kind == "slurm" and lacking:
        step = "run on a machine that submits jobs"
        return Finding("engine", "missing", f"slurm: no {lacking[0]} on the PATH", step)
    if engine.kind == "ray" and engine.address:
        try:
            knock(engine.address)
        except OSError as exc:
            text = f"no Ray at engine.address {engine.address} ({exc.strerror or exc})"
            return Finding("engine", "missing", text, "start it there: .venv/bin/ray start --head")
    if engine.kind != "local" and engine.shards == 1:
        step = "set engine.shards to a few for each core"
        return Finding("engine", "note", f"{engine.kind}, but 1 shard uses only 1 core", step)
    shards = "1 shard" if engine.shards == 1 else f"{engine.shards} shards"
    return Finding("engine", "ok", f"{engine.kind}, {shards}")


def find_gpu() -> Finding:
    """Tell whether torch sees a GPU, which is optional."""
    import torch  # noqa: PLC0415  (takes seconds)

    if torch.cuda.is_available():
        return Finding("GPU", "ok", torch.cuda.get_device_name())
    step = "enough for a million moments; for more: machines with GPUs (docs/scaling.md)"
    return Finding("GPU", "note", "none: encoding runs on the processor", step)


def find_server() -> Finding:
    """Check that the campaign's Label Studio answers and accepts the token."""
    command = [sys.executable, "-m", "annotation.server", "check"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (ours)
    text = asked.stderr.strip().removeprefix("error: ")
    if asked.returncode == NOT_CONFIGURED:
        return Finding("Label Studio", "note", text, "make label-studio, before people judge")
    if asked.returncode:
        return Finding("Label Studio", "missing", text, "make label-studio, or correct .env")
    return Finding("Label Studio", "ok", text)
