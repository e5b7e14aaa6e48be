#!/usr/bin/env python3
"""The load over beanstalkd's protocol: its ledger and its reading of replies beside a scripted server, and its runs on Debian's
beanstalkd. DUEWHEEL_BEANSTALK_LOAD is the program."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

from durable.subject import Server, load_command

PROGRAM = os.environ["DUEWHEEL_BEANSTALK_LOAD"]
LONG_AGO_US = 5_000_000
FAR_AHEAD_US = 9_000_000_000_000_000


def body_of(number, due_us=LONG_AGO_US):
    return b"%012d %016d random" % (number, due_us)


def reserved(number, due_us=LONG_AGO_US, rest=b""):
    body = body_of(number, due_us) + rest
    return b"RESERVED %d %d\r\n%s\r\n" % (number + 1, len(body), body)


class ScriptedServer:
    """Replies to the reserves of one connection with what it is given, in this order and in pieces of `piece` bytes, and then with
    TIMED_OUT; with `closes`, it ends the connection then."""

    def __init__(self, replies, piece=1 << 20, closes=False):
        self.replies, self.piece, self.closes = list(replies), piece, closes
        self.received = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "beanstalk://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        peer, _ = self.listener.accept()
        with peer, peer.makefile("rb") as lines, contextlib.suppress(ConnectionError):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for line in lines:
                self.received.append(line)
                if line.startswith(b"reserve") and not self.replies and self.closes:
                    return
                reply = {b"watch": b"WATCHING 2\r\n", b"ignor": b"WATCHING 1\r\n", b"delet": b"DELETED\r\n"}.get(line[:5])
                if reply is None:
                    reply = self.replies.pop(0) if self.replies else b"TIMED_OUT\r\n"
                for at in range(0, len(reply), self.piece):
                    peer.sendall(reply[at:at + self.piece])

    def close(self):
        self.listener.close()
        self.thread.join(60)


def run_program(command, address, **options):
    arguments = [PROGRAM, command, "--server", address]
    for name, value in options.items():
        arguments += ["--" + name.replace("_", "-"), str(value)]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120)


class OfLedger(unittest.TestCase):
    def drained(self, *replies, count=2, **how):
        server = ScriptedServer(replies, **how)
        self.addCleanup(server.close)
        self.run_of = run_program("drain", server.address, connections=1, count=count, patience=1)
        self.server = server
        return json.loads(self.run_of.stdout) if self.run_of.stdout else None

    def test_messages_that_come_once_are_late_by_the_difference(self):
        got = self.drained(reserved(0), reserved(1, time.time_ns() // 1000))
        self.assertEqual((got["taken"], got["acknowledged"], got["early"], got["twice"], got["unknown"]), (2, 2, 0, 0, 0))
        self.assertGreater(got["late_ms"]["max"], 1e12)
        self.assertLess(got["late_ms"]["p50"], 60_000)
        self.assertIn(b"delete 1\r\n", self.server.received)
        self.assertIn(b"delete 2\r\n", self.server.received)
        self.assertEqual(self.run_of.returncode, 0)

    def test_a_message_before_its_due_time_is_early(self):
        got = self.drained(reserved(0, FAR_AHEAD_US), reserved(1))
        self.assertEqual((got["early"], self.run_of.returncode), (1, 1))

    def test_a_second_delivery_is_counted(self):
        got = self.drained(reserved(0), reserved(0))
        self.assertEqual((got["twice"], got["unknown"]), (1, 0))

    def test_a_message_that_was_not_put_is_unknown(self):
        got = self.drained(reserved(0), reserved(2))
        self.assertEqual((got["twice"], got["unknown"]), (0, 1))

    def test_replies_may_come_in_pieces_and_bodies_may_contain_line_ends(self):
        got = self.drained(reserved(0, rest=b"a\r\nRESERVED 9 4\r\n"), reserved(1), piece=1)
        self.assertEqual((got["taken"], got["acknowledged"], got["refused"], got["unknown"]), (2, 2, 0, 0))

    def test_a_closed_connection_is_an_error(self):
        self.assertIsNone(self.drained(reserved(0), closes=True))
        self.assertIn("drain: the server closed a connection", self.run_of.stderr)
        self.assertEqual(self.run_of.returncode, 1)


class Refusals(unittest.TestCase):
    def test_a_server_that_does_not_reply_ends_the_run_with_an_error_that_says_what_was_done(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            run = run_program("cycle", "beanstalk://127.0.0.1:%d" % silent.getsockname()[1], patience=0.05)
        self.assertRegex(run.stderr, "cycle: no reply for .* 0 puts accepted")
        self.assertEqual((run.returncode, run.stdout), (1, ""))

    def test_another_address_is_refused(self):
        self.assertIn("write beanstalk://", run_program("cycle", "http://127.0.0.1:1").stderr)


class Choice(unittest.TestCase):
    def program(self, *arguments, **options):
        return load_command(*arguments, **options)[0].name

    def test_the_program_that_can_do_the_run_is_started(self):
        server = Server("beanstalkd -f50", None)
        server.address = "beanstalk://127.0.0.1:1"
        self.assertEqual(self.program("put", server, count=1), "duewheel_load")
        self.assertEqual(self.program("cancel", server), "duewheel_load")
        self.assertEqual(self.program("put", server, due_ms=1), "duewheel_beanstalk_load")
        self.assertEqual(self.program("drain", server), "duewheel_beanstalk_load")
        server.address = "http://127.0.0.1:1"
        self.assertEqual(self.program("drain", server), "duewheel_load")
        self.assertEqual(load_command("drain", server, take_batch=5)[1:],
                         ["drain", "--server", "http://127.0.0.1:1", "--take-batch", "5"])


@unittest.skipUnless(shutil.which("beanstalkd"), "beanstalkd is not installed (Debian: beanstalkd)")
class Runs(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="duewheel-bench-")
        self.addCleanup(directory.cleanup)
        self.server = Server("beanstalkd -f50", pathlib.Path(directory.name))
        self.addCleanup(self.server.stop)
        self.server.start()

    def run_load(self, command, **options):
        self.run_of = run_program(command, self.server.address, queue="q", **options)
        return json.loads(self.run_of.stdout)

    def test_messages_put_for_one_time_are_drained_once_and_not_before_it(self):
        due_ms = int(time.time() * 1000) + 100
        put = self.run_load("put", due_ms=due_ms, count=1000, batch=30, connections=3)
        self.assertEqual((put["accepted"], put["refused"], self.run_of.returncode), (1000, 0, 0))
        drained = self.run_load("drain", count=1000, take_batch=70, connections=3)
        self.assertEqual((drained["taken"], drained["acknowledged"], drained["early"], drained["twice"], drained["unknown"]),
                         (1000, 1000, 0, 0, 0))

    def test_a_batch_beyond_what_the_sockets_hold_is_sent(self):
        put = self.run_load("put", due_ms=1, count=400, batch=400, connections=1, body=60_000)
        self.assertEqual((put["accepted"], put["refused"]), (400, 0))

    def test_a_drain_ends_without_what_does_not_come(self):
        self.run_load("put", due_ms=1, count=5, batch=5)
        drained = self.run_load("drain", count=6, patience=2)
        self.assertEqual(drained["acknowledged"], 5)

    def test_messages_that_fall_due_are_taken(self):
        fired = self.run_load("fire", rate=100, seconds=0.5, takers=3)
        self.assertGreater(fired["accepted"], 0)
        self.assertEqual((fired["acknowledged"], fired["early"], fired["twice"]), (fired["accepted"], 0, 0))
        self.assertGreater(fired["late_ms"]["max"], 0)

    def test_cycles_delete_what_they_put(self):
        for batch in (1, 20):
            with self.subTest(batch=batch):
                cycled = self.run_load("cycle", connections=5, batch=batch, seconds=0.3)
                self.assertGreater(cycled["accepted"], 0)
                self.assertEqual((cycled["acknowledged"], cycled["refused"], cycled["twice"]), (cycled["accepted"], 0, 0))
                self.assertEqual(cycled["took_us"]["p99"] > 0, batch == 1)

    def test_a_refused_put_is_counted_and_shown(self):
        put = self.run_load("put", due_ms=1, count=3, batch=3, body=200_000)
        self.assertEqual((put["accepted"], put["refused"], self.run_of.returncode), (0, 3, 1))
        self.assertIn("JOB_TOO_BIG", self.run_of.stderr)


if __name__ == "__main__":
    unittest.main()
