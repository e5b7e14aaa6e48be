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
MILLION = 1_000_000
ALL = definition.OWN
# What a ratio to a peer may be at a million timers: (row, peer, {subject: at most}).
RATIOS = (("A1", "libev", {"duewheel": 0.2, "duewheel-posted": 0.22, "duewheel-handles": 0.4}),
          ("A1", "asio", dict.fromkeys(ALL, 0.12)), ("A1", "libuv", dict.fromkeys(ALL, 0.12)),
          ("A2", "heap", {"duewheel": 0.6, "duewheel-handles": 1.0}),
          ("B", "libev", {"duewheel": 0.24, "duewheel-handles": 0.42}),
          ("CU", "libev", dict.fromkeys(ALL, 0.09)), ("CL", "libev", dict.fromkeys(ALL, 0.12)))
# What a figure may be: (words, row, timers, unit, subjects, at most, how it is shown).
FIGURES = (("bytes a timer, after set-up", "E", MILLION, "bytes after set-up", ALL, 32.5, "{:.1f}"),
           ("bytes a timer, after 2N more pairs", "E", MILLION, "bytes after 2n pairs", ALL, 32.5, "{:.1f}"),
           ("one schedule, p99.999", "LS schedule p99.999", MILLION, NS, ALL, 100_000, "us"),
           ("one cancel, p99.999", "LC cancel p99.999", MILLION, NS, ALL, 100_000, "us"),
           ("one tick, p99.999", "LA advance by one tick p99.999", MILLION, NS, ALL, 100_000, "us"),
           ("a thousand of a million due in one tick, p99", f"LM {definition.LATENCY['LM']} p99", MILLION, NS, ALL, 100_000,
            "us"),
           ("the same, the worst call", f"LM {definition.LATENCY['LM']} most", MILLION, NS, ALL, 100_000, "us"),
           ("an empty tick", "D1", 10_000, NS, ALL, 2, "{:.1f} ns"),
           ("a jump of an hour", "D2", 10_000, NS, ALL, 1_000, "{:.0f} ns"),
           ("wake-ups, one timer 350 s ahead", definition.SLEEPS[0], 1, "wake-ups", ALL, 1, "{:.0f}"),
           ("wake-ups after it was cancelled", definition.SLEEPS[1], 1, "wake-ups", ALL, 0, "{:.0f}"))


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
    return (f"`{run.result['command']}`, {rounds} {'round' if rounds == 1 else 'rounds'}, on {machine['cpu']} "
            f"({machine['cores']} virtual cores, kernel {machine['kernel']}, load {machine['load']:.1f} at the start).\n")


def medians_page(run):
    """One line a workload and size, one column a subject that runs more than A0."""
    subjects = [name for name in run.subjects("A1") if name not in ("go", "netty", "kafka", "executor")]
    lines = []
    for workload in definition.TIMED:
        for n in definition.SIZES[workload]:
            cells = [run.get(workload, n, name) for name in subjects]
            if any(cells):
                size = f", {n:,}" if len(definition.SIZES[workload]) > 1 else ""
                lines.append([workload + size, *(rounded(cell["median"]) if cell else "" for cell in cells)])
    for what in definition.SLEEPS:
        cells = [run.get(what, 1, name, "wake-ups") for name in subjects]
        if any(cells):
            lines.append([f"{what}: wake-ups", *(f"{cell['median']:.0f}" if cell else "-" for cell in cells)])
    page = table(["row, timers", *map(name_of, subjects)], lines)
    only = [name for name in ("go", "netty", "kafka", "executor") if run.get("A0", 10_000, name)]
    if only:
        said = "; ".join(f"{name_of(name)} " + " and ".join(
            rounded(run.get("A0", n, name)["median"]) for n in definition.SIZES["A0"] if run.get("A0", n, name))
            for name in only)
        page += f"\nA0 with what knows only the system's clock, at 10,000 and 1,000,000: {said}.\n"
    return page


