"""Webhooks of the real daemon: the requests that a receiver gets, signed so that the public library accepts them; the
effect of responses; where posts go and where they never go; and that nothing is lost when the daemon dies in the
middle."""

import base64
import email.utils
import json
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from contract import with_packages
from daemon import BIN, Daemon
from webhook_receiver import Receiver

LOOPBACK = "--webhooks-allowed-networks=127.0.0.0/8,::1"
NEW = "whsec_" + base64.b64encode(b"n" * 32).decode()
OLD = "whsec_" + base64.b64encode(b"o" * 24).decode()
NO_REST = {"attempts": 5, "first": "10ms", "factor": 1, "max": "10ms", "jitter": 0}


def wait_until(condition, within_s=120):
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


def certificate(directory, name="127.0.0.1"):
    """(certificate, key), self-signed, as files."""
    paths = (f"{directory}/certificate.pem", f"{directory}/key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=test", "-addext", f"subjectAltName=IP:{name}", "-out", paths[0], "-keyout", paths[1]],
                   check=True, capture_output=True)
    return paths


class Webhooks(unittest.TestCase):
    def daemon(self, *arguments, **how):
        daemon = Daemon(arguments=[LOOPBACK, *arguments], **how)
        self.addCleanup(daemon.__exit__)
        for name, secret in (("new", NEW), ("old", OLD)):
            (daemon.directory / name).write_text(secret + "\n")
            (daemon.directory / name).chmod(0o600)
        return daemon

    def receiver(self, *arguments, **how):
        receiver = Receiver(*arguments, **how)
        self.addCleanup(receiver.__exit__)
        return receiver

    def set_target(self, client, queue, url, retry=None, **members):
        status, answer = client.request("PUT", f"/v1/queues/{queue}", {
            "target": {"webhook": {"url": url, **members}}, "retry": retry or NO_REST})
        self.assertEqual(status, 200, answer)
        return answer

    def state(self, client, message):
        return client.get(message)[1].get("state")


