"""The pages of a run of `wheel`: what was measured, beside what was aimed at. All of it is made from the run's JSON.

A page stands in bench/README.md between `<!-- wheel: NAME -->` and `<!-- end -->`, and is put there by --record.
"""

import re
import sys

from wheel import rows as definition

NAMES = {"duewheel": "own ids", "duewheel-handles": "handles", "duewheel-posted": "posted",
         "duewheel-intrusive": "intrusive", "asio": "Asio", "executor": "ScheduledThreadPoolExecutor", "kafka": "Kafka",
         "go": "Go"}
NS = "ns of processor time"
NONE = "-"  # of a cell without a figure, for a reason that the README gives
MILLION = 1_000_000
ALL = definition.OWN
# What a ratio to a peer may be at a million timers: (row, peer, {subject: at most}).
RATIOS = (("A1", "libev", {"duewheel": 0.2, "duewheel-posted": 0.22, "duewheel-handles": 0.4}),
          ("A1", "asio", dict.fromkeys(ALL, 0.12)), ("A1", "libuv", dict.fromkeys(ALL, 0.12)),
          ("A2", "heap", {"duewheel": 0.6, "duewheel-handles": 1.0}),
          ("B", "libev", {"duewheel": 0.24, "duewheel-handles": 0.42}),
          ("CU", "libev", dict.fromkeys(ALL, 0.09)), ("CL", "libev", dict.fromkeys(ALL, 0.12)))
# The same, of what would be better still.
STRETCHES = (("A1", "libev", {"duewheel": 0.1, "duewheel-handles": 0.25}),)
# What a figure of each front may be: (words, row, timers, unit, at most, how it is shown).
FIGURES = (("bytes a timer, after set-up", "E", MILLION, "bytes after set-up", 32.5, "{:.1f}"),
           ("bytes a timer, after 2N more pairs", "E", MILLION, "bytes after 2n pairs", 32.5, "{:.1f}"),
           ("one schedule, p99.999, us", "LS schedule p99.999", MILLION, NS, 100_000, "us"),
           ("one cancel, p99.999, us", "LC cancel p99.999", MILLION, NS, 100_000, "us"),
           ("one tick, p99.999, us", "LA advance by one tick p99.999", MILLION, NS, 100_000, "us"),
           ("a thousand of a million due in one tick, p99, us", f"LM {definition.LATENCY['LM']} p99", MILLION, NS, 100_000,
            "us"),
           ("the same, the worst call, us", f"LM {definition.LATENCY['LM']} most", MILLION, NS, 100_000, "us"),
           ("an empty tick, ns", "D1", 10_000, NS, 2, "{:.1f}"),
           ("a jump of an hour, ns", "D2", 10_000, NS, 1_000, "{:.1f}"),
           ("wake-ups, one timer 350 s ahead", definition.SLEEPS[0], 1, "wake-ups", 1, "{:.0f}"),
           ("wake-ups after it was cancelled", definition.SLEEPS[1], 1, "wake-ups", 0, "{:.0f}"))


class Run:
    def __init__(self, result):
        self.result = result
        self.rows = {(row["workload"], row["n"], row["subject"], row["unit"]): row for row in result["rows"]}

    def get(self, workload, n, subject, unit=NS):
        row = self.rows.get((workload, n, subject, unit))
        return None if row is None or row["median"] is None else row

    def subjects(self, workload):
        found = dict.fromkeys(row["subject"] for row in self.result["rows"] if row["workload"] == workload)
        order = [*definition.OWN, "heap", "multimap", *definition.LIBRARIES]
        return sorted(found, key=lambda name: order.index(name) if name in order else len(order))


def name_of(subject):
    return NAMES.get(subject, subject)


def table(head, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)) + "\n"


