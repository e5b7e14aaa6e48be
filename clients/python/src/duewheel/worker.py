"""Workers: functions that handle the messages of queues, with heartbeats, retries and an orderly stop.

    worker = Worker(Client("http://127.0.0.1:7420"))

    @worker.handler("mail", concurrency=5)
    def send(mail, job):
        deliver(mail["to"], mail["text"])

    worker.run()

A handler that returns has done its message, and what it returns is the result. Retry, Snooze and Dead say something else, and any
other exception fails the attempt, so that the server's retry rule decides. A function is called in a thread, and a coroutine runs in
an event loop. One thread leases for each queue (polls.py), and others keep the leases (leases.py), so a handler that computes for minutes
keeps its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import inspect
import logging
import signal
import threading
import time
from concurrent.futures import CancelledError
from queue import SimpleQueue
from typing import Any, Callable, ContextManager, Iterator, Optional, Union

from .client import AsyncClient, Client
from .errors import DuewheelError, Unauthorized
from .handling import LOG, MANY_MAX, Handler, Job, Outcome, Retry, Route, Types
from .leases import ERROR_PAUSE_S, Leases, spawn
from .messages import Lease
from .polls import Polls

Around = Callable[[Job], ContextManager[Any]]
POLL = datetime.timedelta(seconds=20)
LEASE = datetime.timedelta(seconds=30)
GATHER_S = 0.005     # how long to wait for more free handlers before the next lease call
UNREPORTED_MAX = 1000  # messages whose handler has returned, while no outcome is accepted
CANCELLED_WITHIN_S = 1.0  # how long handlers have to notice their cancel at the end of a stop


class Worker:
    """Handles messages of one or more queues. stop_timeout is how long running handlers have to finish after stop() or SIGTERM. The
    worker uses its own connections, with the settings of the client."""

    def __init__(self, client: Union[Client, AsyncClient], *, name: Optional[str] = None,
                 stop_timeout: datetime.timedelta = datetime.timedelta(seconds=25)) -> None:
        self.client = Client(**client.settings.options())
        self.name, self.stop_timeout_s = name, stop_timeout.total_seconds()
        self.routes: list[Route] = []
        self.schedules: list[Callable[[], Any]] = []  # calls that put them
        self.contexts: list[Around] = []
        self.leases = Leases(self.client)
        self.changed = self.leases.changed
        self.started = False
        self.stopping = False             # guarded by changed
        self.queues: dict[Route, SimpleQueue[Optional[Job]]] = {}  # jobs for the threads of a route; None ends one
        self.polls: Optional[Polls] = None
        self.pollers: list[threading.Thread] = []
        self.loop: Optional[asyncio.AbstractEventLoop] = None  # where coroutines run
        self.own_loop: Optional[asyncio.AbstractEventLoop] = None  # the same, if it has a thread of this worker

    # What it does

    def handler(self, queue: str, *, concurrency: int = 1, lease: datetime.timedelta = LEASE, type: Types = None) -> Callable[[Handler], Handler]:
        """Declares the function or coroutine that handles the messages of a queue, up to `concurrency` at once. It is called with the
        data of the message and its Job. The lease is extended each third of its length while it runs. `type` is a dataclass, a model
        of pydantic or a struct of msgspec that the data is made into; or a mapping of such types by the header `kind` of the message.
        Data that does not fit fails its attempt."""
        if self.started:
            raise RuntimeError("declare handlers before the worker starts")
        if concurrency < 1:
            raise ValueError(f"the concurrency of the queue {queue} is {concurrency}: give it 1 or more")
        if any(route.queue == queue for route in self.routes):
            raise ValueError(f"the queue {queue} has a handler already: give it one handler, and several types if it has several kinds")

        def declare(function: Handler) -> Handler:
            self.routes.append(Route(queue, function, concurrency, lease, type))
            return function
        return declare

    def schedule(self, cron: str, *, name: Optional[str] = None, data: Any = None, lease: datetime.timedelta = LEASE,
                 **settings: Any) -> Callable[[Handler], Handler]:
        """Declares a function that is called at the times of `cron`, in one of all workers that declare it. Its schedule is put by
        name, that of the function by default, when the worker starts, and so is its queue. `settings` are those of a schedule: zone,
        misfire, overlap ..."""
        def declare(function: Handler) -> Handler:
            queue = name or function.__name__
            self.schedules.append(lambda: self.client.set_schedule(queue, data, queue=queue, cron=cron, **settings))
            return self.handler(queue, lease=lease)(function)
        return declare

    def checker(self, queue: str, **options: Any) -> Callable[[Handler], Handler]:
        """Declares the function that says what became of a transaction whose producer did not: True commits its message, False rolls
        it back, and None asks again later. It is called with the data of the message, and a Job of the check."""
        def decide(job: Job, verdict: Any) -> None:
            if verdict is None or not job.lease.check:
                raise Retry("what became of the transaction is not known yet")
            self.client.act(job.lease.check.message, "commit" if verdict else "rollback")

        def declare(function: Handler) -> Handler:
            def check(data: Any, job: Job) -> None:
                decide(job, function(data, job))

            async def check_in_loop(data: Any, job: Job) -> None:
                await asyncio.to_thread(decide, job, await function(data, job))
            self.handler(queue, **options)(check_in_loop if inspect.iscoroutinefunction(function) else check)
            return function
        return declare

    def around(self, context: Around) -> Around:
        """Declares what is done around each handler, in its thread or task: a function that takes the Job and returns a context manager.
        What a handler raises goes through it."""
        self.contexts.append(context)
        return context

    # Its life

    def run(self) -> None:
        """Works until SIGTERM or SIGINT, and then stops in order; a second signal stops at once. To be called by the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.on_signal)
        self.start()
        while not self.stopping:
            self.leases.ended.wait(0.2)  # short, because a signal is handled between two calls of the main thread
        self.finish(self.stop_timeout_s)

    def on_signal(self, *unused: object) -> None:
        if self.stopping:
            self.stop_timeout_s = 0
        self.stopping = True

    def start(self) -> None:
        """Puts the schedules, begins to work in threads, and returns. Raises DuewheelError if the server refuses a schedule."""
        self.started = True
        for put in self.schedules:
            put()
        if not self.loop and any(route.is_async for route in self.routes):
            self.loop = self.own_loop = asyncio.new_event_loop()
            spawn(self.loop.run_forever)
        for route in self.routes:
            if not route.is_async:
                self.queues[route] = SimpleQueue()
                for _ in range(route.concurrency):
                    spawn(self.handle, route, self.queues[route])
        self.leases.start(route.lease for route in self.routes)
        self.polls = Polls(self.client.settings)
        self.pollers = [spawn(self.poll, route, self.polls) for route in self.routes]  # the last ones: a message may come at once

    def stop(self, timeout: Optional[datetime.timedelta] = None) -> None:
        """Leases no more, waits for running handlers, cancels those that are late, and releases what is left: their attempts do
        not count. Returns when this worker holds no message any more."""
        self.finish(self.stop_timeout_s if timeout is None else timeout.total_seconds())

    # Leases

    def poll(self, route: Route, polls: Polls) -> None:
        """Leases as many messages as handlers of the queue are free. A call that may wait can be cancelled, and costs more time than one that
        does not, which is enough while there are messages."""
        leases: list[Lease] = []
        while True:
            free = self.wait_for_room(route)
            if not free:
                return
            options: dict[str, Any] = {"max": min(free, MANY_MAX), "lease": route.lease, "worker": self.name}
            try:
                leases = self.client.lease(route.queue, **options) if leases else polls.lease(route.queue, wait=POLL, **options).result()
            except CancelledError:
                return
            except Exception as error:  # a bug too: without it the queue would silently have no worker any more
                LOG.log(logging.WARNING if isinstance(error, DuewheelError) and not isinstance(error, Unauthorized) else logging.ERROR,
                        "duewheel: no lease of queue %s: %s", route.queue, error)
                with self.changed:
                    self.changed.wait_for(lambda: self.stopping, ERROR_PAUSE_S)
                continue
            self.begin(route, leases)

    def wait_for_room(self, route: Route) -> int:
        """The number of free handlers, when there are some; 0 when the worker stops."""
        with self.changed:
            while not self.stopping and self.room(route) <= 0:
                self.changed.wait(1)
            until_s = time.monotonic() + GATHER_S
            while not self.stopping and 2 * self.room(route) < route.concurrency and time.monotonic() < until_s:
                self.changed.wait(GATHER_S)
            return 0 if self.stopping else max(1, self.room(route))  # there was room, and a handler that has ended may fill it

    def room(self, route: Route) -> int:
        """How many more messages of this queue it may have."""
        unreported = len(self.leases.jobs) - sum(each.running for each in self.routes)
        return min(route.concurrency - route.running, UNREPORTED_MAX - unreported)

    def begin(self, route: Route, leases: list[Lease]) -> None:
        """Messages that come while the worker stops go back at once."""
        if not leases:
            return
        jobs = [Job(lease, self.leases.beats[route.lease].set) for lease in leases]
        with self.changed:
            stopping = self.stopping
            self.leases.jobs.update((job, route.lease) for job in jobs)
            if not stopping:
                route.running += len(jobs)
        if stopping:
            for job in jobs:
                self.leases.end(job, Outcome("release"))
        elif self.loop and route.is_async:
            self.loop.call_soon_threadsafe(self.begin_tasks, route, jobs)
        else:
            for job in jobs:
                self.queues[route].put(job)

    # Handlers

    def handle(self, route: Route, queue: SimpleQueue[Optional[Job]]) -> None:
        """A thread of a route."""
        while True:
            job = queue.get()
            if not job:
                return
            try:
                with self.surroundings(job):
                    value = route.handler(route.data_of(job), job)
                outcome = route.returned(job, value)
            except BaseException as error:  # SystemExit of a handler too: it ends the attempt, and not the worker
                outcome = route.raised(job, error)
            self.end(route, job, outcome)

    @contextlib.contextmanager
    def surroundings(self, job: Job) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for context in self.contexts:
                stack.enter_context(context(job))
            yield

    def begin_tasks(self, route: Route, jobs: list[Job]) -> None:
        """In the event loop."""
        for job in jobs:
            job.task = asyncio.get_running_loop().create_task(self.handle_in_loop(route, job))

    async def handle_in_loop(self, route: Route, job: Job) -> None:
        try:
            with self.surroundings(job):
                value = await route.handler(route.data_of(job), job)
            outcome = route.returned(job, value)
        except BaseException as error:
            outcome = route.raised(job, error)
        self.end(route, job, outcome)

    def end(self, route: Route, job: Job, outcome: Outcome) -> None:
        """The handler is free for another message, and the outcome is reported by another thread."""
        self.leases.end(job, outcome)
        with self.changed:
            route.running -= 1
            self.changed.notify_all()

    # The stop

    def finish(self, timeout_s: float) -> None:
        LOG.info("duewheel: the worker stops; handlers of %d messages have up to %g s", len(self.leases.all()), timeout_s)
        with self.changed:
            self.stopping = True
            self.changed.notify_all()
            polls, self.polls = self.polls, None
        if polls:
            polls.end()
        for poller in self.pollers:  # a message that came at the last moment goes back
            poller.join(CANCELLED_WITHIN_S)
        self.leases.wait_until_empty(timeout_s, lambda: not self.stop_timeout_s)  # which a second signal makes 0
        for job in self.leases.all():
            job.cancel("stop")
        self.leases.wait_until_empty(CANCELLED_WITHIN_S if timeout_s and self.stop_timeout_s else 0)
        for job in self.leases.all():
            self.leases.end(job, Outcome("release"))
        self.leases.wait_until_empty(self.client.settings.timeout_s)  # until their release is reported
        self.leases.close()
        for route, queue in self.queues.items():
            for _ in range(route.concurrency):
                queue.put(None)
        if self.own_loop:
            self.own_loop.call_soon_threadsafe(self.own_loop.stop)


class AsyncWorker(Worker):
    """A worker of a program with asyncio: its coroutines run as tasks of the loop that awaits run(). Functions run in threads, and so
    does all that keeps the leases, so a task that blocks the loop loses nothing."""

    async def run(self) -> None:  # type: ignore[override]
        """Works until SIGTERM, SIGINT or a cancel of this task, and then stops in order; a second signal stops at once."""
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()

        def on_signal() -> None:
            self.on_signal()
            stop.set()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, on_signal)
        try:
            await self.start_here()
            await stop.wait()
        finally:
            await self.stop_here()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    async def start_here(self) -> None:
        """Begins to work in this loop, and returns."""
        self.loop = asyncio.get_running_loop()
        await asyncio.to_thread(self.start)

    async def stop_here(self, timeout: Optional[datetime.timedelta] = None) -> None:
        """stop(), while the loop goes on."""
        await asyncio.to_thread(self.stop, timeout)
