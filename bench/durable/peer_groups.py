"""Duewheel beside the servers that people use for delayed messages today, in turns in one run. Each is spoken to by its usual
client library, from one load program for Node (peers/load.mjs, which Bun runs for bunqueue) or its counterpart in Go (peers/river), which
checks a ledger of every message; the servers that speak HTTP or beanstalkd's protocol also get puts from the C++ load program. The pages of the
results: peer_tables.py."""

import contextlib
import json
import pathlib
import select
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Callable

from durable import river_load
from durable.peer_servers import PACKAGES, Bunqueue, Postgres, RabbitMQ, Redis, bun, cpu_seconds, memory_bytes
from durable.subject import BY_BEANSTALK, Server, disk_megabytes, fill, load, settle, sync_rate

HERE = pathlib.Path(__file__).resolve().parent / "peers"
ROUNDS = 3
RESPONSE_WITHIN_S = 180
RATE = 200  # messages a second of the lateness row
OWN = ("duewheel", BY_BEANSTALK)
LEDGER = ("lost", "unacknowledged", "twice", "early", "after_cancel", "unknown")
CANNOT_CANCEL = "cannot: a message in a queue has no id to cancel it by"
CANNOT_BATCH = "cannot: the protocol puts one job per command"
BATCH_SECONDS = 1.5


@dataclass(frozen=True)
class Peer:
    """`client` is a file of peers/clients."""
    client: str
    server: Callable
    missing: Callable = lambda: None
    native: bool = False  # the C++ load program speaks its protocol
    pending: bool = True  # the rows of pending messages; they are those of the same server with other syncs

    @property
    def library(self):
        return {"duewheel": "undici", "beanstalk": "jackd", "bullmq": "BullMQ", "pg_boss": "pg-boss",
                "rabbitmq": "amqplib", "bunqueue": "bunqueue", "river": "River"}[self.client]

    @property
    def program(self):
        """The command line of its load program, without the address."""
        if self.client == "river":
            return [river_load.PROGRAM]
        return [bun() if self.client == "bunqueue" else "node", HERE / "load.mjs", self.client]


def own(subject):
    return lambda directory: Server(subject, directory)


def without_beanstalkd():
    return None if shutil.which("beanstalkd") else "there is no beanstalkd"


PEERS = {
    "duewheel": Peer("duewheel", own("duewheel"), native=True),
    BY_BEANSTALK: Peer("beanstalk", own(BY_BEANSTALK), native=True, pending=False),
    "beanstalkd -f0": Peer("beanstalk", own("beanstalkd -f0"), without_beanstalkd, native=True, pending=False),
    "beanstalkd -f50": Peer("beanstalk", own("beanstalkd -f50"), without_beanstalkd, native=True),
    "Redis always, BullMQ": Peer("bullmq", lambda directory: Redis(directory, "always"), Redis.why_unavailable, pending=False),
    "Redis everysec, BullMQ": Peer("bullmq", lambda directory: Redis(directory, "everysec"), Redis.why_unavailable),
    "PostgreSQL, pg-boss": Peer("pg_boss", Postgres, Postgres.why_unavailable),
    "PostgreSQL, River": Peer("river", Postgres, lambda: Postgres.why_unavailable() or river_load.why_unavailable()),
    "bunqueue durable": Peer("bunqueue", Bunqueue, Bunqueue.why_unavailable),
    "RabbitMQ, amqplib": Peer("rabbitmq", RabbitMQ, RabbitMQ.why_unavailable),
}


def present():
    """The peers that can be measured here; the others are named."""
    if not shutil.which("node"):
        print("skipped: all peers (there is no node)", file=sys.stderr)
        return {}
    if not (PACKAGES / "node_modules").exists():
        print("skipped: all peers (their client libraries are not in build/peers/node: run ./dev bench)", file=sys.stderr)
        return {}
    found = {}
    for name, peer in PEERS.items():
        if why := peer.missing():
            print(f"skipped: {name} ({why})", file=sys.stderr)
        else:
            found[name] = peer
    return found


class LoadClient:
    """A process of the load program, connected to one server."""

    def __init__(self, peer, server):
        self.process = subprocess.Popen([*peer.program, server.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, name, **order):
        with contextlib.suppress(BrokenPipeError):  # it has ended, which the missing result tells
            self.process.stdin.write(json.dumps({"run": name, **order}).encode() + b"\n")
            self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], RESPONSE_WITHIN_S)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            raise RuntimeError(f"{self.process.args} gave no result of {name}")
        return json.loads(line)

    def stop(self):
        self.process.kill()
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()


