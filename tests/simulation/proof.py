#!/usr/bin/env python3
"""A long run of the simulator over many seeds, and of the fuzz targets, with a log of what they added up to.

    tests/simulation/proof.py --sim build/release/bin/duewheel_sim --occurrences 10000000 --log docs/proof/log.md
    ... --fuzz build/fuzz/bin --fuzz-runs 15000000           and so many made-up inputs

Seeds run in parts, each in a process of its own, as many at a time as --jobs says, until so many occurrences were simulated.
Every tenth part is of long runs. A part that finds a violation ends the run: what it printed, with the line that replays it,
stands in the log and on the terminal, and the exit code is 1. A part that does not end in --part-seconds counts as one. So it
is where one of the rare states was never met, unless --any-rare says that the run is too short for that.
"""

import argparse
import concurrent.futures
import pathlib
import platform
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHORT_STEPS, SHORT_RUNS = 400, 250
LONG_STEPS, LONG_RUNS, LONG_SEED, LONG_EVERY = 4000, 25, 1_000_001, 10
MEMORY_MAX_BYTES = 4 << 30  # long runs take a tenth of it
MS_A_YEAR = 365.25 * 86_400_000


class Proof:
    def __init__(self, options):
        self.options = options
        self.totals = {}
        self.violation = None
        self.parts = 0
        self.short_runs = self.long_runs = 0
        self.lock = threading.Lock()
        self.stop = False

    # What the next part runs: its first seed, runs and steps.
    def next_part(self):
        with self.lock:
            if self.stop or self.violation or self.totals.get("messages", 0) >= self.options.occurrences:
                return None
            self.parts += 1
            if self.parts % LONG_EVERY == 0:
                seed, runs, steps = LONG_SEED + self.long_runs, LONG_RUNS, LONG_STEPS
                self.long_runs += runs
            else:
                seed, runs, steps = self.options.seed + self.short_runs, SHORT_RUNS, SHORT_STEPS
                self.short_runs += runs
            return seed, runs, steps

    def run_parts(self):
        while part := self.next_part():
            seed, runs, steps = part
            with tempfile.NamedTemporaryFile(prefix="duewheel-proof-") as totals:
                command = [self.options.sim, "--seed", seed, "--runs", runs, "--steps", steps, "--totals", totals.name]
                command += ["--bug", self.options.bug, "--no-shrink"] if self.options.bug else []
                told, code = self.run_part([str(word) for word in command])
                added = dict(line.split() for line in totals.read().decode().splitlines())
            with self.lock:
                if code != 0:
                    # Who is killed says nothing.
                    self.violation = self.violation or f"{told[-6000:]}\nended with {code}: {' '.join(map(str, command))}"
                    return
                for name, number in added.items():
                    self.totals[name] = self.totals.get(name, 0) + int(number)

    # What it printed and its exit code. One that takes too long is told to abort: it then names the seed that it was at.
    def run_part(self, command):
        part = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                preexec_fn=limit_memory)
        try:
            return part.communicate(timeout=self.options.part_seconds)[0], part.returncode
        except subprocess.TimeoutExpired:
            part.send_signal(signal.SIGABRT)
            return part.communicate()[0] + f"\nno end in {self.options.part_seconds} s", part.returncode

    def tell(self):
        while not self.stop:
            time.sleep(0.2)
            if sys.stderr.isatty():
                print(f"\r{self.totals.get('messages', 0):>12,} of {self.options.occurrences:,} occurrences ", end="",
                      file=sys.stderr, flush=True)

    def run(self):
        teller = threading.Thread(target=self.tell)
        teller.start()
        try:
            with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
                for worker in [pool.submit(self.run_parts) for _ in range(self.options.jobs)]:
                    worker.result()
        finally:
            self.stop = True
            teller.join()
        if sys.stderr.isatty():
            print(file=sys.stderr)

    def rare(self):
        return {name[5:]: count for name, count in self.totals.items() if name.startswith("rare.")}


# A run that takes memory without end is to say which it was, before the machine ends what it likes.
def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX_BYTES, MEMORY_MAX_BYTES))


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def output_of(*command):
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return ended.stdout.strip() if ended.returncode == 0 else ""


def machine():
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return model.group(1) if model else platform.machine()


