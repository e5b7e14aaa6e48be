"""No secret is stored or printed anywhere except in its file. A server gets secrets that can be searched for: it posts
and fails with them, refuses requests that contain them, restarts, is exported and backed up. Then everything on disk
and everything printed is searched."""

import base64
import json
import pathlib
import subprocess
import tempfile
import time
import unittest

from daemon import BIN, Daemon
from webhook_receiver import Receiver

LOOPBACK = "--webhooks-allowed-networks=127.0.0.0/8,::1"
ENCRYPTION_KEY = "c0ffee" * 10 + "beef"
SIGNING = base64.b64encode(b"signing-canary-0123456789abcdef").decode()
HEADER = "Bearer header-canary-abcdefgh"
PATCHED = "patched-canary-abcdefgh"
BEARER = "dw_intruder_bearercanaryabcdefghabcdefghabcdefghabc"
REFUSED = "refused-canary-abcdefgh"

# What may be searched for, in each form in which it could appear.
CANARIES = {
    "the encryption key": [ENCRYPTION_KEY, bytes.fromhex(ENCRYPTION_KEY), base64.b64encode(bytes.fromhex(ENCRYPTION_KEY))],
    "the signing secret": [SIGNING, b"signing-canary", base64.b64encode(SIGNING.encode())],
    "a header value": ["header-canary", base64.b64encode(HEADER.encode()), HEADER.encode().hex()],
    "a patched header value": ["patched-canary", base64.b64encode(PATCHED.encode()), PATCHED.encode().hex()],
    "a bearer token": ["bearercanary"],
    "a refused header value": ["refused-canary"],
}


def hits(text):
    """The names of the canaries that are in it."""
    found = set()
    for name, forms in CANARIES.items():
        for form in forms:
            if (form if isinstance(form, bytes) else form.encode()) in text:
                found.add(name)
    return found


def wait_until(condition, within_s=60):
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


