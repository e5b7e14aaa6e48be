"""Workers that live while their servers are stopped, killed and replaced, and a judge of what happens to their leases.

Each worker is one connection: it leases a job, extends the lease each third of its length, and acknowledges the job when its
work is done. When the connection breaks, it connects again, to whichever server answers, and goes on with its token. Some jobs
fail, are released, or are abandoned by a worker that dies. The promise is C8 of docs/promises.md; the rules are below, in
Crew.check() and Crew.judge().

Used by worker_restarts_test.py, and by tests/kafka/kafka_worker_takeovers_test.py for a log with several nodes.
"""

import asyncio
import collections
import contextlib
import dataclasses
import json
import math
import random
import time
import urllib.parse

from raw_sockets import request

WITHIN_S = 240   # of what must happen at last, on a slow machine
RECORDED_S = 0.2  # an attempt that lasts so long is in the log with the next batch
UNASKED_S = 8    # from the last answer of a node that was replaced, without a test's doing, until the next one is ready
QUEUE = "jobs"
GONE = (OSError, EOFError)


@dataclasses.dataclass
class Load:
    """How much of it all, and how long it takes. The leases differ from worker to worker."""
    workers: int
    work_s: tuple   # the shortest and the longest job
    lease_s: tuple
    falls: int      # of the server
    rest_s: tuple   # between them


@dataclasses.dataclass(eq=False)
class Lease:
    """One delivery as its worker saw it. Instants are of the worker's monotonic clock, those in _ms of the server's."""
    job: int
    message: str
    token: str
    attempt: int
    maybe_delivered: bool
    lease_s: int
    granted_at: float
    delivered_ms: int
    until_ms: int
    renewed_at: float
    late: bool = False    # the worker itself was too late with an extension
    end: str = ""         # done, failed, released, abandoned, refused
    unsure: bool = False  # whether the call that ended it took effect before its answer was lost


@dataclasses.dataclass
class Fall:
    """An instant at which the server went away. What it had not written before is forgotten, unless it was stopped."""
    at: float
    forgets: bool
    batch_s: float  # the longest that a batch took at that time
    held: list
    over_at: float = math.inf  # another run serves

    def may_forget(self, lease):
        return self.may_forget_since(lease.granted_at)

    def may_forget_since(self, at):
        """What was granted or extended then."""
        return self.forgets and self.at - RECORDED_S - self.batch_s < at < self.over_at


