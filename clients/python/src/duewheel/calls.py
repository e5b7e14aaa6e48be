"""The calls of the HTTP API, as values: what is sent, and how its answer is read. Pure functions, no I/O.

Client and AsyncClient have a method for each, with these arguments and these descriptions.
"""

from __future__ import annotations

import dataclasses
import datetime
from typing import TYPE_CHECKING, Any, Callable, Generic, Iterable, List, Mapping, Optional, Sequence, TypeVar, Union
from urllib.parse import quote, urlencode

from .errors import DuewheelError, error_of
from .messages import Lease, Message, Put, Receipt
from .models import Changes, PutOptions, QueueFields, QueueSettings, ScheduleSettings, WatchdogSettings
from .wire import content, duration, member, members, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
Token = Union[str, Lease]  # a leased message, or its lease token alone
Json = dict[str, Any]
ZERO = datetime.timedelta()
PATH_OF_SERVER = "/v1/"  # how a path begins that is in no namespace


@dataclasses.dataclass(frozen=True)
class Call(Generic[T]):
    """One call. `value` is the JSON that is sent, or the lines of a batch; `value_after` gives that of an attempt that begins that many
    seconds after the first. `wait_s` is how long the server may wait by itself, beside the time of the call; `time_s` is this time, at
    most that of the client. `puts` is the queue that the call puts messages into, with these fields of HTTP."""
    method: str
    path: str  # below that of the namespace, or with "/v1/" below none
    read: Callable[[Any], T]
    value: Union[Mapping[str, Any], List[Mapping[str, Any]], None] = None
    value_after: Optional[Callable[[float], Mapping[str, Any]]] = None
    wait_s: float = 0
    time_s: Optional[float] = None
    puts: str = ""
    fields: Mapping[str, str] = dataclasses.field(default_factory=dict)


def request(method: str, path: str, read: Callable[[Any], T], value: Optional[Mapping[str, Any]] = None,
            query: Optional[Mapping[str, Any]] = None, wait: Optional[datetime.timedelta] = None) -> Call[T]:
    """A call whose body is the same in all attempts."""
    return Call(method, path + ("?" + urlencode(query) if query else ""), read, value, wait_s=(wait or ZERO).total_seconds())


def call(method: str, path: str, value: Optional[Mapping[str, Any]] = None, query: Optional[Mapping[str, Any]] = None,
         wait: Optional[datetime.timedelta] = None) -> Call[Any]:
    """Any call of the API, by method and path below /v1: a way to what has no method here."""
    return request(method, path, lambda answer: answer, value, query, wait)


# Messages

def put(queue: str, data: Any, **options: Unpack[PutOptions]) -> Call[Receipt]:
    """Puts a message. A str is sent as text, bytes as bytes, anything else as JSON (dataclasses and models of pydantic or msgspec too).
    Without a key it gets a random one, so that it is put once even if its response is lost."""
    return Call("POST", f"/queues/{segment(queue)}/messages", Receipt, Put(data, **options).body(), puts=queue)


def put_many(queue: str, puts: Iterable[Put]) -> Call[List[Union[Receipt, DuewheelError]]]:
    """Puts up to 1,000 messages with one request. For each, in order, its receipt or the error that refused it."""
    return Call("POST", f"/queues/{segment(queue)}/messages:batch", lambda lines: [error_of(line) if "code" in line else Receipt(line) for line in lines],
                [each.body() for each in puts], puts=queue)


def get(message_id: Optional[str] = None, *, queue: Optional[str] = None, key: Optional[str] = None,
        wait: Optional[datetime.timedelta] = None) -> Call[Message]:
    """The message with this id, or the one that was put into `queue` with `key`. With `wait`, up to a minute, when it has ended."""
    path, query = which(message_id, queue, key)
    return request("GET", path, Message, query={**query, **members({"wait": wait})}, wait=wait)


def cancel(message_id: Optional[str] = None, *, queue: Optional[str] = None, key: Optional[str] = None, running: bool = False) -> Call[str]:
    """Cancels a message, by id or key: "cancelled"; with `running`, "cancelling" if a worker has it and is asked to stop."""
    path, query = which(message_id, queue, key)
    return request("DELETE", path, outcome_of, query={**query, **({"running": "true"} if running else {})})


def move(message_id: Optional[str] = None, *, queue: Optional[str] = None, key: Optional[str] = None, **changes: Unpack[Changes]) -> Call[Json]:
    """Changes the due time of a message (`delay` or `due`), or other members of its put; None removes one."""
    path, query = which(message_id, queue, key)
    return request("PATCH", path, dict, member(changes), query)


def act(message_id: str, verb: str) -> Call[Json]:
    """verb: fire, hold, kick, discard, commit or rollback."""
    return request("POST", f"/messages/{segment(message_id)}:{verb}", dict)


def fire(message_id: str) -> Call[Json]:
    """Makes a scheduled message due now."""
    return act(message_id, "fire")


def hold(message_id: str) -> Call[Json]:
    """Holds a message: it is not delivered before it is kicked."""
    return act(message_id, "hold")


def kick(message_id: str) -> Call[Json]:
    """Returns a held message or a dead letter to its queue."""
    return act(message_id, "kick")


def commit(message_id: str) -> Call[Json]:
    """Commits a prepared message: it is delivered when it is due."""
    return act(message_id, "commit")


def rollback(message_id: str) -> Call[Json]:
    """Ends a prepared message; it is not delivered."""
    return act(message_id, "rollback")


