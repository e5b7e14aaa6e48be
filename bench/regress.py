"""Two versions of the server and of the wheels in turns, with a table of ratios: `./dev bench regress OLD NEW`. What a version is, which rows
there are and when a row counts as slower: bench/README.md."""

import math
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

from durable.beanstalkd_groups import cycles, w1, w10, w10_pipelined, w3_w8, w4, w5
from durable.peer_tables import name_of
from durable.schedule_groups import w11
from durable.subject import BY_BEANSTALK, Rows, Server
from durable.targets import table
from wheel import rows as wheel_rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
HTTP = "duewheel"
BOUND = 0.95
SPARES_S = 3  # a new server fills its spare segments once
CHANCE = 0.05  # that the median of equal versions is beyond one end of its interval


def w10_batches(server, quick, seed):
    return cycles("in batches of 100", server, quick, seed, connections=4, takers=4, take_batch=100, batch=100, delay_min_ms=0, delay_max_ms=0)


# Row: the workloads and the protocols of each.
DURABLE = {"W1": [(w1, HTTP), (w1, BY_BEANSTALK)], "W3": [(w3_w8, BY_BEANSTALK)], "W4": [(w4, HTTP)], "W5": [(w5, HTTP)],
           "W10": [(w10_batches, HTTP), (w10, BY_BEANSTALK), (w10_pipelined, BY_BEANSTALK)], "W11": [(w11, HTTP)]}
WHEELS = ("A1", "CU")
SIZES = (10_000, 1_000_000)
FRONTS = {"duewheel": "own ids", "duewheel-handles": "handles"}
NAMES = (*DURABLE, *WHEELS)
TARGETS = ("duewheeld", "duewheel_load_program", "duewheel_beanstalk_load", "duewheel_wheel_bench")


def programs(version, targets):
    """The folder of a version's programs: a folder that has them, or a revision, which is built if it is not."""
    if (pathlib.Path(version) / "duewheeld").exists():
        return pathlib.Path(version).resolve()
    found = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{version}^{{commit}}"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if found.returncode:
        sys.exit(f"{version} is neither a folder with the program duewheeld nor a revision")
    tree = ROOT / "build" / "regress" / found.stdout[:12]
    if not tree.exists():
        # With force, because a tree that was removed with build/ is still registered.
        subprocess.run(["git", "worktree", "add", "--quiet", "--force", "--detach", tree, found.stdout.strip()], cwd=ROOT, check=True)
    print(f"building {version} in {tree.relative_to(ROOT)} ...", file=sys.stderr)
    subprocess.run([tree / "dev", "build", "release", *targets], stdout=sys.stderr, check=True)
    return tree / "build" / "release" / "bin"


def durable_run(measure, subject, scratch, loads):
    """A function (folder of programs, seed) to {row: (unit, figure)}: a new server each time."""
    def run(folder, seed):
        server = Server(subject, scratch / "server", programs=folder, loads=loads)
        try:
            server.start()
            time.sleep(SPARES_S)
            figures = measure(server, False, seed)
        finally:
            server.stop()
            shutil.rmtree(server.directory, ignore_errors=True)
        # A row over HTTP of a server with both protocols has that in its name. The largest latency is that of a neighbour, and the CPU of the
        # client that of the same program.
        return {f"{name.removeprefix('HTTP: ')}: {name_of(HTTP if name.startswith('HTTP: ') else subject)}": figure
                for name, figure in figures.items() if not name.endswith((", max", ", client CPU"))}
    return run


def wheel_run(workload):
    def run(folder, seed):
        return {f"{workload}, {n:,} timers: {words}":
                ("ns", wheel_rows.run([str(folder / "duewheel_wheel_bench"), front], workload, n)["cpu_ns"])
                for front, words in FRONTS.items() for n in SIZES}
    return run


def runs_of(name, scratch, loads):
    if name in WHEELS:
        return [wheel_run(name)]
    return [durable_run(measure, subject, scratch, loads) for measure, subject in DURABLE[name]]


