"""Workers: functions that handle the messages of queues, with heartbeats, retries and an orderly stop.

    worker = Worker(Client("http://127.0.0.1:7420"))

    @worker.handler("mail", concurrency=5)
    def send(mail, job):
        deliver(mail["to"], mail["text"])

    worker.run()

A handler that returns has done its message, and what it returns is the result. Retry, Snooze and Dead say something else, and any
other exception fails the attempt, so that the server's retry rule decides. One thread leases for each queue, one thread extends
all leases, and each message is handled in a thread of its queue, so a handler that computes for minutes keeps its lease.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import signal
import threading
import time
import traceback
from queue import SimpleQueue
from typing import Any, Callable, Optional

from .client import Client
from .errors import Conflict, DuewheelError
from .messages import Lease
from .wire import typed

LOG = logging.getLogger("duewheel")
POLL = datetime.timedelta(seconds=20)
ERROR_PAUSE_S = 1.0  # after a lease call that failed for another reason than a missing message
CANCELLED_WITHIN_S = 1.0  # how long handlers have to notice their cancel at the end of a stop
Handler = Callable[[Any, "Job"], Any]


class Retry(Exception):
    """Raised by a handler: the attempt has failed, and the next one follows `after` this time instead of the backoff."""

    def __init__(self, reason: str = "retry", *, after: Optional[datetime.timedelta] = None) -> None:
        super().__init__(reason)
        self.after = after


class Snooze(Exception):
    """Raised by a handler: not now. The message returns after this time, and the attempt does not count."""

    def __init__(self, delay: datetime.timedelta) -> None:
        super().__init__(f"for {delay}")
        self.delay = delay


class Dead(Exception):
    """Raised by a handler: no attempt will succeed. The message is a dead letter at once."""


class Job:
    """What a handler knows about its message, and says about its work. Thread-safe."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.id, self.attempt, self.due, self.headers = lease.id, lease.attempt, lease.due, lease.headers
        self.cancelled = threading.Event()  # set when the lease is lost, a cancel was requested, or the worker stops now
        self.lock = threading.Lock()
        self.said: dict[str, Any] = {}  # progress and checkpoint that the next extension takes along; guarded by lock
        self.owned = True  # whether the lease is this worker's to end; guarded by lock

    @property
    def checkpoint(self) -> Any:
        """What an earlier attempt has said last."""
        return self.lease.checkpoint

    def progress(self, value: Any, checkpoint: Any = None) -> None:
        """Says how far the work is, 0 to 1 or any JSON of up to 1 KiB, with the next heartbeat. A checkpoint is what the next attempt
        gets if this one does not end."""
        with self.lock:
            self.said["progress"] = value
            if checkpoint is not None:
                self.said["checkpoint"] = checkpoint

    def say_again(self, said: dict[str, Any]) -> None:
        """What an extension that failed had taken along, unless there is newer."""
        with self.lock:
            self.said = {**said, **self.said}

    def take_said(self) -> dict[str, Any]:
        with self.lock:
            said, self.said = self.said, {}
            return said

    def disown(self) -> bool:
        """From now on no other thread ends the lease. False if it was disowned before."""
        with self.lock:
            owned, self.owned = self.owned, False
            return owned


@dataclasses.dataclass
class Route:
    """A queue and its handler."""
    queue: str
    handler: Handler
    concurrency: int
    lease: datetime.timedelta
    kind: Optional[type]  # of the data, if it is not handled as it came
    waiting: SimpleQueue[Optional[Job]] = dataclasses.field(default_factory=SimpleQueue)  # for a thread; None ends one


