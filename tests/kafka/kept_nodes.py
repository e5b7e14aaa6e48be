"""Nodes of one replicated log that are started again whenever they end, for tests that lose owners again and again."""

import collections
import os
import pathlib
import signal
import subprocess
import threading
import time

from nodes import BIN

REPLACED = 75
WITHIN_S = 240  # of what must happen at last, on a slow machine


class KeptNode:
    """One data directory, and the process on it, which is started again whenever it ends as an owner that was replaced or
    by a kill."""

    def __init__(self, directory, number, port, arguments, environment=None):
        self.number, self.port, self.arguments = number, port, arguments
        self.directory = pathlib.Path(directory) / f"node{number}"
        self.directory.mkdir()
        self.environment = dict(os.environ, DUEWHEEL_STORE_SEGMENT_SIZE="4MiB", **(environment or {}))
        self.log_path = self.directory / "log.txt"
        self.process = None
        self.ready_at = 0  # 0: it is no owner
        self.takeovers = []  # each time that it became the owner
        self.wanted = False
        self.ended = None  # an exit code for which it is not started again
        self.codes = collections.Counter()
        self.thread = None

    @property
    def data(self):
        return self.directory / "data"

    def start(self):
        self.wanted = True
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while self.wanted:
            with open(self.log_path, "ab") as log:
                self.process = subprocess.Popen(
                    [BIN / "duewheeld", "--data", self.data, "--http", f"127.0.0.1:{self.port}", *self.arguments],
                    stdout=subprocess.PIPE, stderr=log, env=self.environment, text=True)
            for line in self.process.stdout:
                if line.startswith("ready"):
                    self.ready_at = time.monotonic()
                    self.takeovers.append(self.ready_at)
            code = self.process.wait()
            self.process.stdout.close()
            self.ready_at = 0
            self.codes[code] += 1
            if code not in (0, REPLACED, -signal.SIGKILL):
                self.ended = code
                return
            time.sleep(0.2)

    def send(self, which):
        if self.process and self.process.poll() is None:
            self.process.send_signal(which)

    def stop(self, which=signal.SIGTERM):
        self.wanted = False
        if not self.thread:
            return
        told = None
        while self.thread.is_alive():
            if told is not self.process:  # once: a process that is about to end would take a second one as it comes
                told = self.process
                self.send(which)
            self.thread.join(0.1)

    def log_text(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""


class KeptNodes(list):
    """All nodes of one log."""

    def start(self):
        for node in self:
            node.start()
        self.owner()

    def stop(self):
        for node in self:
            node.stop(signal.SIGKILL)

    def check(self):
        for node in self:
            assert node.ended is None, f"node {node.number} ended with {node.ended}:\n{node.log_text()[-4000:]}"

    def owner(self):
        deadline = time.monotonic() + WITHIN_S
        while True:
            ready = [node for node in self if node.ready_at]
            if ready:
                return max(ready, key=lambda node: node.ready_at)
            self.check()
            assert time.monotonic() < deadline, "no node owns the log\n" + self.log_ends()
            time.sleep(0.02)

    def new_owner(self, former_at):
        """The owner that came after this instant."""
        deadline = time.monotonic() + WITHIN_S
        while (owner := self.owner()).ready_at <= former_at:
            assert time.monotonic() < deadline, "no node took over\n" + self.log_ends()
            time.sleep(0.02)
        return owner

    def log_ends(self):
        return "\n".join(node.log_text()[-2000:] for node in self)
