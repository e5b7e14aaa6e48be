#!/usr/bin/env python3
"""Runs the benchmarks and prints their tables:  ./dev bench durable [--quick] [--only ROW]

Every figure comes from one interleaved run on one machine; each run leaves build/bench/NAME.json, and tables are made
from that file alone. How to read them: bench/README.md.
"""

import argparse
import json
import os
import pathlib
import platform
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "release" / "bin"
TICKS = os.sysconf("SC_CLK_TCK")


def machine():
    model = "unknown"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "load": os.getloadavg()[0]}


def sync_rate(directory, seconds=1.0):
    """fdatasync calls a second of 4 KiB writes into zero-filled space: what the disk gives at the moment."""
    path = directory / "sync-probe"
    with open(path, "wb") as file:
        file.write(bytes(4096 * 4096))
        os.fsync(file.fileno())
    descriptor = os.open(path, os.O_WRONLY)
    block = os.urandom(4096)
    began = time.monotonic()
    count = 0
    while time.monotonic() - began < seconds:
        os.pwrite(descriptor, block, 4096 * (count % 4096))
        os.fdatasync(descriptor)
        count += 1
    os.close(descriptor)
    path.unlink()
    return count / (time.monotonic() - began)


class Server:
    """A server process on a directory of its own."""

    def __init__(self, subject, directory):
        self.subject = subject
        self.directory = directory
        self.process = None
        self.address = ""

    def start(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        if self.subject == "duewheel":
            self.process = subprocess.Popen([BIN / "duewheeld", "--data", self.directory, "--http", "127.0.0.1:0"],
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            select.select([self.process.stdout], [], [], 120)
            self.address = "http://" + self.process.stdout.readline().decode().split("http=")[1].strip()
        else:
            port = 11399
            self.process = subprocess.Popen(["beanstalkd", "-l", "127.0.0.1", "-p", str(port), "-z", "100000", "-b",
                                             self.directory, self.subject.split()[1]], stderr=subprocess.DEVNULL)
            self.address = f"beanstalk://127.0.0.1:{port}"
            time.sleep(0.5)
        return time.monotonic() - began

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident_megabytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None


def load(command, server, **options):
    arguments = [BIN / "duewheel_load", command, "--server", server.address]
    for name, value in options.items():
        arguments += ["--" + name.replace("_", "-"), str(value)]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, text=True)
    return json.loads(run.stdout)


def disk_megabytes(directory, spares):
    total = 0
    for path in directory.rglob("*"):
        if path.is_file() and (spares or not path.name.startswith("spare-")):
            total += path.stat().st_blocks * 512
    return total / 1e6


class Rows:
    def __init__(self):
        self.rows = []

    def add(self, workload, n, subject, unit, values):
        self.rows.append({"workload": workload, "n": n, "subject": subject, "unit": unit,
                          "median": statistics.median(values), "min": min(values), "max": max(values),
                          "rounds": len(values)})


def puts(rows, scratch, quick):
    """W1 at 64 connections, one outstanding each, interleaved with beanstalkd on the same disk."""
    seconds = 2 if quick else 10
    rounds = 1 if quick else 5
    subjects = ["duewheel"] + (["beanstalkd -f0", "beanstalkd -f50"] if shutil.which("beanstalkd") else [])
    rates = {subject: [] for subject in subjects}
    cpu = {subject: [] for subject in subjects}
    p99 = {subject: [] for subject in subjects}
    syncs = []
    for round_number in range(rounds):
        for subject in subjects[round_number % len(subjects):] + subjects[:round_number % len(subjects)]:
            syncs.append(sync_rate(scratch, 0.5))
            server = Server(subject, scratch / "puts")
            server.start()
            load("put", server, connections=64, seconds=1)
            before = server.cpu_seconds()
            result = load("put", server, connections=64, seconds=seconds, seed=round_number + 2)
            cpu[subject].append((server.cpu_seconds() - before) / result["accepted"] * 1e6)
            rates[subject].append(result["per_second"])
            p99[subject].append(result["took_us"]["p99"])
            server.stop()
            shutil.rmtree(scratch / "puts")
    rows.add("fdatasync alone", 0, "disk", "1/s", syncs)
    for subject in subjects:
        rows.add("W1 puts, 64 connections", 64, subject, "1/s", rates[subject])
        rows.add("W1 p99", 64, subject, "us", p99[subject])
        rows.add("W1 server CPU a put", 64, subject, "us", cpu[subject])
    for peer in subjects[1:]:
        ratios = [ours / theirs for ours, theirs in zip(rates["duewheel"], rates[peer])]
        rows.add("W1 ratio to " + peer, 64, "duewheel", "x", ratios)


def fill(server, count, **options):
    return load("put", server, connections=4, pipeline=256, count=count, seconds=100_000, **options)


def settle(server):
    """Waits until everything full is sealed."""
    import urllib.request
    while True:
        with urllib.request.urlopen(server.address + "/v1/stats") as answer:
            if json.load(answer)["unsealed_segments"] == 0:
                break
        time.sleep(0.2)
    time.sleep(1)


def lateness(rows, scratch, quick):
    """W3: 1 M pending over 24 h, 2,000 a second falling due to pull workers."""
    server = Server("duewheel", scratch / "late")
    server.start()
    fill(server, 100_000 if quick else 1_000_000)
    settle(server)
    result = load("late", server, rate=2000, seconds=5 if quick else 30, connections=8, queue="late",
                  delay_min_ms=1000, delay_max_ms=5000 if quick else 30_000)
    for name in ("p50", "p99", "p999", "max"):
        rows.add("W3 lateness " + name, 1_000_000, "duewheel", "ms", [result["late_ms"][name]])
    rows.add("W3 early", 1_000_000, "duewheel", "messages", [result["early"]])
    rows.add("W3 lost", 1_000_000, "duewheel", "messages", [result["accepted"] - result["taken"]])
    server.stop()
    shutil.rmtree(scratch / "late")


def pending(rows, scratch, quick):
    """W8: resident set, disk, restart after kill -9 to the first answer."""
    for count in [100_000] if quick else [1_000_000, 10_000_000]:
        server = Server("duewheel", scratch / "pending")
        server.start()
        result = fill(server, count)
        rows.add("burst of pipelined durable puts", count, "duewheel", "1/s", [result["per_second"]])
        settle(server)
        rows.add("W8 resident set", count, "duewheel", "MB", [server.resident_megabytes()])
        server.stop(signal.SIGKILL)
        restarts = []
        for _ in range(3):
            restarts.append(server.start())
            server.stop(signal.SIGKILL)
        rows.add("W8 restart after kill -9", count, "duewheel", "s", restarts)
        server.start()
        rows.add("W8 resident set after restart", count, "duewheel", "MB", [server.resident_megabytes()])
        rows.add("W8 log and index on disk, no spares", count, "duewheel", "MB",
                 [disk_megabytes(server.directory, spares=False)])
        server.stop()
        shutil.rmtree(scratch / "pending")


def listing(rows, scratch, quick):
    """W13: 100 messages of one queue in a window of time among 10 M pending, at rest and beside 2,000 puts a second."""
    import http.client
    import random
    count, asked = (200_000, 100) if quick else (10_000_000, 1000)
    day_ms = 24 * 3600 * 1000
    server = Server("duewheel", scratch / "listing")
    server.start()
    for queue, share in (("bulk", 0.9), ("mail", 0.1)):
        fill(server, int(count * share), queue=queue)
    settle(server)
    first_due_ms = int(time.time() * 1000) + 3600 * 1000
    chosen = random.Random(13)

    def ask(subject):
        connection = http.client.HTTPConnection(server.address.split("//")[1], timeout=60)
        took = []
        for _ in range(asked):
            after = first_due_ms + chosen.randrange(day_ms * 9 // 10)
            began = time.monotonic()
            connection.request("GET", f"/v1/queues/mail/messages?due_after={after}&limit=100")
            page = json.loads(connection.getresponse().read())
            took.append((time.monotonic() - began) * 1000)
            assert len(page["messages"]) == 100, page
            assert all(message["due_ms"] >= after for message in page["messages"])
        took.sort()
        for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
            rows.add(f"W13 list 100 of a queue, {subject} {name}", count, "duewheel", "ms",
                     [took[min(len(took) - 1, int(part * len(took)))]])

    ask("at rest")
    puts = subprocess.Popen([BIN / "duewheel_load", "late", "--server", server.address, "--rate", "2000", "--seconds",
                             "600", "--connections", "4", "--queue", "late", "--delay-min-ms", "1000",
                             "--delay-max-ms", "30000"], stdout=subprocess.DEVNULL)
    time.sleep(2)
    ask("beside 2,000 puts/s")
    puts.kill()
    puts.wait()
    rows.add("W13 entry memory slots", count, "duewheel", "messages", [stats(server)["in_memory"]])
    server.stop(signal.SIGKILL)
    shutil.rmtree(scratch / "listing")


def stats(server):
    import urllib.request
    with urllib.request.urlopen(server.address + "/v1/stats") as answer:
        return json.load(answer)


def rebuild(rows, scratch, quick):
    """Replay of what is not sealed, and rebuild of the index from the log, without sockets."""
    for count, rounds in [(200_000, 1)] if quick else [(1_000_000, 3), (10_000_000, 2)]:
        replay = []
        again = []
        for _ in range(rounds):
            run = subprocess.run([BIN / "duewheel_shard_bench", "--data", scratch / "rebuild", "--count", str(count)],
                                 stdout=subprocess.PIPE, text=True, check=True)
            result = json.loads(run.stdout)
            replay.append(result["replayed"] / result["reopen_seconds"])
            again.append(result["rebuild_per_second"])
            shutil.rmtree(scratch / "rebuild")
        rows.add("replay of unsealed records", count, "duewheel", "1/s", replay)
        rows.add("rebuild of the index", count, "duewheel", "1/s", again)


DURABLE = {"puts": puts, "lateness": lateness, "pending": pending, "listing": listing, "rebuild": rebuild}


def table(path):
    result = json.loads(path.read_text())
    print(f"{result['command']}\n{result['machine']['cpu']}, {result['machine']['cores']} cores, kernel "
          f"{result['machine']['kernel']}, load {result['machine']['load']:.1f}\n")
    print("| row | n | subject | median | min | max | unit | rounds |\n|---|---|---|---|---|---|---|---|")
    for row in result["rows"]:
        figures = " | ".join(f"{row[name]:,.2f}".rstrip("0").rstrip(".") for name in ("median", "min", "max"))
        print(f"| {row['workload']} | {row['n']:,} | {row['subject']} | {figures} | {row['unit']} | {row['rounds']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="durable", choices=["durable"])
    parser.add_argument("--quick", action="store_true", help="short runs: to see that it works, not for figures")
    parser.add_argument("--only", choices=sorted(DURABLE), help="one group of rows")
    parser.add_argument("--scratch", help="directory on the disk to measure (default: the system's temporary one)")
    options = parser.parse_args()
    if not (BIN / "duewheel_load").exists():
        sys.exit("build first: ./dev build")
    rows = Rows()
    with tempfile.TemporaryDirectory(prefix="duewheel-bench-", dir=options.scratch) as scratch:
        for name, group in DURABLE.items():
            if options.only in (None, name):
                print(f"running {name} ...", file=sys.stderr)
                group(rows, pathlib.Path(scratch), options.quick)
    out = ROOT / "build" / "bench" / f"{options.name}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"command": "./dev bench " + " ".join(sys.argv[1:] or [options.name]),
                               "machine": machine(), "rows": rows.rows}, indent=1))
    table(out)


if __name__ == "__main__":
    main()
