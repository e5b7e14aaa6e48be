"""A token that was removed, rotated, narrowed, or has expired, in requests that were open at that moment. A lease that waited
still got messages. Now all of them end: with 401 where there is an answer to come.
"""

import json
import re
import select
import socket
import subprocess
import unittest

from attacks import main
from certificates import Authority
from daemon import BIN, Daemon
from raw_sockets import WITHIN_S, connect, read_answer, request, rest_of, wait_until

ALL = ["put", "read", "consume"]


def answer(connection):
    with connection.makefile("rb") as stream:
        status, body = read_answer(stream)
    return status, json.loads(body)


class Server(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(arguments=["--auth-required", "--test-clock"])
        self.addCleanup(self.daemon.__exit__)
        self.daemon.data.mkdir()
        made = subprocess.run([BIN / "duewheel", "token", "add", "admin", "--data", self.daemon.data, "--admin"], capture_output=True,
                              text=True, timeout=60, check=True)
        self.admin = made.stdout.strip()
        self.daemon.start()

    def open(self, *sent):
        connection = connect(self.daemon)
        self.addCleanup(connection.close)
        for piece in sent:
            connection.sendall(piece)
        return connection

    def ask(self, method, path, value=None, token=None):
        with self.open(request(method, path, value, Authorization=f"Bearer {token or self.admin}")) as connection:
            return answer(connection)

    def make(self, name, **members):
        status, made = self.ask("PUT", f"/v1/tokens/{name}", {"scopes": ALL, **members})
        self.assertEqual(status, 201, made)
        return made["token"]

    def remove(self, name):
        self.assertEqual(self.ask("DELETE", f"/v1/tokens/{name}")[0], 200)

    def rotate(self, name):
        self.assertEqual(self.ask("POST", f"/v1/tokens/{name}:rotate", {})[0], 200)

    def narrow(self, name):
        self.assertEqual(self.ask("PUT", f"/v1/tokens/{name}", {"scopes": ["put"]})[0], 200)

    def expire(self, name):
        self.assertEqual(self.ask("POST", "/v1/clock:advance", {"by": "40s"})[0], 200)

    def waiters(self):
        return self.ask("GET", "/v1/stats")[1]["waiters"]


class Rights(Server):
    def test_open_requests_end_whichever_way_the_token_does(self):
        for way in (self.remove, self.rotate, self.narrow, self.expire):
            with self.subTest(way=way.__name__):
                name = way.__name__
                token = f"Bearer {self.make(name, **({'expires_in': '30s'} if way == self.expire else {}))}"
                lease = request("POST", f"/v1/queues/{name}:lease", {"wait": "50s", "lease": "10m"}, Authorization=token)
                put = request("POST", f"/v1/queues/{name}/messages", {"body": "x" * 1000}, Authorization=token)
                waiting = [self.open(lease) for _ in range(3)] + [self.open(lease[:-5], lease[-5:])]
                events = self.open(request("GET", "/v1/events?only=stats", Authorization=token))
                half = self.open(put[:-500])
                wait_until(lambda: self.waiters() == len(waiting), "they wait")
                self.assertTrue(select.select([events], [], [], WITHIN_S)[0])
                way(name)
                for connection in waiting:
                    status, body = answer(connection)
                    self.assertEqual((status, body["code"]), (401, "token_expired" if way == self.expire else "bad_token"))
                self.assertEqual(self.waiters(), 0)
                self.assertTrue(rest_of(events).endswith(b"\r\n0\r\n\r\n"))
                half.sendall(put[-500:])
                with half.makefile("rb") as stream:
                    self.assertEqual(read_answer(stream)[0], {self.narrow: 201, self.expire: 401}.get(way, 401))
                # Only a valid consumer has had the message.
                self.assertEqual(self.ask("POST", f"/v1/queues/{name}/messages", {"body": "secret"})[0], 201)
                got = []
                while not any(message["body"] == "secret" for message in got):
                    got += self.ask("POST", f"/v1/queues/{name}:lease", {"wait": "10s", "max": 10})[1]["messages"]
                self.assertEqual({message["attempt"] for message in got}, {1})

    def test_a_message_that_becomes_due_in_the_moment_of_the_change_goes_to_another_consumer(self):
        for number in range(20):
            name = f"t{number}"
            token = f"Bearer {self.make(name)}"
            waiting = self.open(request("POST", "/v1/queues/race:lease", {"wait": "50s", "lease": "10m"}, Authorization=token))
            wait_until(lambda: self.waiters() == 1, "it waits")
            both = self.open()
            admin = f"Bearer {self.admin}"
            both.sendall(request("DELETE", f"/v1/tokens/{name}", Authorization=admin) +
                         request("POST", "/v1/queues/race/messages", {"body": "x"}, Authorization=admin))
            with waiting.makefile("rb") as stream:
                self.assertEqual(read_answer(stream)[0], 401)
            (message,) = self.ask("POST", "/v1/queues/race:lease", {"wait": "10s"})[1]["messages"]
            self.assertEqual(self.ask("POST", f"/v1/leases/{message['lease']}:ack")[0], 200)

    def test_an_old_secret_ends_the_requests_that_it_began_after_the_rotation(self):
        old = self.make("rotated")
        status, made = self.ask("POST", "/v1/tokens/rotated:rotate", {"keep_old": "30s"})
        self.assertEqual(status, 200, made)
        begun = [self.open(request("POST", "/v1/queues/q:lease", {"wait": "50s"}, Authorization=f"Bearer {token}"))
                 for token in (old, made["token"])]
        wait_until(lambda: self.waiters() == 2, "they wait")
        self.expire("rotated")
        with begun[0].makefile("rb") as stream:
            self.assertEqual(read_answer(stream)[0], 401)
        self.assertEqual(self.waiters(), 1)


class Sessions(Server):
    """Requests under a session of the dashboard. A lease that waited went on after the logout, and got messages."""

    def log_in(self, token):
        with self.open(request("POST", "/v1/session", {"token": token})) as connection:
            head = connection.recv(65536).decode()
        self.assertIn(" 200 ", head.splitlines()[0])
        return re.search(r"Set-Cookie: (duewheel_session=[^;]+)", head)[1]

    def lease(self, cookie, queue):
        return self.open(request("POST", f"/v1/queues/{queue}:lease", {"wait": "50s", "lease": "10m"}, Cookie=cookie,
                                 Origin="http://localhost"))

    def log_out(self, cookie, **fields):
        connection = self.open(request("DELETE", "/v1/session", Cookie=cookie, Origin="http://localhost", **fields))
        self.assertEqual(answer(connection)[0], 200)

    def assert_goes_elsewhere(self, queue):
        self.assertEqual(self.ask("POST", f"/v1/queues/{queue}/messages", {"body": "secret"})[0], 201)
        (message,) = self.ask("POST", f"/v1/queues/{queue}:lease", {"wait": "10s"})[1]["messages"]
        self.assertEqual((message["body"], message["attempt"]), ("secret", 1))

    def test_a_logout_ends_the_open_requests_of_its_session_and_no_others(self):
        token = self.make("person")
        stranger = self.make("stranger")
        for number, fields in enumerate(({}, {"Authorization": f"Bearer {stranger}"})):
            with self.subTest(fields=list(fields)):
                queue = f"q{number}"
                left, kept = self.log_in(token), self.log_in(token)
                ended, goes_on = [self.lease(left, queue) for _ in range(3)], self.lease(kept, f"other-{queue}")
                by_token = self.open(request("POST", f"/v1/queues/other-{queue}:lease", {"wait": "50s"}, Authorization=f"Bearer {token}"))
                events = self.open(request("GET", "/v1/events?only=stats", Cookie=left))
                wait_until(lambda: self.waiters() == 5, "they wait")
                self.assertTrue(select.select([events], [], [], WITHIN_S)[0])
                self.log_out(left, **fields)
                for connection in ended:
                    status, body = answer(connection)
                    self.assertEqual((status, body["code"]), (401, "bad_token"))
                    self.assertIn("session", body["detail"])
                self.assertTrue(rest_of(events).endswith(b"\r\n0\r\n\r\n"))
                self.assertEqual(self.waiters(), 2)
                self.assert_goes_elsewhere(queue)
                for connection in (goes_on, by_token):
                    self.assertEqual(self.ask("POST", f"/v1/queues/other-{queue}/messages", {"body": "x"})[0], 201)
                for connection in (goes_on, by_token):
                    self.assertEqual(answer(connection)[0], 200)

    def test_a_message_that_becomes_due_in_the_moment_of_the_logout_goes_to_another_consumer(self):
        token = self.make("person")
        for _ in range(20):
            cookie = self.log_in(token)
            waiting = self.lease(cookie, "race")
            wait_until(lambda: self.waiters() == 1, "it waits")
            both = self.open(request("DELETE", "/v1/session", Cookie=cookie, Origin="http://localhost") +
                             request("POST", "/v1/queues/race/messages", {"body": "x"}, Authorization=f"Bearer {self.admin}"))
            self.assertEqual(answer(waiting)[0], 401)
            (message,) = self.ask("POST", "/v1/queues/race:lease", {"wait": "10s"})[1]["messages"]
            self.assertEqual(self.ask("POST", f"/v1/leases/{message['lease']}:ack")[0], 200)
            both.close()

    # A token has up to 50 sessions. One that 50 newer ones have displaced is as gone as one that was ended.
    def test_a_session_that_newer_ones_displace_ends_its_requests(self):
        token = self.make("person")
        waiting = self.lease(self.log_in(token), "q")
        wait_until(lambda: self.waiters() == 1, "it waits")
        for _ in range(50):
            self.log_in(token)
        self.assertEqual(answer(waiting)[0], 401)
        self.assert_goes_elsewhere("q")

    def test_a_body_that_is_sent_across_the_logout_is_refused(self):
        cookie = self.log_in(self.make("person"))
        put = request("POST", "/v1/queues/q/messages", {"body": "x" * 1000}, Cookie=cookie, Origin="http://localhost")
        half = self.open(put[:-500])
        wait_until(lambda: self.ask("GET", "/v1/stats")[0] == 200, "the server has served another client")
        self.log_out(cookie)
        half.sendall(put[-500:])
        self.assertEqual(answer(half)[0], 401)


class Certificates(unittest.TestCase):
    """A client certificate that expires while a request of it is open. The clock of the server is that of the test; the
    certificate is valid by the real one, so connections could still be made with it.
    """

    def setUp(self):
        self.daemon = Daemon(arguments=["--auth-required", "--test-clock"])
        self.addCleanup(self.daemon.__exit__)
        self.authority = Authority(self.daemon.directory)
        certificate, key = self.authority.issue("server")
        self.daemon.arguments += ["--tls-certificate", str(certificate), "--tls-key", str(key), "--tls-client-ca",
                                  str(self.authority.certificate)]
        self.daemon.data.mkdir()
        made = subprocess.run([BIN / "duewheel", "token", "add", "admin", "--data", self.daemon.data, "--admin"], capture_output=True,
                              text=True, timeout=60, check=True)
        self.admin = f"Bearer {made.stdout.strip()}"
        self.daemon.start()

    def open(self, sent, own=None):
        plain = connect(self.daemon)
        connection = self.authority.client_context(own).wrap_socket(plain, server_hostname="localhost")
        self.addCleanup(connection.close)
        connection.sendall(sent)
        return connection

    def ask(self, method, path, value=None):
        connection = self.open(request(method, path, value, Authorization=self.admin))
        with connection:
            return answer(connection)

    def waiters(self):
        return self.ask("GET", "/v1/stats")[1]["waiters"]

    def test_its_open_requests_end(self):
        names = {"short": "URI:spiffe://example.org/short", "long": "URI:spiffe://example.org/long"}
        pairs = {name: self.authority.issue(name, names[name], days=days) for name, days in (("short", 2), ("long", 90))}
        for name in names:
            token = {"scopes": ALL, "certificate_names": [f"spiffe://example.org/{name}"]}
            self.assertEqual(self.ask("PUT", f"/v1/tokens/{name}", token)[0], 201)
        lease = request("POST", "/v1/queues/q:lease", {"wait": "50s", "lease": "10m"})
        put = request("POST", "/v1/queues/q/messages", {"body": "x" * 1000})
        ended = [self.open(lease, pairs["short"]) for _ in range(3)]
        goes_on = self.open(lease.replace(b"/q:", b"/other:"), pairs["long"])
        events = self.open(request("GET", "/v1/events?only=stats"), pairs["short"])
        self.assertIn(b" 200 ", events.recv(65536))
        half = self.open(put[:-500], pairs["short"])
        wait_until(lambda: self.waiters() == 4, "they wait")
        self.assertEqual(self.ask("POST", "/v1/clock:advance", {"by": "3d"})[0], 200)
        for connection in ended:
            status, body = answer(connection)
            self.assertEqual((status, body["code"]), (401, "token_expired"))
        self.assertTrue(rest_of(events).endswith(b"0\r\n\r\n"))
        half.sendall(put[-500:])
        self.assertEqual(answer(half)[0], 401)
        self.assertEqual(answer(self.open(lease, pairs["short"]))[0], 401)
        self.assertEqual(self.ask("POST", "/v1/queues/q/messages", {"body": "secret"})[0], 201)
        (message,) = self.ask("POST", "/v1/queues/q:lease", {"wait": "10s"})[1]["messages"]
        self.assertEqual((message["body"], message["attempt"]), ("secret", 1))
        self.assertEqual(self.ask("POST", "/v1/queues/other/messages", {"body": "x"})[0], 201)
        self.assertEqual(answer(goes_on)[0], 200)


if __name__ == "__main__":
    main(tries=12)
