#!/usr/bin/env python3
"""Compares the instructions of operations with those of bench/instructions.json: of a shard (durable/operations_bench.cc), and of the
wheels. Callgrind counts them, so that neither the load of the machine nor its processor matters.

    bench/instructions.py build/release/bin         `./dev bench regress --quick --record` records them

The compiler decides the counts as well. With another one than that of the recorded counts it compares nothing and exits with 77."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RECORDED = pathlib.Path(__file__).resolve().with_suffix(".json")
TOLERANCE = 0.03
SKIPPED = 77
# The C library chooses its memcpy() and the like by processor; and a copy by one instruction counts as many.
BASELINE = "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in (
    "AVX", "AVX2", "AVX_Fast_Unaligned_Load", "AVX512BW", "AVX512VL", "ERMS", "EVEX", "FSRM", "SSE4_1", "SSE4_2", "SSSE3"))
OPERATIONS = {"put": "put", "cancel": "put, then cancel", "cycle": "put, lease and ack", "groups": "the same in 1,000 groups with limits",
              "cron": "cron run, lease and ack", "seal": "seal, per message", "start": "start, per message"}
TIMERS = 100_000
WHEELS = {("duewheel", "A1"): "A1, own ids", ("duewheel", "CU"): "CU, own ids", ("duewheel-handles", "A1"): "A1, handles",
          ("duewheel-handles", "CU"): "CU, handles"}
PAIRS = 200_000  # of A1 with --quick


def compiler(programs):
    """The compiler of the build that has these programs: its target and version."""
    cache = (programs.parent / "CMakeCache.txt").read_text()
    path = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache, re.MULTILINE)[1]
    version = subprocess.run([path, "-dumpfullversion"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return f"{pathlib.Path(path).resolve().name} {version}"


def run(command, *options):
    """The instructions of a program, and what it printed."""
    with tempfile.NamedTemporaryFile() as counts:
        done = subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts.name}", *options, *command],
                              env={"GLIBC_TUNABLES": BASELINE, "PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE, text=True, check=True)
        return int(re.search(r"^totals: (\d+)", pathlib.Path(counts.name).read_text(), re.MULTILINE)[1]), done.stdout


def count(programs):
    """{operation: instructions of one}"""
    counts = {}
    for operation, words in OPERATIONS.items():
        total, output = run([programs / "duewheel_operations_bench", operation], "--collect-atstart=no", "--toggle-collect=measured")
        counts[words] = round(total / int(output))
    for (front, workload), words in WHEELS.items():
        total, output = run([programs / "duewheel_wheel_bench", front, workload, str(TIMERS), "--quick"])
        counts[words] = round(total / (PAIRS if workload == "A1" else json.loads(output)["fired"]))
    return counts


def compare(recorded, counts):
    """The lines of a table, and whether an operation takes more instructions than the tolerance allows."""
    lines, is_slower = [], False
    for words in [*recorded, *(words for words in counts if words not in recorded)]:
        before, now = recorded.get(words), counts.get(words)
        verdict = "record it"
        if before and now:
            change = now / before - 1
            verdict = f"{change:+.1%}"
            if change > TOLERANCE:
                verdict, is_slower = verdict + ", more than recorded", True
            elif change < -TOLERANCE:
                verdict += ", fewer: record it"
        lines.append(f"{words:40}{before or '-':>10}{now or '-':>10}  {verdict}")
    return lines, is_slower


def check(programs, records):
    """Compares, or records; returns the status of the process."""
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        return SKIPPED
    by = compiler(programs)
    recorded = json.loads(RECORDED.read_text())
    if not records and recorded["compiler"] != by:
        print(f"skipped: the compiler is {by}, and the counts are of {recorded['compiler']}")
        return SKIPPED
    counts = count(programs)
    lines, is_slower = compare(recorded["instructions"], counts)
    print("instructions of one operation, recorded and now", *lines, sep="\n")
    if records:
        RECORDED.write_text(json.dumps({"compiler": by, "instructions": counts}, indent=2) + "\n")
        return 0
    if is_slower:
        print(f"\nAn operation takes over {TOLERANCE:.0%} more instructions than recorded. Find the cause, for example with callgrind_annotate. "
              "If it is\nworth them, record the new counts with `./dev bench regress --quick --record`, and give the reason in the commit.")
    return int(is_slower)


if __name__ == "__main__":
    sys.exit(check(pathlib.Path(sys.argv[1]).resolve(), records=False))
