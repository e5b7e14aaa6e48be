#!/usr/bin/env python3
"""Runs the benchmarks and prints their tables:  ./dev bench [durable | wheel | timers | calendar] [--quick] [--only GROUP ...]
and compares two versions:  ./dev bench regress OLD NEW

Every figure comes from one interleaved run on one machine; each run leaves build/bench/NAME.json, and tables are made
from that file alone. How to read them: bench/README.md.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile

import calendar_groups
import instructions
import regress
import timer_groups
from durable import (beanstalkd_groups, dashboard_groups, hostile_groups, kafka_groups, lease_groups, message_groups, neighbour_groups,
                     peer_chart, peer_groups, peer_plot, peer_tables, queue_groups, replicated_groups, schedule_groups, store_groups,
                     target_tables, tls_groups, token_groups, webhook_groups, worker_groups)
from durable.subject import BIN, Rows
from wheel import curves, plot, rows as wheel_rows, tables

ROOT = pathlib.Path(__file__).resolve().parent.parent


def machine():
    model = "unknown"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
    return {"cpu": model, "cores": os.cpu_count(), "kernel": re.match(r"[\d.]*\d", platform.release())[0], "load": os.getloadavg()[0]}


def machine_line(of):
    return f"{of['cpu']}, {of['cores']} cores, kernel {of['kernel']}, load {of['load']:.1f}"


DURABLE = {"puts": store_groups.puts, "peers": peer_groups.peers, "beanstalkd": beanstalkd_groups.beanstalkd,
           "hostile": hostile_groups.hostile, "lateness": store_groups.lateness, "pending": store_groups.pending,
           "listing": store_groups.listing, "rebuild": store_groups.rebuild, "batches": queue_groups.batches,
           "asks": queue_groups.asks, "cycles": queue_groups.cycles, "burst": queue_groups.burst,
           "paused": queue_groups.paused, "cancels": queue_groups.cancels, "churn": queue_groups.churn,
           "webhooks": webhook_groups.deliveries, "hanging": webhook_groups.hanging, "crons": schedule_groups.crons,
           "downtime": queue_groups.downtime, "flood": queue_groups.flood, "tls": tls_groups.tls,
           "handshakes": tls_groups.handshakes, "tokens": token_groups.tokens, "dashboard": dashboard_groups.dashboard, "kafka": kafka_groups.kafka,
           "replicated": replicated_groups.replicated, "leases": lease_groups.leases, "groups": message_groups.groups,
           "neighbour": neighbour_groups.neighbour, "workers": worker_groups.workers}


BENCHES = {"durable": DURABLE, "calendar": {"rules": calendar_groups.rules}, "timers": timer_groups.GROUPS}


def table(path):
    result = json.loads(path.read_text())
    print(f"{result['command']}\n{machine_line(result['machine'])}\n")
    print("| row | n | subject | median | min | max | unit | rounds |\n|---|---|---|---|---|---|---|---|")
    for row in result["rows"]:
        if row["median"] is None:
            figures = f"- ({row['why']}) | - | -"
        else:
            figures = " | ".join(f"{row[name]:,.2f}".rstrip("0").rstrip(".") for name in ("median", "min", "max"))
        print(f"| {row['workload']} | {row['n']:,} | {row['subject']} | {figures} | {row['unit']} | {row['rounds']} |")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = parser.add_subparsers(dest="name")
    for name, groups in {**BENCHES, "wheel": wheel_rows.SIZES}.items():
        sub = names.add_parser(name)
        sub.add_argument("--quick", action="store_true", help="short runs: to see that it works, not for figures")
        sub.add_argument("--only", choices=list(groups), nargs="+", default=list(groups), help="groups of rows")
        if name == "wheel":
            sub.add_argument("--subjects", nargs="+", help="only these, and duewheel")
            sub.add_argument("--rounds", type=int, default=5, help="of each row, in which the subjects take turns")
            sub.add_argument("--again", action="store_true", help="measure nothing: pages from the last run's file")
            sub.add_argument("--record", action="store_true",
                             help="put tables and plots into bench/README.md and bench/figures")
        else:
            sub.add_argument("--scratch", help="directory on the disk to measure (default: the system's temporary one)")
        if name == "durable":
            sub.add_argument("--record", action="store_true",
                             help="put the tables of the groups peers, beanstalkd and hostile into bench/README.md, those in short "
                                  "into README.md and docs/beanstalk.md, and their pictures into bench/figures and docs/pictures")
    sub = names.add_parser("regress", help="two versions in turns; a version is a revision, or a folder with the programs of one")
    sub.add_argument("old", nargs="?")
    sub.add_argument("new", nargs="?")
    sub.add_argument("--only", choices=regress.NAMES, nargs="+", default=regress.NAMES, help="rows")
    sub.add_argument("--rounds", type=int, default=5, help="of each row")
    sub.add_argument("--scratch", help="directory on the disk to measure (default: the system's temporary one)")
    sub.add_argument("--quick", action="store_true", help="no versions: only the instructions of operations, relative to the recorded ones")
    sub.add_argument("--record", action="store_true", help="with --quick: record the counts in bench/instructions.json")
    options = parser.parse_args(sys.argv[1:] or ["durable"])
    if options.name == "regress" and (options.quick if options.new else not options.quick):
        sub.error("name two versions, or --quick")
    return options


def wheel(options, head, out):
    """Leaves wheel.json, and made from it wheel.md, wheel.svg (curves) and wheel_peers.svg (bars) beside it."""
    rows = []
    command = json.loads(out.read_text())["command"] if options.again and out.exists() else head["command"]
    if options.record and any(part in command.split() for part in ("--quick", "--only", "--subjects")):
        sys.exit(f"--record is for a run of all rows, not for `{command}`: it would take figures out of "
                 "bench/README.md")
    if not options.again:
        wheel_rows.wheel(rows, options, lambda: out.write_text(json.dumps({**head, "rows": rows}, indent=1)))
    elif not out.exists():
        sys.exit(f"there is no {out.relative_to(ROOT)} to make pages from: run without --again first")
    result = json.loads(out.read_text())
    plots = {out.with_suffix(".svg"): curves.draw, out.with_name("wheel_peers.svg"): plot.draw}
    drawn = [path for path, draw in plots.items() if draw(result, path)]
    pages = tables.pages(result)
    out.with_suffix(".md").write_text("\n".join(f"## {name}\n\n{page}" for name, page in pages.items()))
    if options.record:
        tables.record(pages, ROOT / "bench" / "README.md")
        for path in drawn:
            shutil.copyfile(path, ROOT / "bench" / "figures" / path.name)


RECORDED = ("peers", *target_tables.GROUPS)  # groups whose tables `--record` puts into pages


def durable_pages(options, result, out):
    """Prints the tables of targets. `--record` puts them into the tree."""
    pages = target_tables.pages(result)
    for page in pages.values():
        print(page)
    if options.record:
        tables.record(pages, ROOT / "bench" / "README.md", "durable")
        if "beanstalkd" in pages:
            short = target_tables.beanstalkd_in_short(pages["beanstalkd"])
            tables.record({"beanstalkd in short": short}, ROOT / "docs" / "beanstalk.md", "durable")
    if "peers" in options.only:
        peer_pages(options, result, out)


def peer_pages(options, result, out):
    """Leaves peers.svg beside durable.json. `--record` also puts it, the tables and the picture of the README into the tree."""
    plot_path = out.with_name("peers.svg")
    drawn = peer_plot.draw(result, plot_path)
    if options.record:
        made = peer_tables.pages(result)
        tables.record({"peers": made["peers"]}, ROOT / "bench" / "README.md", "durable")
        tables.record({"peers in short": made["peers in short"]}, ROOT / "README.md", "durable")
        (ROOT / "docs" / "pictures" / "peers.svg").write_text(peer_chart.chart(made["peers"]))
        if drawn:
            shutil.copyfile(plot_path, ROOT / "bench" / "figures" / plot_path.name)


def two_versions(options, head, out):
    """Returns 1 if a row is slower or could not be measured."""
    def keep(rows):
        out.write_text(json.dumps({**head, "rows": rows}, indent=1))

    with tempfile.TemporaryDirectory(prefix="duewheel-bench-", dir=options.scratch) as scratch:
        rows, excluded = regress.regress(options, pathlib.Path(scratch), keep)
    print(f"{head['command']}\n{machine_line(head['machine'])}; {options.rounds} rounds in turns; median (min to max), and of the ratios "
          f"the median and its confidence interval\n\n{regress.page(rows)}")
    slower = [row.name for row in rows if row.is_slower]
    for words, names in (("slower", slower), ("excluded", excluded)):
        if names:
            print(f"{words}: {'; '.join(names)}")
    return int(bool(slower or excluded))


def main():
    options = parse()
    if options.name == "regress" and options.quick:
        return instructions.check(BIN, options.record)
    if options.name == "durable" and options.record and (options.quick or not set(options.only) & set(RECORDED)):
        sys.exit(f"--record is for full runs of the groups {', '.join(RECORDED)}: add `--only` with one of them, and no --quick")
    if options.name != "regress" and not (BIN / ("duewheel_wheel_bench" if options.name == "wheel" else "duewheel_load")).exists():
        sys.exit("build first: ./dev build")
    out = ROOT / "build" / "bench" / f"{options.name}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    head = {"command": "./dev bench " + " ".join(sys.argv[1:] or [options.name]),
            "date": datetime.date.today().isoformat(), "machine": machine()}
    if options.name == "regress":
        return two_versions(options, head, out)
    if options.name == "wheel":
        wheel(options, head, out)
    else:
        rows = Rows()
        with tempfile.TemporaryDirectory(prefix="duewheel-bench-", dir=options.scratch) as scratch:
            for name, group in BENCHES[options.name].items():
                if name in options.only:
                    print(f"running {name} ...", file=sys.stderr)
                    group(rows, pathlib.Path(scratch), options.quick)
                    # What was measured is kept if a later group fails.
                    out.write_text(json.dumps({**head, "rows": rows.rows}, indent=1))
        if options.name == "durable":
            durable_pages(options, json.loads(out.read_text()), out)
    table(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