def span(row, shown):
    if shown == "us":
        return f"{row['median'] / 1000:.1f} us ({row['min'] / 1000:.1f} to {row['max'] / 1000:.1f})"
    words = shown.format(row["median"])
    ends = [shown.format(row[end]).removesuffix(" ns") for end in ("min", "max")]
    return words if ends[0] == ends[1] else f"{words} ({ends[0]} to {ends[1]})"


def verdict(row, limit):
    return "met" if row["median"] <= limit else "**missed**"


def limit_of(limit, shown):
    if shown == "us":
        return f"<= {limit / 1000:g} us"
    return f"<= {limit:g}" + shown[shown.index("}") + 1:]


def targets_page(run):
    lines = []

    def add(figure, limit, subject, measured, outcome):
        lines.append([figure, limit, subject, measured, outcome])

    for workload, peer, limits in RATIOS:
        for subject, limit in limits.items():
            row = run.get(workload, MILLION, subject, f"of {peer}")
            if row:
                add(f"{workload}, of {peer}", f"<= {limit:g}", name_of(subject), span(row, "{:.3f}"), verdict(row, limit))
    for workload in ("A1", "B", "CU"):
        far, near = (run.get(workload, n, "duewheel", "of libev") for n in (10 * MILLION, MILLION))
        if far and near:
            # Rounds apart: ratios within their spread are the same.
            met = "met" if far["median"] <= near["median"] else "met within the spread" if far["min"] <= near["max"] else \
                "**missed**"
            add(f"{workload} at ten million, of libev", f"as at a million: {near['median']:.3f}", "own ids",
                span(far, "{:.3f}"), met)
    for workload in ("A1", "B", "CU"):
        peers = [run.get(workload, 10_000, name) for name in run.subjects(workload) if name not in definition.OWN]
        peers = [row for row in peers if row]
        if not peers:
            continue
        best = min(peers, key=lambda row: row["median"])
        for subject in ALL:
            row = run.get(workload, 10_000, subject)
            if row:
                add(f"{workload} at 10,000", f"< the best peer: {name_of(best['subject'])}, {best['median']:.1f} ns",
                    name_of(subject), span(row, "{:.1f} ns"), "met" if row["median"] < best["median"] else "**missed**")
    intrusive = run.get("A1, every scheme", 10_000, "duewheel-intrusive")
    schemes = [run.get("A1, every scheme", 10_000, name) for name in definition.SCHEMES]
    if intrusive and all(schemes):
        best = min(schemes, key=lambda row: row["median"])
        add("A1 at 10,000", f"< the best scheme: {best['subject']}, {best['median']:.1f} ns", "intrusive",
            span(intrusive, "{:.1f} ns"), "met" if intrusive["median"] < best["median"] else "**missed**")
    for figure, workload, n, unit, subjects, limit, shown in FIGURES:
        for subject in subjects:
            row = run.get(workload, n, subject, unit)
            if row:
                add(figure, limit_of(limit, shown), name_of(subject), span(row, shown), verdict(row, limit))
        # What is the machine's own noise shows in what others have.
        for peer in definition.COMPARED_WITH:
            row = run.get(workload, n, peer, unit)
            if row:
                add(figure, "-", peer, span(row, shown), "-")
    return table(["figure", "target", "subject", "median (least to most)", "outcome"], lines)


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
    return {"run": run_page(run), "medians": medians_page(run), "targets": targets_page(run), "schemes": schemes_page(run)}


def record(made, path):
    """Puts each page between its marks."""
    text = path.read_text()
    for name, page in made.items():
        mark = re.compile(rf"(<!-- wheel: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not mark.search(text):
            sys.exit(f"{path.name} has no place for the page '{name}': it needs <!-- wheel: {name} --> and <!-- end -->")
        text = mark.sub(lambda found: f"{found[1]}\n{page}\n{found[2]}", text)
    path.write_text(text)
