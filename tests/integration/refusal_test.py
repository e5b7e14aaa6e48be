"""Invalid requests to the real server: each is refused with its own code and a sentence, and leaves nothing behind: no
message, no queue, no lease; and the next client is served."""

import json
import socket
import time
import unittest

from daemon import Daemon

PUT = "/v1/queues/q/messages"


def request(method, target, body=b"", *fields):
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def put(body):
    return request("POST", PUT, body.encode() if isinstance(body, str) else body)


def raw(head, body=b""):
    return head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body


REFUSED = [
    # what is sent, status, code, field
    (put('{"body":"x","dealy":"10m"}'), 400, "unknown_member", "dealy"),
    (put('{"body":5}'), 400, "wrong_type", "body"),
    (put('{"delay":"ten minutes"}'), 400, "bad_duration", "delay"),
    (put('{"delay_ms":-1}'), 400, "negative_duration", "delay_ms"),
    (put('{"delay":"-1s"}'), 400, "negative_duration", "delay"),
    (put('{"delay_ms":1e400}'), 400, "bad_duration", "delay_ms"),
    (put('{"body":"","delay_ms":9223372036854775807}'), 400, "delay_too_long", "delay"),
    (put('{"delay":"99999999999999w"}'), 400, "bad_duration", "delay"),
    (put('{"body":"","due":"9999-12-31T23:59:59Z"}'), 400, "delay_too_long", "due"),
    (put('{"due":"2027-02-30T00:00:00Z"}'), 400, "bad_instant", "due"),
    (put('{"body":"","delay":"1h","expires_in":"1h"}'), 400, "expires_too_soon", "expires_in"),
    (put('{"body":"","expires":"2001-01-01T00:00:00Z"}'), 400, "expires_too_soon", "expires"),
    (put('{"order_key":"' + "k" * 257 + '"}'), 400, "bad_order_key", "order_key"),
    (put('{"delay":NaN}'), 400, "bad_json", None),
    (put(b'{"body":"\xff"}'), 400, "bad_utf8", None),
    (put("[" * 200_000), 400, "too_deep", None),
    (put('{"body":"' + "x" * (1 << 20) + 'x"}'), 413, "body_too_large", "body"),
    (put("x" * ((4 << 20) + 1)), 413, "body_too_large", None),
    (request("POST", "/v1/queues/" + "q" * 201 + "/messages"), 400, "bad_queue_name", "queue"),
    (request("POST", PUT + "?delay=10m"), 400, "unknown_parameter", None),
    # Two lengths, a length beside chunks, a length that is no number: where one request ends is never guessed.
    (raw(f"POST {PUT} HTTP/1.1\nHost: localhost\nContent-Length: 2\nContent-Length: 3", b"{} "), 400, "bad_request", None),
    (raw(f"POST {PUT} HTTP/1.1\nHost: localhost\nContent-Length: 2\nTransfer-Encoding: chunked", b"{}"), 400, "bad_request", None),
    (raw(f"POST {PUT} HTTP/1.1\nHost: localhost\nContent-Length: +2", b"{}"), 400, "bad_request", None),
    (raw(f"POST {PUT} HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked", b"-2\r\n{}\r\n0\r\n\r\n"), 400, "bad_request", None),
    (raw(f"POST {PUT} HTTP/1.1\nHost: localhost\nTransfer-Encoding: gzip, chunked"), 501, "not_implemented", None),
    (raw(f"POST {PUT} HTTP/1.1\nHost: localhost\n" + "A: b\n" * 101), 431, "header_too_large", None),
    (raw(f"POST {PUT} HTTP/1.1\nHost: localhost\nA: " + "b" * 9000), 431, "header_too_large", None),
    (raw("GET /" + "a" * 5000 + " HTTP/1.1\nHost: localhost"), 414, "target_too_long", None),
    (request("POST", "/v1/leases/nonsense:ack"), 400, "bad_lease_token", "lease"),
    (request("POST", "/v1/leases/" + "A" * 38 + ":ack"), 400, "bad_lease_token", "lease"),  # well-formed and made up
    (request("GET", "/v1/messages/1024"), 404, "unknown_id", "id"),
    (request("DELETE", "/v1/messages/9007199254740991"), 404, "unknown_id", "id"),
    (request("GET", "/v1/messages/none"), 400, "bad_id", "id"),
    (request("POST", "/v1/queues/q:lease", b'{"max":0}'), 400, "bad_max", "max"),
    (request("POST", "/v1/queues/q:lease", b'{"max":1001}'), 400, "bad_max", "max"),
    (request("POST", "/v1/queues/q:lease", b'{"lease_ms":999}'), 400, "lease_too_short", "lease"),
    (request("POST", "/v1/queues/q:lease", b'{"lease_ms":43200001}'), 400, "lease_too_long", "lease"),
    (request("POST", "/v1/queues/q:lease", b'{"wait_ms":60001}'), 400, "wait_too_long", "wait"),
]


