"""Strangers and greedy clients that try to take what all clients share: the memory for request bodies, connections, and event
streams. The attackers have addresses beyond the machine, in a network namespace that this test makes for itself.

Four sockets without a token made large puts of everybody fail, idle sockets of one address filled the server, and one token
took all event streams.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import unittest

from attacks import main
from daemon import BIN, Daemon
from raw_sockets import connect, raise_open_files, read_answer, request, rest_of, wait_until

MIB = 1 << 20
UNFINISHED = 'duewheel_limit_use{limit="http.unfinished_max"}'
ADDRESSES = [f"10.77.0.{number}" for number in range(1, 5)]


def enter_namespace():
    """Runs this test again in a network of its own."""
    if os.environ.get("DUEWHEEL_OWN_NETWORK"):
        for words in (["link", "set", "lo", "up"], *(["addr", "add", f"{address}/32", "dev", "lo"] for address in ADDRESSES)):
            subprocess.run(["ip", *words], check=True)
        return
    unshare = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        print("skipped: this user may not make network namespaces")
        sys.exit(77)
    os.execvpe("unshare", [*unshare, sys.executable, __file__, *sys.argv[1:]], {**os.environ, "DUEWHEEL_OWN_NETWORK": "1"})


class Shares(unittest.TestCase):
    def start(self, *arguments):
        raise_open_files(self)
        self.daemon = Daemon(arguments=["--auth-required", "--unsafe-plain-listen", *arguments])
        self.addCleanup(self.daemon.__exit__)
        self.daemon.listen = "0.0.0.0:0"
        self.daemon.data.mkdir()
        made = subprocess.run([BIN / "duewheel", "token", "add", "admin", "--data", self.daemon.data, "--admin"], capture_output=True,
                              text=True, timeout=60, check=True)
        self.admin = f"Bearer {made.stdout.strip()}"
        self.daemon.start()

    def open(self, address=None, *sent):
        connection = connect(self.daemon, address=address)
        self.addCleanup(connection.close)
        for piece in sent:
            with contextlib.suppress(ConnectionError):
                connection.sendall(piece)
        return connection

    def answer(self, connection):
        with connection.makefile("rb") as stream:
            return read_answer(stream)

    def token(self, name, *scopes):
        status, answer = self.answer(self.open(None, request("PUT", f"/v1/tokens/{name}", {"scopes": list(scopes)}, Authorization=self.admin)))
        self.assertEqual(status, 201, answer)
        return f"Bearer {json.loads(answer)['token']}"

    def metric(self, name):
        page = self.answer(self.open(None, request("GET", "/metrics", Authorization=self.admin)))[1].decode()
        return float(next(line for line in page.splitlines() if line.startswith(f"{name} ")).split()[1])

    def put(self, token, size, **fields):
        """(head, body)."""
        return request("POST", "/v1/queues/q/messages", Content_Type="text/plain", Content_Length=size, Authorization=token, **fields), b"x" * size

    def assert_puts(self, token, size, address=None):
        head, body = self.put(token, size)
        self.assertEqual(self.answer(self.open(address, head, body[:9], body[9:]))[0], 201)


class Bodies(Shares):
    def test_strangers_get_no_memory_and_no_continue(self):
        self.start("--http-unfinished-max", "16MiB", "--http-body-max", "8MiB")
        reader = self.token("reader", "read")
        for token, status in ((None, 401), ("Bearer dw_admin_" + "x" * 43, 401), (reader, 403)):
            for fields in ({}, {"Expect": "100-continue"}):
                head, _ = self.put(token, 7 * MIB, **fields)
                strangers = [self.open(address, head, b"" if fields else b"x" * MIB) for address in ADDRESSES]
                for stranger in strangers:
                    self.assertTrue(rest_of(stranger).startswith(b"HTTP/1.1 %d " % status), (token, fields))
        strangers = [self.open(address, head + b"x" * 100_000) for address in ADDRESSES for _ in range(10)]
        # What a stranger sends with the head of the request is there until the head is refused.
        wait_until(lambda: self.metric(UNFINISHED) < MIB, "the strangers' memory is free")
        self.assert_puts(self.admin, 900_000)
        head, body = self.put(self.admin, 100_000, Expect="100-continue")
        with self.open(None, head) as polite, polite.makefile("rb") as stream:
            self.assertEqual(stream.readline(), b"HTTP/1.1 100 Continue\r\n")
            stream.readline()
            polite.sendall(body)
            self.assertEqual(read_answer(stream)[0], 201)

    def test_no_token_and_no_address_takes_the_memory_of_all(self):
        self.start("--http-unfinished-max", "16MiB", "--http-body-max", "2MiB")
        tokens = [self.token(f"tenant{number}", "put") for number in range(2)]
        for address, tokens_of_attack, victim in (("127.0.0.1", tokens[:1], (tokens[1], None)), (ADDRESSES[0], tokens, (tokens[0], ADDRESSES[1]))):
            greedy = []
            for number in range(20):
                head, body = self.put(tokens_of_attack[number % len(tokens_of_attack)], 2 * MIB)
                greedy.append(self.open(address, head, body[:MIB]))
            refused = [each for each in greedy if select.select([each], [], [], 1)[0]]
            self.assertGreaterEqual(len(refused), 10)
            self.assertEqual({int(rest_of(each).split()[1]) for each in refused}, {503})
            self.assert_puts(victim[0], 900_000, victim[1])
            for each in greedy:
                each.close()
            wait_until(lambda: self.metric(UNFINISHED) < MIB, "they are gone")


class Connections(Shares):
    MAX = 64

    def test_idle_strangers_make_room(self):
        self.start("--http-connections-max", str(self.MAX))
        known = self.open(ADDRESSES[3], request("GET", "/v1/stats", Authorization=self.admin))
        self.assertEqual(self.answer(known)[0], 200)
        strangers = [self.open(address) for address in ADDRESSES[:3] * 60]
        for each in strangers[::3]:
            with contextlib.suppress(ConnectionError):
                each.sendall(b"GET / HTTP/1.1\r\nX: ")
        for address in (None, *ADDRESSES):  # newcomers of any address, as a health check
            self.assertEqual(self.answer(self.open(address, request("GET", "/healthz")))[0], 200)
        known.sendall(request("GET", "/v1/stats", Authorization=self.admin))
        self.assertEqual(self.answer(known)[0], 200, "the connection of a client with a token stays")
        self.assertGreater(self.metric("duewheel_http_connections_evicted_total"), 50)
        wait_until(lambda: "connections_max_reached" in self.daemon.log_text(), "the log tells that clients wait")

    def test_one_address_has_half_of_them(self):
        self.start("--http-connections-max", str(self.MAX))
        consumer = self.token("consumer", "consume")
        lease = request("POST", "/v1/queues/q:lease", {"wait": "50s"}, Authorization=consumer)
        busy = [self.open(ADDRESSES[0], lease) for _ in range(2 * self.MAX)]
        wait_until(lambda: self.metric("duewheel_http_connections_refused_total") >= self.MAX, "the others are refused")
        self.assertEqual(self.answer(self.open(ADDRESSES[1], request("GET", "/healthz")))[0], 200)
        closed = [each for each in busy if select.select([each], [], [], 0)[0]]
        self.assertEqual(len(busy) - len(closed), self.MAX // 2)

    def test_some_are_kept_for_this_machine(self):
        self.start("--http-connections-max", str(self.MAX))
        consumer = self.token("consumer", "consume")
        lease = request("POST", "/v1/queues/q:lease", {"wait": "50s"}, Authorization=consumer)
        for address in ADDRESSES[:3]:
            for _ in range(self.MAX // 2):
                self.open(address, lease)
        for _ in range(5):
            self.assertEqual(self.answer(self.open(None, request("GET", "/healthz")))[0], 200)


class Streams(Shares):
    def test_a_token_has_eight_event_streams(self):
        self.start()
        greedy, other = self.token("greedy", "read"), self.token("other", "read")
        streams = [self.open(None, request("GET", "/v1/events", Authorization=greedy)) for _ in range(12)]
        statuses = [int(each.recv(12).split()[1]) for each in streams]
        self.assertEqual(statuses, [200] * 8 + [503] * 4)
        self.assertEqual(int(self.open(None, request("GET", "/v1/events", Authorization=other)).recv(12).split()[1]), 200)
        foreign = self.open(None, request("GET", "/v1/events", Authorization=other, Sec_Fetch_Site="cross-site"))
        self.assertEqual(int(foreign.recv(12).split()[1]), 403)


if __name__ == "__main__":
    enter_namespace()
    main(tries=6)