class Secrets(unittest.TestCase):
    def setUp(self):
        # Apart from all that is searched.
        self.files = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="duewheel-secrets-")))
        for name, text in (("encryption.key", ENCRYPTION_KEY), ("signing.secret", "whsec_" + SIGNING), ("header", HEADER)):
            (self.files / name).write_text(text + "\n")
            (self.files / name).chmod(0o600)
        self.printed = b""

    def run_tool(self, *arguments, code=0):
        run = subprocess.run([*map(str, arguments)], capture_output=True, timeout=120, cwd=self.files)
        self.assertEqual(run.returncode, code, run.stderr)
        self.printed += run.stdout + run.stderr
        return run

    def ask(self, client, method, path, value=None, headers=None):
        status, answer = client.request_text(method, path, None if value is None else json.dumps(value), headers)
        self.printed += json.dumps(answer).encode()
        return status, answer

    def live(self, *arguments):
        """All that a server with secrets does. The places that hold a canary: name to canaries."""
        # The target repeats what it was sent, as a careless one does.
        receiver = Receiver(lambda post: (400, {}, f"no: {dict(post.headers)}".encode()))
        self.addCleanup(receiver.__exit__)
        daemon = self.enterContext(Daemon(arguments=[
            LOOPBACK, "--log-level=debug", "--log-requests=1", "--log-slow-request=1ms", "--store-segment-size=1MiB",
            f"--webhooks-secrets=signing={self.files / 'signing.secret'}", *arguments]))
        daemon.data.mkdir()
        # It is printed once, for its owner.
        token = subprocess.run([BIN / "duewheel", "token", "add", "root", "--admin", "--data", daemon.data], capture_output=True,
                               text=True, timeout=60, check=True).stdout.strip()
        CANARIES["an access token"] = [token[len("dw_root_"):]]
        daemon.start()
        tool = [BIN / "duewheel", "--server", f"http://127.0.0.1:{daemon.port}"]
        client = daemon.client()
        bearer = {"Authorization": f"Bearer {BEARER}"}
        self.assertEqual(self.ask(client, "GET", "/v1/tokens", headers={"Authorization": f"Bearer {token}"})[0], 200)
        self.assertEqual(self.ask(client, "PUT", "/v1/queues/owned", {}, {"Authorization": f"Bearer {token}"})[0], 200)
        rule = {"attempts": 2, "first": "10ms", "max": "10ms"}
        self.assertEqual(self.ask(client, "PUT", "/v1/queues/q", {"retry": rule, "target": {"webhook": {
            "url": receiver.url("/in"), "secrets": ["signing"], "headers": {"Authorization": HEADER}}}})[0], 200)
        self.assertEqual(self.ask(client, "PATCH", "/v1/queues/q", {"target": {"webhook": {
            "headers": {"X-Api-Key": PATCHED}}}})[0], 200)
        self.run_tool(*tool, "queue", "set", "tool", "--webhook", receiver.url("/tool"), "--webhook-header",
                      f"Authorization=@{self.files / 'header'}")
        # Refused: malformed, of a bad target, without rights, and too late.
        for body in ({"target": {"webhook": {"url": "http://10.0.0.1/", "headers": {"Authorization": REFUSED}}}},
                     {"target": {"webhook": {"url": receiver.url(), "headers": {"Host": REFUSED}}}},
                     {"target": {"webhook": {"url": receiver.url(), "headers": {"A": REFUSED}, "nonsense": 1}}}):
            self.assertGreaterEqual(self.ask(client, "PUT", "/v1/queues/bad", body)[0], 400)
        self.assertEqual(client.request_text("PUT", "/v1/queues/bad", '{"target": "' + REFUSED)[0], 400)
        for path in ("/v1/queues/q", "/v1/nonsense", "/v1/messages/1"):
            self.ask(client, "GET", path, headers=bearer)
            self.ask(client, "GET", path, headers={"Cookie": f"duewheel_session={BEARER}"})
            self.ask(client, "POST", "/v1/session", {"token": BEARER})
            self.ask(client, "POST", path, headers={**bearer, "Host": "foreign.example"})
        for number in range(20):
            client.put("q", "x" * 20_000)
        wait_until(lambda: client.request("GET", "/v1/queues/q")[1]["dead"] == 20)
        self.assertIn(HEADER, [post.headers["Authorization"] for post in receiver.posts], "the secrets were in use")
        self.assertTrue(receiver.posts[0].headers["webhook-signature"])
        self.ask(client, "GET", "/v1/queues/q/messages?state=dead")
        self.ask(client, "GET", "/v1/history?queue=q")
        daemon.kill()
        daemon.start()
        client = daemon.client()
        tool[2] = f"http://127.0.0.1:{daemon.port}"
        client.request("POST", "/v1/queues/q:redrive", {})
        wait_until(lambda: client.request("GET", "/v1/queues/q")[1]["dead"] == 20)
        for path in ("/metrics", "/v1/stats", "/v1/queues", "/v1/queues/q", "/openapi.json", "/readyz"):
            self.ask(client, "GET", path)
        self.run_tool(*tool, "queue", "get", "q")
        self.run_tool(*tool, "--json", "queue", "get", "q")
        self.run_tool(*tool, "list", "q", "--state", "dead")
        self.run_tool(BIN / "duewheel", "export", daemon.data, daemon.directory / "export.ndjson", "--with-secrets")
        self.run_tool(BIN / "duewheel", "backup", daemon.data, daemon.directory / "backup")
        self.run_tool(BIN / "duewheeld", "--print-config", "--data", daemon.data, *daemon.arguments)
        self.run_tool(BIN / "duewheel", "audit", "show", "--data", daemon.data)
        # A process that dies writes no core file.
        daemon.process.send_signal(6)
        daemon.wait()
        daemon.start()
        self.assertEqual(daemon.terminate(), 0)
        self.run_tool(BIN / "duewheel", "check", daemon.data)
        self.run_tool(BIN / "duewheel", "restore", daemon.directory / "backup", daemon.directory / "restored")

        places = {"printed": hits(self.printed)}
        for path in daemon.directory.rglob("*"):
            if path.is_file():
                place = path.relative_to(daemon.directory).parts
                places.setdefault("/".join(place[:2] if place[0] in ("data", "restored", "backup") else place), set()).update(
                    hits(path.read_bytes()))
        return {place: found for place, found in places.items() if found}

    def test_with_an_encryption_key_no_secret_is_left_anywhere(self):
        self.assertEqual(self.live(f"--webhooks-encryption-key-file={self.files / 'encryption.key'}"), {})

    # docs/security.md names these places. It also shows that the search finds what is there.
    def test_without_an_encryption_key_header_values_are_in_the_log_and_the_index_alone(self):
        places = self.live()
        self.assertEqual(set().union(*places.values()), {"a header value", "a patched header value"})
        allowed = {f"{top}/{folder}" for top in ("data", "restored", "backup") for folder in ("journal", "index")}
        self.assertLessEqual(set(places), allowed)
        self.assertIn("data/journal", places)


if __name__ == "__main__":
    unittest.main(verbosity=2)