class Posts(Webhooks):
    def test_what_is_due_is_posted_with_all_that_is_known_of_it(self):
        receiver = self.receiver()
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url("/in?a=1"), timeout="5s")
        before = time.time()
        message = client.put("q", "hällo", delay="300ms", content_type="text/x", headers={"X-Mine": "1", "Host": "evil"})[1]
        post = receiver.wait_for(1)[0]
        self.assertGreaterEqual(post.at * 1000, message["due_ms"], "not early")
        self.assertEqual((post.path, post.body.decode()), ("/in?a=1", "hällo"))
        self.assertEqual(post.id, message["id"])
        self.assertLess(abs(int(post.headers["webhook-timestamp"]) - before), 10)
        self.assertNotIn("webhook-signature", post.headers)
        expected = {"duewheel-queue": "q", "duewheel-attempt": "1", "duewheel-due-ms": str(message["due_ms"]),
                    "Content-Type": "text/x", "X-Mine": "1", "User-Agent": "duewheel",
                    "Host": f"127.0.0.1:{receiver.port}"}
        self.assertEqual({name: post.headers[name] for name in expected}, expected)
        self.assertLess(int(post.headers["duewheel-lateness-ms"]), 5000)
        wait_until(lambda: self.state(client, message["id"]) == "done")

    def test_a_binary_body_and_one_of_a_megabyte_come_as_they_are(self):
        receiver = self.receiver()
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url())
        for number, body in enumerate((bytes(range(256)), os.urandom(1 << 20), b"")):
            client.request("POST", "/v1/queues/q/messages", {"body_base64": base64.b64encode(body).decode()})
            self.assertEqual(receiver.wait_for(number + 1)[-1].body, body)

    def test_json_is_posted_as_it_was_put(self):
        receiver = self.receiver()
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url())
        text = '{"z":1.50, "a":[9007199254740993],\n "a":null}'
        status, put = client.request_text("POST", "/v1/queues/q/messages", '{"json": ' + text + '}')
        self.assertEqual(status, 201, put)
        post = receiver.wait_for(1)[0]
        self.assertEqual((post.body.decode(), post.headers["Content-Type"]), (text, "application/json"))

    def test_settings_and_what_waits_outlive_a_restart(self):
        receiver = self.receiver()
        daemon = self.daemon("--webhooks-secrets=new=new", "--test-clock")
        daemon.start()
        client = daemon.client()
        answer = self.set_target(client, "q", receiver.url(), secrets=["new"], timeout="4s", concurrency=3, rate=50)
        client.put("q", "later", delay="1h")
        daemon.kill()
        daemon.start()
        client = daemon.client()
        self.assertEqual(client.request("GET", "/v1/queues/q")[1]["settings"], answer["settings"])
        self.assertEqual(receiver.posts, [])
        client.advance(by="1h")
        self.assertEqual(receiver.wait_for(1)[0].body, b"later")

    def test_a_queue_goes_back_to_consumers(self):
        receiver = self.receiver()
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url())
        self.assertEqual(client.request("PUT", "/v1/queues/q", {})[0], 200)
        client.put("q", "x")
        self.assertEqual([message["body"] for message in client.take("q", 1)], ["x"])
        self.assertEqual(receiver.posts, [])

    def test_a_lease_from_a_queue_with_a_webhook_is_another_consumer(self):
        go_on = threading.Event()
        self.addCleanup(go_on.set)
        receiver = self.receiver(lambda post: go_on.wait(60) and 200)
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url(), concurrency=1, timeout="1m")
        messages = [client.put("q", str(number))[1]["id"] for number in range(5)]
        posted = receiver.wait_for(1)[0].id
        taken = client.take("q", 4)
        self.assertEqual({posted} | {message["id"] for message in taken}, set(messages))
        self.assertEqual(client.ack_all(taken), ["done"] * 4)
        go_on.set()
        wait_until(lambda: self.state(client, posted) == "done")
        client.put("q", "for whoever is there")
        self.assertEqual(receiver.wait_for(2)[1].body, b"for whoever is there")

    def test_headers_of_the_queue_are_in_each_post_and_never_shown(self):
        receiver = self.receiver()
        daemon = self.daemon("--log-level=debug", "--log-requests=1")
        daemon.start()
        client = daemon.client()
        token = "Bearer of-good-news"
        answer = self.set_target(client, "q", receiver.url(), headers={"Authorization": token, "X-Team": "letters"})
        self.assertEqual(answer["settings"]["target"]["webhook"]["headers"], {"Authorization": "***", "X-Team": "***"})
        posted = client.put("q", "x", headers={"authorization": "forged", "X-Mine": "1"})[1]["id"]
        post = receiver.wait_for(1)[0]
        self.assertEqual([post.headers.get_all(name) for name in ("Authorization", "X-Team", "X-Mine")], [[token], ["letters"], ["1"]])
        wait_until(lambda: self.state(client, posted) == "done")
        daemon.kill()
        daemon.start()
        client = daemon.client()
        patch = {"rate": 1000, "headers": {"X-Team": None}}
        self.assertEqual(client.request("PATCH", "/v1/queues/q", {"target": {"webhook": patch}})[0], 200)
        client.put("q", "y")
        post = receiver.wait_for(2)[1]
        self.assertEqual([post.headers.get_all(name) for name in ("Authorization", "X-Team")], [[token], None])
        elsewhere = client.request("PATCH", "/v1/queues/q", {"target": {"webhook": {"url": "http://127.0.0.1:9/"}}})
        self.assertEqual((elsewhere[0], elsewhere[1]["code"]), (400, "bad_webhook_header"))
        shown = [client.request("GET", path)[1] for path in ("/v1/queues/q", "/v1/queues")]
        status, problem = client.request("PUT", "/v1/queues/q", shown[0]["settings"])
        self.assertEqual((status, problem["code"], problem["field"]),
                         (400, "bad_webhook_header", "target.webhook.headers.Authorization"))
        self.set_target(client, "q", receiver.url())
        client.put("q", "z")
        self.assertNotIn("Authorization", receiver.wait_for(3)[2].headers)
        self.set_target(client, "q", receiver.url(), headers={"Authorization": token})
        self.assertEqual(daemon.terminate(), 0)
        export = subprocess.run([BIN / "duewheel", "export", daemon.data, "-"], capture_output=True, text=True, timeout=60)
        self.assertEqual(export.returncode, 0, export.stderr)
        self.assertIn('"headers_excluded":1', export.stdout)
        self.assertIn("webhooks are exported without their headers", export.stderr)
        for text in (json.dumps(shown), daemon.log_text(), export.stdout):
            self.assertNotIn("good-news", text)

    def test_the_command_line_sets_and_shows_a_webhook(self):
        daemon = self.daemon("--webhooks-secrets=new=new,old=old")
        daemon.start()

        def duewheel(*arguments):
            return subprocess.run([BIN / "duewheel", "queue", *arguments], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "DUEWHEEL_SERVER": f"http://127.0.0.1:{daemon.port}"})
        run = duewheel("set", "q", "--webhook", "https://Receiver.example", "--webhook-secret", "new", "--webhook-secret", "old",
                       "--webhook-timeout", "5s", "--webhook-concurrency", "8", "--webhook-rate", "100",
                       "--webhook-header", f"Authorization=@{daemon.directory / 'old'}", "--webhook-header", "X-Team=a=b")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(daemon.client().request("GET", "/v1/queues/q")[1]["settings"]["target"], {"webhook": {
            "url": "https://receiver.example/", "secrets": ["new", "old"], "timeout_ms": 5000, "concurrency": 8, "rate": 100,
            "headers": {"Authorization": "***", "X-Team": "***"}}})
        shown = duewheel("get", "q").stdout
        for words in ("https://receiver.example/", '["new","old"]', "5s", "8", "100", "Authorization, whose value is not shown"):
            self.assertIn(words, shown)
        run = duewheel("set", "q", "--webhook-rate", "50")
        self.assertEqual(run.returncode, 0, run.stderr)
        webhook = daemon.client().request("GET", "/v1/queues/q")[1]["settings"]["target"]["webhook"]
        self.assertEqual((webhook["url"], webhook["rate"]), ("https://receiver.example/", 50))
        run = duewheel("set", "other", "--webhook-rate", "100")
        self.assertEqual(run.returncode, 1)
        self.assertIn("(missing_member, target.webhook.url)", run.stderr)
        run = duewheel("set", "q", "--webhook", "http://10.0.0.1/")
        self.assertEqual(run.returncode, 1)
        self.assertIn("forbidden_address", run.stderr + duewheel("set", "q", "--webhook", "http://10.0.0.1/", "--json").stdout)

    def test_a_stop_waits_for_what_is_being_posted(self):
        def slowly(post):
            time.sleep(0.5)
            return 200
        receiver = self.receiver(slowly)
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url(), concurrency=1)
        first, second = (client.put("q", body)[1]["id"] for body in ("first", "second"))
        receiver.wait_for(1)
        client.close()
        self.assertEqual(daemon.terminate(), 0, daemon.log_text())
        daemon.start()
        client = daemon.client()
        wait_until(lambda: self.state(client, second) == "done")
        self.assertEqual([post.id for post in receiver.posts], [first, second], "neither is posted twice")
        self.assertEqual(receiver.posts[1].headers["duewheel-attempt"], "1")


    def test_a_producer_is_asked_about_its_transaction_by_a_webhook(self):
        daemon = self.daemon("--test-clock")
        daemon.start()
        settled = []

        def commit(post):
            half = post.headers["duewheel-check-message"]
            settled.append((half, daemon.client().request("POST", f"/v1/messages/{half}:commit")[1]["outcome"]))
            return 200
        receiver = self.receiver(commit)
        client = daemon.client()
        self.set_target(client, "checks", receiver.url())
        half = client.put("orders", "ship it", transaction={"check_back": {"queue": "checks", "after": "1h", "times": 3}})[1]["id"]
        client.advance(by="61m")
        self.assertEqual([message["id"] for message in client.take("orders", 1)], [half])
        post = receiver.posts[0]
        wait_until(lambda: settled)  # the answer to a commit may come after what it let go
        self.assertEqual((settled[0], post.body), ((half, "committed"), b"ship it"))
        self.assertEqual([post.headers[f"duewheel-check-{name}"] for name in ("number", "times", "otherwise")], ["1", "3", "rollback"])


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


