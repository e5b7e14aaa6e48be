#!/usr/bin/env python3
"""Runs the fuzz targets for a number of inputs, from the recorded ones in corpus/ on.

    tests/fuzz/run.py --bin build/fuzz/bin                       all targets, a million inputs over all of them
    tests/fuzz/run.py --bin build/fuzz/bin --runs 15000000       more
    tests/fuzz/run.py --bin build/fuzz/bin --runs 50000 engine   one target
    tests/fuzz/run.py --bin build/fuzz/bin --part-of 1000000 engine     one target with its part of so many

Targets differ a thousandfold in speed, so each gets a part of the inputs by its weight below: of a million on one
processor all together take a minute or two. The same number of runs from the same corpus makes up the same inputs. With
--keep FOLDER what reaches new code is kept there and is where the next run begins; then no two runs are the same.

A target that ends badly leaves the input in FOLDER/crashes, or in the folder `crashes` beside the programs, and the line
that plays it again is printed.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

# Parts of a thousand. A part is not of time: the slow ones have small parts that take long all the same.
WEIGHTS = {
    "address": 40, "api_request": 80, "beanstalk": 10, "cron": 60, "directory_marks": 10, "duration": 45, "engine": 4, "exclusion": 40,
    "http_request": 50, "import_line": 35, "index_row": 25, "instant": 45, "journal": 8, "json_number": 58, "json_put": 70, "json_schedule": 20,
    "lease_token": 60, "list_cursor": 48, "put_batch": 50, "record": 45, "record_parts": 20, "repeating_interval": 40, "schedule_row": 20,
    "setting_text": 5, "settings": 18, "shown_text": 30, "timer_schemes": 12, "timing_wheel": 12, "webhook_url": 40,
}
assert sum(WEIGHTS.values()) == 1000

INPUT_BYTES_MAX = 2000
SECONDS_AN_INPUT_MAX = 20
# Short stacks of allocations, and little memory kept from reuse: twice as fast where much is allocated.
SANITIZERS = {"UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "malloc_context_size=4:quarantine_size_mb=16"}
MEMORY_MIB_MAX = 2048


def command_of(target, options, runs, folders):
    # Left on, naming functions and weighing features take nine tenths of the time where much code is reached.
    command = [str(options.bin / f"{target}_fuzz"), f"-runs={runs}", "-print_funcs=0", "-entropic=0", f"-timeout={SECONDS_AN_INPUT_MAX}",
               f"-rss_limit_mb={MEMORY_MIB_MAX}", f"-max_len={INPUT_BYTES_MAX}", f"-artifact_prefix={options.crashes}/{target}-"]
    if not options.keep:
        command.append("-seed=1")
    if options.seconds:
        command.append(f"-max_total_time={options.seconds}")
    dictionary = HERE / "dictionaries" / f"{target}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    return command + [str(folder) for folder in folders]


def fuzz(target, options, runs):
    """(target, runs done, seconds, what went wrong or None)"""
    recorded = HERE / "corpus" / target
    if not any(recorded.iterdir()):
        return target, 0, 0.0, f"{recorded} holds no input"
    with tempfile.TemporaryDirectory(prefix="duewheel-fuzz-") as temporary:
        fresh = pathlib.Path(temporary)
        if options.keep:
            fresh = options.keep / target
            fresh.mkdir(parents=True, exist_ok=True)
        before = set(options.crashes.glob(f"{target}-*"))
        began = time.monotonic()
        run = subprocess.run(command_of(target, options, runs, [fresh, recorded]), capture_output=True, text=True,
                             errors="replace", env=dict(os.environ, **SANITIZERS))
        took = time.monotonic() - began
    done = re.search(r"^Done (\d+) runs", run.stderr, re.MULTILINE)
    if run.returncode == 0 and done:
        return target, int(done.group(1)), took, None
    lines = [line for line in run.stderr.splitlines() if not line.startswith(("INFO:", "#", "\tNEW_FUNC"))]
    wrong = "\n".join(lines[-60:])
    for crash in sorted(set(options.crashes.glob(f"{target}-*")) - before):
        wrong += f"\nplay it again with: {options.bin / (target + '_fuzz')} {crash}"
    return target, 0, took, wrong


def arguments():
    parser = argparse.ArgumentParser(description="Runs fuzz targets for a number of inputs.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default all: " + ", ".join(WEIGHTS))
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the folder with the programs")
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs over all of the targets")
    parser.add_argument("--part-of", type=int, help="instead of --runs: the targets' parts of so many")
    parser.add_argument("--seconds", type=int, default=0, help="at most so long for each target")
    parser.add_argument("--jobs", type=int, default=1, help="targets at the same time")
    parser.add_argument("--keep", type=pathlib.Path, help="where what reaches new code is kept")
    options = parser.parse_args()
    for target in options.targets:
        if target not in WEIGHTS:
            parser.error(f"there is no target {target}; there are {', '.join(WEIGHTS)}")
    options.targets = options.targets or list(WEIGHTS)
    options.crashes = ((options.keep or options.bin) / "crashes").resolve()
    options.crashes.mkdir(parents=True, exist_ok=True)
    return options


def main():
    options = arguments()
    whole = 1000 if options.part_of else sum(WEIGHTS[target] for target in options.targets)
    inputs = options.part_of or options.runs
    # The slowest first, so that none is left alone at the end.
    order = sorted(options.targets, key=WEIGHTS.get)
    runs = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        parts = [pool.submit(fuzz, target, options, max(1, inputs * WEIGHTS[target] // whole)) for target in order]
        for part in concurrent.futures.as_completed(parts):
            target, done, took, wrong = part.result()
            runs += done
            if wrong is None:
                print(f"{target:<14}{done:>10} inputs  {took:6.1f} s", flush=True)
            else:
                failed += 1
                print(f"{target:<14}    FAILED after {took:.1f} s\n{wrong}\n", flush=True)
    print(f"{runs} inputs in all, {failed} of {len(options.targets)} targets failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
