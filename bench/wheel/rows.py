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
         "D1": (10_000,), "D2": (10_000,), "D3": (10_000,), "E": (1_000_000,), "LS": (1_000_000,), "LC": (1_000_000,),
         "LA": (1_000_000,), "LM": (1_000_000,), "LD": (1_000_000,), "LU": (1_000_000,),
         "ST": (1_000_000,), "SW": (1_000_000,), "SB": (1_000_000,)}
TIMED = ("A0", "A1", "A2", "B", "CU", "CL", "D1", "D2")
LATENCY = {"LS": "schedule", "LC": "cancel", "LA": "advance by one tick",
           "LM": "advance by a thousand of those due in one tick",
           "LD": "advance to the tick before, with a budget", "LU": "advance to the tick before",
           "ST": "advance of a loop that ticks", "SW": "advance of a loop that sleeps",
           "SB": "advance of a loop that sleeps, with a budget"}
# The loops that a crowd lies ahead of; and a jump to just before one that is due in a single tick.
LOOPS = ("ST", "SW", "SB", "LU", "LD")
QUANTILES = ("p50", "p99", "p99.9", "p99.999", "most")
SLEEPS = ("D3 one timer 350 s ahead", "D3 after its cancel")
# Ten million timers take a peer minutes a row, so only the nearest ones run there.
AT_TEN_MILLION = ("duewheel", "duewheel-handles", "libev")
COMPARED_WITH = ("libev", "heap", "asio", "libuv")
OWN = ("duewheel", "duewheel-handles", "duewheel-posted", "duewheel-intrusive")
LIBRARIES = ("libev", "libevent", "libuv", "asio")
# Subjects that fire by whole ticks of their own; so their sums are their own too.
LATE = {"agrona": 1}
# Those that run some rows only.
SPOKEN = {"go": ("A0",), "netty": ("A0",), "kafka": ("A0",), "executor": ("A0",), "agrona": ("A0", "A1", "B", "CU"),
          "tokio": ("A0", "A1", "B", "CU", "D3")}
SPEAKERS = {"LM": (*OWN, "heap", "multimap", "asio"), **dict.fromkeys(LOOPS, (*OWN, "heap", "multimap"))}
SYSTEM_CLOCK = "it sleeps by the system's clock alone, which would take the 350 s"
NOT_WRITTEN = "its adapter, in its own language, does not have this row"
NOT_TIMED = "single calls are timed in C and C++ only, by the thread's clock"
# Why a subject has a dash in a row in which others stand.
WHY_NOT = {"A2": {"agrona": NOT_WRITTEN, "tokio": NOT_WRITTEN}, "CL": {"agrona": NOT_WRITTEN, "tokio": NOT_WRITTEN},
           "D1": {"agrona": "it is polled each tick: what would be timed is the adapter's loop",
                  "tokio": "what would be timed is its clock for tests, which takes some 200 ns a tick"},
           "D2": {"agrona": "it is polled each tick, also over an hour", "tokio": NOT_WRITTEN},
           "D3": {"agrona": "nothing says when it next has something to do: it is polled each tick", "go": SYSTEM_CLOCK,
                  "netty": SYSTEM_CLOCK, "kafka": SYSTEM_CLOCK, "executor": SYSTEM_CLOCK},
           "E": {"agrona": "the heap of its virtual machine is of a fixed size", "tokio": NOT_WRITTEN},
           **{row: {"agrona": NOT_TIMED, "tokio": NOT_TIMED} for row in ("LS", "LC", "LA")},
           "LM": {name: "it fires all that is due in one call" for name in ("libev", "libevent", "libuv", "agrona", "tokio")}}

SCHEMES = ("unordered_list", "ordered_list", "binary_heap", "quaternary_heap", "simple_wheel", "hashed_sorted_wheel",
           "hashed_rounds_wheel", "hierarchical_wheel", "overflow_wheel", "non_cascading_wheel", "calendar_wheel",
           "duration_lanes")
GROWN = (*SCHEMES, "duewheel", "duewheel-handles", "duewheel-intrusive")
CURVE_SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
GROWTH = ("growth start", "growth stop", "growth tick")
# The largest size of a curve, where the next one would take minutes to say what the line says already: a start that
# walks a list, a tick or a timer that fires among all there are.
CURVE_ENDS = {("growth", "ordered_list"): 10_000, ("expiry", "ordered_list"): 10_000, ("A1", "ordered_list"): 10_000,
              ("expiry", "unordered_list"): 10_000, ("A1", "unordered_list"): 10_000,
              ("growth", "hashed_sorted_wheel"): 100_000, ("expiry", "hashed_sorted_wheel"): 100_000,
              ("A1", "hashed_sorted_wheel"): 100_000, ("expiry", "hashed_rounds_wheel"): 100_000}


