"""Server-sent events of the real server: over TLS with the session of a browser, over restarts, and while it stops."""

import contextlib
import http.client
import json
import subprocess
import tempfile
import unittest

from certificates import Authority
from daemon import BIN, Daemon


class Stream:
    """An event stream, read event by event."""

    def __init__(self, connection, only, **headers):
        connection.request("GET", "/v1/events?only=" + only, headers={name.replace("_", "-"): value for name, value in headers.items()})
        self.answer = connection.getresponse()

    def next(self):
        """(name, id, data) of the next event; None at the end."""
        fields = {}
        while line := self.answer.readline().decode():
            if line == "\n" and "event" in fields:
                return fields["event"], fields["id"], json.loads(fields["data"])
            if line != "\n":
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value
        return None

    def until(self, name):
        while (event := self.next()) and event[0] != name:
            pass
        return event


def plain(daemon):
    return http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)


class Events(unittest.TestCase):
    def test_a_browser_follows_the_server_over_tls_until_its_token_is_removed(self):
        with tempfile.TemporaryDirectory(prefix="duewheel-test-") as directory:
            authority = Authority(directory)
            certificate, key = authority.issue("server")
            arguments = ["--auth-required", "--tls-certificate", certificate, "--tls-key", key]
            with Daemon(arguments=arguments) as daemon:
                daemon.data.mkdir()
                admin = subprocess.run([BIN / "duewheel", "token", "add", "admin", "--data", daemon.data, "--admin"], check=True,
                                       capture_output=True, text=True).stdout.strip()
                daemon.start()
                origin = f"https://localhost:{daemon.port}"

                def secure():
                    return http.client.HTTPSConnection("127.0.0.1", daemon.port, timeout=60, context=authority.client_context())

                def ask(method, path, value=None, **headers):
                    connection = secure()
                    connection.request(method, path, json.dumps(value) if value is not None else None,
                                       {"Content-Type": "application/json", "Host": f"localhost:{daemon.port}", **headers})
                    answer = connection.getresponse()
                    return answer, json.loads(answer.read())

                as_admin = {"Authorization": f"Bearer {admin}"}
                made, token = ask("PUT", "/v1/tokens/viewer", {"scopes": ["read"]}, **as_admin)
                self.assertEqual(made.status, 201, token)
                login, session = ask("POST", "/v1/session", {"token": token["token"]}, Origin=origin)
                self.assertEqual((login.status, session["token"]["id"]), (200, "viewer"))
                name, *attributes = login.getheader("Set-Cookie").split("; ")
                self.assertRegex(name, "^__Host-duewheel_session=[A-Za-z0-9_-]{43}$")
                self.assertNotIn(name.partition("=")[2], token["token"])
                self.assertEqual(set(attributes), {"HttpOnly", "SameSite=Strict", "Path=/", "Secure"})
                # Over TLS a cookie without the prefix may come from another host of the domain, or from one without TLS.
                self.assertEqual(Stream(secure(), "stats", Cookie=name.removeprefix("__Host-")).answer.status, 401)
                stream = Stream(secure(), "stats", Cookie=name)
                self.assertEqual(stream.answer.status, 200)
                for _ in range(3):
                    self.assertEqual(stream.next()[0], "stats")
                self.assertEqual(ask("DELETE", "/v1/tokens/viewer", **as_admin)[0].status, 200)
                self.assertIsNone(stream.until("none"))
                self.assertNotIn(token["token"].split("_", 2)[2], daemon.log_text())

    def test_log_lines_continue_over_a_restart(self):
        with Daemon(arguments=["--webhooks-post=false"]) as daemon:  # which is a warning at each start
            daemon.start()
            stream = Stream(plain(daemon), "log,stats")
            name, first, line = stream.until("log")
            self.assertEqual((line["event"], line["level"]), ("webhooks_disabled", "warning"))
            again = Stream(plain(daemon), "log,stats", Last_Event_ID=first)
            self.assertEqual(again.next()[0], "stats", "it has that line")
            daemon.kill()
            with contextlib.suppress(http.client.IncompleteRead, ConnectionError):
                again.until("none")
            daemon.start()
            resumed = Stream(plain(daemon), "log", Last_Event_ID=first)
            name, second, line = resumed.next()
            self.assertEqual(line["event"], "last_run_not_stopped")
            name, second, line = resumed.next()
            self.assertEqual(line["event"], "webhooks_disabled")
            self.assertGreater(int(second), int(first))

    def test_a_stop_ends_the_streams_and_does_not_wait_for_them(self):
        with Daemon(arguments=["--drain-timeout=1h"]) as daemon:
            daemon.start()
            streams = [Stream(plain(daemon), "stats") for _ in range(5)]
            for stream in streams:
                self.assertEqual(stream.next()[0], "stats")
            self.assertEqual(daemon.terminate(), 0)
            for stream in streams:
                self.assertIsNone(stream.until("none"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
