"""The client: one method for each call of the HTTP API that a program makes."""

from __future__ import annotations

import datetime
from types import TracebackType
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote, urlencode

from .errors import DuewheelError, error_of
from .messages import Lease, Message, Put, Receipt
from .transport import Transport
from .wire import content, dumps, duration, members, plain

Token = Union[str, Lease]  # a leased message, or its lease token alone
ZERO = datetime.timedelta()


class Client:
    """Thread-safe. `timeout` is the deadline of each call, with all its attempts; a call that waits at the server has that time in
    addition. Every call is safe to repeat, and is repeated when its response is lost. Raises DuewheelError.

    token      an access token, `dw_...`
    namespace  that of all calls, by default `default`
    verify     the file of the certificate authority that signs the server's certificate; by default those of the system
    """

    def __init__(self, url: str, *, token: Optional[str] = None, namespace: Optional[str] = None,
                 timeout: datetime.timedelta = datetime.timedelta(seconds=30), verify: Union[bool, str] = True) -> None:
        self.transport = Transport(url, token, timeout.total_seconds(), verify)
        self.base = f"/v1/namespaces/{quote(namespace, safe='')}" if namespace else "/v1"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Closes the kept connections."""
        self.transport.close()

    def call(self, method: str, path: str, value: Optional[Mapping[str, Any]] = None, query: Optional[Mapping[str, Any]] = None,
             wait: datetime.timedelta = ZERO) -> Any:
        """Any call of the API, by method and path below /v1: a way to what has no method here."""
        text = None if value is None else dumps(value)
        return self.transport.send(method, self.base + path + query_text(query or {}), lambda passed_s: text, wait_s=wait.total_seconds())

    # Messages

    def put(self, queue: str, data: Any, *, key: Optional[str] = None, delay: Optional[datetime.timedelta] = None,
            due: Optional[datetime.datetime] = None, **options: Any) -> Receipt:
        """Puts a message. A str is sent as text, bytes as bytes, anything else as JSON (dataclasses and pydantic models too).
        Without a key it gets a random one, so that it is put once even if its response is lost. `options` are the members of a
        put: on_key, within, priority, headers, retry, expires_in, expires, order_key, held, content_type, transaction, repeat."""
        body = Put(data, {"key": key, "delay": delay, "due": due, **options}).body()
        return Receipt(self.call("POST", f"/queues/{segment(queue)}/messages", body))

    def put_many(self, queue: str, puts: Iterable[Put]) -> List[Union[Receipt, DuewheelError]]:
        """Puts up to 1,000 messages with one request. For each, in order, its receipt or the error that refused it."""
        text = "".join(dumps(put.body()) + "\n" for put in puts)
        lines = self.transport.send("POST", f"{self.base}/queues/{segment(queue)}/messages:batch", lambda passed_s: text, "application/x-ndjson")
        return [error_of(line) if "code" in line else Receipt(line) for line in lines]

    def get(self, message_id: Optional[str] = None, *, queue: Optional[str] = None, key: Optional[str] = None,
            wait: Optional[datetime.timedelta] = None) -> Message:
        """The message with this id, or the one that was put into `queue` with `key`. With `wait`, up to a minute, when it has ended."""
        path, query = which(message_id, queue, key)
        return Message(self.call("GET", path, query={**query, **members({"wait": wait})}, wait=wait or ZERO))

    def wait(self, message_id: str, timeout: Optional[datetime.timedelta] = None) -> Message:
        """Waits for the end of the message, and returns it with its `result`; after `timeout`, as it is then."""
        left = timeout
        while True:
            step = MINUTE if left is None else min(left, MINUTE)
            message = self.get(message_id, wait=step)
            left = None if left is None else left - step
            if message.has_ended or left == ZERO:
                return message

    def cancel(self, message_id: Optional[str] = None, *, queue: Optional[str] = None, key: Optional[str] = None, running: bool = False) -> str:
        """Cancels a message, by id or key: "cancelled"; with `running`, "cancelling" if a worker has it and is asked to stop."""
        path, query = which(message_id, queue, key)
        return str(self.call("DELETE", path, query={**query, **({"running": "true"} if running else {})})["outcome"])

    def move(self, message_id: Optional[str] = None, *, queue: Optional[str] = None, key: Optional[str] = None, **changes: Any) -> dict[str, Any]:
        """Changes the due time of a message (`delay` or `due`), or other members of its put."""
        path, query = which(message_id, queue, key)
        return dict(self.call("PATCH", path, members(changes), query))

    def fire(self, message_id: str) -> dict[str, Any]:
        """Makes a scheduled message due now. So do hold, kick, discard, commit and rollback what they say."""
        return self.act(message_id, "fire")

    def act(self, message_id: str, verb: str) -> dict[str, Any]:
        """verb: fire, hold, kick, discard, commit or rollback."""
        return dict(self.call("POST", f"/messages/{segment(message_id)}:{verb}"))

    def list(self, queue: str, *, page: int = 100, **filters: Any) -> Iterator[Message]:
        """The unfinished messages of a queue by due time, page by page; with state="dead" its dead letters."""
        cursor: dict[str, str] = {}
        while True:
            answer = self.call("GET", f"/queues/{segment(queue)}/messages", query={**members(filters), "limit": page, **cursor})
            yield from map(Message, answer["messages"])
            if "cursor" not in answer:
                return
            cursor = {"cursor": answer["cursor"]}

    # Leases

    def lease(self, queue: str, *, max: int = 1, lease: Optional[datetime.timedelta] = None,
              wait: Optional[datetime.timedelta] = None, worker: Optional[str] = None) -> List[Lease]:
        """Leases up to `max` due messages, and waits up to `wait` for the first. An attempt that follows a lost one waits for the rest."""
        wait_s = wait.total_seconds() if wait else 0.0

        def body(passed_s: float) -> str:
            left = datetime.timedelta(seconds=wait_s - passed_s)
            return dumps(members({"max": max, "lease": lease, "worker": worker, "wait": left if left > ZERO else None}))
        answer = self.transport.send("POST", f"{self.base}/queues/{segment(queue)}:lease", body, wait_s=wait_s)
        return [Lease(each) for each in answer["messages"]]

    def ack(self, lease: Token, result: Any = None) -> str:
        """Ends the message as done. The result is any JSON of up to 64 KiB, which the producer gets with wait()."""
        return str(self.end_lease(lease, "ack", {} if result is None else {"result": plain(result)})["outcome"])

    def fail(self, lease: Token, reason: Optional[str] = None, *, retry_in: Optional[datetime.timedelta] = None, dead: bool = False) -> str:
        """Ends the attempt as failed: "retrying", or "dead" after the last attempt or with `dead`."""
        return str(self.end_lease(lease, "fail", members({"reason": reason, "retry_in": retry_in, "dead": dead or None}))["outcome"])

    def extend(self, lease: Token, duration: Optional[datetime.timedelta] = None, **said: Any) -> dict[str, Any]:
        """The lease lasts `duration` from now. `said`: progress and checkpoint. The answer has cancel_requested if the worker should stop."""
        return self.end_lease(lease, "extend", {**members({"lease": duration}), **said})

    def release(self, lease: Token, *, delay: Optional[datetime.timedelta] = None) -> str:
        """Returns the message to its queue; the attempt does not count."""
        return str(self.end_lease(lease, "release", members({"delay": delay}))["outcome"])

    def hold_leased(self, lease: Token) -> str:
        """Holds the message until it is kicked."""
        return str(self.end_lease(lease, "hold", {})["outcome"])

    def end_lease(self, lease: Token, verb: str, value: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self.call("POST", f"/leases/{segment(token_of(lease))}:{verb}", value or None))

    def many(self, leases: Sequence[Token], verb: str, **options: Any) -> List[Union[dict[str, Any], DuewheelError]]:
        """verb: ack, fail, extend or release, of up to 1,000 leases. For each, in order, its outcome or the error that refused it."""
        answer = self.call("POST", f"/leases:{verb}", {"leases": [token_of(lease) for lease in leases], **members(options)})
        return [error_of(each) if "code" in each else each for each in answer["results"]]

    # What has a name

    def set_schedule(self, name: str, queue: str, data: Any, **settings: Any) -> dict[str, Any]:
        """Creates or replaces a schedule. The same call again changes nothing, so a program may make it at each start. `settings`: one
        of cron, every, iso and at; zone, closed, start, end, misfire, overlap ...; and what a put has."""
        return dict(self.call("PUT", f"/schedules/{segment(name)}", {"queue": queue, **content(data), **members(settings)}))

    def set_queue(self, queue: str, **settings: Any) -> dict[str, Any]:
        """Replaces the settings of a queue: lease, retry, limits, target."""
        return dict(self.call("PUT", f"/queues/{segment(queue)}", members(settings)))

    def advance(self, by: datetime.timedelta) -> None:
        """Moves the time of a server that was started with --test-clock."""
        self.transport.send("POST", "/v1/clock:advance", lambda passed_s: dumps({"by": duration(by)}))


MINUTE = datetime.timedelta(minutes=1)


def segment(name: str) -> str:
    return quote(name, safe="")


def token_of(lease: Token) -> str:
    return lease if isinstance(lease, str) else lease.token


def which(message_id: Optional[str], queue: Optional[str], key: Optional[str]) -> tuple[str, dict[str, str]]:
    """The path and the query of a message by id, or by queue and key."""
    if message_id is not None:
        return f"/messages/{segment(message_id)}", {}
    if queue is None or key is None:
        raise ValueError("name the message by its id, or by queue and key")
    return "/messages", {"queue": queue, "key": key}


def query_text(query: Mapping[str, Any]) -> str:
    return "?" + urlencode(query) if query else ""
