"""The group of rows about calendar rules; calendar/calendar_bench.cc does what is measured."""

import subprocess

from durable.subject import BIN


def rules(rows, scratch, quick):
    for _ in range(2 if quick else 7):
        done = subprocess.run([BIN / "calendar_bench", "20000" if quick else "400000"], check=True, text=True,
                              stdout=subprocess.PIPE)
        for line in done.stdout.splitlines():
            workload, rule, calls, nanoseconds = line.split("\t")
            rows.add(workload, int(calls), rule, "ns", [float(nanoseconds)])
    for workload in ("next", "previous", "never", "parse", "load a zone"):
        rows.merge(workload)
