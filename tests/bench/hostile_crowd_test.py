#!/usr/bin/env python3
"""Hostile clients of the benchmarks, against a server that accepts connections and does nothing else."""

import pathlib
import select
import socket
import sys
import threading
import time
import unittest
from unittest import mock

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

from durable import hostile_clients
from durable.hostile_clients import KINDS, Crowd
from durable.hostile_groups import SPARE, fitting

LONG_S = 30


class Sink:
    """Accepts clients, reads none of them, and closes connections that their clients have closed."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.address = self.listener.getsockname()
        self.connections = {}
        self.ending = threading.Event()
        self.poll = select.poll()
        self.poll.register(self.listener, select.POLLIN)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while not self.ending.is_set():
            for descriptor, what in self.poll.poll(10):
                if descriptor == self.listener.fileno():
                    connection, _ = self.listener.accept()
                    self.connections[connection.fileno()] = connection
                    self.poll.register(connection, select.POLLRDHUP)
                elif what & (select.POLLRDHUP | select.POLLHUP | select.POLLERR):
                    self.poll.unregister(descriptor)
                    self.connections.pop(descriptor).close()

    def close(self):
        self.ending.set()
        self.thread.join()
        for connection in (*self.connections.values(), self.listener):
            connection.close()


class HostileClients(unittest.TestCase):
    def setUp(self):
        self.sink = Sink()
        self.addCleanup(self.sink.close)

    def crowd(self):
        return Crowd(self.sink.address, lambda: len(self.sink.connections))

    def test_each_kind_connects_and_leaves_although_the_server_reads_nothing(self):
        for name, kind in KINDS.items():
            with self.subTest(kind=name), mock.patch.object(hostile_clients, "HALF_PUTS", 40):
                crowd = self.crowd()
                kind(crowd, 30)
                self.assertEqual(len(self.sink.connections), {"half puts": 40, "idle connections": 30}.get(name, 20))
                crowd.close()
                self.assertEqual(len(self.sink.connections), 0)

    def test_clients_that_never_end_send_until_the_server_takes_no_more(self):
        crowd = self.crowd()
        self.addCleanup(crowd.close)
        KINDS["endless lines"](crowd, 0)
        deadline = time.monotonic() + LONG_S
        while select.select([], crowd.connections, [], 0)[1]:
            self.assertLess(time.monotonic(), deadline, "they do not send")

    def test_a_server_that_accepts_fewer_clients_is_an_error_with_both_numbers(self):
        crowd = Crowd(self.sink.address, lambda: 0 if crowd.stopping.is_set() else 7)
        self.addCleanup(crowd.close)
        with mock.patch.object(hostile_clients, "WITHIN_S", 0.2):
            with self.assertRaisesRegex(RuntimeError, "the server has 7 of 9 connections"):
                crowd.connect(9)

    def test_a_server_that_keeps_closed_connections_is_an_error(self):
        crowd = Crowd(self.sink.address, lambda: 3)
        crowd.connect(3)
        with mock.patch.object(hostile_clients, "WITHIN_S", 0.2):
            with self.assertRaisesRegex(RuntimeError, "3 connections that their clients have closed"):
                crowd.close()

    def test_a_client_that_cannot_connect_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            address = gone.getsockname()
        with self.assertRaisesRegex(RuntimeError, "hostile client 1 of 5 could not connect"):
            crowd = Crowd(address, lambda: 0)
            self.addCleanup(crowd.close)
            crowd.connect(5)


class Fitting(unittest.TestCase):
    def test_idle_connections_leave_the_files_that_the_server_keeps(self):
        self.assertEqual(fitting(10_000, 1_000_000), 10_000)
        self.assertEqual(fitting(10_000, 20_000), 10_000 - SPARE)
        self.assertEqual(fitting(10_000, 1024), 512 - SPARE)


if __name__ == "__main__":
    unittest.main()