def in_turns(run, sides, rounds, first_seed=1):
    """{row: (unit, {side: [figure of each round]})}. The first side of the first round is random, and then they alternate. Only rows that both
    sides have."""
    figures = {}
    order = list(sides)
    random.Random(first_seed).shuffle(order)
    for seed in range(first_seed, first_seed + rounds):
        for side in order:
            for row, (unit, figure) in run(sides[side], seed).items():
                figures.setdefault(row, (unit, {name: [] for name in sides}))[1][side].append(figure)
        order.reverse()
    return {row: (unit, of) for row, (unit, of) in figures.items() if all(len(values) == rounds for values in of.values())}


def ratio(unit, old, new):
    """Above 1: the new one is better. Whole milliseconds are rounded up, as the first one may be 0."""
    if unit == "1/s":
        return new / old
    if unit == "ms" and isinstance(old, int):
        old, new = old + 1, new + 1
    return old / new


def interval(ratios):
    """A confidence interval of the median: the ratios without the lowest and highest ones, up to CHANCE for each end. Of five to seven rounds it
    has all."""
    left_out = 0
    while sum(math.comb(len(ratios), k) for k in range(left_out + 2)) <= CHANCE * 2 ** len(ratios):
        left_out += 1
    ordered = sorted(ratios)
    return ordered[left_out], ordered[-1 - left_out]


class Row:
    def __init__(self, name, unit, old, new):
        self.name, self.unit, self.old, self.new = name, unit, old, new
        # What must not happen has no ratio.
        self.is_count = unit == "messages"
        self.ratios = [] if self.is_count else [ratio(unit, *pair) for pair in zip(old, new)]

    @property
    def is_slower(self):
        if self.is_count:
            return any(self.new)
        # The best of fewer than five rounds is below 1 by chance too often.
        return statistics.median(self.ratios) < BOUND and interval(self.ratios)[1] < 1 and 0.5 ** len(self.ratios) <= CHANCE

    def cells(self):
        verdict = ("**not 0**" if self.is_count else "**slower**") if self.is_slower else ""
        return [self.name, self.unit, span(self.old), span(self.new), "-" if self.is_count else ratio_text(self.ratios), verdict]


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def span(values):
    return f"{digits(statistics.median(values))} ({digits(min(values))} to {digits(max(values))})"


def ratio_text(ratios):
    low, high = interval(ratios)
    return f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})"


def measure(run, sides, rounds):
    """The rows of one run. If one is slower, all are measured once more and judged by both halves."""
    figures = in_turns(run, sides, rounds)
    if any(Row(name, unit, of["old"], of["new"]).is_slower for name, (unit, of) in figures.items()):
        print("  a row is slower: once more", file=sys.stderr)
        for name, (_, of) in in_turns(run, sides, rounds, rounds + 1).items():
            for side, values in of.items():
                if name in figures:
                    figures[name][1][side].extend(values)
    return [Row(name, unit, of["old"], of["new"]) for name, (unit, of) in figures.items()]


def file_rows(rows):
    """The rows of the run's file."""
    made = Rows()
    for row in rows:
        made.add(row.name, 0, "old", row.unit, row.old)
        made.add(row.name, 0, "new", row.unit, row.new)
        if row.ratios:
            made.add(row.name, 0, "new relative to old, better above 1", "x", row.ratios)
    return made.rows


def page(rows):
    return table(["", "unit", "old", "new", "new relative to old, better above 1", ""], [row.cells() for row in rows])


def regress(options, scratch, keep):
    """Measures, and calls keep() with the rows of the file after each workload. Returns the rows, and what could not be measured."""
    new = programs(options.new, TARGETS)
    sides = {"old": programs(options.old, ("duewheeld", "duewheel_wheel_bench")), "new": new}
    rows, excluded = [], []
    for name in options.only:
        for run in runs_of(name, scratch, new):
            print(f"running {name} ...", file=sys.stderr)
            try:
                measured = measure(run, sides, options.rounds)
            except (RuntimeError, ValueError, ZeroDivisionError, OSError, subprocess.SubprocessError) as problem:
                print(f"excluded: {name} ({problem})", file=sys.stderr)
                excluded.append(name)
                continue
            rows += measured
            keep(file_rows(rows))
            print(page(measured), file=sys.stderr)
    return rows, excluded
