"""`params.yaml` as one strict model: one section per stage, with the stage's name.

An unknown key, a wrong type or an impossible value is one line with the key's path.
"""

from pathlib import Path
from typing import Self

from pydantic import model_validator

from momentrank.errors import UsageError
from pipeline.core import files, people_sections, sections
from pipeline.core.validation import Model, Section, validate

PARAMS, PAPER = Path("params.yaml"), Path("params.paper.yaml")


class ParamsError(UsageError):
    """A key of `params.yaml` is unknown, missing or impossible."""


class Params(Section):
    """The whole of `params.yaml`."""

    engine: sections.Engine
    sample: sections.Sample
    ingest: sections.Ingest
    tagger: sections.Tagger
    names: sections.Names
    rewrite: sections.Rewrite
    vary: sections.Vary
    split: sections.Split
    embed: sections.Embed
    candidates: sections.Candidates
    pool: sections.Pool
    clips: sections.Clips
    annotation: people_sections.Annotation
    exam: people_sections.Exam
    pull: people_sections.Pull
    plan: people_sections.Plan
    push: people_sections.Push
    judge: sections.Judge
    pseudo: sections.Pseudo
    consensus: people_sections.Consensus
    agreement: people_sections.Agreement
    release: sections.Release
    reference_runs: sections.ReferenceRuns
    calibration: people_sections.Calibration
    report: sections.Report

    @model_validator(mode="after")
    def _machine_judges_neighbours(self) -> Self:
        deepest = self.candidates.top + self.judge.pool_top
        if deepest > self.candidates.depth:
            raise ValueError(
                f"judge.pool_top: with candidates.top these are {deepest} ranks: raise"
                f" candidates.depth, which is {self.candidates.depth}"
            )
        return self


def load(path: Path = PARAMS) -> Params:
    """Read and check the parameters; errors as in `read_model`."""
    hint = f"; {PAPER} has a line for it to copy"
    return validate(Params, files.read_yaml(path), path, ParamsError, hint)


def load_defaults() -> Params:
    """Read the checkout's own parameters, for files that are read outside of any project."""
    return load(Path(__file__).parents[2] / PARAMS)


def read_model(model: type[Model], path: Path) -> Model:
    """Read a YAML file into `model`.

    Raises:
        FileError: the file is missing or not YAML.
        ParamsError: a key is unknown, missing or impossible; one line each, with its path.
    """
    return validate(model, files.read_yaml(path), path, ParamsError)