def rounded(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def run_page(run):
    machine = run.result["machine"]
    rounds = max((row["rounds"] for row in run.result["rows"]), default=0)
    return (f"{run.result['date']}, `{run.result['command']}`: {rounds} {'round' if rounds == 1 else 'rounds'}, on "
            f"{machine['cpu']} ({machine['cores']} virtual cores, kernel {machine['kernel']}, load {machine['load']:.1f} at "
            "the start).\n")


def medians_page(run):
    """One line a workload and size, one column a subject that runs more than A0."""
    subjects = [name for name in run.subjects("A1") if name not in ("go", "netty", "kafka", "executor")]
    lines = []
    for workload in definition.TIMED:
        for n in definition.SIZES[workload]:
            cells = [run.get(workload, n, name) for name in subjects]
            if any(cells):
                size = f", {n:,}" if len(definition.SIZES[workload]) > 1 else ""
                lines.append([workload + size, *(rounded(cell["median"]) if cell else NONE for cell in cells)])
    for what in definition.SLEEPS:
        cells = [run.get(what, 1, name, "wake-ups") for name in subjects]
        if any(cells):
            lines.append([f"{what}: wake-ups", *(f"{cell['median']:.0f}" if cell else NONE for cell in cells)])
    page = table(["row, timers", *map(name_of, subjects)], lines)
    only = [name for name in ("go", "netty", "kafka", "executor") if run.get("A0", 10_000, name)]
    if only:
        said = "; ".join(f"{name_of(name)} " + " and ".join(
            rounded(run.get("A0", n, name)["median"]) for n in definition.SIZES["A0"] if run.get("A0", n, name))
            for name in only)
        page += f"\nA0 with what knows only the system's clock, at 10,000 and 1,000,000: {said}.\n"
    return page


def span(row, shown):
    """The median, and the ends where they say more."""
    median, least, most = (f"{row[end] / 1000:,.1f}" if shown == "us" else shown.format(row[end])
                           for end in ("median", "min", "max"))
    return median if least == median == most else f"{median} ({least} to {most})"


def judged(row, shown, met):
    """A cell; `met` is whether the target was."""
    return f"{span(row, shown)}: {'met' if met else '**missed**'}" if row else NONE


def ratio_lines(run):
    for workload, peer, limits in (*RATIOS, *STRETCHES):
        found = {name: run.get(workload, MILLION, name, f"of {peer}") for name in ALL}
        if not any(found.values()):
            continue
        beyond = (workload, peer, limits) in STRETCHES
        same = len(limits) == len(ALL)
        target = f"<= {limits[ALL[0]]:g}" if same else ", ".join(f"{name_of(name)} <= {limit:g}"
                                                                for name, limit in limits.items())
        cells = [judged(row, "{:.3f}", row["median"] <= limits[name]) if row and name in limits else
                 span(row, "{:.3f}") if row and not beyond else NONE for name, row in found.items()]
        yield [f"{workload}, of {name_of(peer)}" + ", a goal beyond that" * beyond, target, *cells, NONE]


def ten_million_lines(run):
    for workload in ("A1", "B", "CU"):
        far, near = (run.get(workload, n, "duewheel", "of libev") for n in (10 * MILLION, MILLION))
        if far and near:
            yield [f"{workload} at ten million, of libev", f"as at a million: {span(near, '{:.3f}')}",
                   judged(far, "{:.3f}", far["median"] <= near["median"]), *[NONE] * 4]


def small_lines(run):
    """At 10,000 timers, ahead of every peer; and the intrusive front ahead of every scheme."""
    for workload in ("A1", "B", "CU"):
        peers = {name: run.get(workload, 10_000, name) for name in run.subjects(workload) if name not in ALL}
        peers = {name: row for name, row in peers.items() if row}
        own = [run.get(workload, 10_000, name) for name in ALL]
        if peers and any(own):
            best = min(peers, key=lambda name: peers[name]["median"])
            least = peers[best]["median"]
            yield [f"{workload} at 10,000, ns", "< every peer", *(judged(row, "{:.1f}", row and row["median"] < least)
                                                                  for row in own), f"{name_of(best)} {least:.1f}"]
    workload = "A1, every scheme"
    front = run.get(workload, 10_000, ALL[3])
    schemes = {name: run.get(workload, 10_000, name) for name in definition.SCHEMES}
    if front and all(schemes.values()):
        best = min(schemes, key=lambda name: schemes[name]["median"])
        least = schemes[best]["median"]
        yield ["A1 at 10,000, ns", "intrusive < every scheme", *[NONE] * 3,
               judged(front, "{:.1f}", front["median"] < least), f"{best} {least:.1f}"]


def figure_lines(run):
    for figure, workload, n, unit, limit, shown in FIGURES:
        own = [run.get(workload, n, name, unit) for name in ALL]
        if not any(own):
            continue
        # What is the machine's own noise shows in what others have.
        peers = {name: run.get(workload, n, name, unit) for name in definition.COMPARED_WITH}
        others = ", ".join(f"{name_of(name)} {span(row, shown).split(' ')[0]}" for name, row in peers.items() if row)
        target = f"<= {limit / 1000:g}" if shown == "us" else f"<= {limit:g}"
        yield [figure, target, *(judged(row, shown, row and row["median"] <= limit) for row in own), others]


def targets_page(run):
    lines = [line for part in (ratio_lines, ten_million_lines, small_lines, figure_lines) for line in part(run)]
    return table(["figure", "target", *map(name_of, ALL), "others"], lines)


LOOPS = {"ST": "advances every tick", "SW": "sleeps until `next_expiry()`",
         "SB": "sleeps until `next_expiry()`, and calls with a budget of 1,000 until it is caught up",
         "LU": "jumps to the tick before a million due in one",
         "LD": "jumps there, and calls with a budget of 1,000 until it is caught up"}


def loops_page(run):
    """The worst call of each loop, in milliseconds."""
    present = run.subjects("ST advance of a loop that ticks most")
    lines = []
    for loop, words in LOOPS.items():
        cells = [run.get(f"{loop} {definition.LATENCY[loop]} most", MILLION, name) for name in present]
        if any(cells):
            lines.append([words, *(f"{cell['median'] / 1e6:.2f} ({cell['min'] / 1e6:.2f} to {cell['max'] / 1e6:.2f})"
                                   if cell else NONE for cell in cells)])
    return table(["a loop that", *map(name_of, present)], lines) if lines else ""


def schemes_page(run):
    """What a call costs at the sizes of the curves."""
    page = ""
    for workload, what in (("growth start", "start"), ("growth stop", "stop"), ("growth tick", "tick"),
                           ("growth fire", "fire"), ("A1, every scheme", "a pair of A1")):
        present = [name for name in definition.GROWN if any(run.get(workload, n, name) for n in definition.CURVE_SIZES)]
        if not present:
            continue
        sizes = [n for n in definition.CURVE_SIZES if any(run.get(workload, n, name) for name in present)]
        lines = [[name_of(name), *(rounded(run.get(workload, n, name)["median"]) if run.get(workload, n, name) else "-"
                                   for n in sizes)] for name in present]
        page += ("\n" if page else "") + table([f"{what}, ns", *(f"{n:,}" for n in sizes)], lines)
    return page


def pages(result):
    run = Run(result)
    return {"run": run_page(run), "medians": medians_page(run), "targets": targets_page(run), "loops": loops_page(run),
            "schemes": schemes_page(run)}


def record(made, path, run="wheel"):
    """Puts each page of that run between its marks."""
    text = path.read_text()
    for name, page in made.items():
        mark = re.compile(rf"(<!-- {run}: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not mark.search(text):
            sys.exit(f"{path.name} has no place for the page '{name}': it needs <!-- {run}: {name} --> and <!-- end -->")
        text = mark.sub(lambda found: f"{found[1]}\n{page}\n{found[2]}", text)
    path.write_text(text)
