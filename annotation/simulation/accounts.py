"""Simulated annotators on the server: they sign up with the invite link, log in and answer.

They act like a browser, with a session: it does not matter which kind of token a server issues.
"""

import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from annotation.label_studio.errors import StudioError
from annotation.roster.roster import Account

if TYPE_CHECKING:
    import httpx

TIMEOUT = 60.0
WAITS = (0.1, 0.5, 1.0, 2.0)
"""Seconds before each retry."""


class Visitor:
    """A person who is logged in to the server; close it when done.

    Every call raises StudioError if the server can't be reached, refuses or fails.
    """

    def __init__(self, server: str, invite: str, account: Account) -> None:
        """Log in; sign up at the path `invite` if the account is new."""
        import httpx  # noqa: PLC0415  (--help needs none)

        origin = httpx.URL(server).copy_with(path="/", query=None)
        headers = {"Origin": str(origin).rstrip("/"), "Referer": f"{server}/"}
        self._http = httpx.Client(base_url=server, headers=headers, timeout=TIMEOUT)
        self._name = f"{server}: {account.email}"
        try:
            entered = self._send("/user/login/", account) or self._send(invite, account)
        except StudioError:
            self.close()
            raise
        if not entered:
            self.close()
            raise StudioError(
                f"{self._name} can neither log in nor sign up; is the password in"
                " annotators.private.yaml still correct?"
            )

    def answer(self, task: int, result: Sequence[Mapping[str, Any]], seconds: float) -> None:
        """Answer a task.

        A server on SQLite occasionally fails when two people answer at the same time. Then this
        retries, like a person who reads that saving failed, unless the answer was saved.
        """
        path = f"/api/tasks/{task}/annotations/"
        body = {"result": list(result), "lead_time": seconds}
        for wait in (*WAITS, None):
            answer = self._ask("POST", path, json=body)
            if answer.is_success or (answer.is_server_error and self._has_answered(path)):
                return
            if wait is None or not answer.is_server_error:
                raise StudioError(
                    f"{self._name}: answering task {task} failed ({answer.status_code})"
                )
            time.sleep(wait)

    def _has_answered(self, path: str) -> bool:
        """Return whether a task has an answer; in a person's own project it is theirs."""
        response = self._ask("GET", path)
        return response.is_success and bool(response.json())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _send(self, form: str, account: Account) -> bool:
        """Fill in a form; return whether it let us in."""
        self._ask("GET", form)
        fields = {
            "email": account.email,
            "password": account.password or "",
            "csrfmiddlewaretoken": self._http.cookies.get("csrftoken") or "",
        }
        answer = self._ask("POST", form, form=fields)
        if answer.status_code == HTTPStatus.FORBIDDEN and form.startswith("/user/login"):
            raise StudioError(
                f"{self._name}: the login form is refused (403); behind HTTPS the server needs"
                " CSRF_TRUSTED_ORIGINS (docs/compose.yaml)"
            )
        return answer.is_redirect

    def _ask(
        self,
        method: str,
        path: str,
        *,
        json: Mapping[str, Any] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> "httpx.Response":
        import httpx  # noqa: PLC0415  (--help needs none)

        try:
            return self._http.request(method, path, json=json, data=form)
        except httpx.HTTPError as exc:
            raise StudioError(
                f"{self._name}: the server can't be reached ({exc}); try again"
            ) from exc