class Answers(Webhooks):
    def test_a_failure_is_tried_again_by_the_rule_and_then_dead_with_its_reason(self):
        receiver = self.receiver(lambda post: (500, {}, b"out of order"))
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url(), retry={**NO_REST, "attempts": 3})
        message = client.put("q", "x")[1]["id"]
        wait_until(lambda: self.state(client, message) == "dead")
        self.assertEqual([(post.id, post.headers["duewheel-attempt"]) for post in receiver.posts],
                         [(message, "1"), (message, "2"), (message, "3")])
        self.assertIn("answered 500: out of order", str(client.get(message)[1]))

    def test_redirects_are_not_followed(self):
        canary = self.receiver()
        for status in (301, 302, 303, 307, 308):
            receiver = self.receiver(lambda post, status=status: (status, {"Location": canary.url()}))
            daemon = self.daemon()
            daemon.start()
            client = daemon.client()
            self.set_target(client, "q", receiver.url(), retry={**NO_REST, "attempts": 1})
            message = client.put("q", "x")[1]["id"]
            wait_until(lambda: self.state(client, message) == "dead")
            self.assertIn("redirects are not followed", str(client.get(message)[1]))
            daemon.kill()
        self.assertEqual(canary.connections, 0)

    def test_a_target_that_is_gone_pauses_its_queue_until_it_is_resumed(self):
        answers = [410]
        receiver = self.receiver(lambda post: answers[0])
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url(), concurrency=1)
        messages = [client.put("q", "x")[1]["id"] for _ in range(3)]
        wait_until(lambda: client.request("GET", "/v1/queues/q")[1]["paused"])
        self.assertIn("webhook_target_gone", daemon.log_text())
        daemon.kill()
        daemon.start()  # it is on disk
        client = daemon.client()
        queue = client.request("GET", "/v1/queues/q")[1]
        self.assertEqual((queue["paused"], queue["paused_by"], queue["pending"]), (True, "target", 3))
        listed = subprocess.run([BIN / "duewheel", "queue", "list"], capture_output=True, text=True, timeout=60,
                                env={**os.environ, "DUEWHEEL_SERVER": f"http://127.0.0.1:{daemon.port}"})
        self.assertIn("paused: its target is gone", listed.stdout)
        answers[0] = 200
        posted = len(receiver.posts)
        self.assertNotIn("paused_by", client.request("POST", "/v1/queues/q:resume")[1])
        wait_until(lambda: all(self.state(client, message) == "done" for message in messages))
        self.assertEqual(posted, 1)

    def test_retry_after_is_kept_in_seconds_and_as_a_date(self):
        for form in (lambda seconds: str(seconds), lambda seconds: email.utils.formatdate(time.time() + seconds + 1, usegmt=True)):
            receiver = self.receiver(lambda post: (503, {"Retry-After": form(2)}) if post is receiver.posts[0] else 200)
            daemon = self.daemon()
            daemon.start()
            client = daemon.client()
            self.set_target(client, "q", receiver.url(), concurrency=1)
            client.put("q", "first")
            receiver.wait_for(1)
            client.put("q", "second")
            posts = receiver.wait_for(3)
            self.assertGreaterEqual(posts[1].at - posts[0].at, 1.9)
            self.assertLess(posts[1].at - posts[0].at, 25)
            daemon.kill()

    def test_a_large_answer_is_cut_and_its_status_counts(self):
        receiver = self.receiver(lambda post: (200, {}, b"x" * (20 << 20)))
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url())
        messages = [client.put("q", "x")[1]["id"] for _ in range(5)]
        wait_until(lambda: all(self.state(client, message) == "done" for message in messages))
        self.assertEqual(len(receiver.posts), 5)

    def test_a_target_that_hangs_rests_and_holds_up_nobody(self):
        hanging = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.addCleanup(hanging.close)
        receiver = self.receiver()
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "hangs", f"http://127.0.0.1:{hanging.getsockname()[1]}/", timeout="1s",
                        retry={**NO_REST, "attempts": 1000})
        self.set_target(client, "works", receiver.url())
        for _ in range(500):
            client.put("hangs", "x")
        late = []
        for number in range(50):
            client.put("works", "x")
            late.append(receiver.wait_for(number + 1)[-1])
        wait_until(lambda: "webhook_target_failing" in daemon.log_text())
        client.connection.request("GET", "/metrics")
        page = client.connection.getresponse().read().decode()
        self.assertIn("duewheel_webhook_targets_backing_off 1\n", page)
        self.assertEqual(client.request("GET", "/v1/queues/hangs")[1]["pending"], 500)

    # The end of a post waited for the thread that looked its name up, and so did everybody: for as long as the name
    # server did not answer.
    def test_a_name_that_is_not_looked_up_holds_up_nobody(self):
        receiver = self.receiver()
        daemon = self.daemon(environment={"LD_PRELOAD": os.environ["DUEWHEEL_RESOLVER"]})
        daemon.start()
        client = daemon.client(timeout=20)  # a look-up takes a minute
        self.set_target(client, "nowhere", "http://name.slow.test/", timeout="100ms", retry={**NO_REST, "attempts": 3})
        self.set_target(client, "works", receiver.url())
        number = client.put("nowhere", "x")[1]["id"]
        wait_until(lambda: client.get(number)[1]["state"] == "dead", 20)
        client.put("works", "x")
        receiver.wait_for(1)
        began = time.monotonic()
        self.assertEqual(daemon.terminate(), 0)
        self.assertLess(time.monotonic() - began, 20)


    def test_a_receiver_that_hangs_up_in_the_middle_ends_nobody(self):
        with tempfile.TemporaryDirectory() as directory:
            mine, key = certificate(directory)
            for tls in (False, True):
                listener = socket.create_server(("127.0.0.1", 0), backlog=64)
                self.addCleanup(listener.close)
                hung_up = threading.Thread(target=hang_up, args=(listener, (mine, key) if tls else None), daemon=True)
                hung_up.start()
                daemon = self.daemon(f"--webhooks-trusted-file={mine}")
                daemon.start()
                client = daemon.client()
                scheme = "https" if tls else "http"
                self.set_target(client, "q", f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/", retry={**NO_REST, "attempts": 1})
                messages = [client.put("q", "x" * 1_000_000)[1]["id"] for _ in range(4)]
                wait_until(lambda: all(self.state(client, message) == "dead" for message in messages))
                self.assertIn("connection broke", str(client.get(messages[0])[1]))
                self.assertEqual(daemon.terminate(), 0)


def hang_up(listener, tls):
    """Reads how each request begins, then resets its connection."""
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
    while True:
        try:
            connection = listener.accept()[0]
        except OSError:
            return
        try:
            stream = context.wrap_socket(connection, server_side=True) if context else connection
            stream.recv(1000)
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.close()
        except OSError:
            connection.close()


class Crashes(Webhooks):
    def test_nothing_is_lost_when_the_daemon_dies_in_the_middle(self):
        def slowly(post):
            time.sleep(0.05)
            return 204
        receiver = self.receiver(slowly)
        daemon = self.daemon("--webhooks-secrets=new=new")
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url(), secrets=["new"], concurrency=4, retry={**NO_REST, "attempts": 100})
        put = {}
        for round_number in range(4):
            for number in range(100):
                body = f"{round_number} {number}"
                put[client.put("q", body, delay_ms=number % 7 * 10)[1]["id"]] = body.encode()
            receiver.wait_for(min(len(receiver.posts) + 20, len(put)))
            daemon.kill()
            daemon.start()
            client = daemon.client()
        wait_until(lambda: client.request("GET", "/v1/queues/q")[1]["pending"] == 0)
        got = {}
        for post in receiver.posts:
            self.assertEqual(got.setdefault(post.id, post.body), post.body, "one id, one message")
        self.assertEqual(got, put)
        twice = len(receiver.posts) - len(put)
        self.assertLessEqual(twice, 4 * 100, "once more for each that was under way")