def log_of(proof, options, seconds, fuzzed):
    totals = proof.totals
    tree = output_of("git", "describe", "--always", "--dirty", "--exclude=*") or "unknown"
    rows = [
        ("tree", tree), ("machine", f"{machine()}, {options.jobs} at a time"),
        ("occurrences", f"{totals.get('messages', 0):,}"), ("deliveries", f"{totals.get('deliveries', 0):,}"),
        ("events", f"{totals.get('events', 0):,}"), ("crash-recoveries", f"{totals.get('crash_recoveries', 0):,}"),
        ("requests whose answer was lost", f"{totals.get('requests_lost', 0):,}"),
        ("simulated years", f"{totals.get('simulated_ms', 0) / MS_A_YEAR:,.0f}"),
        ("runs", f"{totals.get('runs', 0):,}"),
        (f"seeds of {SHORT_STEPS} steps", f"{options.seed} to {options.seed + proof.short_runs - 1}"),
        (f"seeds of {LONG_STEPS} steps", f"{LONG_SEED} to {LONG_SEED + proof.long_runs - 1}" if proof.long_runs else "none"),
        ("CPU seconds", f"{seconds:,.0f}"), ("**violations**", "**1**" if proof.violation else "**0**"),
    ]
    text = "# The newest proof run\n\nWritten by `./dev proof`; [how to read it](README.md).\n\n## Simulator\n\n"
    text += "| what | how much |\n|---|---|\n" + "".join(f"| {what} | {much} |\n" for what, much in rows)
    if proof.violation:
        text += f"\n```\n{proof.violation}\n```\n"
    rare = proof.rare()
    never = [name for name, count in rare.items() if count == 0]
    text += f"\n## Rare states\n\n{len(rare) - len(never)} of {len(rare)} were met"
    text += f"; never: {', '.join(never)}.\n" if never else ".\n"
    text += "\n| state | times |\n|---|---|\n" + "".join(f"| {name} | {count:,} |\n" for name, count in rare.items())
    if fuzzed:
        text += f"\n## Fuzzing\n\n```\n{fuzzed.strip()}\n```\n"
    return text


def arguments():
    parser = argparse.ArgumentParser(description="A long run of the simulator and the fuzz targets, with a log.")
    parser.add_argument("--sim", type=pathlib.Path, required=True, help="the simulator")
    parser.add_argument("--occurrences", type=int, default=10_000_000, help="messages that are to be simulated")
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--jobs", type=int, default=1, help="processes at the same time")
    parser.add_argument("--part-seconds", type=int, default=900, help="what a part may take; without a fault, some ten")
    parser.add_argument("--any-rare", action="store_true", help="rare states that are never met are no failure")
    parser.add_argument("--fuzz", type=pathlib.Path, help="the folder with the fuzz targets")
    parser.add_argument("--fuzz-runs", type=int, default=0, help="made-up inputs over all targets")
    parser.add_argument("--log", type=pathlib.Path, required=True, help="where the log is written")
    parser.add_argument("--bug", help="a planted bug that has to be found: the simulator of planted bugs only")
    return parser.parse_args()


def main():
    options = arguments()
    before = cpu_seconds()
    proof = Proof(options)
    proof.run()
    seconds = cpu_seconds() - before
    fuzzed, fuzz_failed = "", False
    if options.fuzz_runs > 0 and not proof.violation:
        run = subprocess.run([sys.executable, str(ROOT / "tests/fuzz/run.py"), "--bin", str(options.fuzz), "--jobs",
                              str(options.jobs), "--runs", str(options.fuzz_runs)], capture_output=True, text=True,
                             errors="replace")
        fuzzed, fuzz_failed = run.stdout + run.stderr, run.returncode != 0
    text = log_of(proof, options, seconds, fuzzed)
    options.log.parent.mkdir(parents=True, exist_ok=True)
    options.log.write_text(text)
    print(text.split("\n## Rare states")[0].strip())
    never = [name for name, count in proof.rare().items() if count == 0]
    print(f"\nrare states never met: {', '.join(never) or 'none'}\n{fuzzed}\nthe log is {options.log}")
    return 1 if proof.violation or fuzz_failed or (never and not options.any_rare) else 0


if __name__ == "__main__":
    sys.exit(main())
