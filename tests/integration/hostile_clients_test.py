"""Clients that are slow, disappear, request everything at once or are too many, with the real server: each is limited,
and other clients are served as if they were not there.

No test sleeps: it waits for a response, for the end of a connection, or for a state that the server reports, up to
WITHIN_S, which only a failing test reaches.
"""

import contextlib
import json
import select
import socket
import time
import unittest

from beanstalk_client import BeanstalkDaemon
from daemon import Daemon
from raw_sockets import (WITHIN_S, connect, memory_bytes, metric, processor_s, raise_open_files, read_answer, request, rest_of, vanish,
                         wait_until)

MIB = 1 << 20


class HostileClients(unittest.TestCase):
    def started(self, *arguments, before=()):
        daemon = Daemon(arguments=arguments, before=before)
        self.addCleanup(daemon.__exit__)
        daemon.start()
        return daemon

    def connected(self, daemon, **more):
        connection = connect(daemon, **more)
        self.addCleanup(connection.close)
        return connection

    def assert_serves(self, client):
        """A whole life of a message, on a connection that was there before or a new one."""
        status, answer = client.put("well", "behaved")
        self.assertEqual(status, 201, answer)
        (message,) = client.lease("well", wait="10s")
        self.assertEqual(client.ack(message["lease"]), (200, {"outcome": "done"}))

    def trickle(self, connection, client):
        """Sends a byte at a time until the server answers; in between somebody else is served."""
        deadline = time.monotonic() + WITHIN_S
        while not select.select([connection], [], [], 0.05)[0]:
            self.assertLess(time.monotonic(), deadline, "the server listens for ever")
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"a")
            self.assert_serves(client)
        return int(rest_of(connection).split()[1])


