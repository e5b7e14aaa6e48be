"""The group of rows about leases that outlive the server: what they cost in memory and in the log. It takes the rows, a
directory on the disk that is measured, and whether it is only to see that it works."""

import pathlib
import signal
import time

from durable.queue_groups import finish, metric, order, start
from durable.subject import READY_WITHIN_S, fill, settle

LEASE = "10m"  # longer than the group takes
RECORDED_S = 0.2  # an attempt that lasts so long is in the log with the next batch


def lease(server, count):
    """The tokens of so many leased messages."""
    tokens = []
    deadline = time.monotonic() + READY_WITHIN_S
    while len(tokens) < count:
        messages = order(server, "POST", "/v1/queues/load:lease", {"max": min(1000, count - len(tokens)), "wait": "5s", "lease": LEASE})
        tokens += [message["lease"] for message in messages["messages"]]
        if time.monotonic() > deadline:
            raise RuntimeError(f"only {len(tokens)} of {count} messages were leased after {READY_WITHIN_S} s")
    return tokens


def ack(server, tokens):
    for first in range(0, len(tokens), 1000):
        results = order(server, "POST", "/v1/leases:ack", {"leases": tokens[first:first + 1000]})["results"]
        if any(result["outcome"] != "done" for result in results):
            raise RuntimeError(f"a lease was not acknowledged: {results[:3]}")


def await_records(server, count):
    """Until the log has so many records and gets no more."""
    deadline = time.monotonic() + READY_WITHIN_S
    before = -1
    while (now := metric(server, "duewheel_log_records_total")) < count or now != before:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the log has {now:.0f} records, not {count} and steady, after {READY_WITHIN_S} s")
        before = now
        time.sleep(2 * RECORDED_S)
    return now


def log_bytes(server):
    """What is written of the segments, without the zeros behind it."""
    return sum(len(path.read_bytes().rstrip(b"\0")) for path in (pathlib.Path(server.directory) / "journal").glob("seg-*"))


def leases(rows, scratch, quick):
    """100,000 messages that are leased for long: memory before, with the leases in the log, and after a kill and a start. Then jobs
    of a second, a thousand at a time: records and bytes of the log for each."""
    count = 1000 if quick else 100_000
    server = start(scratch, "kept")
    fill(server, count, body=1, delay_min_ms=0, delay_max_ms=0)
    settle(server)
    await_records(server, count)
    before = server.resident_megabytes()
    lease(server, count)
    await_records(server, 2 * count)
    settle(server)
    leased = server.resident_megabytes()
    rows.add("memory of a lease that is in the log", count, "duewheel", "bytes", [(leased - before) * 1024 * 1024 / count])
    server.stop(signal.SIGKILL)
    rows.add("the same: start after a kill", count, "duewheel", "s", [server.start()])
    rows.add("the same: leased messages after the start", count, "duewheel", "messages",
             [order(server, "GET", "/v1/queues/load")["leased"]])
    rows.add("the same: resident memory before the leases, with them, after the start", count, "duewheel", "MB",
             [before, leased, server.resident_megabytes()])
    finish(server)

    jobs = 1000 if quick else 10_000
    server = start(scratch, "jobs")
    for _ in range(jobs // 1000):
        fill(server, 1000, body=100, delay_min_ms=0, delay_max_ms=0)
        tokens = lease(server, 1000)
        time.sleep(1)  # the job
        ack(server, tokens)
    rows.add("log records of a job of 1 s: put, lease, ack", jobs, "duewheel", "records",
             [metric(server, "duewheel_log_records_total") / jobs])
    rows.add("the same: bytes of the log, with a body of 100 bytes", jobs, "duewheel", "bytes", [log_bytes(server) / jobs])
    finish(server)
