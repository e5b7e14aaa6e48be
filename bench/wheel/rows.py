"""The rows of timers in memory: which programs there are, what each run means, and how rounds are interleaved.

A program runs one workload for one subject and prints a line of JSON, so every measurement has a process of its own,
pinned to one core. Within a row the subjects take turns, in another order each round. What is compared is processor
time of the thread, which a neighbour on the other core disturbs least; wall time stands beside it in the file.
"""

import json
import os
import random
import statistics
import subprocess
import sys

from durable.subject import BIN
from wheel import toolchains

QUICK = ("--quick",)
SIZES = {"schemes": (), "A0": (10_000, 1_000_000), "A1": (10_000, 1_000_000, 10_000_000), "A2": (10_000, 1_000_000),
         "B": (10_000, 1_000_000, 10_000_000), "CU": (10_000, 1_000_000, 10_000_000), "CL": (10_000, 1_000_000),
         "D1": (10_000,), "D2": (10_000,), "E": (1_000_000,), "LS": (1_000_000,), "LC": (1_000_000,),
         "LA": (1_000_000,), "LM": (1_000_000,)}
TIMED = ("A0", "A1", "A2", "B", "CU", "CL", "D1", "D2")
LATENCY = {"LS": "schedule", "LC": "cancel", "LA": "advance by one tick",
           "LM": "advance by a thousand of those due in one tick"}
QUANTILES = ("p50", "p99", "p99.9", "p99.999", "most")
# Ten million timers take a peer minutes a row, so only the nearest ones run there.
AT_TEN_MILLION = ("duewheel", "duewheel-handles", "libev")
COMPARED_WITH = ("libev", "heap", "asio", "libuv")


SCHEMES = ("unordered_list", "ordered_list", "binary_heap", "quaternary_heap", "simple_wheel", "hashed_sorted_wheel",
           "hashed_rounds_wheel", "hierarchical_wheel", "overflow_wheel", "non_cascading_wheel", "calendar_wheel",
           "duration_lanes")
CURVE_SIZES = (1_000, 10_000, 100_000)
# A schedule walks half of the list: with 100,000 timers a run would take an hour to say what 10,000 say already.
CURVE_LINEAR = ("ordered_list",)
# Subjects that fire by whole ticks of their own; so their sums are their own too.
LATE = {"agrona": 1}
SPOKEN = {"go": ("A0",), "netty": ("A0",), "kafka": ("A0",), "executor": ("A0",), "agrona": ("A0", "A1", "B", "CU"),
          "tokio": ("A0", "A1", "B", "CU")}


def subjects():
    """{subject: command}, of what is built here; what is not is named."""
    own = ["duewheel", "duewheel-handles", "duewheel-posted", "duewheel-intrusive", "heap", "multimap"]
    found = {name: [str(BIN / "duewheel_wheel_bench"), name] for name in own}
    for peer in ("libev", "libevent", "libuv", "asio"):
        program = BIN / f"duewheel_{peer}_bench"
        if program.exists():
            found[peer] = [str(program), peer]
        else:
            print(f"skipped: {peer} (its library was not there when this was built)", file=sys.stderr)
    return {**found, **toolchains.subjects()}


def pin():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def run(command, workload, n, *options):
    done = subprocess.run([*command, workload, str(n), *options], capture_output=True, text=True, preexec_fn=pin)
    if done.returncode != 0:
        raise RuntimeError(f"{command} {workload} {n}: {done.stderr.strip() or done.returncode}")
    return json.loads(done.stdout)


def speaks(name, workload):
    if workload == "LM":
        return name.startswith("duewheel")
    return workload in SPOKEN.get(name, (workload,))


