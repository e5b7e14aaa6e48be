"""What a worker knows about one message, and what its handler may say about it. No thread and no I/O."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import datetime
import inspect
import json
import logging
import threading
import traceback
from collections import OrderedDict
from typing import Any, Callable, Mapping, Optional, Union

from .errors import DuewheelError
from .messages import Lease
from .typed import typed
from .wire import copied

LOG = logging.getLogger("duewheel")
Handler = Callable[[Any, "Job"], Any]
Types = Union[type, Mapping[str, type], None]
MANY_MAX = 1000  # leases that one request may end or extend
BODY_MAX = 1 << 20  # bytes of results and reasons in one request of several
REASON_MAX = 4096  # bytes of a reason; the end of a longer one is sent


class Retry(Exception):
    """Raised by a handler: the attempt has failed, and the next one follows `after` this time instead of the backoff."""

    def __init__(self, reason: str = "retry", *, after: Optional[datetime.timedelta] = None) -> None:
        super().__init__(reason)
        self.after = None if after is None else checked(after)


class Snooze(Exception):
    """Raised by a handler: not now. The message returns after this time, or at this instant, and the attempt does not count."""

    def __init__(self, delay: Optional[datetime.timedelta] = None, *, until: Optional[datetime.datetime] = None) -> None:
        if (delay is None) == (until is None):
            raise TypeError("Snooze takes either a delay or `until`")
        super().__init__(f"for {delay}" if delay is not None else f"until {until}")
        self.delay = checked(delay) if until is None else max(until - datetime.datetime.now(until.tzinfo), datetime.timedelta())


class Dead(Exception):
    """Raised by a handler: no attempt will succeed. The message is a dead letter at once."""


def checked(pause: Any) -> datetime.timedelta:
    """The time until a message returns. Raises in the handler, so that its attempt fails visibly."""
    if not isinstance(pause, datetime.timedelta):
        raise TypeError(f"{pause!r} is no datetime.timedelta")
    if pause < datetime.timedelta():
        raise ValueError(f"{pause} is negative")
    return pause


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The call that ends a lease, with its options."""
    verb: str
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def failed(reason: str, **options: Any) -> Outcome:
    """The attempt has failed, with the end of a long reason."""
    text = reason.encode(errors="replace")  # half a surrogate has no encoding
    return Outcome("fail", {"reason": text[-REASON_MAX:].decode(errors="ignore"), **options})


class Job:
    """What a handler knows about its message, and says about its work. Thread-safe.

    cancelled   is set when the lease is lost, a cancel of the running work was requested, or the worker stops now. `why` says which:
                "lost", "requested" or "stop". A handler that is a coroutine is cancelled then, too.
    """

    def __init__(self, lease: Lease, on_said: Callable[[], None] = lambda: None) -> None:
        self.lease, self.on_said = lease, on_said
        self.id, self.attempt, self.checkpoint = lease.id, lease.attempt, lease.checkpoint
        self.headers: Mapping[str, str] = lease.headers or {}
        self.cancelled = threading.Event()
        self.why = ""
        self.task: Optional[asyncio.Task[None]] = None
        self.lock = threading.Lock()
        self.saying = threading.Lock()  # held while an extension with progress or checkpoint is sent
        self.said: dict[str, Any] = {}  # progress and checkpoint that the next extension takes along; guarded by lock
        self.owned = True  # whether the lease is this worker's to end; guarded by lock

    @property
    def group(self) -> Optional[str]:
        return self.lease.group

    @property
    def due(self) -> datetime.datetime:
        return self.lease.due

    @property
    def lateness(self) -> datetime.timedelta:
        """How late the server delivered it, beyond the time when no consumer was there to take it."""
        return self.lease.lateness

    @property
    def deadline(self) -> datetime.datetime:
        """When the lease ends by itself, as of its delivery; heartbeats postpone it."""
        return self.lease.lease_until

    def progress(self, value: Any, checkpoint: Any = None) -> None:
        """Says how far the work is: 0 to 1, or any JSON of up to 1 KiB. A checkpoint is what the next attempt gets if this one does
        not end. Both are sent soon, by another thread, and only the newest ones; before a failure, at the latest. What is refused is logged
        and dropped."""
        try:
            said = {"progress": copied(value), **({} if checkpoint is None else {"checkpoint": copied(checkpoint)})}
        except (TypeError, ValueError, RuntimeError) as error:
            LOG.warning("duewheel: the progress of message %s is no JSON, and is dropped: %s", self.id, error)
            return
        with self.lock:
            self.said.update(said)
        self.on_said()

    def say_again(self, said: dict[str, Any]) -> None:
        """What an extension that failed had taken along, unless there is newer."""
        with self.lock:
            self.said = {**said, **self.said}

    def take_said(self) -> dict[str, Any]:
        with self.lock:
            said, self.said = self.said, {}
            return said

    def cancel(self, why: str) -> None:
        """Once; later reasons change nothing."""
        with self.lock:
            if self.cancelled.is_set():
                return
            self.why = why
            self.cancelled.set()
        task = self.task
        if task:
            task.get_loop().call_soon_threadsafe(task.cancel)

    def disown(self) -> bool:
        """From now on no other thread ends the lease. False if it was disowned before."""
        with self.lock:
            owned, self.owned = self.owned, False
            return owned