class Slow(HostileClients):
    def test_a_header_that_trickles_in_gets_408_and_no_more_time(self):
        daemon = self.started()
        client = daemon.client()
        connection = self.connected(daemon)
        connection.sendall(b"POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\nX: ")
        self.assertEqual(self.trickle(connection, client), 408)

    def test_a_thousand_slow_ones_keep_nobody_waiting(self):
        daemon = self.started()
        client = daemon.client()
        for number in range(1000):
            self.connected(daemon).sendall(b"POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (number % 7))
        began = time.monotonic()
        for _ in range(20):
            self.assert_serves(client)
        self.assertLess(time.monotonic() - began, 10)

    # What had been read from the index was prepared for all of them before one byte of it was sent.
    def test_a_client_that_requests_much_and_reads_nothing_uses_little_memory_and_is_cut(self):
        daemon = self.started()
        client = daemon.client()
        number = client.put("large", "x" * (MIB - 100), delay="1h")[1]["id"]
        for _ in range(300):
            client.put("list", "x", delay="1h")
        before = memory_bytes(daemon)
        asks = (request("GET", f"/v1/messages/{number}"), request("GET", "/v1/queues/list/messages?limit=1000"),
                request("GET", "/metrics"))
        for ask in asks:
            connection = self.connected(daemon, receive_buffer=4096)
            with contextlib.suppress(ConnectionError):
                connection.sendall(ask * 1000)
            self.assert_serves(client)
        wait_until(lambda: metric(client, "duewheel_http_open_connections") == 1, "the slow readers are cut")
        self.assertGreaterEqual(metric(client, "duewheel_http_timeouts_total"), 3)
        self.assertLess(memory_bytes(daemon) - before, 100 * MIB)

    def test_a_slow_reader_that_reads_after_all_gets_everything(self):
        daemon = self.started()
        client = daemon.client()
        for _ in range(200):
            client.put("list", "x", delay="1h")
        connection = self.connected(daemon, receive_buffer=4096)
        connection.sendall(request("GET", "/v1/queues/list/messages?limit=1000") * 100)
        self.assert_serves(client)
        with connection.makefile("rb") as stream:
            for _ in range(100):
                status, body = read_answer(stream)
                self.assertEqual((status, len(json.loads(body)["messages"])), (200, 200))


class Vanishing(HostileClients):
    # A message on its way to a client that is gone would come again only when its lease has ended, 30 seconds later.
    def test_messages_of_clients_that_vanish_while_they_wait_go_to_others_at_once(self):
        daemon = self.started()
        client = daemon.client()
        wait = request("POST", "/v1/queues/q:lease", {"max": 5, "wait": "50s", "lease": "10m"})
        for leave in (vanish, socket.socket.close, lambda connection: connection.shutdown(socket.SHUT_WR)):
            waiting = [self.connected(daemon) for _ in range(50)]
            for connection in waiting:
                connection.sendall(wait)
            wait_until(lambda: client.request("GET", "/v1/stats")[1]["waiters"] == 50, "all of them wait")
            for connection in waiting:
                leave(connection)
            wait_until(lambda: client.request("GET", "/v1/stats")[1]["waiters"] == 0, "their leaving is noticed")
            for number in range(20):
                client.put("q", str(number))
            got = []
            while len(got) < 20:
                messages = client.lease("q", maximum=20, wait="10s")
                self.assertTrue(messages, "messages went to clients that are gone")
                got += messages
            self.assertEqual([message["attempt"] for message in got], [1] * 20)
            for message in got:
                client.ack(message["lease"])
        self.assertEqual(client.request("GET", "/v1/stats")[1]["leases_lost"], 0)

    def test_a_client_that_vanishes_after_a_put_has_put_one_message(self):
        daemon = self.started()
        client = daemon.client()
        for number in range(100):
            connection = self.connected(daemon)
            connection.sendall(request("POST", "/v1/queues/q/messages", {"body": "x", "delay": "1h", "key": str(number)}))
            vanish(connection)
        # Whether the reset was quicker than the request or not: sent again it is there, once.
        for number in range(100):
            self.assertIn(client.put("q", "x", delay="1h", key=str(number))[0], (200, 201))
        self.assertEqual(metric(client, "duewheel_messages_pending"), 100)


class TooMany(HostileClients):
    def test_ten_thousand_idle_connections_beside_one_that_works(self):
        hard = raise_open_files(self)
        count = min(10_000, (hard - 200) // 2)
        # The limit of a machine where programs start with 1024.
        daemon = self.started("--http-connections-max", str(count + 10), "--http-idle-timeout", "10m",
                              before=("prlimit", f"--nofile=1024:{hard}"))
        client = daemon.client()
        self.assert_serves(client)
        before = memory_bytes(daemon)
        idle = []
        for _ in range(count):
            idle.append(self.connected(daemon))
            idle[-1].sendall(request("GET", "/healthz"))  # one that never asks is closed after 10 seconds
        wait_until(lambda: metric(client, "duewheel_http_open_connections") == count + 1, "all are accepted")
        began = time.monotonic()
        for _ in range(50):
            self.assert_serves(client)
        self.assertLess(time.monotonic() - began, 20)
        self.assertLess(memory_bytes(daemon) - before, 150 * MIB, "of 10,000 connections that are idle")
        for connection in idle:
            connection.close()
        wait_until(lambda: metric(client, "duewheel_http_open_connections") == 1, "all are closed")

    # Clients could take the last descriptors, and the log, which then could not open its next file, ended the process.
    def test_clients_never_take_the_descriptors_that_the_log_needs(self):
        daemon = self.started("--store-segment-size", "1MiB", before=("prlimit", "--nofile=200:200"))
        self.assertIn("open_files_limit_low", daemon.log_text())
        client = daemon.client()
        token = client.request("PUT", "/v1/tokens/known", {"scopes": ["put", "read"]})[1]["token"]
        known = self.connected(daemon)  # one with a token is not closed to make room
        stream = known.makefile("rb")
        self.addCleanup(stream.close)
        put = request("POST", "/v1/queues/q/messages", {"body": "x" * 200_000, "delay": "1h"}, Authorization=f"Bearer {token}")
        known.sendall(put)
        self.assertEqual(read_answer(stream)[0], 201)
        greedy = [self.connected(daemon) for _ in range(300)]
        for connection in greedy:
            connection.sendall(request("POST", "/v1/queues/none:lease", {"wait": "50s"}))
        last = self.connected(daemon)
        last.sendall(request("GET", "/v1/stats"))
        wait_until(lambda: "connections_max_reached" in daemon.log_text(), "it is told that clients wait")
        # Those who are in are served on, over many files of the log.
        for _ in range(40):
            known.sendall(put)
            self.assertEqual(read_answer(stream)[0], 201)
        self.assertFalse(select.select([last], [], [], 0)[0], "one beyond the limit was let in")
        self.assert_waits_quietly(daemon, last)
        for connection in greedy:
            connection.close()
        with last.makefile("rb") as answers:
            self.assertEqual(read_answer(answers)[0], 200)
        self.assert_serves(daemon.client())

    def assert_waits_quietly(self, daemon, connection):
        """Accepting is tried again once in a while, not all the time."""
        before = processor_s(daemon)
        began = time.monotonic()
        self.assertFalse(select.select([connection], [], [], 2)[0])
        self.assertLess(processor_s(daemon) - before, (time.monotonic() - began) / 4)

    def test_one_connection_may_ask_for_more_than_is_worked_on_at_once(self):
        daemon = self.started()
        count = 3000
        with self.connected(daemon) as connection, connection.makefile("rb") as stream:
            sent = 0
            asks = b"".join(request("POST", "/v1/queues/q/messages", {"body": str(number), "delay": "1h"})
                            if number % 3 else request("GET", "/v1/stats") for number in range(count))
            got = []
            connection.settimeout(WITHIN_S)
            while sent < len(asks):
                sent += connection.send(asks[sent:sent + 20_000])
            while len(got) < count:
                got.append(read_answer(stream)[0])
            self.assertEqual(got, [201 if number % 3 else 200 for number in range(count)])


class Endless(HostileClients):
    def test_lines_without_an_end_are_refused_at_their_limit(self):
        daemon = self.started()
        client = daemon.client()
        beginnings = {b"GET /" + b"a" * 300: 414, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ": 431,
                      b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"a: b\r\n" * 50 + b"a": 431, b"\x00\x16\x03\x01\n": 400,
                      b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;": 400}
        for beginning, status in beginnings.items():
            with self.subTest(beginning=beginning[:40]):
                connection = self.connected(daemon)
                with contextlib.suppress(ConnectionError):
                    connection.sendall(beginning + b"a" * 200_000)
                answer = rest_of(connection)
                self.assertEqual(int(answer.split()[1]), status, answer)
                self.assertIn(b"Connection: close", answer)
                self.assert_serves(client)

    def test_a_client_that_stops_sending_still_gets_its_answer(self):
        daemon = self.started()
        connection = self.connected(daemon)
        connection.sendall(request("POST", "/v1/queues/q/messages", {"body": "x"}))
        connection.shutdown(socket.SHUT_WR)
        self.assertEqual(int(rest_of(connection).split()[1]), 201)


class OfBeanstalkd(unittest.TestCase):
    """Clients of beanstalkd's protocol."""

    def started(self, *arguments, before=()):
        daemon = BeanstalkDaemon(arguments=arguments, before=before)
        self.addCleanup(daemon.__exit__)
        daemon.start()
        return daemon

    def assert_serves(self, client):
        job = client.put(b"well behaved")
        self.assertEqual(client.ask("reserve\r\n"), b"RESERVED %d 12\r\nwell behaved\r\n" % job)
        self.assertEqual(client.ask(f"delete {job}\r\n"), b"DELETED\r\n")

    def test_endless_lines_and_jobs_that_are_too_big_take_no_memory(self):
        daemon = self.started()
        client = daemon.connect()
        self.assert_serves(client)
        before = memory_bytes(daemon)
        endless, huge = daemon.connect(), daemon.connect()
        endless.send("use ")
        huge.send("put 0 0 60 33554432\r\n")
        for _ in range(32):
            endless.send(b"x" * MIB)
            huge.send(b"x" * MIB)
            self.assert_serves(client)
        self.assertEqual(endless.ask("\r\n"), b"BAD_FORMAT\r\n")
        self.assertEqual(huge.ask("\r\n"), b"JOB_TOO_BIG\r\n")
        self.assertLess(memory_bytes(daemon) - before, 10 * MIB)

    def test_half_puts_of_many_clients_take_the_memory_of_their_limit(self):
        daemon = self.started("--beanstalk-job-max", "1MiB", "--http-unfinished-max", "16MiB")
        client = daemon.connect()
        self.assert_serves(client)
        before = memory_bytes(daemon)
        halves = [daemon.connect() for _ in range(200)]
        for half in halves:
            half.send(b"put 0 0 60 1048576\r\n" + b"x" * (512 << 10))
            self.assert_serves(client)
        self.assertLess(memory_bytes(daemon) - before, 80 * MIB)
        outcomes = {half.ask(b"x" * (512 << 10) + b"\r\n").split()[0] for half in halves}
        self.assertEqual(outcomes, {b"INSERTED", b"OUT_OF_MEMORY"})

    def test_a_client_that_requests_much_and_reads_nothing_waits_and_gets_everything_later(self):
        daemon = self.started()
        client, slow = daemon.connect(), daemon.connect()
        self.assert_serves(client)
        before = memory_bytes(daemon)
        slow.socket.setblocking(False)
        sent = 0
        asks = b"stats\r\n" * 20_000
        with contextlib.suppress(BlockingIOError):
            while sent < len(asks):
                sent += slow.socket.send(asks[sent:])
        self.assert_serves(client)
        self.assertLess(memory_bytes(daemon) - before, 20 * MIB)
        slow.socket.settimeout(WITHIN_S)
        for _ in range(sent // 7):
            self.assertEqual(slow.read()[:3], b"OK ")

    def test_ten_thousand_idle_connections_beside_one_that_works(self):
        hard = raise_open_files(self)
        count = min(10_000, (hard - 200) // 3)
        daemon = self.started("--http-connections-max", str(count + 10), before=("prlimit", f"--nofile=1024:{hard}"))
        client, http = daemon.connect(), daemon.client()
        self.assert_serves(client)
        before = memory_bytes(daemon)
        idle = [daemon.connect() for _ in range(count)]
        for connection in idle[::2]:
            connection.send("watch other\r\n")
            self.assertEqual(connection.read(), b"WATCHING 2\r\n")
            connection.send("reserve\r\n")
        wait_until(lambda: metric(http, "duewheel_beanstalk_connections") == count + 1, "all are accepted")
        began = time.monotonic()
        for _ in range(50):
            job = client.put(b"x")
            self.assertEqual(client.ask(f"stats-job {job}\r\n")[:3], b"OK ")
        self.assertLess(time.monotonic() - began, 20)
        self.assertLess(memory_bytes(daemon) - before, 150 * MIB, "of 10,000 connections that are idle or wait")
        for connection in idle:
            connection.close()
        wait_until(lambda: metric(http, "duewheel_beanstalk_connections") == 1, "all are closed")
        wait_until(lambda: b"\ncurrent-jobs-ready: 50\n" in client.ask("stats-tube default\r\n"), "the jobs of those that left are ready")


if __name__ == "__main__":
    unittest.main(verbosity=2)
