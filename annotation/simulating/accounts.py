"""Accounts of simulated annotators: signed up by the invite link, as people do."""

import httpx

from annotation.env import Endpoint
from annotation.roster import Account
from annotation.studio.failures import StudioError

TIMEOUT = 60.0


def endpoint_of(server: str, invite: str, account: Account) -> Endpoint:
    """Return the server as this account sees it; sign it up if it is new.

    Raises:
        StudioError: it can't log in, and can't sign up either.
    """
    with httpx.Client(base_url=server, timeout=TIMEOUT) as browser:
        try:
            if not (_sent(browser, "/user/login/", account) or _sent(browser, invite, account)):
                raise StudioError(
                    f"{server}: {account.email} can neither log in nor sign up; is the password"
                    " in annotators.private.yaml still theirs?"
                )
            answer = browser.get("/api/current-user/token")
            return Endpoint(server, str(answer.raise_for_status().json()["token"]))
        except (httpx.HTTPError, KeyError, ValueError) as exc:
            raise StudioError(f"{server}: could not log in {account.email} ({exc})") from exc


def _sent(browser: httpx.Client, form: str, account: Account) -> bool:
    """Fill in a form as a browser would; tell whether we are in."""
    browser.get(form)
    fields = {
        "email": account.email,
        "password": account.password,
        "csrfmiddlewaretoken": browser.cookies.get("csrftoken", ""),
    }
    answer = browser.post(form, data=fields, headers={"Referer": str(browser.base_url)})
    return answer.is_redirect
