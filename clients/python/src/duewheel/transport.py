"""Sends requests until they have an answer that another attempt does not improve, or until the deadline of the call.

The rules are those of all clients (clients/conformance/README.md, "What a client does with failures"). Attempts is the part
that only decides and takes the time as an argument; Transport is the part that sends.
"""

from __future__ import annotations

import dataclasses
import json
import random
import ssl
import time
from typing import Any, Callable, Optional, Union
from urllib.parse import urlsplit

import httpx

from .errors import DuewheelError, InvalidRequest, Unavailable, error_of

BACKOFF_FIRST_S, BACKOFF_MAX_S = 0.05, 2.0
REDIRECTS_MAX = 5
REPEATED = {429, 503, 507}


class Attempts:
    """One call: until when it may try, what its last attempt said, and how long to pause before the next one."""

    def __init__(self, origin: str, path: str, now_s: float, time_s: float) -> None:
        self.home, self.origin, self.path = origin, origin, path
        self.time_s, self.deadline_s = time_s, now_s + time_s
        self.backoff_s, self.redirects = BACKOFF_FIRST_S, 0

    def remaining_s(self, now_s: float) -> float:
        return max(0.001, self.deadline_s - now_s)

    def redirect(self, location: str) -> None:
        """The next attempt goes to another node. Raises after too many."""
        self.redirects += 1
        target = urlsplit(location)
        if self.redirects > REDIRECTS_MAX or target.scheme not in ("http", "https"):
            raise Unavailable("too_many_redirects", f"{self.origin} redirects to {location}, and there were {self.redirects} redirects")
        self.origin = f"{target.scheme}://{target.netloc}"
        self.path = target.path + (f"?{target.query}" if target.query else "")

    def pause_s(self, now_s: float, retry_after_s: float, refusal: Optional[DuewheelError], lost: str) -> float:
        """The pause before the next attempt. Raises if it would end after the deadline."""
        pause_s = max(retry_after_s, self.backoff_s * random.uniform(0.5, 1))
        if now_s + pause_s >= self.deadline_s:
            raise refusal or Unavailable("deadline", f"no response within {self.time_s:g} s; the last attempt: {lost}")
        self.backoff_s = min(self.backoff_s * 2, BACKOFF_MAX_S)
        return pause_s


@dataclasses.dataclass(frozen=True)
class Response:
    """A response that came whole."""
    origin: str
    status: int
    headers: httpx.Headers
    body: bytes


class Transport:
    """Thread-safe: connections are kept, and each thread that sends uses one of its own."""

    def __init__(self, url: str, token: Optional[str], time_s: float, verify: Union[bool, str]) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidRequest("bad_url", f"`{url}` is no URL of a server: write it as http://127.0.0.1:7420", "url")
        self.origin, self.time_s, self.token = f"{parts.scheme}://{parts.netloc}", time_s, token
        trust: Union[bool, ssl.SSLContext] = ssl.create_default_context(cafile=verify) if isinstance(verify, str) else verify
        # A queue on the same network is not reached through the web proxy of the environment.
        self.http = httpx.Client(verify=trust, trust_env=False, limits=httpx.Limits(max_connections=None, max_keepalive_connections=100))

    def close(self) -> None:
        self.http.close()

    def send(self, method: str, path: str, body: Callable[[float], Optional[str]] = lambda passed_s: None, kind: str = "application/json",
             wait_s: float = 0) -> Any:
        """The decoded answer. `body` gives the text for an attempt that begins that long after the call. wait_s is how long the
        server may wait by itself, beside the time of the call."""
        began_s = time.monotonic()
        attempts = Attempts(self.origin, path, began_s, self.time_s + wait_s)
        while True:
            refusal, lost, retry_after_s = None, "", 0.0
            try:
                response = self.once(attempts, method, body(time.monotonic() - began_s), kind)
            except httpx.HTTPError as error:
                verification = verification_error(error)
                if verification:
                    raise Unavailable("bad_certificate", f"{attempts.origin}: {verification.verify_message}") from error
                lost = f"{attempts.origin}: {error or type(error).__name__}"
                attempts.origin = self.origin
            else:
                if response.status == 307 and "location" in response.headers:
                    attempts.redirect(response.headers["location"])
                    continue
                if response.status < 300:
                    return answer_of(response)
                refusal = refusal_of(response)
                if response.status not in REPEATED:
                    raise refusal
                retry_after_s = seconds_of(response.headers.get("retry-after", ""))
            time.sleep(attempts.pause_s(time.monotonic(), retry_after_s, refusal, lost))

    def once(self, attempts: Attempts, method: str, text: Optional[str], kind: str) -> Response:
        """One attempt. httpx bounds each read, so the whole is bounded between the reads."""
        headers = {} if text is None else {"Content-Type": kind}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        content = None if text is None else text.encode()
        chunks = []
        with self.http.stream(method, attempts.origin + attempts.path, content=content, headers=headers,
                              timeout=attempts.remaining_s(time.monotonic())) as response:
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                if time.monotonic() > attempts.deadline_s:
                    raise httpx.ReadTimeout("the response came too slowly")
        return Response(attempts.origin, response.status_code, response.headers, b"".join(chunks))


def verification_error(error: BaseException) -> Optional[ssl.SSLCertVerificationError]:
    cause: Optional[BaseException] = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def answer_of(response: Response) -> Any:
    kind = response.headers.get("content-type", "")
    if kind.startswith("application/json"):
        return json.loads(response.body)
    if kind.startswith("application/x-ndjson"):
        return [json.loads(line) for line in response.body.splitlines()]
    raise not_duewheel(response)


def refusal_of(response: Response) -> DuewheelError:
    try:
        return error_of(json.loads(response.body))
    except (ValueError, KeyError, TypeError):
        return not_duewheel(response)


def not_duewheel(response: Response) -> Unavailable:
    return Unavailable("not_duewheel", f"{response.origin} answered with status {response.status} and `"
                       f"{response.headers.get('content-type', '')}`: check the URL, it is no Duewheel server")


def seconds_of(retry_after: str) -> float:
    return float(retry_after) if retry_after.isdigit() else 0.0
