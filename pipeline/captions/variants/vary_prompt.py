"""The prompt that asks for variants of captions: one task and its examples for each stratum."""

from pathlib import Path
from typing import Self

from pydantic import field_validator, model_validator

from pipeline.captions.rewrite_prompt import LANGUAGE, Example, RewritePrompt
from pipeline.core.validation import Name, Section
from pipeline.llm.prompt import Plain, Prompt, check_placeholders, fill, load_prompt

TASK = "task"


class Task(Section):
    """What is asked for in one stratum."""

    task: Plain
    examples: list[Example]


class Tasks(Section):
    """What is asked for in each stratum."""

    vague: Task
    gist: Task
    changed: Task


class VaryPrompt(Prompt):
    """A prompt with a task for each stratum; a stratum's own is like one that rewrites."""

    system: Name
    user: Name
    strata: Tasks

    @field_validator("system")
    @classmethod
    def _system_has_its_placeholders(cls, system: str) -> str:
        check_placeholders(system, expected=(TASK, LANGUAGE))
        return system

    @model_validator(mode="after")
    def _asks_as_one_that_rewrites(self) -> Self:
        for stratum in Tasks.model_fields:
            self.for_stratum(stratum)
        return self

    def for_stratum(self, stratum: str) -> RewritePrompt:
        """Return the prompt that asks for the variants of a stratum."""
        task: Task = getattr(self.strata, stratum)
        return RewritePrompt.model_validate(
            {
                "name": f"{self.name}-{stratum}",
                "version": self.version,
                "system": fill(self.system, {TASK: task.task.strip()}),
                "user": self.user,
                "examples": [example.model_dump() for example in task.examples],
                "schema": self.answer,
            }
        )


def load(path: Path) -> VaryPrompt:
    """Read and check a prompt; raises the errors of `load_prompt`."""
    return load_prompt(VaryPrompt, path)
