"""The groups of rows about the runtime of the timer library; bench/timers/timer_bench.cc does what is measured, and Java's
timers run the row with two producers beside it."""

import json
import subprocess
import sys

from durable.subject import BIN
from wheel import toolchains

PRODUCERS = "cancel and schedule by two producers"


def group(name, workloads):
    def run(rows, scratch, quick):
        peers = java_peers() if name == "producers" else {}
        for _ in range(1 if quick else 5):
            command = [BIN / "duewheel_timer_bench", name, *(["--quick"] if quick else [])]
            done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
            for line in done.stdout.splitlines():
                workload, n, subject, unit, value = line.split("\t")
                rows.add(f"{workload}, {int(n):,}", int(n), subject, unit, [float(value)])
            for subject, peer in peers.items():
                done = subprocess.run([*peer, "F", "100000", *(["--quick"] if quick else [])], check=True, text=True,
                                      stdout=subprocess.PIPE)
                rows.add(f"{PRODUCERS}, 100,000", 100_000, subject, "ns a pair", [json.loads(done.stdout)["wall_ns"]])
        for workload in workloads:
            rows.merge(workload)
    return run


def java_peers():
    try:
        return {name: command for name, command in toolchains.java().items() if name != "agrona"}
    except (subprocess.SubprocessError, OSError) as problem:
        print(f"skipped: Java: netty, kafka, executor ({problem})", file=sys.stderr)
        return {}


OWNER = "schedule and cancel by the owner"
GROUPS = {
    "owner": group("owner", [f"{OWNER}, {n}" for n in ("10,000", "100,000", "1,000,000")]),
    "producer": group("producer", ["schedule from another thread, 100,000", "schedule from another thread, 500,000"]),
    "crowd": group("crowd", [f"one call to schedule, by this many threads at once, {n}" for n in (1, 2, 4, 8)]),
    "producers": group("producers", [f"{PRODUCERS}, 100,000"]),
    "coroutine": group("coroutine", ["ready work with a time limit, 1"]),
    "lateness": group("lateness", ["lateness on a thread of its own, 2,000"]),
    "garbage": group("garbage", ["cancelled far timers kept while the driver sleeps, 100,000"]),
}
