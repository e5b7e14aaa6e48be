"""A server process under load, and what is seen of it from outside. The load itself is load.cc and
beanstalk_load.cc."""

import contextlib
import copy
import json
import os
import pathlib
import select
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request

BIN = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "bin"
TICKS = os.sysconf("SC_CLK_TCK")
READY_WITHIN_S = STOP_WITHIN_S = 120
LOAD_WITHIN_S = 1800
SETTLED_WITHIN_S = 300


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


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


BY_BEANSTALK = "duewheel, protocol of beanstalkd"


class Server:
    """A server process on a directory of its own, with the programs of two folders: that of duewheeld, and that of its loads."""

    def __init__(self, subject, directory, arguments=(), programs=BIN, loads=BIN):
        self.subject = subject
        self.directory = directory
        self.arguments = arguments  # of duewheeld
        self.programs, self.loads = programs, loads
        self.listen = "127.0.0.1:0"  # of duewheeld
        self.process = None
        self.address = ""
        self.http = ""  # of duewheeld: its address for HTTP

    def start(self):
        """Returns the seconds until it is ready: over beanstalkd's protocol, until it answers a command."""
        self.directory.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        if self.subject in ("duewheel", BY_BEANSTALK):
            by_beanstalk = ["--beanstalk", "127.0.0.1:0"] if self.subject == BY_BEANSTALK else []
            self.process = subprocess.Popen([self.programs / "duewheeld", "--data", self.directory, "--http", self.listen, *by_beanstalk,
                                             *self.arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            readable, _, _ = select.select([self.process.stdout], [], [], READY_WITHIN_S)
            line = self.process.stdout.readline().decode() if readable else ""
            if not line.startswith("ready "):
                raise RuntimeError(f"duewheeld on {self.directory} printed no ready line within {READY_WITHIN_S} s")
            ready = dict(word.split("=") for word in line.split()[1:])
            self.http = f"http://{ready['http']}"
            self.address = f"beanstalk://{ready['beanstalk']}" if by_beanstalk else self.http
        else:
            port = free_port()
            self.process = subprocess.Popen(["beanstalkd", "-l", "127.0.0.1", "-p", str(port), "-z", "100000", "-b",
                                             self.directory, self.subject.split()[1]], stderr=subprocess.DEVNULL)
            self.address = f"beanstalk://127.0.0.1:{port}"
        if self.address.startswith("beanstalk://"):
            self.await_reply()
        return time.monotonic() - began

    def over_http(self):
        """The same process of duewheeld, for loads over HTTP."""
        server = copy.copy(self)
        server.address = self.http
        return server

    def await_reply(self):
        host, _, port = self.address.removeprefix("beanstalk://").rpartition(":")
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1) as client:
                client.settimeout(max(0.1, deadline - time.monotonic()))
                client.sendall(b"list-tube-used\r\n")
                if client.recv(64).startswith(b"USING"):
                    return
            time.sleep(0.002)
        raise RuntimeError(f"{self.subject} did not reply at {self.address} within {READY_WITHIN_S} s of its start")

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
            try:
                self.process.wait(STOP_WITHIN_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None


def load_command(command, server, **options):
    """The command line of a load. duewheel_load speaks beanstalkd's protocol for puts with a delay and their cancels only."""
    is_first = server.address.startswith("http") or (command in ("put", "cancel") and "due_ms" not in options)
    arguments = [server.loads / ("duewheel_load" if is_first else "duewheel_beanstalk_load")]
    arguments += [command, "--server", server.address]
    for name, value in options.items():
        arguments += ["--" + name.replace("_", "-"), str(value)]
    return arguments


def load(command, server, **options):
    run = subprocess.run(load_command(command, server, **options), stdout=subprocess.PIPE, text=True, timeout=LOAD_WITHIN_S)
    if not run.stdout:
        raise RuntimeError(f"the load {command} on {server.address} ended with status {run.returncode} and no result")
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
    """Waits until everything full is sealed, if it is Duewheel."""
    if not server.http:
        return
    deadline = time.monotonic() + SETTLED_WITHIN_S
    while (unsealed := stats(server)["unsealed_segments"]) > 0:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{unsealed} segments of the log are not sealed after {SETTLED_WITHIN_S} s")
        time.sleep(0.2)
    time.sleep(1)


def stats(server):
    with urllib.request.urlopen(server.http + "/v1/stats", timeout=READY_WITHIN_S) as answer:
        return json.load(answer)
