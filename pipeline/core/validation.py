"""Strict models of what people write, and one line for each mistake in it."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from reprlib import Repr
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from momentrank.errors import MomentRankError

if TYPE_CHECKING:
    import pandas as pd  # slow to import: a command that reads no table does without

Share = Annotated[float, Field(ge=0, le=1)]
Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(min_length=1)]

Model = TypeVar("Model", bound=BaseModel)
Error = Mapping[str, Any]
"""A mistake as pydantic describes it: `type`, `loc`, `msg`, `input` and `ctx`."""

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


class Section(BaseModel):
    """A model that requires all keys without a default, and allows no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class RowRule(NamedTuple):
    """A condition on the cells of a table's row together, and the error if it is not met."""

    holds: Callable[["pd.DataFrame"], "pd.Series[bool]"]
    error: str


def validate(
    model: type[Model],
    value: object,
    where: object,
    refusal: type[MomentRankError],
    hint: str = "",
) -> Model:
    """Parse a value into `model`; each line of an error begins with `where`, its source.

    A `hint` follows where a key is missing.

    Raises:
        refusal: a key is unknown, missing or impossible; one line each, with its path.
    """
    try:
        return model.model_validate(value)
    except ValidationError as exc:
        errors = exc.errors()
        misspelt = {
            _suggest_key(model, error) for error in errors if error["type"] == "extra_forbidden"
        }
        shown = [e for e in errors if e["type"] != "missing" or e["loc"] not in misspelt]
        lines = (f"{where}: {_locate(error)}{_complaint(model, error, hint)}" for error in shown)
        raise refusal("\n".join(lines)) from exc


def _locate(error: Error) -> str:
    path = ".".join(str(key) for key in error["loc"] if key != "[key]")
    if not path and error["type"] == "value_error":  # which names its own keys
        return ""
    return f"{path or 'the file'}: "


def _complaint(model: type[BaseModel], error: Error, hint: str) -> str:
    message = error["msg"].removeprefix("Value error, ")
    message = f"{message[0].lower()}{message[1:]}"
    match error["type"]:
        case "extra_forbidden":
            intended = _suggest_key(model, error)
            return f"unknown key; did you mean {intended[-1]!r}?" if intended else "unknown key"
        case "missing":
            return f"this key is missing{hint}"
        case "model_type" | "dict_type":
            return f"must contain keys with values (it is {_SHORT.repr(error['input'])})"
        case "literal_error" if error["loc"][-1:] == ("[key]",):
            return f"unknown key; must be {error['ctx']['expected']}"
        case "value_error":
            return message
    return f"{message} (it is {_SHORT.repr(error['input'])})"


def _suggest_key(model: type[BaseModel], error: Error) -> tuple[int | str, ...]:
    """Return the path of the key that an unknown one resembles, or nothing."""
    *sections, key = error["loc"]
    section: Any = model
    for step in sections:
        section = _submodel(section, step)
    names = [field.validation_alias or name for name, field in section.model_fields.items()]
    near = get_close_matches(str(key), names, n=1)
    return (*sections, *near) if near else ()


def _submodel(model: Any, key: int | str) -> Any:  # noqa: ANN401  (a model, or a dict of models)
    """Return the model of a key's value; all values of a dict have the same one."""
    if key in getattr(model, "model_fields", ()):
        return model.model_fields[key].annotation
    return get_args(model)[-1]
