"""The leases that a worker has: extended until the outcome of each is reported.

One thread for each length of a lease extends them, and two report, many leases with one request, so no handler holds them up.
"""

from __future__ import annotations

import dataclasses
import datetime
import threading
import time
from typing import Any, Callable, Iterable, TypeVar

from . import calls
from .client import Client
from .errors import DuewheelError, Throttled, Unauthorized, Unavailable
from .handling import LOG, MANY_MAX, Job, Outbox, Outcome, failed, is_lost

T = TypeVar("T")
SAID_PAUSE_S = 0.1   # between two extensions that only carry progress
BEAT_MIN_S = 1.0     # the time of an extension, if a third of the lease is less
ERROR_PAUSE_S = 1.0  # after a call that failed
REPORTERS = 2
FOR_NOW = (Unavailable, Throttled, Unauthorized)  # failures that say nothing about what was sent: a token may be accepted again


class Leases:
    """Thread-safe. Each lease has one of the lengths that start() gets, and is extended each third of it."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.changed = threading.Condition()
        self.jobs: dict[Job, datetime.timedelta] = {}  # leased and not yet reported; guarded by changed
        self.outbox = Outbox()
        self.ended = threading.Event()
        self.beats: dict[datetime.timedelta, threading.Event] = {}  # by length: set when a job has said something, or all has ended

    def start(self, lengths: Iterable[datetime.timedelta]) -> None:
        self.beats.update((length, threading.Event()) for length in lengths)
        for length in self.beats:
            spawn(self.beat, length)
        for _ in range(REPORTERS):
            spawn(self.report_all)

    def end(self, job: Job, outcome: Outcome) -> None:
        """The outcome is reported by another thread. Does nothing for a lease that was lost or ended before."""
        if job.disown():
            self.outbox.add(job, outcome)

    def forget(self, jobs: list[Job]) -> None:
        """They are no longer extended."""
        with self.changed:
            for job in jobs:
                self.jobs.pop(job, None)
            self.changed.notify_all()

    def all(self) -> list[Job]:
        with self.changed:
            return list(self.jobs)

    def length_of(self, job: Job) -> datetime.timedelta:
        """Any, of one that is no longer held."""
        with self.changed:
            return self.jobs.get(job, datetime.timedelta(seconds=BEAT_MIN_S))

    def wait_until_empty(self, timeout_s: float, is_over: Callable[[], bool] = lambda: False) -> None:
        """Until no message is held, for up to this time, or until the wait is over for another reason."""
        deadline = time.monotonic() + timeout_s
        with self.changed:
            while self.jobs and time.monotonic() < deadline and not is_over():
                self.changed.wait(min(0.2, max(0.0, deadline - time.monotonic())))

    def close(self) -> None:
        """Ends the threads when what has ended is reported."""
        self.ended.set()
        for wake in self.beats.values():
            wake.set()
        self.outbox.close()

    # Reports

    def report_all(self) -> None:
        """What comes while a request is on its way is the next one."""
        while taken := self.outbox.take():
            self.report(taken)
            self.forget([job for job, _ in taken])

    def report(self, ended: list[tuple[Job, Outcome]]) -> None:
        """The outcomes have one verb. While the server cannot be reached, or accepts no token of the worker, it ends no leases, so they are
        sent again until the worker has ended."""
        while ended:
            for job, outcome in ended:
                if outcome.verb != "ack":
                    self.say(job, self.length_of(job))  # the next attempt gets the newest checkpoint
            answers = self.send(ended)
            for (job, outcome), answer in zip(ended, answers):
                if isinstance(answer, Exception) and not isinstance(answer, FOR_NOW):
                    self.refused(job, outcome, answer)
            kept = [(each, answer) for each, answer in zip(ended, answers) if isinstance(answer, FOR_NOW)]
            ended = [each for each, _ in kept]
            if kept:
                LOG.warning("duewheel: the %s of %d messages is not reported yet: %s", ended[0][1].verb, len(ended), kept[0][1])
                if self.ended.wait(ERROR_PAUSE_S):
                    return

    def send(self, ended: list[tuple[Job, Outcome]]) -> list[Any]:
        """For each job what the server said, or an error. A request that is refused as a whole is sent again in halves, so that only the
        outcome that is the reason is refused."""
        leases = [{"token": job.lease.token, **outcome.options} if outcome.options else job.lease for job, outcome in ended]
        try:
            return list(self.client.many(leases, ended[0][1].verb))
        except Exception as error:
            if isinstance(error, FOR_NOW) or len(ended) == 1:
                return [error] * len(ended)
            half = len(ended) // 2
            return self.send(ended[:half]) + self.send(ended[half:])

    def refused(self, job: Job, outcome: Outcome, error: Exception) -> None:
        """A result that is too large, for example, fails visibly, instead of being repeated for ever."""
        if is_lost(error):
            LOG.warning("duewheel: the %s of message %s came too late, its lease had ended: %s", outcome.verb, job.id, error)
            return
        LOG.error("duewheel: the %s of message %s was refused: %s", outcome.verb, job.id, error)
        if outcome.verb != "fail" or outcome.options.keys() != {"reason"}:
            self.report([(job, failed(f"the {outcome.verb} was refused: {error}"))])

    # Heartbeats

    def beat(self, length: datetime.timedelta) -> None:
        """Extends the leases of one length at a third of it, and at once those of jobs that have said something."""
        every_s, wake = length.total_seconds() / 3, self.beats[length]
        next_s = time.monotonic() + every_s
        while True:
            said = wake.wait(max(0.0, next_s - time.monotonic()))
            wake.clear()
            if self.ended.is_set():
                return
            due = next_s <= time.monotonic()
            if due:
                next_s = time.monotonic() + every_s
            with self.changed:
                jobs = [job for job, each in self.jobs.items() if each == length and (due or job.said)]
            self.extend(length, jobs)
            if said and self.ended.wait(SAID_PAUSE_S):
                return

    def extend(self, length: datetime.timedelta, jobs: list[Job]) -> None:
        """Those that have said something one by one, and all others with one request."""
        self.extend_silent(length, [job for job in jobs if not self.say(job, length)])

    def say(self, job: Job, length: datetime.timedelta) -> bool:
        """Extends the lease with what the job has said, if it has. One thread at a time: the end of the lease follows it."""
        with job.saying:
            said = job.take_said()
            if said:
                self.extend_with(job, length, said)
        return bool(said)

    def extend_silent(self, length: datetime.timedelta, jobs: list[Job]) -> None:
        for begin in range(0, len(jobs), MANY_MAX):
            chunk = jobs[begin:begin + MANY_MAX]
            try:
                results = self.send_in_time(calls.many([job.lease for job in chunk], "extend", lease=length), length)
            except Exception as error:
                LOG.warning("duewheel: %d leases were not extended: %s", len(chunk), error)
                continue
            for job, result in zip(chunk, results):
                self.extended(job, result)

    def send_in_time(self, call: calls.Call[T], length: datetime.timedelta) -> T:
        """A request that the network has swallowed ends when the next heartbeat is due, while the lease still lasts."""
        return self.client.transport.send(dataclasses.replace(call, time_s=max(length.total_seconds() / 3, BEAT_MIN_S)))

    def extend_with(self, job: Job, length: datetime.timedelta, said: dict[str, Any]) -> None:
        """What is refused is dropped: it never costs the lease."""
        try:
            answer: Any = self.send_in_time(calls.extend(job.lease, length, **said), length)
        except FOR_NOW as error:
            job.say_again(said)
            answer = error
        except Exception as error:
            if not is_lost(error):
                LOG.warning("duewheel: the progress of message %s was refused, and is dropped: %s", job.id, error)
                self.extend_silent(length, [job])
                return
            answer = error
        self.extended(job, answer)

    def extended(self, job: Job, result: Any) -> None:
        if is_lost(result):
            if job.disown():
                LOG.warning("duewheel: the lease of message %s was lost, and another worker may have it: %s", job.id, result)
                job.cancel("lost")
                self.forget([job])
        elif isinstance(result, DuewheelError):
            LOG.warning("duewheel: the lease of message %s was not extended: %s", job.id, result)
        elif result.get("cancel_requested"):
            job.cancel("requested")


def spawn(target: Any, *arguments: Any) -> threading.Thread:
    """A daemon thread, so that a handler that never returns does not hold up the end of the process."""
    thread = threading.Thread(target=target, args=arguments, daemon=True, name=f"duewheel-{getattr(target, '__name__', 'thread')}")
    thread.start()
    return thread
