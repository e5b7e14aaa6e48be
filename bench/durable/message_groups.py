"""The group of rows about groups of messages: how long those of quiet groups wait beside a large one, what turns cost, and the memory of a
group. It takes the rows, a directory on the disk that is measured, and whether it is only to see that it works."""

import shutil
import signal
import sys

from durable.peer_servers import Redis
from durable.queue_groups import finish, order, start
from durable.subject import load, settle
from durable.worker_groups import HERE, Subject, measure

PREFIX = "groups: "
QUIET_GROUPS = 1000
ALONE, IN_MEMORY, ON_DISK, LIMITED = "alone", "beside it", "beside it, after a start", "beside it, of which 100 may be leased"
PLAIN, GROUPED, WITH_LIMITS = "without groups", "1,000 groups", "1,000 groups with limits"
LIMITS = {"limits": {"leased": 100_000}, "groups": {"leased": 10_000, "rate": {"count": 100_000, "burst": 100_000}}}  # never reached
NO_LIMITER, LIMITER = "BullMQ", "BullMQ with a limiter"


def in_turns(subjects, rounds):
    """The subjects of each round."""
    for number in range(rounds):
        for place in range(len(subjects)):
            yield number, subjects[(number + place) % len(subjects)]


def put_due(server, count, **options):
    load("put", server, connections=4, batch=500, count=count, delay_min_ms=0, delay_max_ms=0, **options)
    settle(server)


def wait(rows, scratch, quick):
    """1,000 groups with a message per second each, while consumers also drain a group whose million messages were due before them."""
    count, seconds = (20_000, 2) if quick else (1_000_000, 30)
    for number, how in in_turns((ALONE, IN_MEMORY, ON_DISK, LIMITED), 1 if quick else 3):
        server = start(scratch, "wait")
        if how == LIMITED:
            order(server, "PUT", "/v1/queues/work", {"groups": {"leased": 100}})
        if how != ALONE:
            put_due(server, count, queue="work", groups=1)
        if how == ON_DISK:
            server.stop(signal.SIGKILL)
            server.start()
        result = load("fire", server, queue="work", connections=1, takers=4, take_batch=100, groups=QUIET_GROUPS, rate=QUIET_GROUPS,
                      delay_min_ms=1000, delay_max_ms=1000, seconds=seconds, seed=number + 1)
        for level in ("p50", "p99", "max"):
            rows.add(f"{PREFIX}wait of a message of 1,000 quiet groups, {level}", count, how, "ms", [result["late_ms"][level]])
        rows.add(f"{PREFIX}messages of the large group meanwhile", count, how, "1/s", [result["behind"] / result["seconds"]])
        print(f"  {how}: {result}", file=sys.stderr)
        finish(server)
    for level in ("p50", "p99", "max"):
        rows.merge(f"{PREFIX}wait of a message of 1,000 quiet groups, {level}")
    rows.merge(f"{PREFIX}messages of the large group meanwhile")


def add_relative(rows, name, n, rates, base):
    for subject, values in rates.items():
        rows.add(name, n, subject, "1/s", values)
        if subject != base:
            rows.add(f"{name}, relative to {base}", n, subject, "x", [mine / other for mine, other in zip(values, rates[base])])


def cycles(rows, scratch, quick):
    """Put, leased and acknowledged in batches of 500 over 4 + 4 connections, in turns on one server."""
    server = start(scratch, "cycles")
    order(server, "PUT", "/v1/queues/2", LIMITS)
    subjects = (PLAIN, GROUPED, WITH_LIMITS)
    rates = {subject: [] for subject in subjects}
    cpu = {subject: [] for subject in subjects}
    for number, subject in in_turns(subjects, 1 if quick else 6):
        before = server.cpu_seconds()
        result = load("cycle", server, queue=subjects.index(subject), connections=4, takers=4, batch=500, take_batch=500, seed=number + 1,
                      delay_min_ms=0, delay_max_ms=0, seconds=2 if quick else 8, groups=0 if subject == PLAIN else QUIET_GROUPS)
        rates[subject].append(result["per_second"])
        cpu[subject].append((server.cpu_seconds() - before) / result["acknowledged"] * 1e6)
        print(f"  {subject}: {rates[subject][-1]:,.0f} cycles/s, {cpu[subject][-1]:.2f} us", file=sys.stderr)
    finish(server)
    add_relative(rows, f"{PREFIX}put -> lease -> ack in batches of 500", QUIET_GROUPS, rates, PLAIN)
    for subject in subjects:
        rows.add(f"{PREFIX}server CPU for it", QUIET_GROUPS, subject, "us", cpu[subject])


def peer(rows, scratch, quick):
    """Jobs of BullMQ, whose limiter is one for the whole queue, with and without it; the limit is never reached."""
    if Redis.why_unavailable() or shutil.which("node") is None:
        return
    count = 1_000 if quick else 15_000
    subjects = {name: Subject(name, ["node", HERE / "bullmq.mjs"], count, environment, redis=True)
                for name, environment in ((NO_LIMITER, {}), (LIMITER, {"LIMITER_MAX": "1000000"}))}
    rates = {name: [] for name in subjects}
    for _, name in in_turns([*subjects], 1 if quick else 5):
        rates[name].append(measure(subjects[name], scratch / "peer"))
        print(f"  {name}: {rates[name][-1]:,.0f} jobs/s", file=sys.stderr)
    add_relative(rows, f"{PREFIX}jobs/s of BullMQ, from the put to the ack", count, rates, NO_LIMITER)


def memory(rows, scratch, quick):
    """A million groups with one due message each, beside as many due messages without a group. In a log of one open segment all of them are
    in memory, so that the difference is that of the groups. Of sealed segments memory keeps the first messages of a queue, and of each group."""
    count = 20_000 if quick else 1_000_000
    for words, arguments in (("all in memory", ["--store-segment-size=1GiB"]), ("of sealed segments", [])):
        resident = {}
        for subject in (PLAIN, "a group each"):
            server = start(scratch, "memory", *arguments)
            put_due(server, count, body=1, groups=0 if subject == PLAIN else count)
            resident[subject] = server.resident_megabytes()
            rows.add(f"{PREFIX}resident set with due messages, {words}", count, subject, "MB", [resident[subject]])
            print(f"  {words}, {subject}: {resident[subject]:,.0f} MB", file=sys.stderr)
            finish(server)
        rows.add(f"{PREFIX}memory of a group, {words}", count, "duewheel", "bytes",
                 [(resident["a group each"] - resident[PLAIN]) * 1024 * 1024 / count])


def groups(rows, scratch, quick):
    cycles(rows, scratch, quick)
    peer(rows, scratch, quick)
    memory(rows, scratch, quick)
    wait(rows, scratch, quick)