class Worker:
    """Handles messages of one or more queues. stop_timeout is how long running handlers have to finish after stop() or SIGTERM."""

    def __init__(self, client: Client, *, name: Optional[str] = None, stop_timeout: datetime.timedelta = datetime.timedelta(seconds=25)) -> None:
        self.client, self.name, self.stop_timeout_s = client, name, stop_timeout.total_seconds()
        self.routes: list[Route] = []
        self.threads: list[threading.Thread] = []
        self.changed = threading.Condition()
        self.jobs: dict[Job, Route] = {}  # running; guarded by changed
        self.stopping = False             # guarded by changed
        self.ended = threading.Event()

    def handler(self, queue: str, *, concurrency: int = 1, lease: datetime.timedelta = datetime.timedelta(seconds=30),
                type: Optional[type] = None) -> Callable[[Handler], Handler]:
        """Declares the function that handles the messages of a queue, up to `concurrency` at once. It is called with the data of the
        message and its Job. The lease is extended each third of its length while the function runs. `type` is a dataclass or a
        pydantic model that the data is made into; data that does not fit fails its attempt."""
        def declare(function: Handler) -> Handler:
            self.routes.append(Route(queue, function, concurrency, lease, type))
            return function
        return declare

    def run(self) -> None:
        """Works until SIGTERM or SIGINT, and then stops in order; a second signal stops at once. To be called by the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.on_signal)
        self.start()
        while not self.stopping:
            self.ended.wait(0.2)  # short, because a signal is handled between two calls of the main thread
        self.finish(self.stop_timeout_s)

    def on_signal(self, *unused: object) -> None:
        if self.stopping:
            self.stop_timeout_s = 0
        self.stopping = True

    def start(self) -> None:
        """Begins to work in threads, and returns."""
        for route in self.routes:
            self.spawn(self.poll, route)
            for _ in range(route.concurrency):
                self.spawn(self.handle, route)
        self.spawn(self.beat)

    def stop(self, timeout: Optional[datetime.timedelta] = None) -> None:
        """Leases no more, waits for running handlers, cancels those that are late, and releases what is left: their attempts do
        not count. Returns when this worker holds no message any more."""
        with self.changed:
            self.stopping = True
            self.changed.notify_all()
        self.finish(self.stop_timeout_s if timeout is None else timeout.total_seconds())

    def spawn(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True, name=f"duewheel-{target.__name__}")
        thread.start()
        self.threads.append(thread)

    def poll(self, route: Route) -> None:
        """Leases as many messages as handlers of the queue are free."""
        while True:
            free = self.wait_for_room(route)
            if not free:
                return
            try:
                leases = self.client.lease(route.queue, max=free, lease=route.lease, wait=POLL, worker=self.name)
            except DuewheelError as error:
                LOG.warning("duewheel: no lease of queue %s: %s", route.queue, error)
                self.ended.wait(ERROR_PAUSE_S)
                continue
            for lease in leases:
                self.begin(route, lease)

    def wait_for_room(self, route: Route) -> int:
        with self.changed:
            while True:
                free = route.concurrency - sum(each is route for each in self.jobs.values())
                if self.stopping:
                    return 0
                if free > 0:
                    return free
                self.changed.wait(1)

    def begin(self, route: Route, lease: Lease) -> None:
        """A message that comes while the worker stops goes back at once."""
        job = Job(lease)
        with self.changed:
            stopping = self.stopping
            if not stopping:
                self.jobs[job] = route
        if stopping:
            self.give_back(job)
        else:
            route.waiting.put(job)

    def handle(self, route: Route) -> None:
        """A thread of the queue. It is a daemon, so that a handler that never returns does not hold up the end of the process."""
        while True:
            job = route.waiting.get()
            if not job:
                return
            self.carry_out(route, job)

    def carry_out(self, route: Route, job: Job) -> None:
        """Handles one message, and reports what came of it."""
        try:
            self.report(job, *self.outcome_of(route, job))
        finally:
            with self.changed:
                self.jobs.pop(job, None)
                self.changed.notify_all()

    @staticmethod
    def outcome_of(route: Route, job: Job) -> tuple[str, dict[str, Any]]:
        """The call that ends the lease, and its options."""
        try:
            return "ack", {"result": route.handler(typed(job.lease.data, route.kind), job)}
        except Retry as outcome:
            return "fail", {"reason": str(outcome), "retry_in": outcome.after}
        except Snooze as outcome:
            return "release", {"delay": outcome.delay}
        except Dead as outcome:
            return "fail", {"reason": str(outcome), "dead": True}
        except BaseException as error:  # SystemExit of a handler too: it ends the attempt, and not the worker
            LOG.warning("duewheel: the handler of message %s failed", job.id, exc_info=True)
            return "fail", {"reason": "".join(traceback.format_exception(error)).strip()}

    def report(self, job: Job, verb: str, options: dict[str, Any]) -> None:
        if not job.disown():
            return  # the lease was lost or given back meanwhile, and that was logged
        try:
            getattr(self.client, verb)(job.lease, **options)
        except Conflict as error:
            LOG.warning("duewheel: what became of message %s is not recorded, its lease had ended: %s", job.id, error)
        except (DuewheelError, TypeError, ValueError) as error:
            # The result may be no JSON, or too large. Its attempt fails visibly instead of being repeated for ever.
            LOG.error("duewheel: the %s of message %s was refused: %s", verb, job.id, error)
            if verb != "fail":
                self.fail_with(job, f"the {verb} was refused: {error}")

    def fail_with(self, job: Job, reason: str) -> None:
        try:
            self.client.fail(job.lease, reason)
        except DuewheelError as error:
            LOG.warning("duewheel: message %s was not failed: %s", job.id, error)

    def beat(self) -> None:
        """Extends all leases, each queue's at a third of their length, until the worker has ended."""
        next_s = {id(route): time.monotonic() + route.lease.total_seconds() / 3 for route in self.routes}
        while self.routes and not self.ended.wait(max(0.0, min(next_s.values()) - time.monotonic())):
            for route in self.routes:
                if next_s[id(route)] <= time.monotonic():
                    next_s[id(route)] = time.monotonic() + route.lease.total_seconds() / 3
                    with self.changed:
                        jobs = [job for job, each in self.jobs.items() if each is route]
                    self.extend(route, jobs)

    def extend(self, route: Route, jobs: list[Job]) -> None:
        """Those that have said something one by one, and all others with one request."""
        silent = []
        for job in jobs:
            said = job.take_said()
            if said:
                try:
                    self.extended(job, self.client.extend(job.lease, route.lease, **said))
                except DuewheelError as error:
                    job.say_again(said)
                    self.extended(job, error)
            else:
                silent.append(job)
        for begin in range(0, len(silent), 1000):
            chunk = silent[begin:begin + 1000]
            try:
                results = self.client.many([job.lease for job in chunk], "extend", lease=route.lease)
            except DuewheelError as error:
                LOG.warning("duewheel: %d leases of queue %s were not extended: %s", len(chunk), route.queue, error)
                continue
            for job, result in zip(chunk, results):
                self.extended(job, result)

    @staticmethod
    def extended(job: Job, result: Any) -> None:
        if isinstance(result, Conflict):
            if job.disown():
                LOG.warning("duewheel: the lease of message %s was lost; its handler is cancelled: %s", job.id, result)
            job.cancelled.set()
        elif isinstance(result, DuewheelError):
            LOG.warning("duewheel: the lease of message %s was not extended: %s", job.id, result)
        elif result.get("cancel_requested"):
            job.cancelled.set()

    def finish(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        self.wait_for_jobs(lambda: min(deadline, time.monotonic() + self.stop_timeout_s))
        with self.changed:
            late = list(self.jobs)
        for job in late:
            job.cancelled.set()
        end = time.monotonic() + (CANCELLED_WITHIN_S if timeout_s and self.stop_timeout_s else 0)
        self.wait_for_jobs(lambda: end)
        with self.changed:
            late = list(self.jobs)
        for job in late:
            self.give_back(job)
        self.ended.set()
        for route in self.routes:
            for _ in range(route.concurrency):
                route.waiting.put(None)

    def wait_for_jobs(self, deadline: Callable[[], float]) -> None:
        """Until no handler runs, or the deadline, which a second signal may bring forward."""
        with self.changed:
            while self.jobs and time.monotonic() < deadline():
                self.changed.wait(min(0.2, max(0.0, deadline() - time.monotonic())))

    def give_back(self, job: Job) -> None:
        if job.disown():
            try:
                self.client.release(job.lease)
            except DuewheelError as error:
                LOG.warning("duewheel: message %s was not released: %s", job.id, error)
