"""Webhooks that should lead inside: redirects, names of DNS, headers that end early, and receivers that answer without an end. What a URL may
not name is in tests/integration/webhook_addresses_test.py, ports of the server itself are in own_listeners_attack_test.py.
"""

import os
import socket
import threading

from attacks import main
from raw_sockets import memory_bytes
from webhook_daemon import NO_REST, Webhooks, wait_until

MIB = 1 << 20
ONCE = {**NO_REST, "attempts": 1}


class RawReceiver:
    """Answers each connection with these bytes, again and again."""

    def __init__(self, first, again=b""):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.first, self.again = first, again
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        try:
            while True:
                threading.Thread(target=self.answer, args=(self.server.accept()[0],), daemon=True).start()
        except OSError:
            pass

    def answer(self, connection):
        try:
            connection.recv(65536)
            connection.sendall(self.first)
            while self.again:
                connection.sendall(self.again)
        except OSError:
            pass
        finally:
            connection.close()


class Receivers(Webhooks):
    def started(self, *arguments, **how):
        daemon = self.daemon(*arguments, **how)
        daemon.start()
        return daemon, daemon.client()

    def end_of(self, client, queue, **members):
        message = client.put(queue, "x", **members)[1]["id"]
        wait_until(lambda: self.state(client, message) in ("done", "dead"))
        return self.state(client, message)

    def test_redirects(self):
        canary = self.receiver()
        inside = {"canary": canary.url(), "metadata": "http://169.254.169.254/latest/", "file": "file:///etc/passwd", "gopher": "gopher://127.0.0.1/",
                  "no scheme": f"//127.0.0.1:{canary.port}/"}
        status = {"value": 0, "location": ""}
        receiver = self.receiver(lambda post: (status["value"], {"Location": status["location"], "Refresh": f"0; url={status['location']}"}))
        daemon, client = self.started()
        self.set_target(client, "q", receiver.url(), retry=ONCE)
        for value in (301, 302, 303, 307, 308):
            for what, location in inside.items():
                with self.subTest(f"{value} to {what}"):
                    status.update(value=value, location=location)
                    self.assertEqual(self.end_of(client, "q"), "dead")
        self.assertEqual((canary.connections, {post.headers["Host"] for post in receiver.posts}), (0, {f"127.0.0.1:{receiver.port}"}))

    def test_names_that_lead_inside(self):
        names = {"loopback": "127.0.0.1", "metadata": "169.254.169.254", "private": "10.0.0.1", "mapped": "::ffff:127.0.0.1", "any": "0.0.0.0", "shared": "100.64.0.1",
                 "local": "fe80::1", "unique": "fd00::1", "multicast": "224.0.0.1", "broadcast": "255.255.255.255", "translated": "64:ff9b::7f00:1",
                 "tunnelled": "2002:7f00:1::", "all-inside": "127.0.0.1 10.0.0.1 ::1"}
        daemon = self.daemon(environment={"LD_PRELOAD": os.environ["DUEWHEEL_RESOLVER"]})
        daemon.arguments = []
        file = daemon.directory / "names"
        file.write_text("".join(f"{name}.test {addresses}\n" for name, addresses in names.items()))
        daemon.environment["DUEWHEEL_NAMES"] = str(file)
        daemon.start()
        client = daemon.client()
        canary = self.receiver()
        for name in names:
            with self.subTest(name):
                self.set_target(client, name, f"http://{name}.test:{canary.port}/", retry=ONCE)
                self.assertEqual(self.end_of(client, name), "dead")
        self.assertEqual(canary.connections, 0)

    # Fields that a tenant chooses neither end the head of the post nor replace what the server says in it.
    def test_headers(self):
        receiver = self.receiver()
        daemon, client = self.started()
        for what, headers in {"line end": {"X": "a\r\nEvil: 1"}, "line feed": {"X": "a\nEvil: 1"}, "carriage return": {"X": "a\rEvil: 1"}, "NUL": {"X": "a\0b"},
                              "line end in a name": {"X\r\nEvil": "1"}, "colon in a name": {"X: 1\r\nEvil": "1"}, "space in a name": {"X Y": "1"}, "empty name": {"": "1"}}.items():
            with self.subTest(f"of a queue: {what}"):
                status, answer = client.request("PUT", "/v1/queues/q", {"target": {"webhook": {"url": receiver.url(), "headers": headers}}})
                self.assertEqual((status, answer["code"]), (400, "bad_webhook_header"))
            with self.subTest(f"of a message: {what}"):
                self.assertEqual(client.put("q", "x", headers=headers)[0], 400)
        self.set_target(client, "q", receiver.url(), retry=ONCE)
        for name in ("Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Proxy-Authorization", "TE", "Trailer", "Upgrade",
                     "webhook-id", "webhook-timestamp", "webhook-signature"):
            with self.subTest(f"{name} of a message"):
                count = len(receiver.posts)
                if client.put("q", "whole", headers={name: "evil"})[0] == 201:
                    post = receiver.wait_for(count + 1)[count]
                    self.assertNotIn("evil", str(post.headers))
                    self.assertEqual(post.body, b"whole")
            with self.subTest(f"{name} of a queue"):
                status, answer = client.request("PUT", "/v1/queues/r", {"target": {"webhook": {"url": receiver.url(), "headers": {name: "evil"}}}})
                self.assertEqual((status, answer["code"]), (400, "bad_webhook_header"))

    def test_answers_without_an_end(self):
        daemon, client = self.started("--webhooks-timeout", "2s")
        good = self.receiver()
        self.set_target(client, "good", good.url())
        before = memory_bytes(daemon)
        ok = b"HTTP/1.1 200 OK\r\n"
        for what, (first, again) in {"status line": (b"HTTP/1.1 200 ", b"a" * MIB), "field": (ok + b"X: ", b"a" * MIB), "fields": (ok, b"X: a\r\n" * 10_000),
                                     "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000), "trailer": (ok + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: a\r\n" * 10_000),
                                     "body": (ok + b"Content-Length: 99999999999\r\n\r\n", b"a" * MIB), "chunks": (ok + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 10_000),
                                     "compressed": (ok + b"Content-Encoding: gzip\r\nContent-Length: 99999999999\r\n\r\n", b"\x1f\x8b" * MIB),
                                     "no HTTP": (b"SSH-2.0-x\r\n", b"a" * MIB), "nothing": (b"", b""), "two lengths": (ok + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", b"")}.items():
            with self.subTest(what):
                receiver = RawReceiver(first, again)
                self.addCleanup(receiver.server.close)
                self.set_target(client, f"q-{what.replace(' ', '-')}", f"http://127.0.0.1:{receiver.port}/", retry=ONCE)
                self.end_of(client, f"q-{what.replace(' ', '-')}")
                self.assertEqual(self.end_of(client, "good"), "done")
        self.assertLess(memory_bytes(daemon) - before, 64 * MIB)

    # What a receiver answers is shown to those who read the message.
    def test_an_answer_is_text_wherever_it_is_shown(self):
        receiver = self.receiver(lambda post: (500, {"Content-Type": "text/html"}, b"<script>\x1b[2J\xff\0\xe2\x80\xae</script>"))
        daemon, client = self.started()
        self.set_target(client, "q", receiver.url(), retry=ONCE)
        message = client.put("q", "x")[1]["id"]
        wait_until(lambda: self.state(client, message) == "dead")
        client.connection.request("GET", f"/v1/messages/{message}")
        answer = client.connection.getresponse()
        raw = answer.read()
        self.assertEqual(answer.getheader("X-Content-Type-Options"), "nosniff")
        self.assertEqual([byte for byte in raw if byte < 32], [])


if __name__ == "__main__":
    main(tries=90)
