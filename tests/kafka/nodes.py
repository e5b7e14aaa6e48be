"""Nodes of a replicated log, and requests that follow their redirects."""

import http.client
import json
import pathlib
import select
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from daemon import BIN, Client, Daemon  # noqa: E402, F401

TAKEOVER_S = 2


class Node(Daemon):
    """A node that may be a standby: it is started when it says so, and is ready when it owns the log."""

    def __init__(self, bootstrap, **options):
        super().__init__(arguments=["--kafka-bootstrap", bootstrap, "--kafka-log-replicate", "--kafka-log-unsafe-replication",
                                    "--kafka-log-takeover-after", f"{TAKEOVER_S}s", *options.pop("arguments", ())], **options)

    def launch(self):
        self.process = subprocess.Popen([BIN / "duewheeld", "--data", self.data, "--http", self.listen, *self.arguments],
                                        stdout=subprocess.PIPE, stderr=self.log, env=self.environment, cwd=self.directory)
        line = self.line(60)
        assert line and line.startswith("standby http="), f"{line!r}\n{self.log_text()}"
        self.listen_at(line)

    def line(self, within_s):
        readable, _, _ = select.select([self.process.stdout], [], [], within_s)
        return self.process.stdout.readline().decode().strip() if readable else None

    def wait_ready(self, within_s=60):
        line = self.line(within_s)
        assert line and line.startswith("ready http="), f"{line!r}\n{self.log_text()}"
        self.listen_at(line)

    def listen_at(self, line):
        self.port = int(line.rpartition(":")[2])
        self.listen = f"127.0.0.1:{self.port}"

    def segments(self):
        """The names of the segments on its disk, the oldest first."""
        return sorted(path.name for path in (self.data / "journal").glob("seg-*"))


def ask(port, method, path, value=None, redirects=3, content_type="application/json"):
    """(status, body) of a request that follows redirects to the owner. A text is sent as it is."""
    text = value if value is None or isinstance(value, str) else json.dumps(value)
    for _ in range(redirects + 1):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request(method, path, text, {"Content-Type": content_type})
            response = connection.getresponse()
            body = response.read().decode()
            if "ndjson" not in response.getheader("Content-Type", ""):
                body = json.loads(body or "null")
        finally:
            connection.close()
        if response.status != 307:
            return response.status, body
        port = urllib.parse.urlsplit(response.getheader("Location")).port
    return response.status, body


def create_log_topic(bootstrap, *arguments):
    done = subprocess.run([BIN / "duewheel", "kafka", "create-topics", "--bootstrap", bootstrap, "--replicas", "1", "--log", *arguments],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