def page(queue: str, size: int, filters: Mapping[str, Any], cursor: Optional[str]) -> Call[tuple[List[Message], Optional[str]]]:
    """Some unfinished messages of a queue, and the cursor of those that follow."""
    return request("GET", f"/queues/{segment(queue)}/messages", lambda answer: ([Message(each) for each in answer["messages"]], answer.get("cursor")),
                   query={**members(filters), "limit": size, **members({"cursor": cursor})})


# Leases

def lease(queue: str, *, max: int = 1, lease: Optional[datetime.timedelta] = None, wait: Optional[datetime.timedelta] = None,
          min: Optional[int] = None, worker: Optional[str] = None) -> Call[List[Lease]]:
    """Leases up to `max` due messages, and waits up to `wait` for the first, or for `min` of them."""
    wait_s = (wait or ZERO).total_seconds()

    def value(passed_s: float) -> Json:
        """An attempt that follows a lost one waits for what is left of the time."""
        left = datetime.timedelta(seconds=wait_s - passed_s)
        return members({"max": max, "lease": lease, "worker": worker, **({"wait": left, "min": min} if left > ZERO else {})})
    return Call("POST", f"/queues/{segment(queue)}:lease", lambda answer: [Lease(each) for each in answer["messages"]], value_after=value, wait_s=wait_s)


def ack(lease: Token, result: Any = None) -> Call[str]:
    """Ends the message as done. The result is any JSON of up to 64 KiB, which the producer gets with wait()."""
    return end_lease(lease, "ack", {} if result is None else {"result": plain(result)}, outcome_of)


def fail(lease: Token, reason: Optional[str] = None, *, retry_in: Optional[datetime.timedelta] = None, dead: bool = False) -> Call[str]:
    """Ends the attempt as failed: "retrying", or "dead" after the last attempt or with `dead`."""
    return end_lease(lease, "fail", members({"reason": reason, "retry_in": retry_in, "dead": dead or None}), outcome_of)


def extend(lease: Token, duration: Optional[datetime.timedelta] = None, **said: Any) -> Call[Json]:
    """The lease lasts `duration` from now. `said`: progress and checkpoint. The answer has cancel_requested if the worker should stop."""
    return end_lease(lease, "extend", {**members({"lease": duration}), **said}, dict)


def release(lease: Token, *, delay: Optional[datetime.timedelta] = None) -> Call[str]:
    """Returns the message to its queue; the attempt does not count."""
    return end_lease(lease, "release", members({"delay": delay}), outcome_of)


def hold_leased(lease: Token) -> Call[str]:
    """Holds the message until it is kicked."""
    return end_lease(lease, "hold", {}, outcome_of)


def many(leases: Sequence[Union[Token, Mapping[str, Any]]], verb: str, **options: Any) -> Call[List[Union[Json, DuewheelError]]]:
    """verb: ack, fail, extend or release, of up to 1,000 leases. A mapping has the `token` of a lease, and options for it alone. For each, in
    order, its outcome or the error that refused it."""
    return request("POST", f"/leases:{verb}", lambda answer: [error_of(each) if "code" in each else each for each in answer["results"]],
                   {"leases": [members(lease) if isinstance(lease, Mapping) else token_of(lease) for lease in leases], **members(options)})


def end_lease(lease: Token, verb: str, value: Mapping[str, Any], read: Callable[[Any], T]) -> Call[T]:
    return request("POST", f"/leases/{segment(token_of(lease))}:{verb}", read, value or None)


# What has a name

def get_queue(queue: str) -> Call[QueueFields]:
    """The settings and the state of a queue."""
    return request("GET", f"/queues/{segment(queue)}", QueueFields)


def set_queue(queue: str, **settings: Unpack[QueueSettings]) -> Call[Json]:
    """Replaces the settings of a queue."""
    return request("PUT", f"/queues/{segment(queue)}", dict, members(settings))


def back_off_group(queue: str, group: str, time: datetime.timedelta) -> Call[Json]:
    """Delivers nothing of a group of the queue for this time, such as after a 429 of a customer's API. Zero ends it."""
    return request("POST", f"/queues/{segment(queue)}/groups/{segment(group)}:backoff", dict, {"for": duration(time)})


def set_schedule(name: str, data: Any, **settings: Unpack[ScheduleSettings]) -> Call[Json]:
    """Creates or replaces a schedule, whose messages go to `queue`. The same call again changes nothing, so a program may make it at
    each start. One of cron, every, iso and at sets the times."""
    return request("PUT", f"/schedules/{segment(name)}", dict, {**content(data), **members(settings)})


def set_watchdog(name: str, data: Any, **settings: Unpack[WatchdogSettings]) -> Call[Json]:
    """Creates or replaces a watchdog: it puts a message into `queue` unless it is fed within `timeout`."""
    return request("PUT", f"/watchdogs/{segment(name)}", dict, {**content(data), **members(settings)})


def feed_watchdog(name: str) -> Call[Json]:
    """Starts the time of a watchdog again."""
    return request("POST", f"/watchdogs/{segment(name)}:feed", dict)


# The server

def advance(by: datetime.timedelta) -> Call[Json]:
    """Moves the time of a server that was started with --test-clock."""
    return request("POST", PATH_OF_SERVER + "clock:advance", dict, {"by": duration(by)})


def outcome_of(answer: Any) -> str:
    return str(answer["outcome"])


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
