"""Requests whose end two parties could see in different places, and heads and paths that mean one thing to a proxy and another to the
server. Each carries a put of its own behind it, or inside it: that put is never carried out, and the connection ends.
"""

import re
import unittest

from attacks import Target, main
from raw_sockets import request

MIB = 1 << 20


class Framing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = cls.enterClassContext(Target("--http-body-max", "1MiB"))
        cls.token = cls.target.token("producer", "put")

    def smuggled(self):
        return request("POST", "/v1/queues/smuggled/messages", {"body": "evil"}, Authorization=f"Bearer {self.token}")

    def post(self, *fields, path="/v1/queues/q/messages", version="HTTP/1.1", host="Host: localhost", end="\r\n"):
        lines = [f"POST {path} {version}", host, "Content-Type: application/json", f"Authorization: Bearer {self.token}", *fields]
        return (end.join(lines) + end + end).encode("latin-1")

    def assert_refused(self, sent, statuses=(400,)):
        answer = self.target.send(sent)
        self.assertIn(int(answer.split()[1]), statuses, answer[:300])
        self.assertEqual(len(re.findall(rb"HTTP/1.1 \d{3} ", answer)), 1, answer)
        self.assertIn(b"\r\nConnection: close\r\n", answer)
        self.assertEqual(self.target.code("GET", "/v1/queues/smuggled"), (404, "unknown_queue"))

    def test_two_ends_of_one_body(self):
        inside = self.smuggled()
        chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(inside), inside)
        attacks = {
            "length before chunks": (["Content-Length: 4", "Transfer-Encoding: chunked"], chunked),
            "chunks before length": (["Transfer-Encoding: chunked", "Content-Length: 4"], b"0\r\n\r\n" + inside),
            "length of zero and chunks": (["Content-Length: 0", "Transfer-Encoding: chunked"], chunked),
            "two lengths": (["Content-Length: 2", f"Content-Length: {2 + len(inside)}"], b"{}" + inside),
            "list of lengths": ([f"Content-Length: 2, {2 + len(inside)}"], b"{}" + inside),
            "signed length": (["Content-Length: +2"], b"{}" + inside),
            "negative length": (["Content-Length: -2"], b"{}" + inside),
            "length in another base": (["Content-Length: 0x2"], b"{}" + inside),
            "length with a part": (["Content-Length: 2 2"], b"{}" + inside),
            "length beyond 64 bits": (["Content-Length: 18446744073709551618"], b"{}" + inside),
            "empty length": (["Content-Length:"], b"{}" + inside),
            "space before the colon": (["Content-Length : 2"], b"{}" + inside),
            "folded length": (["Content-Length:", " 2"], b"{}" + inside),
            "folded field that hides chunks": (["X: a", " Transfer-Encoding: chunked", "Content-Length: 0"], inside),
            "length in a carriage return": ["X: a\rContent-Length: 2", b"{}" + inside],
            "length behind NUL": ["X: a\0Content-Length: 2", b"{}" + inside],
            "misspelt chunks": (["Transfer-Encoding: xchunked"], chunked),
            "chunks twice": (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], chunked),
            "chunks behind another coding": (["Transfer-Encoding: identity, chunked"], chunked),
            "chunks before another coding": (["Transfer-Encoding: chunked, gzip"], chunked),
            "chunks with a vertical tab": (["Transfer-Encoding: \x0bchunked"], chunked),
            "chunks in quotes": (['Transfer-Encoding: "chunked"'], chunked),
        }
        for what, (fields, body) in attacks.items():
            with self.subTest(what):
                self.assert_refused(self.post(*([fields] if isinstance(fields, str) else fields)) + body + self.smuggled(), (400, 501))

    def test_chunks(self):
        inside = self.smuggled()
        for what, body in {
                "size with a sign": b"+2\r\n{}\r\n0\r\n\r\n", "negative size": b"-2\r\n{}\r\n0\r\n\r\n", "size with 0x": b"0x2\r\n{}\r\n0\r\n\r\n",
                "size beyond 64 bits": b"10000000000000002\r\n{}\r\n0\r\n\r\n", "space before the size": b" 2\r\n{}\r\n0\r\n\r\n",
                "no size": b"\r\n{}\r\n0\r\n\r\n", "line feed alone": b"2\n{}\n0\n\n", "data beyond the size": b"2\r\n{}}\r\n0\r\n\r\n",
                "extension with a line feed": b"2;a\nb\r\n{}\r\n0\r\n\r\n", "endless extension": b"2;" + b"a" * 100_000 + b"\r\n{}\r\n0\r\n\r\n",
                "endless trailer": b"2\r\n{}\r\n0\r\n" + b"A: b\r\n" * 10_000 + b"\r\n"}.items():
            with self.subTest(what):
                self.assert_refused(self.post("Transfer-Encoding: chunked") + body + inside, (400, 413, 431))
        with self.subTest("size beyond the limit"):
            self.assert_refused(self.post("Transfer-Encoding: chunked") + b"%x\r\n" % (MIB + 1) + inside, (413,))
        with self.subTest("HTTP/1.0"):
            self.assert_refused(self.post("Transfer-Encoding: chunked", version="HTTP/1.0") + b"0\r\n\r\n" + inside)

    # A trailer is no place to change what the head has decided.
    def test_a_trailer_changes_neither_token_nor_length(self):
        reader = self.target.token("reader", "read")
        for field in (f"Authorization: Bearer {self.token}", "Content-Length: 999", "Host: evil.example"):
            with self.subTest(field[:13]):
                sent = self.post("Transfer-Encoding: chunked").replace(self.token.encode(), reader.encode())
                answer = self.target.send(sent + f"2\r\n{{}}\r\n0\r\n{field}\r\n\r\n".encode())
                self.assertIn(int(answer.split()[1]), (400, 403), answer)

    def test_heads(self):
        for what, sent in {
                "line feeds alone": self.post("Content-Length: 2", end="\n"), "carriage returns alone": self.post("Content-Length: 2", end="\r"),
                "NUL in a name": self.post("X\0Y: a"), "NUL in a value": self.post("X: a\0b"), "space in a name": self.post("X Y: a"),
                "no name": self.post(": a"), "no colon": self.post("X"), "line of spaces": self.post(" "), "two hosts": self.post("Host: evil.example"),
                "two equal hosts": self.post("Host: localhost"), "no host": self.post(host="X: a"),
                "version 1.2": self.post(version="HTTP/1.2"), "version 2.0": self.post(version="HTTP/2.0"), "version 11": self.post(version="HTTP/11"),
                "no version": b"POST /v1/queues/q/messages\r\n\r\n", "two spaces": self.post(path=" /v1/queues/q/messages"),
                "tab for a space": self.post().replace(b"POST ", b"POST\t", 1), "control in the method": self.post().replace(b"POST", b"PO\1ST", 1),
                "byte above ASCII in a name": self.post("X\xff: a"), "field of 100 kB": self.post("X: " + "a" * 100_000),
                "2,000 fields": self.post(*["X: a"] * 2000), "target of 100 kB": self.post(path="/" + "a" * 100_000)}.items():
            with self.subTest(what):
                self.assert_refused(sent + self.smuggled(), (400, 414, 431, 505))

    def test_targets(self):
        put = "/v1/queues/q/messages"
        for what, path in {
                "NUL": "/v1/queues/q\0/messages", "encoded NUL": "/v1/queues/q%00/messages", "line feed": "/v1/queues/q%0a/messages",
                "overlong slash": "/v1/queues/q%c0%af/messages", "overlong dot": "/v1/queues/%c0%ae/messages", "half a character": "/v1/queues/q%e2%82/messages",
                "surrogate": "/v1/queues/%ed%a0%80/messages", "no hexadecimal": "/v1/queues/%zz/messages", "half an escape": "/v1/queues/q%2",
                "raw byte": "/v1/queues/\xff/messages", "backslash": "/v1\\queues\\q\\messages", "fragment": put + "#x", "no slash": "v1/queues/q/messages",
                "encoded dots": "/v1/queues/%2e%2e/messages", "encoded dot": "/v1/queues/%2E/messages", "dots": "/v1/queues/a/../smuggled/messages",
                "encoded dots of the namespace": "/v1/namespaces/%2e%2e/queues/smuggled/messages", "two slashes": "//v1/queues/smuggled/messages",
                "empty name": "/v1/queues//messages", "encoded way": "/v1%2fqueues%2fsmuggled%2fmessages", "encoded twice": "/v1/queues/%252e%252e%252f/messages",
                "other case": "/V1/QUEUES/smuggled/messages", "way of the file system": "/assets/../../../../etc/passwd",
                "encoded way of the file system": "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "parameter of a path": "/v1/queues/q;a=b/../smuggled/messages",
                "another server": "http://evil.example/v1/queues/q/messages", "another scheme": "ftp://localhost/v1/queues/q/messages",
                "user in the target": "http://localhost@evil.example/v1/queues/q/messages", "authority": "localhost:80", "asterisk": "*"}.items():
            with self.subTest(what):
                answer = self.target.send(self.post("Content-Length: 2", "Connection: close", path=path) + b"{}")
                self.assertIn(int(answer.split()[1]), (400, 401, 403, 404, 405, 421), answer[:300])
                self.assertNotIn(b"root:", answer)
                self.assertEqual(self.target.ask("GET", "/v1/queues")[1]["queues"], [])


if __name__ == "__main__":
    main(tries=90)
