"""Other protocols on the listener for clients of beanstalkd, which has no authentication: HTTP as a browser sends it for a
page of any site, with commands in its head or body, and other beginnings. The connection is closed, and nothing of it is
carried out, however its bytes are cut.
"""

import unittest

from attacks import main
from beanstalk_client import BeanstalkDaemon
from raw_sockets import request, rest_of

PUT = b"put 0 0 60 4\r\nevil\r\n"
LONG = b"a" * 5000


class OtherProtocols(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(BeanstalkDaemon())
        cls.daemon.start()
        cls.client = cls.daemon.connect()
        cls.job = cls.client.put(b"victim", delay=3600)

    def commands(self):
        return PUT + b"delete %d\r\nkick-job %d\r\nquit\r\n" % (self.job, self.job)

    def answer(self, pieces):
        connection = self.daemon.connect()
        try:
            for piece in pieces:
                connection.send(piece)
        except ConnectionError:
            pass
        return rest_of(connection.socket)

    def assert_nothing_happened(self):
        self.assertIn(b"\nstate: delayed\n", self.client.ask(f"stats-job {self.job}\r\n"))
        stats = self.client.ask("stats\r\n")
        self.assertIn(b"\ntotal-jobs: 1\n", stats)

    def attack(self, attack, expected=(b"", b"UNKNOWN_COMMAND\r\n")):
        with self.subTest(attack[:40]):
            for pieces in ([attack], [attack[:9], attack[9:]], [attack[:-30], attack[-30:]]):
                self.assertIn(self.answer(pieces), expected, f"in {len(pieces)} pieces")
                self.assert_nothing_happened()

    def test_requests_of_http(self):
        for method in ("POST", "PUT", "PATCH", "OPTIONS", "put", "delete", "stats"):
            head = request(method, "/").replace(b"Content-Length: 0", b"Content-Length: 999")
            self.attack(head + self.commands())
        self.attack(b"POST /" + LONG + b" HTTP/1.1\r\nHost: x\r\n\r\n" + self.commands())
        self.attack(b"POST / HTTP/1.1\r\nX: " + LONG + b"\r\n" + self.commands())
        self.attack(b"GET /\r\n" + self.commands())
        self.attack(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.commands())

    def test_other_beginnings(self):
        for beginning in (b"\r\n", b"\n\r\n", b" \r\n", b"Host: x\r\n", b"EHLO x\r\n", b"*1\r\n$4\r\nPING\r\n", b"\x16\x03\x01\x02\x00\x01\r\n",
                          b"\0\r\n", b"PUT 0 0 60 4\r\n", LONG + b"\r\n", LONG * 60 + b"\r\n"):
            self.attack(beginning + self.commands())

    def test_http_behind_a_command(self):
        for line in (b"Host: x", b"hOST:x", b"GET / HTTP/1.1", b"x HTTP/1.0", b"POST /" + LONG):
            self.attack(b"list-tube-used\r\n" + line + b"\r\n" + self.commands(), (b"USING default\r\nUNKNOWN_COMMAND\r\n", b"USING default\r\n", b""))

    def test_a_client_that_mistypes_a_later_command_stays_connected(self):
        client = self.daemon.connect()
        self.assertEqual(client.ask("list-tube-used\r\n"), b"USING default\r\n")
        self.assertEqual(client.ask("reserv\r\n"), b"UNKNOWN_COMMAND\r\n")
        self.assertEqual(client.ask("list-tube-used\r\n"), b"USING default\r\n")


if __name__ == "__main__":
    main(tries=25)
