"""Webhooks of the real daemon: the requests that a receiver gets, the effect of its responses, and that nothing is lost
when the daemon dies in the middle."""

import base64
import email.utils
import json
import os
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from contract import with_packages
from daemon import BIN
from webhook_daemon import NO_REST, Webhooks, certificate, wait_until


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
        for part in ("lateness", "wait"):
            self.assertLess(int(post.headers[f"duewheel-{part}-ms"]), 5000)
        wait_until(lambda: self.state(client, message["id"]) == "done")

    def test_a_post_in_progress_is_not_interrupted_by_a_cancel_of_running_work(self):
        cancelled = threading.Event()

        def answer(post):
            self.assertTrue(cancelled.wait(60))
            return 200 if post.body == b"good" else 500

        receiver = self.receiver(answer)
        daemon = self.daemon()
        daemon.start()
        client = daemon.client()
        self.set_target(client, "q", receiver.url())
        good, bad = (client.put("q", body)[1]["id"] for body in ("good", "bad"))
        receiver.wait_for(2)
        for number in (good, bad):
            status, answered = client.request("DELETE", f"/v1/messages/{number}?running=true")
            self.assertEqual((status, answered["outcome"]), (202, "cancelling"))
        cancelled.set()
        wait_until(lambda: self.state(client, good) == "done")
        wait_until(lambda: self.state(client, bad) == "cancelled")
        self.assertEqual(len(receiver.posts), 2)

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
        for words in ("https://receiver.example/", "new, old", "5s", "8", "100", "headers.Authorization  ***"):
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


if __name__ == "__main__":
    with_packages()
    unittest.main(verbosity=2)