def subjects(wanted):
    """{subject: command}, of what is built here; what is not is named. Of other languages only what is wanted is built;
    nothing said is all."""
    found = {name: [str(BIN / "duewheel_wheel_bench"), name] for name in (*OWN, "heap", "multimap")}
    for peer in LIBRARIES:
        program = BIN / f"duewheel_{peer}_bench"
        if program.exists():
            found[peer] = [str(program), peer]
        else:
            print(f"skipped: {peer} (there is no {program.name}: its library was not there, or it was not built)",
                  file=sys.stderr)
    return {**found, **toolchains.subjects(wanted)}


def pin():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def run(command, workload, n, *options):
    done = subprocess.run([*command, workload, str(n), *options], capture_output=True, text=True, preexec_fn=pin)
    if done.returncode != 0:
        raise RuntimeError(f"{command} {workload} {n}: {done.stderr.strip() or done.returncode}")
    return json.loads(done.stdout)


def speaks(name, workload):
    if name not in SPEAKERS.get(workload, (name,)):
        return False
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


def in_turns(workload, n, names, commands, rounds, *options):
    """{subject: [outcome of each round]}; the subjects take turns, in another order each round."""
    outcomes = {name: [] for name in names}
    names = list(names)
    order = random.Random(1)
    for _ in range(rounds):
        order.shuffle(names)
        for name in names:
            outcomes[name].append(run(commands[name], workload, n, *options))
    return outcomes


def measure(workload, n, found, rounds, quick):
    names = [name for name in found if speaks(name, workload) and (n < 10_000_000 or name in AT_TEN_MILLION)]
    return in_turns(workload, n, names, found, rounds, *(QUICK if quick else ()))


def row(workload, n, subject, unit, figures):
    return {"workload": workload, "n": n, "subject": subject, "unit": unit, "median": statistics.median(figures),
            "min": min(figures), "max": max(figures), "rounds": len(figures)}


def dash(workload, n, subject, unit, why):
    return {"workload": workload, "n": n, "subject": subject, "unit": unit, "median": None, "min": None, "max": None,
            "rounds": 0, "why": why}


def rows_of(workload, n, outcomes, compares=True):
    rows = []
    for name, runs in outcomes.items():
        if workload in TIMED:
            rows.append(row(workload, n, name, "ns of processor time", [one["cpu_ns"] for one in runs]))
            rows.append(row(workload, n, name, "ns", [one["wall_ns"] for one in runs]))
        elif workload == "E":
            rows.append(row(workload, n, name, "bytes after set-up", [one["bytes"] for one in runs]))
            rows.append(row(workload, n, name, "bytes after 2n pairs", [one["bytes_after"] for one in runs]))
        elif workload == "D3":
            for index, what in enumerate(SLEEPS):
                rows.append(row(what, 1, name, "wake-ups", [one["wake_ups"][index] for one in runs]))
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


def dashes(workload, n, found):
    """Rows of those that cannot be asked, with the reason."""
    rows = []
    for name, why in WHY_NOT.get(workload, {}).items():
        if name not in found:
            continue
        if workload == "D3":
            rows += [dash(what, 1, name, "wake-ups", why) for what in SLEEPS]
        elif workload == "E":
            rows.append(dash(workload, n, name, "bytes after set-up", why))
        else:
            what = f"{workload} {LATENCY[workload]}" if workload in LATENCY else workload
            rows.append(dash(what, n, name, "ns of processor time", why))
    return rows


def scheme_curves(found, rounds, quick):
    """What a call costs, and a pair of A1, with every scheme at sizes that show how costs grow."""
    commands = {name: [str(BIN / "duewheel_schemes_bench"), name] for name in SCHEMES}
    commands.update({name: found[name] for name in GROWN if name in found})
    rows = []
    for n in CURVE_SIZES[:3] if quick else CURVE_SIZES:
        print(f"running the schemes with {n:,} timers ...", file=sys.stderr)
        for workload in ("growth", "expiry", "A1"):
            able = [name for name in commands if n <= CURVE_ENDS.get((workload, name), n)]
            outcomes = in_turns(workload, n, able, commands, rounds, *QUICK)
            if workload == "A1":
                rows += [{**one, "workload": "A1, every scheme"} for one in rows_of("A1", n, outcomes, compares=False)]
                continue
            for name, runs in outcomes.items():
                for index, what in enumerate(GROWTH if workload == "growth" else ("growth fire",)):
                    rows.append(row(what, n, name, "ns of processor time", [one["growth_ns"][index] for one in runs]))
    return rows


def wheel(rows, options, keep):
    """Measures what `options` asks for, adds to `rows` and calls keep() after each workload."""
    found = check_contract({name: command for name, command in subjects(options.subjects).items()
                            if not options.subjects or name in options.subjects or name == "duewheel"})
    rounds = 1 if options.quick else options.rounds
    if "schemes" in options.only:
        rows += scheme_curves(found, rounds, options.quick)
        keep()
    for workload in options.only:
        for n in SIZES[workload]:
            if options.quick and n > 10_000 and len(SIZES[workload]) > 1:
                continue
            print(f"running {workload} with {n:,} timers ...", file=sys.stderr)
            rows += rows_of(workload, n, measure(workload, n, found, rounds, options.quick))
            rows += dashes(workload, n, found)
            keep()