class Where(Webhooks):
    def forbidden(self, port):
        hosts = ["127.0.0.1", "localhost", "LOCALHOST", "a.localhost", "127.1.2.3", "[::1]", "[::]", "0.0.0.0", "[::ffff:127.0.0.1]",
                 "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "10.0.0.1", "172.16.0.1", "192.168.0.1",
                 "169.254.169.254", "100.64.0.1", "[fe80::1]", "[fc00::1]", "224.0.0.1", "255.255.255.255", "192.0.2.1"]
        return [f"{scheme}://{host}:{port}/" for scheme in ("http", "https") for host in hosts]

    def no_urls(self, port):
        hosts = ["127.1", "0177.0.0.1", "0x7f000001", "2130706433", "127.0.0.1.", "127.0.0.1%00", "user@127.0.0.1",
                 "example.org@127.0.0.1", "127.0.0.1\\@example.org", "[::1%25lo]", "1", "０.0.0.0", "⑫7.0.0.1", "127。0。0。1", " 127.0.0.1"]
        schemes = ["file:///etc/passwd", "gopher://127.0.0.1/", "dict://127.0.0.1/", "ftp://127.0.0.1/", "//127.0.0.1/",
                   "http:/127.0.0.1/", "http:127.0.0.1", "javascript:1", "unix:///tmp/x"]
        return schemes + [f"http://{host}:{port}/" for host in hosts]

    def test_a_queue_is_given_no_target_that_may_not_be_reached_and_none_is_touched(self):
        canary = self.receiver()
        daemon = self.daemon()
        daemon.arguments = []
        daemon.start()
        client = daemon.client()
        for code, urls in (("forbidden_address", self.forbidden(canary.port)), ("bad_webhook_url", self.no_urls(canary.port))):
            for url in urls:
                status, problem = client.request("PUT", "/v1/queues/q", {"target": {"webhook": {"url": url}}})
                self.assertEqual((status, problem["code"], problem["field"]), (400, code, "target.webhook.url"), url)
        self.assertEqual(client.request("GET", "/v1/queues/q")[0], 404, "nothing is left behind")
        self.assertEqual(canary.connections, 0)

    def test_what_was_allowed_once_is_not_reached_when_it_is_no_more(self):
        canary = self.receiver()
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        urls = [f"http://127.0.0.1:{canary.port}/", f"http://localhost:{canary.port}/"]
        for number, url in enumerate(urls):
            self.set_target(client, f"q{number}", url, retry={**NO_REST, "attempts": 2})
        daemon.terminate()
        daemon.arguments = []
        daemon.start()
        client = daemon.client()
        messages = [client.put(f"q{number}", "x")[1]["id"] for number in range(len(urls))]
        for message in messages:
            wait_until(lambda: self.state(client, message) == "dead")
            self.assertIn("an address of this machine", str(client.get(message)[1]))
        self.assertEqual(canary.connections, 0)

    def test_a_name_that_flips_is_judged_by_the_address_that_is_connected_to(self):
        receiver = self.receiver(address="127.0.0.2")
        canary = socket.create_server(("127.0.0.3", receiver.port))
        canary.setblocking(False)
        self.addCleanup(canary.close)
        daemon = self.daemon(environment={"LD_PRELOAD": os.environ["DUEWHEEL_RESOLVER"]})
        daemon.arguments = ["--webhooks-allowed-networks=127.0.0.2/32"]
        names = daemon.directory / "names"
        daemon.environment["DUEWHEEL_NAMES"] = str(names)
        names.write_text("flips.test 127.0.0.2\nboth.test 127.0.0.3 127.0.0.2\n")
        daemon.start()
        client = daemon.client()
        for name in ("flips", "both"):
            self.set_target(client, name, f"http://{name}.test:{receiver.port}/", retry={**NO_REST, "attempts": 2})
            client.put(name, name)
        self.assertEqual({post.body for post in receiver.wait_for(2)}, {b"flips", b"both"}, "where one address is allowed, that")
        daemon.terminate()
        names.write_text("flips.test 127.0.0.3\n")
        daemon.start()
        client = daemon.client()
        message = client.put("flips", "x")[1]["id"]
        wait_until(lambda: self.state(client, message) == "dead")
        self.assertIn("127.0.0.3 is", str(client.get(message)[1]))
        self.assertEqual(len(receiver.posts), 2)
        with self.assertRaises(BlockingIOError):
            canary.accept()

    def test_the_server_does_not_post_to_itself(self):
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        for host in ("127.0.0.1", "localhost", "127.0.0.2"):
            status, problem = client.request("PUT", "/v1/queues/q", {
                "target": {"webhook": {"url": f"http://{host}:{daemon.port}/v1/queues/q/messages"}}})
            self.assertEqual((status, problem["code"]), (400, "forbidden_address"))

    def test_proxies_of_the_environment_are_not_used(self):
        canary = self.receiver()
        receiver = self.receiver()
        names = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        daemon = self.daemon(environment={name: canary.url("") for name in names})
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url())
        client.put("q", "x")
        receiver.wait_for(1)
        self.assertEqual(canary.connections, 0)

    # A file without a certificate was taken, and each https post then failed.
    def test_a_file_that_holds_no_certificate_stops_the_start(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "trusted.pem"
            for text in (None, "", "no certificate", "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n"):
                if text is not None:
                    file.write_text(text)
                run = subprocess.run([BIN / "duewheeld", "--data", directory + "/data", "--http", "127.0.0.1:0",
                                      f"--webhooks-trusted-file={file}"], capture_output=True, text=True, timeout=60)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn("cannot read PEM certificates from", run.stderr)
                self.assertIn("--webhooks-trusted-file", run.stderr)

    def test_a_certificate_counts_only_where_it_is_trusted_and_for_who_it_says(self):
        with tempfile.TemporaryDirectory() as trusted, tempfile.TemporaryDirectory() as other:
            mine, key = certificate(trusted)
            theirs, their_key = certificate(other, "127.0.0.9")
            receiver = self.receiver(certificate=mine, key=key)
            named_otherwise = self.receiver(certificate=theirs, key=their_key)
            both = pathlib.Path(trusted) / "both.pem"
            both.write_text(pathlib.Path(mine).read_text() + pathlib.Path(theirs).read_text())
            for arguments, url, outcome in (([], receiver.url(), "dead"),
                                            ([f"--webhooks-trusted-file={mine}"], receiver.url(), "done"),
                                            ([f"--webhooks-trusted-file={both}"], named_otherwise.url(), "dead")):
                daemon = self.daemon(*arguments)
                daemon.start()
                client = daemon.client()
                self.set_target(client, "q", url, retry={**NO_REST, "attempts": 1})
                message = client.put("q", "x")[1]["id"]
                wait_until(lambda: self.state(client, message) == outcome)
                if outcome == "dead":
                    self.assertIn("untrusted", str(client.get(message)[1]))
                daemon.kill()
            self.assertEqual((len(receiver.posts), len(named_otherwise.posts)), (1, 0))


if __name__ == "__main__":
    with_packages()
    unittest.main(verbosity=2)
