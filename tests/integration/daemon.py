"""Starts the real daemon in a temporary directory and talks to it over HTTP. Shared by the tests of this folder.

Programs are found in the directory that DUEWHEEL_BIN names.
"""

import http.client
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile
import time

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])
READY_WITHIN_S = 60


class Daemon:
    """One data directory and the process that serves it, if one runs."""

    def __init__(self, directory=None, arguments=(), environment=None, before=()):
        self.temporary = None if directory else tempfile.TemporaryDirectory(prefix="duewheel-test-")
        self.directory = pathlib.Path(directory or self.temporary.name)
        self.arguments = list(arguments)
        self.before = list(before)  # words before the program, such as those of prlimit
        self.environment = dict(os.environ, **(environment or {}))
        # A start fills files of this size with zeros, beside whatever else the test has to get done.
        self.environment.setdefault("DUEWHEEL_STORE_SEGMENT_SIZE", "4MiB")
        # On any machine, so that each test is also one of I/O threads. Other tests start the server as it comes.
        self.environment.setdefault("DUEWHEEL_IO_THREADS", "1")
        self.program = BIN / "duewheeld"
        self.process = None
        self.port = 0
        self.ready = ""  # the line that it prints then
        self.listen = "127.0.0.1:0"
        self.log = open(self.directory / "log.txt", "ab")
        self.clients = []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.kill()
        for client in self.clients:
            client.close()
        self.log.close()
        if self.temporary:
            self.temporary.cleanup()

    @property
    def data(self):
        return self.directory / "data"

    def start(self):
        """Starts the process and waits until it serves; the time it took in seconds."""
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*self.before, self.program, "--data", self.data, "--http", self.listen, *self.arguments],
            stdout=subprocess.PIPE, stderr=self.log, env=self.environment, cwd=self.directory)
        readable, _, _ = select.select([self.process.stdout], [], [], READY_WITHIN_S)
        line = self.process.stdout.readline().decode() if readable else ""
        match = re.match(r"ready http=[\d.]+:(\d+)", line)
        if not match:
            raise AssertionError(f"the daemon did not get ready: {line!r}\n{self.log_text()}")
        self.port, self.ready = int(match.group(1)), line
        return time.monotonic() - began

    def log_text(self):
        self.log.flush()
        return (self.directory / "log.txt").read_text(errors="replace")

    def audit_lines(self):
        """The lines of the audit log but the first of each file, and but one that is being written."""
        texts = [path.read_text() for path in sorted((self.data / "audit").glob("audit-*.jsonl"))]
        every = [json.loads(line) for text in texts for line in text[:text.rfind("\n") + 1].splitlines()]
        return [line for line in every if line["verb"] != "audit.file"]

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        return self.wait()

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self, timeout=60):
        if not self.process:
            return None
        code = self.process.wait(timeout)
        self.process.stdout.close()
        self.process = None
        return code

    def client(self, timeout=60):
        """A new connection, closed with the daemon's last use."""
        self.clients.append(Client(self.port, timeout))
        return self.clients[-1]


class SlowDiskDaemon(Daemon):
    """One whose syncs take as much longer as it is told (slow_sync.cc)."""

    def __init__(self, **how):
        super().__init__(**how)
        self.switch = self.directory / "sync-takes-ms"
        self.environment.update(LD_PRELOAD=os.environ["DUEWHEEL_SLOW_SYNC"], DUEWHEEL_SLOW_SYNC_MS=str(self.switch))

    def slow_down(self, sync_ms):
        self.switch.write_text(str(sync_ms))

    def speed_up(self):
        self.switch.unlink()


class Client:
    """One keep-alive connection. Raises OSError or HTTPException when the server goes away."""

    def __init__(self, port, timeout=60):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def request(self, method, path, value=None):
        """(status, decoded body)."""
        return self.request_text(method, path, None if value is None else json.dumps(value))

    def request_text(self, method, path, text, headers=None):
        """As request(), with the body as it is sent; JSON unless the headers say another Content-Type. The body of an
        answer that is not one JSON value comes as text."""
        headers = dict(headers or {})
        if text is not None:
            headers.setdefault("Content-Type", "application/json")
        self.connection.request(method, path, text, headers)
        answer = self.connection.getresponse()
        body = answer.read().decode()
        is_json = answer.getheader("Content-Type", "").endswith("json") and "ndjson" not in answer.getheader("Content-Type")
        return answer.status, (json.loads(body) if is_json else body) if body else None

    def put(self, queue, body, **members):
        return self.request("POST", f"/v1/queues/{queue}/messages", {"body": body, **members})

    def lease(self, queue, maximum=10, wait="0s", lease="30s"):
        status, answer = self.request("POST", f"/v1/queues/{queue}:lease", {"max": maximum, "wait": wait, "lease": lease})
        assert status == 200, answer
        return answer["messages"]

    def take(self, queue, count):
        """Leases so many; they may come in parts, after a start as they are read from the index."""
        taken = []
        while len(taken) < count:
            messages = self.lease(queue, count - len(taken), "20s")
            assert messages, f"only {len(taken)} of {count} came"
            taken += messages
        return taken

    def ack(self, token):
        return self.request("POST", f"/v1/leases/{token}:ack")

    def ack_all(self, messages):
        """Acknowledges a lease call's messages in one write, before the last lease ends; returns the outcomes."""
        if not messages:
            return []
        status, answer = self.request("POST", "/v1/leases:ack", {"leases": [message["lease"] for message in messages]})
        assert status == 200, answer
        return [result["outcome"] for result in answer["results"]]

    def get(self, message):
        return self.request("GET", f"/v1/messages/{message}")

    def cancel(self, message):
        return self.request("DELETE", f"/v1/messages/{message}")

    def server_time_ms(self):
        return self.request("GET", "/v1/clock")[1]["server_time_ms"]

    def advance(self, **how):
        """Moves the time of a server with a test's clock: `by` a duration, or `to` or `to_ms` an instant."""
        status, answer = self.request("POST", "/v1/clock:advance", how)
        assert status == 200, answer

    def close(self):
        self.connection.close()
