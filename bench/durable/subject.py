"""A server process under load, and what is seen of it from outside. The load itself is load.cc."""

import json
import os
import pathlib
import select
import signal
import statistics
import subprocess
import time
import urllib.request

BIN = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "bin"
TICKS = os.sysconf("SC_CLK_TCK")


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


BY_BEANSTALK = "duewheel, protocol of beanstalkd"


class Server:
    """A server process on a directory of its own."""

    def __init__(self, subject, directory, arguments=()):
        self.subject = subject
        self.directory = directory
        self.arguments = arguments  # of duewheeld
        self.listen = "127.0.0.1:0"  # of duewheeld
        self.process = None
        self.address = ""

    def start(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        if self.subject in ("duewheel", BY_BEANSTALK):
            by_beanstalk = ["--beanstalk", "127.0.0.1:0"] if self.subject == BY_BEANSTALK else []
            self.process = subprocess.Popen([BIN / "duewheeld", "--data", self.directory, "--http", self.listen, *by_beanstalk,
                                             *self.arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            select.select([self.process.stdout], [], [], 120)
            ready = dict(word.split("=") for word in self.process.stdout.readline().decode().split()[1:])
            self.address = f"beanstalk://{ready['beanstalk']}" if by_beanstalk else f"http://{ready['http']}"
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
                          "rounds": len(values), "values": list(values)})

    def cannot(self, workload, n, subject, unit, why):
        """A row of a subject that is not able to do it."""
        self.rows.append({"workload": workload, "n": n, "subject": subject, "unit": unit, "median": None, "min": None,
                          "max": None, "rounds": 0, "why": why})

    def merge(self, workload):
        """The rows of a workload that were added round by round become one for each subject."""
        merged = {}
        for row in [row for row in self.rows if row["workload"] == workload]:
            merged.setdefault(row["subject"], []).append(row)
            self.rows.remove(row)
        for subject, of in merged.items():
            self.add(workload, of[0]["n"], subject, of[0]["unit"], [value for row in of for value in row["values"]])


def fill(server, count, **options):
    return load("put", server, connections=4, pipeline=256, count=count, seconds=100_000, **options)


def settle(server):
    """Waits until everything full is sealed."""
    while stats(server)["unsealed_segments"] > 0:
        time.sleep(0.2)
    time.sleep(1)


def stats(server):
    with urllib.request.urlopen(server.address + "/v1/stats") as answer:
        return json.load(answer)