@dataclasses.dataclass(eq=False)
class Route:
    """A queue and its handler."""
    queue: str
    handler: Handler
    concurrency: int
    lease: datetime.timedelta
    type: Types
    running: int = 0  # handlers; guarded by Worker.changed

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.handler)

    def data_of(self, job: Job) -> Any:
        """The data as the type that the handler declared. Raises TypeError if it does not fit."""
        if not isinstance(self.type, Mapping):
            return typed(job.lease.data, self.type)
        kind = job.headers.get("kind", "")
        if kind not in self.type:
            raise TypeError(f"no type is declared for the kind `{kind}` of this message: its header `kind` is one of {', '.join(self.type)}")
        return typed(job.lease.data, self.type[kind])

    def returned(self, job: Job, value: Any) -> Outcome:
        """A result that is no JSON fails the attempt visibly, instead of being repeated for ever."""
        if value is None:
            return Outcome("ack")
        try:
            return Outcome("ack", {"result": copied(value)})
        except (TypeError, ValueError, RuntimeError) as error:  # the last one: nested without end, or changed by another thread
            LOG.error("duewheel: the result of message %s is no JSON: %s", job.id, error)
            return failed(f"the result is no JSON: {error}")

    def raised(self, job: Job, error: BaseException) -> Outcome:
        if isinstance(error, Snooze):
            return Outcome("release", {"delay": error.delay})
        if isinstance(error, Retry):
            return failed(str(error), retry_in=error.after)
        if isinstance(error, Dead):
            return failed(str(error), dead=True)
        if job.why == "stop":
            return Outcome("release")
        if isinstance(error, asyncio.CancelledError):
            return failed("the handler was cancelled")
        LOG.warning("duewheel: the handler of message %s failed", job.id, exc_info=error)
        return failed("".join(traceback.format_exception(type(error), error, error.__traceback__)).strip())


class Outbox:
    """What is to be reported to the server. Thread-safe."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.waiting: OrderedDict[str, collections.deque[tuple[Job, Outcome]]] = OrderedDict()  # by verb; guarded by changed
        self.closed = False                                                                      # guarded by changed

    def add(self, job: Job, outcome: Outcome) -> None:
        with self.changed:
            self.waiting.setdefault(outcome.verb, collections.deque()).append((job, outcome))
            self.changed.notify()

    def take(self) -> list[tuple[Job, Outcome]]:
        """Outcomes of one verb, up to what one request may have; what comes meanwhile joins the next one. Empty when it is closed."""
        with self.changed:
            while not self.waiting:
                if self.closed:
                    return []
                self.changed.wait()
            verb, waiting = self.waiting.popitem(last=False)
            taken: list[tuple[Job, Outcome]] = []
            room = BODY_MAX
            while waiting and len(taken) < MANY_MAX:
                room -= size_of(waiting[0][1].options)
                if taken and room < 0:  # a result that is too large is refused alone
                    break
                taken.append(waiting.popleft())
            if waiting:
                self.waiting[verb] = waiting
            return taken

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()


def size_of(options: Mapping[str, Any]) -> int:
    return len(json.dumps(options, default=str)) if options else 0


def is_lost(error: Any) -> bool:
    """Whether the answer to an extension says that this worker no longer has the message."""
    return isinstance(error, DuewheelError) and error.code == "lease_ended"
