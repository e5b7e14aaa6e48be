"""A token that was removed, rotated, narrowed, or has expired, in requests that were open at that moment. A lease that waited
still got messages. Now all of them end: with 401 where there is an answer to come.
"""

import json
import select
import socket
import subprocess
import unittest

from attacks import main
from daemon import BIN, Daemon
from raw_sockets import WITHIN_S, connect, read_answer, request, rest_of, wait_until

ALL = ["put", "read", "consume"]


class Rights(unittest.TestCase):
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
            with connection.makefile("rb") as stream:
                status, body = read_answer(stream)
        return status, json.loads(body)

    def make(self, name, **members):
        status, answer = self.ask("PUT", f"/v1/tokens/{name}", {"scopes": ALL, **members})
        self.assertEqual(status, 201, answer)
        return answer["token"]

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
                    with connection.makefile("rb") as stream:
                        status, body = read_answer(stream)
                    self.assertEqual((status, json.loads(body)["code"]), (401, "token_expired" if way == self.expire else "bad_token"))
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
        status, answer = self.ask("POST", "/v1/tokens/rotated:rotate", {"keep_old": "30s"})
        self.assertEqual(status, 200, answer)
        begun = [self.open(request("POST", "/v1/queues/q:lease", {"wait": "50s"}, Authorization=f"Bearer {token}"))
                 for token in (old, answer["token"])]
        wait_until(lambda: self.waiters() == 2, "they wait")
        self.expire("rotated")
        with begun[0].makefile("rb") as stream:
            self.assertEqual(read_answer(stream)[0], 401)
        self.assertEqual(self.waiters(), 1)


if __name__ == "__main__":
    main(tries=6)
