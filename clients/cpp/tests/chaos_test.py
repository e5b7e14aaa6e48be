#!/usr/bin/env python3
"""Messages are put and handled while workers, the server and the network are stopped, killed and cut in turns. Afterwards each
message has been handled. It may have been handled twice only if its worker or the server was killed (C5 of docs/promises.md).

DUEWHEEL_BIN is the folder of duewheeld and of duewheel_cpp_chaos, which puts and handles with the C++ client.
"""

import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "clients" / "conformance")]
from daemon import BIN, Daemon  # noqa: E402
from proxy import Proxy  # noqa: E402

MESSAGES = 500
CONCURRENCY = 10
HANDLED_WITHIN_S = 60


class Program:
    """A process of duewheel_cpp_chaos. Its lines are collected."""

    def __init__(self, *words):
        self.process = subprocess.Popen([BIN / "duewheel_cpp_chaos", *map(str, words)], stdout=subprocess.PIPE, text=True)
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout))
        self.reader.start()

    def end(self, how):
        self.process.send_signal(how)
        return self.wait()

    def wait(self):
        code = self.process.wait(HANDLED_WITHIN_S)
        self.reader.join()
        self.process.stdout.close()
        return code


class Chaos(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(environment={"DUEWHEEL_STORE_SEGMENT_SIZE": "4MiB"})
        self.addCleanup(self.daemon.__exit__)
        self.proxy = Proxy()  # which has the same port over restarts of the server
        self.addCleanup(self.proxy.close)
        self.programs = []
        self.addCleanup(lambda: [each.end(signal.SIGKILL) for each in self.programs if each.process.poll() is None])
        self.serve()

    def serve(self):
        self.daemon.start()
        self.proxy.server_port = self.daemon.port

    def start(self, *words):
        self.programs.append(Program(*words, f"http://127.0.0.1:{self.proxy.port}"))
        return self.programs[-1]

    def end(self, worker, how):
        """One that has handled something stops in order; before, a signal may end it as it ends any program."""
        allowed = [0 if how == signal.SIGTERM else -how]
        if not worker.lines:
            allowed.append(-how)
        self.assertIn(worker.end(how), allowed)

    def disturb(self, how):
        """Ends a worker, the server, the other worker and the network in turns, at least once, until all messages are put and handled.
        Returns how many were handled twice."""
        putter = self.start("put", MESSAGES)
        workers = [self.start("work"), self.start("work")]
        turns = 0
        while turns < 6 or putter.process.poll() is None:
            if turns % 3 == 0:
                worker = workers.pop(0)
                self.end(worker, how)
                workers.append(self.start("work"))
            elif turns % 3 == 1:
                self.proxy.server_port = 0
                self.daemon.terminate() if how == signal.SIGTERM else self.daemon.kill()
                self.serve()
            else:
                self.proxy.drop_connections()
            turns += 1
            time.sleep(0.2)  # time to work in between
        self.assertEqual(putter.wait(), 0)
        ids = [line.strip() for line in putter.lines]
        self.assertEqual(len(set(ids)), MESSAGES)
        client = self.daemon.client()
        give_up = time.monotonic() + HANDLED_WITHIN_S
        while client.request("GET", "/v1/stats")[1]["pending"]:
            self.assertLess(time.monotonic(), give_up, "the messages are not handled after a minute")
            time.sleep(0.1)
        client.close()
        for worker in workers:
            self.end(worker, signal.SIGTERM)
        handled = [line.strip() for program in self.programs if program is not putter for line in program.lines]
        self.assertEqual(set(ids) - set(handled), set(), "messages were lost")
        self.turns = turns
        return len(handled) - len(set(handled))

    def test_stops_of_workers_and_of_the_server_and_cuts_of_the_network_lose_and_repeat_nothing(self):
        self.assertEqual(self.disturb(signal.SIGTERM), 0)

    def test_kills_lose_nothing_and_repeat_at_most_what_was_at_work(self):
        repeated = self.disturb(signal.SIGKILL)
        self.assertLessEqual(repeated, self.turns * 2 * CONCURRENCY)


if __name__ == "__main__":
    unittest.main()
