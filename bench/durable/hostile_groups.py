"""The group of rows about clients that misbehave (hostile_clients.py): what well-behaved clients notice of them. The pages of the results:
target_tables.py."""

import resource
import shutil
import subprocess
import sys

from durable.hostile_clients import HALF_PUTS, KINDS, Crowd
from durable.queue_groups import metric
from durable.subject import BY_BEANSTALK, Server, load, sync_rate

PREFIX = "hostile: "
ALONE = "alone"
ROUNDS = 5
CLIENTS = 8  # that behave well
IDLE = 10_000
SPARE = 200  # connections of all others
HEALTHY = {"put, reserve, delete": "put, reserve and delete over beanstalkd's protocol", "put over HTTP": "put over HTTP, leased and acknowledged meanwhile"}


def fitting(idle, open_files_max):
    """As many of these idle connections as a server with this limit on open files accepts: it keeps half of them, up to 16,384, for its
    log."""
    return min(idle, open_files_max - min((open_files_max + 1) // 2, 16_384) - SPARE)


def latencies(server, seconds, seed):
    """{row: p99 in ms}"""
    # The C++ program records puts; its consumers lease and acknowledge beside them.
    runs = {"put, reserve, delete": load("cycle", server, queue="jobs", connections=CLIENTS, batch=1, seconds=seconds, seed=seed),
            "put over HTTP": load("cycle", server.over_http(), queue="messages", connections=CLIENTS // 2, takers=CLIENTS // 2, batch=1, take_batch=1,
                                  delay_min_ms=0, delay_max_ms=0, seconds=seconds, seed=seed)}
    for row, result in runs.items():
        if result["acknowledged"] != result["accepted"] or result["refused"]:
            raise RuntimeError(f"{row}: of {result['accepted']} messages, {result['acknowledged']} were acknowledged, and "
                               f"{result['refused']} calls refused")
    return {row: result["took_us"]["p99"] / 1000 for row, result in runs.items()}


def hostile(rows, scratch, quick):
    """Eight clients alone and beside each kind of hostile clients, in turns on one server."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    idle = fitting(500 if quick else IDLE, hard)
    seconds = 1 if quick else 2
    server = Server(BY_BEANSTALK, scratch / "hostile", ["--http-connections-max", str(max(idle, HALF_PUTS) + SPARE)])
    took = {row: {subject: [] for subject in (ALONE, *KINDS)} for row in HEALTHY}
    subjects, syncs, excluded = [ALONE, *KINDS], [], set()

    def measure(subject, seed):
        crowd = Crowd(address_of(server), lambda: metric(server, "duewheel_beanstalk_connections"))
        try:
            try:
                if subject != ALONE:
                    KINDS[subject](crowd, idle)
                for row, p99_ms in latencies(server, seconds, seed).items():
                    took[row][subject].append(p99_ms)
            finally:
                crowd.close()
        except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as problem:
            if subject == ALONE:
                raise
            print(f"excluded: {subject} ({problem})", file=sys.stderr)
            excluded.add(subject)

    try:
        server.start()
        latencies(server, 1, 1)
        for round_number in range(1 if quick else ROUNDS):
            syncs.append(sync_rate(scratch, 0.5))
            at = round_number % len(subjects)
            for subject in subjects[at:] + subjects[:at]:
                if subject not in excluded:
                    measure(subject, round_number + 2)
    finally:
        server.stop()
        shutil.rmtree(server.directory, ignore_errors=True)
    rows.add(PREFIX + "fdatasync alone", 0, "disk", "1/s", syncs)
    for row, by_subject in took.items():
        for subject, values in by_subject.items():
            if subject in excluded:
                continue
            count = idle if subject == "idle connections" else 0
            rows.add(PREFIX + row, count, subject, "ms", values)
            if subject != ALONE:
                rows.add(f"{PREFIX}{row}, relative to alone", count, subject, "x",
                         [beside / alone for beside, alone in zip(values, by_subject[ALONE])])


def address_of(server):
    host, _, port = server.address.removeprefix("beanstalk://").rpartition(":")
    return host, int(port)
