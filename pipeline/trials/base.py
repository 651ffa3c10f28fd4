"""A trial of something outside of this machine, and what it yields.

Whatever goes wrong in a trial is an error: only a trial that saw the thing itself do what the tool
needs of it returns.
"""

import ipaddress
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from momentrank.errors import MomentRankError
from pipeline.core.params import Params


class NotMetError(MomentRankError):
    """The thing was not met, or did not do what the tool needs of it."""


class Met(NamedTuple):
    """What a trial met: its version, where, and what it did. No secret is in it."""

    version: str
    where: str
    result: str


class Inputs(NamedTuple):
    """The paper's settings, which name the published weights, and a bucket `s3://...` if any."""

    paper: Params
    bucket: str | None = None


class Trial(NamedTuple):
    """How to meet one thing: what it costs and leaves behind, and the trial itself.

    `run` raises a MomentRankError for every failure.
    """

    name: str
    what: str
    cost: str
    run: Callable[[Inputs], Met]


def host_of(url: str) -> str:
    """Return the host of an address, without user, password, port and path."""
    return urlsplit(url).hostname or url


def refuse_this_machine(url: str, what: str) -> str:
    """Return the host of an address, unless it is this machine: there, only a stand-in can be.

    Raises:
        NotMetError: it is this machine.
    """
    host = host_of(url)
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost" or host.endswith(".localhost")
    if is_here:
        raise NotMetError(f"{host} is this machine: a stand-in, not {what}")
    return host
