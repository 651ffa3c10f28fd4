"""Trials of what is outside of this machine: published weights, servers, services, machines."""

from collections.abc import Mapping

from pipeline.trials import computing, model_servers, services, weights
from pipeline.trials.base import Trial

TRIALS: Mapping[str, Trial] = {
    trial.name: trial
    for trial in (
        *weights.TRIALS,
        *model_servers.TRIALS,
        *services.TRIALS,
        *computing.TRIALS,
    )
}
"""Each thing outside that the tool claims to work with, by name."""