def check_contract(found):
    """All subjects fire the same timers in the same ticks, none early, none later than it says of itself; whoever does
    not is left out."""
    kept = dict(found)
    for workload in ("A1", "A2", "B", "CU"):
        right = run(found["duewheel"], workload, 10_000, "--quick", "--check")
        for name, command in found.items():
            if name not in kept or not speaks(name, workload):
                continue
            got = run(command, workload, 10_000, "--quick", "--check")
            wrong = got["early"] > 0 or got["latest"] > LATE.get(name, 0)
            if name not in LATE:
                wrong = wrong or (got["sum"], got["fired"]) != (right["sum"], right["fired"])
            if wrong:
                kept.pop(name)
                print(f"left out: {name}, which breaks its contract in {workload}: {got}", file=sys.stderr)
    return kept


def measure(workload, n, found, rounds, quick):
    """Rows of one workload at one size: {subject: [outcome of each round]}."""
    names = [name for name in found if speaks(name, workload) and (n < 10_000_000 or name in AT_TEN_MILLION)]
    outcomes = {name: [] for name in names}
    order = random.Random(1)
    for _ in range(rounds):
        order.shuffle(names)
        for name in names:
            outcomes[name].append(run(found[name], workload, n, *(QUICK if quick else ())))
    return outcomes


def row(workload, n, subject, unit, figures):
    return {"workload": workload, "n": n, "subject": subject, "unit": unit, "median": statistics.median(figures),
            "min": min(figures), "max": max(figures), "rounds": len(figures)}


def rows_of(workload, n, outcomes, compares=True):
    rows = []
    for name, runs in outcomes.items():
        if workload in TIMED:
            rows.append(row(workload, n, name, "ns of processor time", [one["cpu_ns"] for one in runs]))
            rows.append(row(workload, n, name, "ns", [one["wall_ns"] for one in runs]))
        elif workload == "E":
            rows.append(row(workload, n, name, "bytes after set-up", [one["bytes"] for one in runs]))
            rows.append(row(workload, n, name, "bytes after 2n pairs", [one["bytes_after"] for one in runs]))
        else:
            for index, quantile in enumerate(QUANTILES):
                rows.append(row(f"{workload} {LATENCY[workload]} {quantile}", n, name, "ns of processor time",
                                [one["quantiles_ns"][index] for one in runs]))
    if workload in TIMED and compares:
        for peer in COMPARED_WITH:
            for name in outcomes:
                if peer in outcomes and name.startswith("duewheel"):
                    ratios = [own["cpu_ns"] / other["cpu_ns"] for own, other in zip(outcomes[name], outcomes[peer])]
                    rows.append(row(workload, n, name, f"of {peer}", ratios))
    return rows


def scheme_curves(found, rounds):
    """A1 with every scheme at sizes that show how its costs grow."""
    names = {name: [str(BIN / "duewheel_schemes_bench"), name] for name in SCHEMES}
    names.update({name: found[name] for name in ("duewheel", "duewheel-handles", "duewheel-intrusive")})
    rows = []
    for n in CURVE_SIZES:
        print(f"running the schemes with {n:,} timers ...", file=sys.stderr)
        able = {name: command for name, command in names.items() if n <= 10_000 or name not in CURVE_LINEAR}
        rows += rows_of("A1", n, measure("A1", n, able, rounds, True), compares=False)
    return [{**one, "workload": "A1, every scheme"} for one in rows]


def wheel(rows, options, keep):
    """Measures what `options` asks for, adds to `rows` and calls keep() after each workload."""
    found = check_contract({name: command for name, command in subjects().items()
                            if not options.subjects or name in options.subjects or name == "duewheel"})
    rounds = 1 if options.quick else options.rounds
    if "schemes" in options.only:
        rows += scheme_curves(found, rounds)
        keep()
    for workload in options.only:
        for n in SIZES[workload]:
            if options.quick and n > 10_000 and len(SIZES[workload]) > 1:
                continue
            print(f"running {workload} with {n:,} timers ...", file=sys.stderr)
            rows += rows_of(workload, n, measure(workload, n, found, rounds, options.quick))
            keep()
