"""What others put into messages and answers, on the terminal of an operator: escapes, controls and characters that are not seen or turn the text
round. And the token of the command line: it goes neither to the commands that `lease --exec` starts nor over a network in plain text.
"""

import json
import os
import pty
import re
import select
import socket
import subprocess
import threading
import unittest

from attacks import Target, main
from daemon import BIN

EVIL = {"escape": "\x1b]0;owned\x07", "clear": "\x1b[2J", "C1": "\x9b2J", "backspace": "safe\b\b\b\bevil", "carriage return": "safe\revil", "bell": "\x07",
        "delete": "a\x7fb", "right to left": "\u202egpj.exe", "isolate": "\u2066evil\u2069", "zero width": "sa\u200bfe", "joiner": "sa\u200dfe",
        "byte order mark": "\ufeffsafe", "line separator": "a\u2028b", "tag": "a\U000e0041b", "filler": "a\u3164b"}
SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")

CONTROLS = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # JSON is for scripts, and shows the rest as it is


class Terminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = cls.enterClassContext(Target())
        cls.ids = {what: cls.target.put("q", f"<{evil}>", delay="1h") for what, evil in EVIL.items()}

    def shown(self, *words, server=None):
        """What a terminal gets."""
        environment = {**self.target.daemon.environment, "DUEWHEEL_TOKEN": self.target.root, "TERM": "xterm",
                       "DUEWHEEL_SERVER": server or f"http://127.0.0.1:{self.target.daemon.port}"}
        controller, terminal = pty.openpty()
        with subprocess.Popen([BIN / "duewheel", *map(str, words)], stdin=terminal, stdout=terminal, stderr=terminal, env=environment) as run:
            os.close(terminal)
            got = b""
            try:
                while part := os.read(controller, 65536):
                    got += part
            except OSError:
                pass  # the other end is closed
            run.wait(60)
        os.close(controller)
        return got.decode(errors="replace").replace("\r\n", "\n")

    def assert_plain(self, text, what=SHOWN):
        self.assertIsNone(what.search(re.sub(r"\x1b\[[0-9;]*m", "", text)), ascii(text))

    def test_a_message(self):
        for what, number in self.ids.items():
            with self.subTest(what):
                text = self.shown("get", number)
                self.assertIn("<", text)
                self.assert_plain(text)
        for words in (("list", "q"), ("queue", "show", "q"), ("--json", "list", "q"), ("--json", "get", self.ids["C1"])):
            with self.subTest(" ".join(words[:3])):
                self.assert_plain(self.shown(*words), CONTROLS if words[0] == "--json" else SHOWN)

    def test_the_json_of_the_server(self):
        for what, number in self.ids.items():
            if what in ("escape", "C1", "delete", "bell"):
                with self.subTest(what):
                    raw = self.target.daemon.client()
                    raw.connection.request("GET", f"/v1/messages/{number}", headers={"Authorization": f"Bearer {self.target.root}"})
                    text = raw.connection.getresponse().read().decode()
                    self.assertIsNone(re.search("[\x00-\x1f\x7f-\x9f]", text))
                    self.assertEqual(json.loads(text)["body"], f"<{EVIL[what]}>")

    def test_reasons_and_lines_of_the_audit_log(self):
        evil = "".join(EVIL.values())
        message = self.target.put("failing", "x", retry={"attempts": 1})
        lease = self.target.ask("POST", "/v1/queues/failing:lease", {})[1]["messages"][0]["lease"]
        self.assertEqual(self.target.code("POST", f"/v1/leases/{lease}:fail", {"reason": evil})[0], 200)
        self.target.ask("PUT", "/v1/queues/%1b%5b2J%e2%80%ae", {})
        self.target.ask("PUT", "/v1/tokens/evil", {"scopes": ["read"], "description": evil})
        for words in (("get", message), ("history", "failing"), ("token", "list"), ("audit", "show", "--data", self.target.daemon.data),
                      ("--json", "audit", "show", "--data", self.target.daemon.data)):
            with self.subTest(" ".join(map(str, words[:3]))):
                self.assert_plain(self.shown(*words), CONTROLS if words[0] == "--json" else SHOWN)

    # A server that is not what it seems: its names of members went to the terminal as they were.
    def test_answers(self):
        evil = "".join(EVIL.values()).replace("\r", "")
        bodies = {"detail": (404, json.dumps({"status": 404, "code": "unknown_id", "detail": evil})), "code": (404, json.dumps({"status": 404, "code": evil, "detail": "x"})),
                  "raw detail": (404, '{"status":404,"code":"x","detail":"' + evil + '"}'), "text": (500, evil), "value": (200, json.dumps({"id": evil, "state": evil, evil: evil})),
                  "redirect": (307, evil), "deep": (200, "[" * 100_000), "nothing": (200, "")}
        for what, (status, body) in bodies.items():
            with self.subTest(what), socket.create_server(("127.0.0.1", 0)) as server:
                def answer():
                    with server.accept()[0] as connection:
                        connection.recv(65536)
                        data = body.encode("utf-8", "surrogatepass")
                        connection.sendall(b"HTTP/1.1 %d \x1b[2J\r\nContent-Type: application/json\r\nLocation: \x1b[2J\r\nContent-Length: %d\r\n\r\n%s" % (status, len(data), data))

                thread = threading.Thread(target=answer)
                thread.start()
                self.assert_plain(self.shown("get", "1024", server=f"http://127.0.0.1:{server.getsockname()[1]}"))
                thread.join()

    def test_the_token(self):
        environment = {**self.target.daemon.environment, "DUEWHEEL_TOKEN": self.target.root, "DUEWHEEL_SERVER": f"http://127.0.0.1:{self.target.daemon.port}"}

        def run(*words):
            return subprocess.run([BIN / "duewheel", *words], env=environment, capture_output=True, text=True, timeout=60)

        with self.subTest("is not passed on"):
            self.target.put("exec", "x")
            done = run("lease", "exec", "--exec", "env", "--drain")
            self.assertIn("DUEWHEEL_MESSAGE", done.stdout)
            self.assertNotIn(self.target.root, done.stdout)
        with self.subTest("is in no error"):
            for words in (("get", "1"), ("get", "nothing"), ("--server", "http://127.0.0.1:1", "get", "1"), ("put",)):
                done = run(*words)
                self.assertNotIn(self.target.root, done.stdout + done.stderr)
        with self.subTest("as an argument"):
            self.assertEqual(run("--token", self.target.root, "stats").returncode, 2)
        for host in ("192.0.2.1", "example.org", "127.0.0.1.example.org", "localhost.example.org"):
            with self.subTest(f"to {host}"):
                done = run("--server", f"http://{host}:7420", "get", "1")
                self.assertIn("--insecure", done.stderr)
        with self.subTest("after a redirect"), socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as canary:
            def answer():
                with server.accept()[0] as connection:
                    connection.recv(65536)
                    # Linux connects to this machine for 0.0.0.0, which is no loopback address.
                    location = f"http://0.0.0.0:{canary.getsockname()[1]}/v1/messages/1"
                    connection.sendall(f"HTTP/1.1 307 x\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())

            thread = threading.Thread(target=answer)
            thread.start()
            done = run("--server", f"http://127.0.0.1:{server.getsockname()[1]}", "get", "1")
            thread.join()
            self.assertIn("--insecure", done.stderr)
            self.assertFalse(select.select([canary], [], [], 0)[0])


if __name__ == "__main__":
    main(tries=44)
