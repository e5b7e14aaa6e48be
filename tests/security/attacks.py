"""What the attacks of this folder share: a server that requires tokens, and the count of the tries.

A try is one attack with what is expected of it: a test, or each subTest of it with parameters of its own. `main` checks that a file has the
number that it states; suite_test.py adds those up.
"""

import contextlib
import json
import socket
import subprocess
import sys
import unittest

from daemon import BIN, Daemon
from raw_sockets import connect, read_answer, request, rest_of


class Target:
    """A server that requires tokens, and `root`, the token of its administrator."""

    def __init__(self, *arguments, kind=Daemon, start=True):
        self.daemon = kind(arguments=["--auth-required", *arguments])
        self.daemon.data.mkdir()
        self.root = self.duewheel("token", "add", "root", "--admin", "--data", self.daemon.data)
        if start:
            self.daemon.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.daemon.__exit__()

    def duewheel(self, *words):
        """The output of the command line."""
        done = subprocess.run([BIN / "duewheel", *map(str, words)], env=self.daemon.environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def send(self, sent, address=None):
        """All that comes back for these bytes, after which the client stops sending."""
        with connect(self.daemon, address=address) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
            return rest_of(connection)

    def ask(self, method, path, value=None, token=None, **fields):
        """(status, decoded body) of a request with a token, by default that of the administrator. A list is sent as NDJSON."""
        lines = "".join(json.dumps(line) + "\n" for line in value).encode() if isinstance(value, list) else b""
        if lines:
            value, fields = None, {"Content_Type": "application/x-ndjson", "Content_Length": len(lines), **fields}
        with connect(self.daemon) as connection, connection.makefile("rb") as stream:
            connection.sendall(request(method, path, value, Authorization=f"Bearer {token or self.root}", **fields) + lines)
            status, body = read_answer(stream)
        try:
            return status, json.loads(body)
        except ValueError:
            return status, body.decode()

    def code(self, *words, **how):
        """(status, code of the problem)."""
        status, answer = self.ask(*words, **how)
        return status, answer.get("code") if isinstance(answer, dict) else None

    def token(self, name, *scopes, **limits):
        status, answer = self.ask("PUT", f"/v1/tokens/{name}", {"scopes": list(scopes), **limits})
        assert status == 201, answer
        return answer["token"]

    def put(self, path, body="x", **members):
        """The id of a new message of the administrator; `path` as "q" or "namespaces/shop/queues/q"."""
        path = path if "/" in path else f"queues/{path}"
        status, answer = self.ask("POST", f"/v1/{path}/messages", {"body": body, **members})
        assert status == 201, answer
        return answer["id"]


class CountingResult(unittest.TextTestResult):
    def __init__(self, *arguments, **how):
        super().__init__(*arguments, **how)
        self.tries = set()

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        self.tries.discard(test.id())
        self.tries.add(subtest.id())

    def addSuccess(self, test):
        super().addSuccess(test)
        if not any(each.startswith(test.id() + " ") for each in self.tries):
            self.tries.add(test.id())


def main(tries):
    """Runs the tests of the calling file, which has at least `tries` of them."""
    program = unittest.main(exit=False, testRunner=unittest.TextTestRunner(verbosity=2, resultclass=CountingResult))
    is_whole = len(sys.argv) == 1 and program.result.wasSuccessful() and not program.result.skipped
    if is_whole and len(program.result.tries) < tries:
        sys.exit(f"{sys.argv[0]} has {len(program.result.tries)} tries, and says main(tries={tries})")
    sys.exit(not program.result.wasSuccessful())
