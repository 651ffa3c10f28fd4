"""The device that models run on."""

from typing import TYPE_CHECKING

from momentrank.errors import UsageError

if TYPE_CHECKING:
    import torch


def choose_device(name: str) -> "torch.device":
    """Return the device of `train.device`; `auto` is a GPU if there is one.

    Raises:
        UsageError: there is no such device.
    """
    import torch  # noqa: PLC0415  (--help needs none)

    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        torch.zeros(1, device=name)
        return torch.device(name)
    except (RuntimeError, AssertionError) as exc:
        raise UsageError(f"train.device: no {name!r} on this machine; try auto") from exc