class Connection:
    """One connection that is kept, to one of several ports; another one after a failure or a redirect."""

    def __init__(self, ports):
        self.ports, self.port = ports, ports[0]
        self.reader = self.writer = None

    async def once(self, method, path, value, within_s):
        """(status, body); raises GONE. A redirect and a node without the log are answers, and the next call goes elsewhere."""
        try:
            async with asyncio.timeout(within_s):
                if not self.writer:
                    self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
                self.writer.write(request(method, path, value))
                status, fields, body = await self.read()
        except GONE:
            self.close()
            self.elsewhere()
            raise
        if status == 307:
            self.close()
            self.port = urllib.parse.urlsplit(fields["location"]).port
        elif status == 503:
            self.close()
            self.elsewhere()
        return status, json.loads(body or b"null")

    async def read(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        return int(head[0].split()[1]), fields, await self.reader.readexactly(int(fields.get("content-length", 0)))

    def elsewhere(self):
        self.port = self.ports[(self.ports.index(self.port) + 1) % len(self.ports)]

    def close(self):
        if self.writer:
            self.writer.transport.abort()
        self.writer = None


class Job:
    """What a worker does with a job of this number: the same each time that it is asked."""

    def __init__(self, seed, number, load):
        randomness = random.Random(f"{seed} {number}")
        self.number = number
        self.work_s = randomness.uniform(*load.work_s)
        self.fate = randomness.choices(["done", "failed", "released", "abandoned"], [80, 8, 6, 6])[0]

    def put(self):
        """A plain job has one attempt: it is a dead letter if a restart uses that up."""
        return {"body": f"{self.number}", "key": f"job {self.number}",
                "retry": {"attempts": 1 if self.fate in ("done", "released") else 4, "first": "200ms"}}


class Worker:
    def __init__(self, crew, number):
        self.crew, self.number = crew, number
        self.connection = Connection(crew.ports)
        self.lease_s = crew.load.lease_s[number % len(crew.load.lease_s)]
        # A node that is paused answers nothing; some workers wait until it wakes.
        self.patience_s = 30 if number % 2 else 3

    async def run(self):
        for _ in range(2 if self.number % 4 == 0 else 1):
            await self.put()
        while self.crew.unfinished or not self.crew.ending:
            lease = await self.lease()
            if lease and await self.work(lease) == "done" and not self.crew.ending:
                await self.put()

    async def put(self):
        job = self.crew.new_job()
        status, answer, _, _ = await self.ask(f"/v1/queues/{QUEUE}/messages", job.put())
        if status not in (200, 201):
            self.crew.wrong.append(f"the put of job {job.number}: {status} {answer}")

    async def lease(self):
        """None if there was none, or nobody knows."""
        try:
            status, answer = await self.connection.once(
                "POST", f"/v1/queues/{QUEUE}:lease", {"wait": "1s", "lease": f"{self.lease_s}s"}, self.patience_s)
        except ConnectionRefusedError:
            await asyncio.sleep(0.05)
            return None
        except GONE:
            self.crew.unanswered += 1
            return None
        if status != 200 or not answer["messages"]:
            await asyncio.sleep(0.05 if status != 200 else 0)
            return None
        message, = answer["messages"]
        now = time.monotonic()
        lease = Lease(job=int(message["body"]), message=message["id"], token=message["lease"], attempt=message["attempt"],
                      maybe_delivered=message["maybe_delivered"], lease_s=self.lease_s, granted_at=now,
                      delivered_ms=message["delivered_ms"], until_ms=message["lease_until_ms"], renewed_at=now)
        self.crew.leases[lease.job].append(lease)
        self.crew.held.add(lease)
        return lease

    async def work(self, lease):
        job = self.crew.jobs[lease.job]
        fate = job.fate if not any(each.end == job.fate for each in self.crew.leases[job.number]) else "done"
        finish = lease.granted_at + job.work_s * (0.5 if fate == "abandoned" else 1)
        try:
            while lease.end == "":
                beat = lease.renewed_at + lease.lease_s / 3
                await asyncio.sleep(min(beat, finish) - time.monotonic())
                if finish <= beat:
                    await self.end(lease, fate)
                else:
                    await self.extend(lease)
        finally:
            self.crew.held.discard(lease)
        return lease.end

    async def extend(self, lease):
        lease.late = lease.late or time.monotonic() > lease.renewed_at + lease.lease_s * 2 / 3
        status, answer, _, sent_at = await self.ask(f"/v1/leases/{lease.token}:extend", {"lease": f"{lease.lease_s}s"})
        if status == 200:
            lease.until_ms, lease.renewed_at = answer["lease_until_ms"], sent_at
        else:
            self.crew.refused(lease, "extension", status, answer)

    async def end(self, lease, fate):
        if fate == "abandoned":  # its worker dies, and another one is started
            self.connection.close()
            lease.end = fate
            return
        lease.late = lease.late or time.monotonic() > lease.renewed_at + lease.lease_s * 2 / 3
        verb, value, outcome = {"done": ("ack", None, "done"), "failed": ("fail", {"reason": "no luck"}, "retrying"),
                                "released": ("release", {"delay": "100ms"}, "released")}[fate]
        status, answer, tries, _ = await self.ask(f"/v1/leases/{lease.token}:{verb}", value)
        if status == 200 and answer["outcome"] == outcome:
            lease.end = fate
            if fate == "done":
                self.crew.finished(lease)
        elif fate != "done" and tries > 1 and status == 409:  # it took effect, and is not repeated as an ack is
            lease.end, lease.unsure = fate, True
        else:
            self.crew.refused(lease, verb, status, answer)

    async def ask(self, path, value):
        """(status, answer, tries, when the last one was sent) of a POST, repeated until a server that owns the log answers."""
        began = time.monotonic()
        tries = 0
        while True:
            tries += 1
            sent_at = time.monotonic()
            with contextlib.suppress(*GONE), self.crew.commit():
                status, answer = await self.connection.once("POST", path, value, 3)
                if status not in (307, 503):
                    return status, answer, tries, sent_at
            assert time.monotonic() < began + WITHIN_S, f"nobody answers {path}"
            await asyncio.sleep(0.05)


class Crew:
    """All workers, their jobs, and what happened."""

    def __init__(self, ports, load, seed, unasked=lambda: []):
        """`unasked`: returns the instants, since it was called last, at which another node took over unasked."""
        self.ports, self.load, self.seed, self.unasked = ports, load, seed, unasked
        self.jobs = []
        self.leases = collections.defaultdict(list)  # of a job
        self.held = set()
        self.unfinished = set()
        self.done = collections.Counter()
        self.falls = []
        self.unanswered = 0  # calls to lease: the server may have leased a message that no worker knows of
        self.ending = False
        self.refusals = []  # (lease, what was answered)
        self.wrong = []
        self.serves_since = time.monotonic()
        self.commits = set()  # those under way: when they began
        self.commits_before = collections.deque()  # (when it began, when it was answered)
        self.tasks = []

    # ---- the course of it

    def start(self):
        self.tasks = [asyncio.create_task(Worker(self, number).run()) for number in range(self.load.workers)]

    async def go_on(self, seconds):
        """Raises what has gone wrong meanwhile."""
        await asyncio.sleep(seconds)
        for task in self.tasks:
            if task.done() and task.exception():
                raise task.exception()
        self.check()

    def check(self):
        for at in self.unasked():
            self.falls.append(Fall(at, True, UNASKED_S, [], at))
        while self.refusals:
            lease, text = self.refusals.pop()
            if not (self.may_be_forgotten(lease) or lease.late):
                before = [f"{fall.at - lease.granted_at:.2f} s" for fall in self.falls if fall.at > lease.granted_at]
                self.wrong.append(f"{text} to a worker that lives, of a lease granted {before} before the server went away: {lease}")
        assert not self.wrong, "\n".join([f"{len(self.wrong)} violations", *self.wrong[:5]])

    def falls_now(self, forgets):
        """Called before the server is told to go away."""
        now = time.monotonic()
        commits = [*self.commits_before, *((began, now) for began in self.commits)]
        batches = [ended - began for began, ended in commits if began > self.serves_since and ended > now - 2]
        self.falls.append(Fall(now, forgets, max(batches, default=0), list(self.held)))

    def serves_again(self):
        self.serves_since = self.falls[-1].over_at = time.monotonic()

    async def finish(self):
        """Until each job is done."""
        self.ending = True
        deadline = time.monotonic() + WITHIN_S
        while self.unfinished:
            await self.go_on(0.1)
            assert time.monotonic() < deadline, f"jobs that nobody gets: {[self.show(job) for job in list(self.unfinished)[:5]]}"
        await asyncio.gather(*self.tasks)

    async def stop(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    # ---- what workers tell

    def new_job(self):
        job = Job(self.seed, len(self.jobs), self.load)
        self.jobs.append(job)
        self.unfinished.add(job.number)
        return job

    def finished(self, lease):
        self.done[lease.job] += 1
        self.unfinished.discard(lease.job)

    @contextlib.contextmanager
    def commit(self):
        began = time.monotonic()
        self.commits.add(began)
        try:
            yield
            self.commits_before.append((began, time.monotonic()))
        finally:
            self.commits.discard(began)
            while self.commits_before and self.commits_before[0][1] < began - 3:
                self.commits_before.popleft()

    def may_be_forgotten(self, lease):
        return any(fall.may_forget(lease) for fall in self.falls)

    def refused(self, lease, what, status, answer):
        """The worker lives and has extended its lease in time: only a crash right after the delivery excuses the server."""
        lease.end = "refused"
        text = f"{what}: {status} {answer}"
        if status == 409:
            self.refusals.append((lease, text))
        else:
            self.wrong.append(text)

    # ---- the judgement

    async def judge(self):
        """After the end."""
        gaps = 0
        for leases in self.leases.values():
            leases.sort(key=lambda lease: (lease.delivered_ms, lease.attempt))
            gaps += leases[0].attempt - 1
            for before, after in zip(leases, leases[1:]):
                gaps += self.judge_pair(before, after)
        if gaps > self.unanswered:
            self.wrong.append(f"{gaps} attempts that no worker saw, but only {self.unanswered} calls to lease without a response")
        for job in self.jobs:
            if self.done[job.number] != 1:
                self.wrong.append(f"done {self.done[job.number]} times: {self.show(job.number)}")
        await self.judge_server()
        self.check()

    def judge_pair(self, before, after):
        """A delivery, and the next one of the same message. How many attempts passed that no worker saw."""
        forgotten = self.may_be_forgotten(before)
        if before.end == "done":
            self.wrong.append(f"delivered again after its ack: {before}, {after}")
        elif before.end == "refused" and forgotten and not after.maybe_delivered:
            self.wrong.append(f"delivered again without `maybe_delivered`: {before}, {after}")
        elif before.end == "abandoned" and after.delivered_ms < before.until_ms and not any(
                fall.may_forget_since(before.granted_at) or fall.may_forget_since(before.renewed_at) for fall in self.falls):
            self.wrong.append(f"delivered again before the end of the lease: {before}, {after}")
        # A lease that ends because the server was away does not use up an attempt.
        restarted = any(before.granted_at < fall.over_at and fall.at < after.granted_at for fall in self.falls)
        counts = before.end in ("abandoned", "refused") and not restarted
        least = before.attempt + (before.end == "failed" and not before.unsure or counts)
        if after.attempt < least:
            self.wrong.append(f"an attempt was lost: {before}, {after}")
        return max(0, after.attempt - before.attempt - 1)

    async def judge_server(self):
        """What the server says of the queue and of each message."""
        connection = Connection(self.ports)

        async def get(path):
            deadline = time.monotonic() + WITHIN_S
            while True:
                with contextlib.suppress(*GONE):
                    status, answer = await connection.once("GET", path, None, 10)
                    if status not in (307, 503):
                        return answer
                assert time.monotonic() < deadline, f"nobody answers {path}"

        queue = await get(f"/v1/queues/{QUEUE}")
        if queue["pending"] or queue["dead"]:
            dead = await get(f"/v1/queues/{QUEUE}/messages?state=dead&limit=3")
            self.wrong.append(f"something is left: {queue}, dead letters {dead}")
        for leases in self.leases.values():
            answer = await get(f"/v1/messages/{leases[-1].message}")
            if (answer["state"], answer["attempts"]) != ("done", leases[-1].attempt):
                self.wrong.append(f"not done with attempt {leases[-1].attempt}: {answer}")
        connection.close()

    def show(self, job):
        return f"job {job} ({self.jobs[job].fate}): {self.leases[job]}"

    def report(self):
        leases = [lease for each in self.leases.values() for lease in each]
        kept = sum(lease.end not in ("refused", "abandoned") for fall in self.falls for lease in fall.held)
        assert kept > self.load.workers, "too few leases were held when the server went away"
        late = sum(lease.late for lease in leases)
        assert late <= len(leases) / 50, f"{late} of {len(leases)} leases were extended too late: the machine is too busy for this test"
        return (f"{len(self.jobs)} jobs, {len(leases)} deliveries, {kept} leases kept over {len(self.falls)} falls, "
                f"{sum(lease.end == 'refused' for lease in leases)} forgotten (of "
                f"{sum(fall.may_forget(lease) for fall in self.falls for lease in fall.held)} younger than {RECORDED_S} s and a batch), "
                f"{late} extended too late, {self.unanswered} calls to lease without a response, 0 dead letters; a batch took up to "
                f"{max(fall.batch_s for fall in self.falls):.2f} s")