def one_round(peer, server, seconds, seed):
    """{row: (unit, figure)} of one server that has just started; `ledger` sums what must be 0."""
    figures = {}
    ledger = dict.fromkeys(LEDGER, 0)
    client = LoadClient(peer, server)

    def check(report):
        for name in LEDGER:
            ledger[name] += report[name]

    try:
        client.run("puts", queue="warm", seconds=0.5)
        before = cpu_seconds(server.process.pid)
        puts = client.run("puts", queue="puts", seconds=seconds)
        figures["puts"] = ("1/s", puts["per_second"])
        figures["puts, p99"] = ("ms", puts["took_ms"]["p99"])
        figures["puts, server CPU"] = ("us", (cpu_seconds(server.process.pid) - before) / puts["accepted"] * 1e6)
        figures["puts, client CPU"] = ("us", puts["client_cpu_seconds"] / puts["accepted"] * 1e6)
        cancels = client.run("cancels", queue="cancels", seconds=seconds)
        if "per_second" in cancels:
            figures["puts and cancels"] = ("1/s", cancels["per_second"])
        flow = client.run("flow", queue="flow", seconds=seconds)
        figures["put, delivered, acknowledged"] = ("1/s", flow["per_second"])
        check(flow)
        late = client.run("lateness", queue="late", seconds=seconds, rate=RATE)
        check(late)
        for level in ("p50", "p99", "max"):
            figures[f"lateness, {level}"] = ("ms", late["late_ms"][level])
        batches = client.run("batches", queue="batches", seconds=min(seconds, BATCH_SECONDS))
        if "per_second" in batches:
            figures["puts in batches"] = ("1/s", batches["per_second"])
        left = client.run("after_cancel", queue="cancels")
        if "after_cancel" in left:
            check(left)
    finally:
        client.stop()
    for name in LEDGER:
        figures[name] = ("messages", ledger[name])
    if peer.native:
        before = cpu_seconds(server.process.pid)
        puts = load("put", server, connections=64, seconds=seconds, seed=seed)
        figures["puts, C++ client"] = ("1/s", puts["per_second"])
        figures["puts, C++ client, p99"] = ("ms", puts["took_us"]["p99"] / 1000)
        figures["puts, C++ client, server CPU"] = ("us", (cpu_seconds(server.process.pid) - before) / puts["accepted"] * 1e6)
    return figures


def per_pending(peer, server, count):
    """Bytes of memory and of disk for each of `count` messages that are due in 1 to 24 hours."""
    client = None if peer.native else LoadClient(peer, server)
    try:
        if client:
            client.run("fill", queue="sessions", count=10)  # their memory is not that of the messages
        memory, disk = memory_bytes(server.process.pid), disk_megabytes(server.directory, spares=False)
        if peer.native:
            disk = 0  # its directory holds nothing yet but preallocated files, which the first messages go to
        if client:
            client.run("fill", queue="fill", count=count)
        else:
            fill(server, count)
        if peer.client == "duewheel":
            settle(server)
        time.sleep(5)
        return {"memory per pending message": ("bytes", (memory_bytes(server.process.pid) - memory) / count),
                "disk per pending message": ("bytes", (disk_megabytes(server.directory, spares=False) - disk) * 1e6 / count)}
    finally:
        if client:
            client.stop()


def peers(rows, scratch, quick):
    """All rows of all peers; the order of the peers moves on by one each round."""
    found = present()
    seconds = 1 if quick else 2
    # Those that the C++ load program does not fill take longer.
    count = {True: 50_000, False: 5_000} if quick else {True: 1_000_000, False: 200_000}
    rounds = 1 if quick else ROUNDS
    figures = {}  # {(row, unit): {subject: [figure of each round]}}
    syncs = []

    def measure(name, call):
        if name not in found:
            return
        print(f"  {name} ...", file=sys.stderr)
        server = found[name].server(scratch / "peer")
        try:
            server.start()
            if name in OWN:
                time.sleep(3)  # its spare segments are filled once, whatever comes
            for row, (unit, figure) in call(found[name], server).items():
                figures.setdefault((row, unit), {}).setdefault(name, []).append(figure)
        except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as problem:
            print(f"excluded: {name} ({problem})", file=sys.stderr)
            found.pop(name)
        finally:
            server.stop()
            shutil.rmtree(scratch / "peer", ignore_errors=True)

    names = list(found)
    for round_number in range(rounds):
        for name in names[round_number:] + names[:round_number]:
            syncs.append(sync_rate(scratch, 0.5))
            measure(name, lambda peer, server: one_round(peer, server, seconds, round_number + 1))
    for name in (name for name in names if PEERS[name].pending):
        measure(name, lambda peer, server: per_pending(peer, server, count[peer.native]))
    rows.add("peers: fdatasync alone", 0, "disk", "1/s", syncs)
    for (row, unit), by_subject in figures.items():
        for subject in (name for name in by_subject if name in found):
            rows.add(f"peers: {row}", count[found[subject].native] if "pending" in row else 0, subject, unit, by_subject[subject])
    for name, peer in found.items():
        if peer.client == "beanstalk":
            rows.cannot("peers: puts in batches", 0, name, "1/s", CANNOT_BATCH)
        if peer.client == "rabbitmq":
            rows.cannot("peers: puts and cancels", 0, name, "1/s", CANNOT_CANCEL)
