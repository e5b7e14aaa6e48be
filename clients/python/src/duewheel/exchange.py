"""What a call does until it has an answer that another attempt does not improve, or until its deadline. No I/O, and the time is an
argument: Transport and AsyncTransport send what an Exchange says, and wait as long as it says.

The rules are those of all clients (clients/conformance/README.md, "What a client does with failures").
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import random
import ssl
from typing import Any, Generic, Mapping, Optional, TypeVar, Union
from urllib.parse import quote, urlsplit

from .calls import PATH_OF_SERVER, Call
from .codec import Codec, open_all, sealed
from .errors import DuewheelError, InvalidRequest, Unavailable, error_of
from .wire import dumps, loads

T = TypeVar("T")
BACKOFF_FIRST_S, BACKOFF_MAX_S = 0.05, 2.0
REDIRECTS_MAX = 5
REPEATED = {429, 503, 507}
OLDEST, BEFORE = (0, 1), (0, 2)  # the versions of servers that this client understands: from the first on, and before the second


@dataclasses.dataclass(frozen=True)
class Settings:
    """Where the server is, and how it is called."""
    url: str
    token: Optional[str]
    namespace: Optional[str]
    timeout_s: float
    verify: Union[bool, str]
    codec: Optional[Codec] = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidRequest("bad_url", f"`{self.url}` is no URL of a server: write it as http://127.0.0.1:7420", "url")

    @property
    def origin(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def authorization(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def options(self) -> Mapping[str, Any]:
        """The arguments of a client with these settings."""
        return {"url": self.url, "token": self.token, "namespace": self.namespace, "timeout": datetime.timedelta(seconds=self.timeout_s),
                "verify": self.verify, "codec": self.codec}

    def trust(self) -> Union[bool, ssl.SSLContext]:
        return ssl.create_default_context(cafile=self.verify) if isinstance(self.verify, str) else self.verify

    def path_of(self, call: Call[Any]) -> str:
        if call.path.startswith(PATH_OF_SERVER):
            return call.path
        return (f"/v1/namespaces/{quote(self.namespace, safe='')}" if self.namespace else "/v1") + call.path


@dataclasses.dataclass(frozen=True)
class Request:
    """One attempt."""
    method: str
    url: str
    headers: Mapping[str, str]
    content: Optional[bytes]
    timeout_s: float


@dataclasses.dataclass(frozen=True)
class Response:
    """A response that came whole."""
    status: int
    headers: Mapping[str, str]  # names in small letters
    body: bytes


class Exchange(Generic[T]):
    """The attempts of one call: request(), and then answered() or lost(), until it is `done`."""

    def __init__(self, call: Call[T], settings: Settings, now_s: float) -> None:
        self.call, self.settings = call, settings
        self.origin, self.path = settings.origin, settings.path_of(call)
        self.began_s = now_s
        self.time_s = (settings.timeout_s if call.time_s is None else min(call.time_s, settings.timeout_s)) + call.wait_s
        self.backoff_s, self.redirects = BACKOFF_FIRST_S, 0
        self.content = self.bytes_of(call, settings.codec)
        self.done = False
        self.result: Optional[T] = None

    @property
    def deadline_s(self) -> float:
        return self.began_s + self.time_s

    def request(self, now_s: float) -> Request:
        content = dumps(self.call.value_after(now_s - self.began_s)).encode() if self.call.value_after else self.content
        kind = {} if content is None else {"Content-Type": "application/x-ndjson" if isinstance(self.call.value, list) else "application/json"}
        return Request(self.call.method, self.origin + self.path, {**kind, **self.settings.authorization, **self.call.fields}, content,
                       self.left_s(now_s))

    @staticmethod
    def bytes_of(call: Call[Any], codec: Optional[Codec]) -> Optional[bytes]:
        """Encoded once: all attempts of a put send the same bytes."""
        if call.value is None:
            return None

        def text(value: Mapping[str, Any]) -> str:
            return dumps(sealed(value, codec) if codec else value)
        return ("".join(text(line) + "\n" for line in call.value) if isinstance(call.value, list) else text(call.value)).encode()

    def left_s(self, now_s: float) -> float:
        return max(0.001, self.deadline_s - now_s)

    def version_request(self, now_s: float) -> Request:
        """What the first call of a client sends before its first attempt."""
        return Request("GET", self.settings.origin + "/readyz", self.settings.authorization, None, self.left_s(now_s))

    def check_version(self, response: Response) -> None:
        """Raises if the server is one that this client does not understand. An answer without a version is no obstacle: proxies may keep
        the page away."""
        try:
            version = json.loads(response.body)["version"]
            number = tuple(int(part) for part in version.split(".")[:2])
        except (ValueError, LookupError, TypeError, AttributeError):
            return
        if not OLDEST <= number < BEFORE:
            raise Unavailable("unsupported_server", f"{self.settings.origin} is a Duewheel server of version {version}, and this client is for those "
                              f"from {OLDEST[0]}.{OLDEST[1]} and before {BEFORE[0]}.{BEFORE[1]}: install the client of the server's version")

    def lost(self, error: Exception, now_s: float) -> float:
        """The connection failed, or the response did not come whole: the pause before the next attempt. Raises if there is none."""
        verification = verification_error(error)
        if verification:
            raise Unavailable("bad_certificate", f"{self.origin}: {verification.verify_message}") from error
        lost = f"{self.origin}: {error or type(error).__name__}"
        self.origin = self.settings.origin
        return self.pause(now_s, 0, Unavailable("deadline", f"no response within {self.time_s:g} s; the last attempt: {lost}"))

    def answered(self, response: Response, now_s: float) -> float:
        """The pause before the next attempt, unless it is done. Raises if the answer is final and no success."""
        if response.status == 307 and "location" in response.headers:
            self.redirect(response.headers["location"])
            return 0
        if response.status < 300:
            try:
                answer = self.answer_of(response)
                open_all(answer, self.settings.codec)
                self.result = self.call.read(answer)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise self.not_duewheel(response) from error
            self.done = True
            return 0
        refusal = self.refusal_of(response)
        if response.status not in REPEATED:
            raise refusal
        after = response.headers.get("retry-after", "")
        return self.pause(now_s, float(after) if after.isdigit() else 0, refusal)

    def redirect(self, location: str) -> None:
        """The next attempt goes to another node. Raises after too many."""
        self.redirects += 1
        target = urlsplit(location)
        if self.redirects > REDIRECTS_MAX or target.scheme not in ("http", "https"):
            raise Unavailable("too_many_redirects", f"{self.origin} redirects to {location}, and there were {self.redirects} redirects")
        self.origin = f"{target.scheme}://{target.netloc}"
        self.path = target.path + (f"?{target.query}" if target.query else "")

    def pause(self, now_s: float, at_least_s: float, failure: DuewheelError) -> float:
        """The pause before the next attempt. Raises the failure if it would end after the deadline."""
        pause_s = max(at_least_s, self.backoff_s * random.uniform(0.5, 1))
        if now_s + pause_s >= self.deadline_s:
            raise failure
        self.backoff_s = min(self.backoff_s * 2, BACKOFF_MAX_S)
        return pause_s

    def answer_of(self, response: Response) -> Any:
        kind = response.headers.get("content-type", "")
        if kind.startswith("application/json"):
            return loads(response.body)
        if kind.startswith("application/x-ndjson"):
            return [loads(line) for line in response.body.splitlines()]
        raise self.not_duewheel(response)

    def refusal_of(self, response: Response) -> DuewheelError:
        try:
            return error_of(json.loads(response.body))
        except (ValueError, KeyError, TypeError):
            return self.not_duewheel(response)

    def not_duewheel(self, response: Response) -> Unavailable:
        return Unavailable("not_duewheel", f"{self.origin} answered with status {response.status} and "
                           f"`{response.headers.get('content-type', '')}`: check the URL, it is no Duewheel server")


def verification_error(error: BaseException) -> Optional[ssl.SSLCertVerificationError]:
    cause: Optional[BaseException] = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None
