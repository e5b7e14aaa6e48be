"""The group of rows about a neighbour that floods: put p99 of one namespace alone, and beside a namespace of another token that does what it
may, in turns on one server. Takes the rows, a directory on the disk that is measured, and whether it is only to see that it works.

Each kind of flood also goes to a second server on the same machine: the processor and the disk are then as busy, and what is left of the
difference is what the server itself lets a neighbour take.
"""

import json
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

from durable.subject import SETTLED_WITHIN_S
from durable.token_groups import call, start

PREFIX = "neighbour: "
ROUNDS = 5
ALONE, BESIDE, ELSEWHERE = "alone", "beside", "elsewhere"
FLOOD = pathlib.Path(__file__).with_name("neighbour_flood.py")
LOUD = "/v1/namespaces/loud"
PUT = {"body": "x" * 200, "delay": "1h"}
ALL = ["put", "read", "consume", "cancel", "schedule", "admin"]


def request(method, path, token, body=None):
    body = json.dumps(body).encode() if body is not None else b""
    return (f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


class Subject:
    """A server with a tenant that is measured and one that floods."""

    def __init__(self, directory):
        self.server, self.admin = start(directory, "--auth-required")
        host, _, port = self.server.address.removeprefix("http://").rpartition(":")
        self.address = (host, int(port))
        self.quiet, self.loud = (call(self.server, "PUT", f"/v1/tokens/{name}", self.admin, {"scopes": ALL, "namespaces": [name]})["token"]
                                 for name in ("quiet", "loud"))
        for _ in range(1000):
            call(self.server, "POST", f"{LOUD}/queues/listed/messages", self.loud, PUT)

    def settle(self):
        deadline = time.monotonic() + SETTLED_WITHIN_S
        while call(self.server, "GET", "/v1/stats", self.admin)["unsealed_segments"] > 0 and time.monotonic() < deadline:
            time.sleep(0.05)

    def put_p99_ms(self, seconds):
        """The p99 of puts over one connection, one after the other."""
        sent = request("POST", "/v1/namespaces/quiet/queues/q/messages", self.quiet, PUT)
        took = []
        with socket.create_connection(self.address) as connection:
            end = time.perf_counter() + seconds
            while (began := time.perf_counter()) < end:
                connection.sendall(sent)
                answer = connection.recv(65536)
                took.append(time.perf_counter() - began)
                if not answer.startswith(b"HTTP/1.1 201"):
                    raise RuntimeError(f"a put was answered {answer[:200]!r}")
        return statistics.quantiles(took, n=100)[98] * 1000

    def flood(self, kind, seconds):
        """Starts the flood; a function that ends it and returns the requests it had answered."""
        requests, rule = KINDS[kind]
        runs = []
        for connections, (method, path, body) in requests:
            run = subprocess.Popen([sys.executable, FLOOD, self.address[0], str(self.address[1]), str(connections), str(seconds)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            run.stdin.write(request(method, LOUD + path, self.loud, body))
            run.stdin.close()
            runs.append(run)
        made = None
        if rule:
            made = call(self.server, "POST", f"{LOUD}/queues/made/messages", self.loud,
                        {"body": PUT["body"], "due": "2025-01-01T00:00:00Z", "repeat": {"every": "1ms"}})["id"]

        def end():
            answered = sum(int(run.stdout.read()) for run in runs)
            for run in runs:
                run.wait()
            if made:
                call(self.server, "DELETE", f"{LOUD}/messages/{made}", self.loud)
                call(self.server, "POST", f"{LOUD}/queues/made:purge", self.loud, {})
            return answered

        return end

    def stop(self):
        self.server.stop(signal.SIGKILL)
        shutil.rmtree(self.server.directory)


PUTS = (8, ("POST", "/queues/flood/messages", PUT))
INVALID = (4, ("PUT", "/queues/-invalid", {}))
LISTS = (4, ("GET", "/queues/listed/messages?limit=1000", None))
KINDS = {"a rule of the past": ([], True), "puts": ([PUTS], False), "invalid administrative requests": ([INVALID], False), "lists": ([LISTS], False),
         "all of these": ([PUTS, INVALID, LISTS], True)}


def neighbour(rows, scratch, quick):
    seconds, rounds = (1, 1) if quick else (3, ROUNDS)
    here, elsewhere = Subject(scratch / "here"), Subject(scratch / "elsewhere")
    p99 = {kind: {subject: [] for subject in (ALONE, BESIDE, ELSEWHERE)} for kind in KINDS}
    answered = {kind: [] for kind in KINDS}
    try:
        here.put_p99_ms(1)
        for number in range(rounds):
            for kind in KINDS:
                for subject in ((ALONE, BESIDE, ELSEWHERE), (ELSEWHERE, ALONE, BESIDE), (BESIDE, ELSEWHERE, ALONE))[number % 3]:
                    here.settle()
                    elsewhere.settle()
                    if subject == ALONE:
                        p99[kind][subject].append(here.put_p99_ms(seconds))
                        continue
                    end = (here if subject == BESIDE else elsewhere).flood(kind, seconds + 1)
                    time.sleep(0.5)  # until it is at full speed
                    p99[kind][subject].append(here.put_p99_ms(seconds))
                    count = end()
                    if subject == BESIDE:
                        answered[kind].append(count / (seconds + 1))
    finally:
        here.stop()
        elsewhere.stop()
    for kind, by_subject in p99.items():
        for subject, values in by_subject.items():
            rows.add(f"{PREFIX}put p99, {kind}", 0, subject, "ms", values)
        for base in (ALONE, ELSEWHERE):
            rows.add(f"{PREFIX}put p99, {kind}, relative to {base}", 0, BESIDE, "x", [beside / of for beside, of in zip(by_subject[BESIDE], by_subject[base])])
        rows.add(f"{PREFIX}requests of {kind}", 0, BESIDE, "1/s", answered[kind])
