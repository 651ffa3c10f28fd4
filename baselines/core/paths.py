"""Where stages leave files for each other."""

from pathlib import Path

WORK = Path("datasets/work/baselines")
RUNS = WORK / "runs"
PLOTS = WORK / "plots"
METRICS = WORK / "metrics"
RECEIPT = WORK / "features.json"


def run_name(top: int, seed: int) -> str:
    """Return the name of one training run of a model."""
    return f"top{top:02d}-{seed}"


def checkpoint(model: str, top: int, seed: int) -> Path:
    """Return the path of a training run's checkpoint."""
    return WORK / "models" / model / f"{run_name(top, seed)}.safetensors"
