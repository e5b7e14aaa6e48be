"""Signatures of webhooks, which the public library accepts, and their secrets: never shown, and encrypted on disk."""

import base64
import pathlib
import subprocess
import tempfile
import unittest

from contract import with_packages
from daemon import BIN, Daemon
from webhook_daemon import LOOPBACK, NEW, OLD, Webhooks, wait_until


class Signed(Webhooks):
    def test_the_public_library_takes_each_signature_also_while_secrets_change(self):
        from standardwebhooks.webhooks import Webhook, WebhookVerificationError
        receiver = self.receiver()
        daemon = self.daemon("--webhooks-secrets=new=new,old=old")
        daemon.start()
        client = daemon.client()
        for secrets, accepted in ((["old"], [OLD]), (["new", "old"], [NEW, OLD]), (["new"], [NEW])):
            self.set_target(client, "q", receiver.url(), secrets=secrets)
            count = len(receiver.posts) + 1
            client.put("q", '{"a": "%s"}' % "ä".join(secrets))
            post = receiver.wait_for(count)[-1]
            for secret in (NEW, OLD):
                library = Webhook(secret)
                headers = dict(post.headers.items())
                if secret in accepted:
                    library.verify(post.body, headers)
                    with self.assertRaises(WebhookVerificationError):
                        library.verify(post.body + b" ", headers)
                    with self.assertRaises(WebhookVerificationError):
                        library.verify(post.body, {**headers, "webhook-id": "1"})
                else:
                    with self.assertRaises(WebhookVerificationError):
                        library.verify(post.body, headers)

    def test_no_secret_is_logged_or_shown(self):
        receiver = self.receiver(lambda post: 500)
        daemon = self.daemon("--webhooks-secrets=new=new", "--log-level=debug", "--log-requests=1")
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url(), secrets=["new"])
        client.put("q", "x")
        wait_until(lambda: client.request("GET", "/v1/queues/q")[1]["dead"] == 1)
        told = client.request("GET", "/v1/queues/q")[1], client.request("GET", "/v1/history?queue=q")[1]
        client.connection.request("GET", "/metrics")
        told = f"{told}{client.connection.getresponse().read()}{daemon.log_text()}"
        printed = subprocess.run([BIN / "duewheeld", "--print-config", "--webhooks-secrets", "new=new"], capture_output=True,
                                 text=True, cwd=daemon.directory, timeout=60)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        daemon.kill()
        data = b"".join(path.read_bytes() for path in daemon.data.rglob("*") if path.is_file())
        for where in (told.encode(), printed.stdout.encode(), data):
            self.assertNotIn(NEW[6:].encode(), where)
            self.assertNotIn(b"n" * 32, where)

    def test_secrets_that_are_none_stop_the_start_with_their_place(self):
        with tempfile.TemporaryDirectory() as directory:
            secret = pathlib.Path(directory) / "s"
            for text, mode, words in ((NEW, 0o644, "chmod 600"), ("whsec_short", 0o600, "holds no valid secret"), (None, 0, "cannot be read")):
                if text is None:
                    secret.unlink()
                else:
                    secret.write_text(text)
                    secret.chmod(mode)
                run = subprocess.run([BIN / "duewheeld", "--data", directory + "/data", "--http", "127.0.0.1:0",
                                      "--webhooks-secrets", f"a={secret}"], capture_output=True, text=True, timeout=60)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(words, run.stderr)
                self.assertIn("--webhooks-secrets", run.stderr)
                self.assertNotIn("short", run.stderr)

    def key(self, daemon, name, text):
        path = daemon.directory / name
        path.write_text(text + "\n")
        path.chmod(0o600)
        return path

    def data_of(self, daemon):
        return b"".join(path.read_bytes() for path in daemon.data.rglob("*") if path.is_file())

    def test_header_values_are_encrypted_on_disk_and_the_key_can_be_replaced(self):
        receiver = self.receiver()
        daemon = self.daemon()
        first = self.key(daemon, "first.key", "11" * 32)
        second = self.key(daemon, "second.key", base64.b64encode(b"2" * 32).decode())

        def restart(*keys):
            daemon.terminate()
            daemon.arguments = [LOOPBACK, *keys]
            daemon.start()
            return daemon.client()

        def authorization(client):
            count = len(receiver.posts) + 1  # before the put: its post may come at once
            client.put("q", "x")
            return receiver.wait_for(count)[-1].headers["Authorization"]

        # Without a key values are kept as they are, and stay readable when there is one.
        daemon.start()
        self.set_target(daemon.client(), "plain", receiver.url(), headers={"Authorization": "Bearer PLAIN-CANARY"})
        client = restart(f"--webhooks-encryption-key-file={first}")
        wait_until(lambda: "webhook_headers_unencrypted" in daemon.log_text())
        self.set_target(client, "q", receiver.url(), headers={"Authorization": "Bearer CANARY-ONE"})
        self.assertEqual(client.request("GET", "/v1/queues/q")[1]["settings"]["target"]["webhook"]["headers"],
                         {"Authorization": "***"})
        self.assertEqual(authorization(client), "Bearer CANARY-ONE")
        status, patched = client.request("PATCH", "/v1/queues/q", {"target": {"webhook": {"headers": {"X-Team": "CANARY-TWO"}}}})
        self.assertEqual((status, patched["settings"]["target"]["webhook"]["headers"]),
                         (200, {"Authorization": "***", "X-Team": "***"}))
        self.assertEqual(authorization(client), "Bearer CANARY-ONE")
        self.assertEqual(receiver.posts[-1].headers["X-Team"], "CANARY-TWO")

        client = restart(f"--webhooks-encryption-key-file={first}")
        self.assertEqual(authorization(client), "Bearer CANARY-ONE")
        # Another key, and none at all: nothing is posted, and the log says which key is missing.
        for arguments in ((f"--webhooks-encryption-key-file={second}",), ()):
            client = restart(*arguments)
            posts = len(receiver.posts)
            message = client.put("q", "waits")[1]["id"]
            wait_until(lambda: "webhooks.old_encryption_key_file" in daemon.log_text())
            self.assertEqual(client.request("GET", "/v1/queues/q")[1]["webhook"]["state"], "misconfigured")
            self.assertEqual(len(receiver.posts), posts)
            client.cancel(message)
        # Both, until each queue was set again.
        both = (f"--webhooks-encryption-key-file={second}", f"--webhooks-old-encryption-key-file={first}")
        client = restart(*both)
        self.assertEqual(authorization(client), "Bearer CANARY-ONE")
        self.assertEqual(client.request("PATCH", "/v1/queues/q", {"target": {"webhook": {"rate": 100}}})[0], 200)
        client = restart(both[0])
        self.assertEqual(authorization(client), "Bearer CANARY-ONE")
        daemon.terminate()
        data = self.data_of(daemon)
        self.assertNotIn(b"CANARY-ONE", data)
        self.assertNotIn(b"CANARY-TWO", data)
        self.assertIn(b"PLAIN-CANARY", data, "it was set without a key; this test would see the others")

    def test_an_encryption_key_that_is_not_safe_stops_the_start_with_what_to_do(self):
        with Daemon() as daemon:
            daemon.data.mkdir()
            inside = daemon.data / "key"
            inside.write_text("ab" * 32)
            inside.chmod(0o600)
            for path, text, mode, words in ((inside, "ab" * 32, 0o600, "lies in the data directory"),
                                            (daemon.directory / "open", "ab" * 32, 0o644, "chmod 600"),
                                            (daemon.directory / "short", "abab", 0o600, "openssl rand -base64 32"),
                                            (daemon.directory / "none", None, 0, "cannot be read")):
                if text is not None:
                    path.write_text(text)
                    path.chmod(mode)
                for setting in ("encryption-key-file", "old-encryption-key-file"):
                    run = subprocess.run([BIN / "duewheeld", "--data", daemon.data, "--http", "127.0.0.1:0",
                                          f"--webhooks-{setting}={path}"], capture_output=True, text=True, timeout=60)
                    self.assertEqual(run.returncode, 2, run.stderr)
                    self.assertIn(words, run.stderr)
                    self.assertIn(f"--webhooks-{setting}", run.stderr)
                    self.assertNotIn("abab", run.stderr)

    def test_a_queue_whose_secret_is_not_configured_any_more_posts_nothing(self):
        receiver = self.receiver()
        daemon = self.daemon("--webhooks-secrets=new=new")
        daemon.start()
        self.set_target(daemon.client(), "q", receiver.url(), secrets=["new"])
        daemon.terminate()
        daemon.arguments = [LOOPBACK]
        daemon.start()
        client = daemon.client()
        client.put("q", "x")
        wait_until(lambda: "webhook_misconfigured" in daemon.log_text())
        self.assertEqual(client.request("GET", "/v1/queues/q")[1]["ready"], 1)
        self.assertEqual(receiver.posts, [])


if __name__ == "__main__":
    with_packages()
    unittest.main(verbosity=2)
