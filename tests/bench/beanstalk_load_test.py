#!/usr/bin/env python3
"""The load over beanstalkd's protocol: its ledger, its reading of replies, and its runs on Debian's beanstalkd."""

import contextlib
import io
import json
import pathlib
import shutil
import socket
import sys
import tempfile
import time
import unittest
from unittest import mock

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

from durable import beanstalk_load
from durable.beanstalk_load import Connection, Ledger, Run, parse
from durable.subject import BEANSTALK_LOAD, Server, load_command

DUE_US = 5_000_000


def body_of(number, due_us=DUE_US):
    return beanstalk_load.HEAD % (number, due_us) + b"random"


class OfLedger(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger()
        self.ledger.expect(2)

    def test_a_message_that_comes_once_is_late_by_the_difference(self):
        self.ledger.delivered(body_of(0), DUE_US)
        self.ledger.delivered(body_of(1), DUE_US + 1500)
        self.assertEqual(self.ledger.late_ms, [0, 1.5])
        self.assertEqual((self.ledger.early, self.ledger.twice, self.ledger.unknown), (0, 0, 0))

    def test_a_microsecond_before_its_due_time_is_early(self):
        self.ledger.delivered(body_of(0), DUE_US - 1)
        self.assertEqual(self.ledger.early, 1)

    def test_a_second_delivery_is_counted_and_has_no_lateness(self):
        self.ledger.delivered(body_of(0), DUE_US)
        self.ledger.delivered(body_of(0), DUE_US + 10)
        self.assertEqual((self.ledger.twice, self.ledger.late_ms), (1, [0]))

    def test_a_message_that_was_not_put_is_unknown(self):
        self.ledger.delivered(body_of(2), DUE_US)
        self.assertEqual(self.ledger.unknown, 1)


class OfConnection(unittest.TestCase):
    def setUp(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.server.close)
        self.unsent = set()
        self.connection = Connection(*self.server.getsockname(), self.unsent)
        self.addCleanup(self.connection.socket.close)
        self.peer, _ = self.server.accept()
        self.addCleanup(self.peer.close)
        self.connection.socket.setblocking(True)
        self.got = []

    def expect(self, commands, count):
        def work():
            self.got = yield commands, count

        self.connection.begin(work())

    def test_replies_may_come_in_pieces_and_bodies_may_contain_line_ends(self):
        self.expect(b"reserve\r\nreserve\r\ndelete 3\r\n", 3)
        self.assertEqual(self.peer.recv(100), b"reserve\r\nreserve\r\ndelete 3\r\n")
        for byte in b"RESERVED 7 4\r\na\r\nb\r\nTIMED_OUT\r\nDELETED\r\n":
            self.assertEqual(self.got, [])
            self.peer.sendall(bytes((byte,)))
            self.connection.read()
        self.assertEqual(self.got, [(b"RESERVED 7 4", b"a\r\nb"), (b"TIMED_OUT", None), (b"DELETED", None)])
        self.assertIsNone(self.connection.work)

    def test_commands_that_the_server_does_not_read_yet_are_sent_later(self):
        self.connection.socket.setblocking(False)
        commands = b"reserve\r\n" * 2_000_000
        self.expect(commands, 1)
        self.assertEqual(self.unsent, {self.connection})
        received = 0
        while received < len(commands):
            received += len(self.peer.recv(1 << 20))
            self.connection.flush()
        self.assertEqual(self.unsent, set())

    def test_a_closed_connection_is_an_error(self):
        self.expect(b"reserve\r\n", 1)
        self.peer.close()
        with self.assertRaises((RuntimeError, ConnectionError)):
            self.connection.read()


class Patience(unittest.TestCase):
    def test_a_server_that_does_not_reply_ends_the_run_with_an_error_that_says_what_was_done(self):
        with socket.create_server(("127.0.0.1", 0)) as silent, mock.patch.object(beanstalk_load, "PATIENCE_S", 0.05):
            run = Run(parse(["cycle", "--server", "beanstalk://127.0.0.1:%d" % silent.getsockname()[1]]))
            self.addCleanup(run.close)
            with self.assertRaisesRegex(RuntimeError, "cycle: no reply for .* 0 puts accepted"):
                run.cycle()


class Choice(unittest.TestCase):
    def test_the_program_that_can_do_the_run_is_started(self):
        server = Server("beanstalkd -f50", None)
        server.address = "beanstalk://127.0.0.1:1"
        self.assertNotIn(BEANSTALK_LOAD, load_command("put", server, count=1))
        self.assertNotIn(BEANSTALK_LOAD, load_command("cancel", server))
        self.assertIn(BEANSTALK_LOAD, load_command("put", server, due_ms=1))
        self.assertIn(BEANSTALK_LOAD, load_command("drain", server))
        server.address = "http://127.0.0.1:1"
        self.assertNotIn(BEANSTALK_LOAD, load_command("drain", server))
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
        arguments = load_command(command, self.server, queue="q", **options)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), mock.patch.object(sys, "argv", arguments[1:]):
            self.status = beanstalk_load.main()
        return json.loads(printed.getvalue())

    def test_messages_put_for_one_time_are_drained_once_and_not_before_it(self):
        due_ms = int(time.time() * 1000) + 100
        put = self.run_load("put", due_ms=due_ms, count=1000, batch=30, connections=3)
        self.assertEqual((put["accepted"], put["refused"], self.status), (1000, 0, 0))
        drained = self.run_load("drain", count=1000, take_batch=70, connections=3)
        self.assertEqual((drained["taken"], drained["acknowledged"], drained["early"], drained["twice"], drained["unknown"]),
                         (1000, 1000, 0, 0, 0))

    def test_a_drain_ends_without_what_does_not_come(self):
        self.run_load("put", due_ms=1, count=5, batch=5)
        with mock.patch.object(beanstalk_load, "PATIENCE_S", 10):
            drained = self.run_load("drain", count=6)
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
        errors = io.StringIO()
        with mock.patch.object(beanstalk_load, "BODY_BYTES", 200_000), contextlib.redirect_stderr(errors):
            put = self.run_load("put", due_ms=1, count=3, batch=3)
        self.assertEqual((put["accepted"], put["refused"], self.status), (0, 3, 1))
        self.assertIn("JOB_TOO_BIG", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
