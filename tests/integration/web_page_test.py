"""A foreign web page, open in a browser on the machine of a loopback server, can neither put messages nor read
responses: the requests that the browser would send for the page are sent to the real daemon, byte for byte."""

import json
import socket
import unittest

from daemon import Daemon


def send(daemon, method, path, fields, body=b""):
    """(status, code of the refusal or None)"""
    lines = [f"{method} {path} HTTP/1.1", *[f"{name}: {value}" for name, value in fields],
             f"Content-Length: {len(body)}", "Connection: close"]
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        got = b""
        while part := connection.recv(65536):
            got += part
    head, _, text = got.partition(b"\r\n\r\n")
    is_problem = b"application/problem+json" in head
    return int(head.split()[1]), json.loads(text)["code"] if is_problem else None


PUT = "/v1/queues/q/messages"


class WebPage(unittest.TestCase):
    def test_of_another_host_puts_nothing(self):
        with Daemon() as daemon:
            daemon.start()
            ours = f"127.0.0.1:{daemon.port}"
            evil = [("Host", ours), ("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")]
            bodies = [("application/json", b'{"body":"x"}'), ("text/plain", b'{"body":"x"}'), ("text/plain", b"a=b\r\n"),
                      ("application/x-www-form-urlencoded", b"a=b"), ("multipart/form-data; boundary=b", b"--b--")]
            for content_type, body in bodies:
                with self.subTest(content_type=content_type):
                    self.assertEqual(send(daemon, "POST", PUT, evil + [("Content-Type", content_type)], body),
                                     (403, "foreign_origin"))
            # Pages of other ports of this machine, of files, of sandboxed frames, and of browsers that say no Origin.
            for fields in ([("Origin", "http://localhost:3000")], [("Origin", "http://127.0.0.1")], [("Origin", "null")],
                           [("Origin", "file://")], [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")]):
                with self.subTest(fields=fields):
                    self.assertEqual(send(daemon, "POST", PUT, [("Host", ours), *fields], b'{"body":""}'),
                                     (403, "foreign_origin"))
            self.assertEqual(send(daemon, "POST", "/v1/queues/q:lease", evil), (403, "foreign_origin"))
            self.assertEqual(send(daemon, "DELETE", "/v1/messages/1024", evil), (403, "foreign_origin"))
            self.assertEqual(send(daemon, "OPTIONS", PUT, evil)[0], 403)
            stats = daemon.client().request("GET", "/v1/stats")[1]
            self.assertEqual((stats["accepted"], stats["queues"]), (0, []))

    # Reads were answered: a page can measure them, although it cannot see them.
    def test_of_another_site_reads_nothing_but_may_link_to_the_dashboard(self):
        with Daemon() as daemon:
            daemon.start()
            foreign = [("Host", f"localhost:{daemon.port}"), ("Sec-Fetch-Site", "cross-site")]
            link = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
            for path in ("/v1/stats", "/metrics", "/healthz", "/openapi.json", "/v1/events", "/assets/x.js"):
                for mode in ([], link):
                    with self.subTest(path=path, mode=mode):
                        self.assertEqual(send(daemon, "GET", path, foreign + mode), (403, "foreign_origin"))
            self.assertEqual(send(daemon, "GET", "/", foreign + link)[0], 200)
            self.assertEqual(send(daemon, "GET", "/", foreign), (403, "foreign_origin"))

    def test_a_host_name_rebound_to_our_address_is_refused(self):
        with Daemon() as daemon:
            daemon.start()
            for host in ("evil.example", f"evil.example:{daemon.port}", f"localhost.evil.example:{daemon.port}", "",
                         "localhost:evil.example", f"localhost:{daemon.port}.evil.example"):
                for method, path in (("GET", "/v1/stats"), ("GET", "/metrics"), ("GET", "/healthz"), ("POST", PUT)):
                    with self.subTest(host=host, path=path):
                        self.assertEqual(send(daemon, method, path, [("Host", host), ("Origin", f"http://{host}")], b""),
                                         (403, "foreign_host"))

    def test_of_the_server_itself_and_programs_are_served(self):
        with Daemon() as daemon:
            daemon.start()
            for host in (f"127.0.0.1:{daemon.port}", f"localhost:{daemon.port}", f"LOCALHOST:{daemon.port}", "[::1]:8000"):
                self.assertEqual(send(daemon, "POST", PUT, [("Host", host)], b'{"body":""}')[0], 201)
                self.assertEqual(send(daemon, "POST", PUT, [("Host", host), ("Origin", f"http://{host}"),
                                                            ("Sec-Fetch-Site", "same-origin")], b'{"body":""}')[0], 201)

    def test_of_a_host_that_the_operator_named_is_served(self):
        with Daemon(arguments=["--http-hosts", "queue.example,page.example,https://app.example:8443"]) as daemon:
            daemon.start()
            ours = f"127.0.0.1:{daemon.port}"
            self.assertEqual(send(daemon, "GET", "/v1/stats", [("Host", "queue.example")])[0], 200)
            self.assertEqual(send(daemon, "POST", PUT, [("Host", ours), ("Origin", "https://page.example")], b'{"body":""}')[0], 201)
            self.assertEqual(send(daemon, "POST", PUT, [("Host", ours), ("Origin", "https://other.example")], b'{"body":""}'),
                             (403, "foreign_origin"))
            # Scheme and port of a page were not compared.
            for origin, status in (("https://app.example:8443", 201), ("http://app.example:8443", 403), ("https://app.example", 403),
                                   ("https://page.example:444", 403)):
                self.assertEqual(send(daemon, "POST", PUT, [("Host", ours), ("Origin", origin)], b'{"body":""}')[0], status, origin)


if __name__ == "__main__":
    unittest.main(verbosity=2)
