"""The rows that have a target beside beanstalkd, in turns in one run: W1, W3, W4, W5, W8 and W10. Each server speaks to the same load
programs, and is started anew for each row and round. The pages of the results: target_tables.py."""

import shutil
import subprocess
import sys
import time

from durable.queue_groups import drain_burst, put_and_cancel
from durable.store_groups import fire_due, kill_and_start, put_for
from durable.subject import BY_BEANSTALK, Server, fill, load, settle, sync_rate

PREFIX = "beanstalkd: "
F0, F50 = "beanstalkd -f0", "beanstalkd -f50"
ROUNDS = 3
RATE = 5000  # messages a second of W3


def wrong(result, put=None):
    """What must be 0: messages that came twice or early, or were not acknowledged."""
    expected = result["accepted"] if put is None else put
    return abs(expected - result["acknowledged"]) + result["early"] + result.get("twice", 0) + result.get("unknown", 0)


def w1(server, quick, seed):
    rate, p99_us, cpu_us = put_for(server, 1 if quick else 3, seed)
    return {"W1 puts": ("1/s", rate), "W1 puts, p99": ("ms", p99_us / 1000), "W1 server CPU per put": ("us", cpu_us)}


def w3_w8(server, quick, seed):
    """A million pending messages: their memory, a restart, and the lateness of others."""
    fill(server, 50_000 if quick else 1_000_000, seed=seed)
    settle(server)
    figures = {"W8 resident set": ("MB", server.resident_megabytes()), "W8 restart": ("s", kill_and_start(server, 1)[0])}
    paths = {"": server}
    if server.http:
        paths["HTTP: "] = server.over_http()
    for path, at in paths.items():
        before = server.cpu_seconds()
        late = fire_due(at, RATE, 2 if quick else 12, delay_max_ms=2000 if quick else 5000, queue="late-http" if path else "late")
        figures[f"{path}W3 server CPU per message"] = ("us", (server.cpu_seconds() - before) / late["accepted"] * 1e6)
        for level in ("p50", "p99", "max"):
            figures[f"{path}W3 lateness, {level}"] = ("ms", late["late_ms"][level])
        figures[f"{path}W3 early"] = ("messages", late["early"])
        figures[f"{path}W3 lost or twice"] = ("messages", wrong(late) - late["early"])
    return figures


def w4(server, quick, seed):
    count = 50_000 if quick else 1_000_000
    # The puts must be on disk by then; over HTTP they come in batches.
    lead_s = 5 if quick else 25 if server.address == server.http else 35
    drained_s, drained, other = drain_burst(server, count, lead_s, seed, beside_s=1 if quick else 7)
    return {"W4 drain": ("s", drained_s), "W4 server CPU per message, put and drained": ("us", server.cpu_seconds() / count * 1e6),
            "W4 other queue, p99": ("ms", other["late_ms"]["p99"]),
            "W4 other queue, max": ("ms", other["late_ms"]["max"]),
            "W4 lost, twice or early": ("messages", wrong(drained, count) + wrong(other))}


def w5(server, quick, seed):
    rate, written, cpu_us = put_and_cancel(server, 3 if quick else 8, seed)
    return {"W5 puts and cancels": ("1/s", rate), "W5 server CPU per message": ("us", cpu_us), "W5 disk written": ("bytes", written)}


def cycles(name, server, quick, seed, **how):
    before = server.cpu_seconds()
    result = load("cycle", server, queue="cycle", seconds=1 if quick else 5, seed=seed, **how)
    return {f"W10 {name}": ("1/s", result["per_second"]),
            f"W10 {name}, server CPU": ("us", (server.cpu_seconds() - before) / result["acknowledged"] * 1e6),
            f"W10 {name}, client CPU": ("us", result["client_cpu_seconds"] / result["acknowledged"] * 1e6),
            f"W10 {name}, lost or twice": ("messages", wrong(result))}


def w10(server, quick, seed):
    return cycles("one outstanding", server, quick, seed, connections=64, batch=1)


def w10_pipelined(server, quick, seed):
    return cycles("pipelined", server, quick, seed, connections=4, batch=100)


# The slow disk of `-f0` would make the other rows take minutes.
ROWS = {w1: ("duewheel", BY_BEANSTALK, F0, F50), w3_w8: (BY_BEANSTALK, F50), w4: ("duewheel", BY_BEANSTALK, F50),
        w5: ("duewheel", BY_BEANSTALK, F50), w10: (BY_BEANSTALK, F50), w10_pipelined: (BY_BEANSTALK, F50)}


def beanstalkd(rows, scratch, quick):
    """All rows; the order of the servers moves on by one each round."""
    if not shutil.which("beanstalkd"):
        print("skipped: all rows beside beanstalkd (there is no beanstalkd)", file=sys.stderr)
        return
    figures, syncs, excluded = {}, [], set()  # {(row, unit, subject): [figure of each round]}

    def measure(row, subject, seed):
        print(f"  {row.__name__}: {subject} ...", file=sys.stderr)
        server = Server(subject, scratch / "server")
        try:
            server.start()
            if server.http:
                time.sleep(3)  # its spare segments are filled once, whatever comes
            for name, (unit, figure) in row(server, quick, seed).items():
                # A server with both protocols has rows that name the path.
                of = "duewheel" if name.startswith("HTTP: ") else subject
                figures.setdefault((name.removeprefix("HTTP: "), unit, of), []).append(figure)
        except (RuntimeError, ValueError, ZeroDivisionError, OSError, subprocess.SubprocessError) as problem:
            print(f"excluded: {row.__name__} of {subject} ({problem})", file=sys.stderr)
            excluded.add((row, subject))
        finally:
            server.stop()
            shutil.rmtree(server.directory, ignore_errors=True)

    for round_number in range(1 if quick else ROUNDS):
        for row, subjects in ROWS.items():
            syncs.append(sync_rate(scratch, 0.5))
            at = round_number % len(subjects)
            for subject in subjects[at:] + subjects[:at]:
                if (row, subject) not in excluded:
                    measure(row, subject, round_number + 1)
    rows.add(PREFIX + "fdatasync alone", 0, "disk", "1/s", syncs)
    for (name, unit, subject), values in figures.items():
        rows.add(PREFIX + name, 0, subject, unit, values)