def answer(port, bytes_sent):
    """(status, headers, decoded body) of the one answer to what was sent on a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        try:
            connection.sendall(bytes_sent)
        except OSError:
            pass  # refused before all of it was sent
        got = b""
        while b"\r\n\r\n" not in got:
            got += connection.recv(65536) or b"\r\n\r\n"
        head, _, body = got.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
        while len(body) < int(headers["content-length"]):
            body += connection.recv(65536)
        return int(lines[0].split()[1]), headers, json.loads(body)


class Refusals(unittest.TestCase):
    def test_each_has_its_code_and_leaves_nothing_behind(self):
        with Daemon() as daemon:
            daemon.start()
            clean = daemon.client().request("GET", "/v1/stats")[1]
            for sent, status, code, field in REFUSED:
                with self.subTest(sent=sent[:100], code=code):
                    got, headers, problem = answer(daemon.port, sent)
                    self.assertEqual((got, problem["code"], problem.get("field")), (status, code, field), problem)
                    self.assertEqual(problem["status"], status)
                    self.assertEqual(headers["content-type"], "application/problem+json")
                    self.assertGreater(len(problem["detail"].split()), 3)
            stats = daemon.client().request("GET", "/v1/stats")[1]
            for name in ("pending", "ready", "leased", "waiters", "accepted", "delivered", "in_memory", "queues"):
                self.assertEqual(stats[name], clean[name], name)
            self.assertEqual(daemon.client().put("q", "x")[0], 201)

    def test_an_endless_header_is_cut_off(self):
        with Daemon() as daemon:
            daemon.start()
            with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
                deadline = time.monotonic() + 30
                with self.assertRaises(OSError):  # after a short while in which the server lets the client see its answer
                    while time.monotonic() < deadline:
                        connection.sendall(b"A: b\r\n" * 1000)
            self.assertEqual(daemon.client().put("q", "x")[0], 201)

    def test_limits_of_a_lease_hold_at_their_ends(self):
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            client.put("q", "x")
            for members in ({"max": 1}, {"max": 999}, {"max": 1000}, {"lease_ms": 1000}, {"lease_ms": 1001},
                            {"lease_ms": 43_200_000}, {"lease_ms": 43_199_999}):
                self.assertEqual(client.request("POST", "/v1/queues/none:lease", members)[0], 200, members)
            self.assertEqual(client.request("POST", "/v1/queues/q:lease", {"wait_ms": 60_000})[0], 200)
            self.assertEqual(client.request("POST", "/v1/queues/none:lease", {"max": 1001})[0], 400)

    def check_ended_lease(self, answer):
        status, problem = answer
        self.assertEqual((status, problem["code"], problem["outcome"]), (409, "lease_ended", "expired"))

    # It answered 200, so that a client which only looks at the status counted the work as done.
    def test_an_ack_after_the_lease_is_refused_and_changes_nothing(self):
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            number = client.put("q", "x")[1]["id"]
            first = client.lease("q", lease="1s")[0]["lease"]
            second = client.lease("q", wait="20s")  # the lease ends, and another consumer gets it
            self.assertEqual([message["attempt"] for message in second], [2])
            self.check_ended_lease(client.ack(first))
            self.assertEqual(client.get(number)[1]["state"], "leased")
            self.assertEqual(client.ack(second[0]["lease"]), (200, {"outcome": "done"}))
            self.assertEqual(client.ack(second[0]["lease"]), (200, {"outcome": "done"}))
            self.check_ended_lease(client.ack(first))
            self.assertEqual(client.get(number)[1]["state"], "done")


if __name__ == "__main__":
    unittest.main(verbosity=2)
