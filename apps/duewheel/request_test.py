"""The command line against a stub server that records what it was sent, and that answers what no real server would:
hostile texts, nonsense, refusals that are hard to provoke. What runs against the real daemon is command_line_test.py.

Programs are found in the directory that DUEWHEEL_BIN names.
"""

import base64
import http.server
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

PROGRAM = pathlib.Path(os.environ["DUEWHEEL_BIN"]) / "duewheel"
REFUSED, USAGE, UNREACHABLE = 1, 2, 3
PUT = {"id": "1024", "state": "scheduled", "due": "2027-01-01T05:00:00.000Z", "due_ms": 1798779600000}


class Stub(http.server.BaseHTTPRequestHandler):
    """Answers every request with the server's `answer` and keeps it in its `requests`."""

    protocol_version = "HTTP/1.1"

    def do_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.command, self.path, dict(self.headers), body))
        self.close_connection = self.server.closes
        status, answer, *location = self.server.answer
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        if location:
            self.send_header("Location", location[0] + self.path)
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_any

    def log_message(self, *unused):
        pass


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        self.stub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
        self.stub.requests = []
        self.stub.closes = False
        self.stub.answer = (200, {})
        self.url = f"http://127.0.0.1:{self.stub.server_address[1]}"
        self.thread = threading.Thread(target=self.stub.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def tearDown(self):
        self.stub.shutdown()
        self.thread.join()
        self.stub.server_close()

    def run_program(self, *arguments, stdin=b"", **environment):
        environment = {"DUEWHEEL_SERVER": self.url, "TZ": "UTC", "PATH": os.environ["PATH"], **environment}
        done = subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, timeout=60, env=environment)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def sent(self):
        """(method, path, decoded body) of the one request that was sent."""
        self.assertEqual(len(self.stub.requests), 1)
        method, path, headers, body = self.stub.requests[0]
        if body:
            self.assertEqual(headers["Content-Type"], "application/json")
        return method, path, json.loads(body) if body else None

    def test_it_follows_the_redirect_of_a_node_that_is_not_the_owner(self):
        node = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
        self.addCleanup(node.server_close)
        threading.Thread(target=node.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.addCleanup(node.shutdown)
        node.requests, node.closes, node.answer = [], False, (307, {"code": "other_node"}, self.url)
        self.stub.answer = (201, PUT)
        environment = {"DUEWHEEL_SERVER": f"http://127.0.0.1:{node.server_address[1]}", "DUEWHEEL_TOKEN": "abc.def"}
        code, output, error = self.run_program("put", "mail", "text", **environment)
        self.assertEqual((code, error), (0, ""))
        self.assertIn("1024", output)
        self.assertEqual([(method, path, headers["Authorization"], body) for method, path, headers, body in self.stub.requests],
                         [(method, path, headers["Authorization"], body) for method, path, headers, body in node.requests])
        self.assertEqual(json.loads(self.stub.requests[0][3])["body"], "text")

        # Nodes that send a request to each other in a circle: an error, and not for ever.
        node.answer = (307, {"code": "other_node"}, environment["DUEWHEEL_SERVER"])
        node.requests.clear()
        code, output, error = self.run_program("put", "mail", "text", **environment)
        self.assertEqual((code, output), (UNREACHABLE, ""))
        self.assertIn("(bad_redirect)", error)
        self.assertLess(len(node.requests), 10)

    def put_body(self, *arguments, stdin=b""):
        self.stub.requests.clear()
        self.stub.answer = (201, PUT)
        code, _, error = self.run_program("put", "mail", *arguments, stdin=stdin)
        self.assertEqual((code, error), (0, ""))
        return self.sent()[2]

    # ---- what is sent

    def test_put_sends_every_option(self):
        body = self.put_body("Hello", "--in", "10m", "--priority", "-5", "--content-type", "text/plain",
                             "--header", "a=b", "--header", "c=d=e")
        self.assertEqual(body, {"body": "Hello", "delay": "10m", "priority": -5, "content_type": "text/plain",
                                "headers": {"a": "b", "c": "d=e"}})
        self.assertEqual(self.sent()[:2], ("POST", "/v1/queues/mail/messages"))
        body = self.put_body("Hello", "--expires-in", "1h", "--order-key", "ann")
        self.assertEqual(body, {"body": "Hello", "expires_in": "1h", "order_key": "ann"})
        body = self.put_body("Hello", "--expires", "2027-01-01T06:00Z")
        self.assertEqual(body, {"body": "Hello", "expires": "2027-01-01T06:00:00.000Z"})
        body = self.put_body("Hello", "--at", "2027-01-01T06:00", "--tz", "Europe/Oslo", "--expires", "2027-01-01T07:00")
        self.assertEqual(body["expires"], "2027-01-01T06:00:00.000Z")

    def test_what_is_given_empty_is_sent_empty(self):
        """An unset variable in a script took the key away without a word, and with it what it was for."""
        self.assertEqual(self.put_body("x", "--key", "", "--content-type", ""), {"body": "x", "key": "", "content_type": ""})
        self.stub.answer = (200, {"messages": []})
        self.stub.requests.clear()
        self.run_program("list", "mail", "--state", "")
        self.assertIn("state=", self.sent()[1])

    def test_a_loop_sends_its_rule(self):
        self.assertEqual(self.put_body("x", "--every", "1h")["repeat"], {"every": "1h"})
        body = self.put_body("x", "--at", "2027-01-01T06:00", "--tz", "Europe/Oslo", "--every", "1m", "--times", "10",
                             "--factor", "1.5", "--max", "1h", "--until", "2027-01-01T07:00")
        self.assertEqual(body["repeat"], {"every": "1m", "times": 10, "factor": 1.5, "max": "1h",
                                          "until": "2027-01-01T06:00:00.000Z"})
        for arguments in (["--times", "3"], ["--every", "1m", "--max", "1h"], ["--every", "often"],
                          ["--every", "1m", "--factor", "twice"], ["--every", "1m", "--until", "later"]):
            with self.subTest(arguments=arguments):
                self.stub.requests.clear()
                code, _, error = self.run_program("put", "mail", "x", *arguments)
                self.assertEqual(code, 2, error)
                self.assertIn(arguments[-2] if len(arguments) > 2 else "--every", error)
                self.assertEqual(self.stub.requests, [])

    def test_names_are_percent_encoded_and_a_namespace_is_part_of_the_path(self):
        self.stub.answer = (201, PUT)
        self.run_program("put", "a/b $", "x", "--namespace", "team one")
        self.assertEqual(self.sent()[1], "/v1/namespaces/team%20one/queues/a%2Fb%20%24/messages")

    def test_body_comes_from_the_argument_standard_input_or_a_file(self):
        self.assertEqual(self.put_body("")["body"], "")
        self.assertEqual(self.put_body("-", stdin="två\n".encode())["body"], "två\n")
        self.assertEqual(self.put_body("--", "-5")["body"], "-5")
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "content"
            file.write_bytes(b"from a file")
            self.assertEqual(self.put_body(f"@{file}")["body"], "from a file")

    def test_json_goes_as_a_text_that_keeps_its_numbers(self):
        content = '{"z":1.50, "a":9007199254740993}'
        self.assertEqual(self.put_body(content, "--json-body"), {"body": content, "content_type": "application/json"})
        for verb in (["put", "mail"], ["prepare", "mail", "--answer-in", "1m"], ["schedule", "set", "s", "q", "--every", "1h"],
                     ["watchdog", "set", "w", "q", "--timeout", "1h"]):
            for content, options in (("{", ["--json-body"]), ("{}", ["--json-body", "--content-type", "text/plain"])):
                with self.subTest(verb=verb, content=content):
                    self.stub.requests.clear()
                    code, _, error = self.run_program(*verb, content, *options)
                    self.assertEqual((code, self.stub.requests), (2, []), error)

    def test_bytes_that_are_no_text_go_as_base64(self):
        for content in (b"\xff", b"\x00", b"a\x1bb", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82",
                        bytes(range(256)), bytes(range(255)), bytes(range(254))):
            with self.subTest(content=content):
                body = self.put_body("-", stdin=content)
                self.assertNotIn("body", body)
                self.assertEqual(base64.b64decode(body["body_base64"], validate=True), content)

    def test_times_are_understood_in_their_zone(self):
        for text, zone, due in (
                ("2027-01-01T06:00", "Europe/Oslo", "2027-01-01T05:00:00.000Z"),
                ("2027-07-01T06:00", "Europe/Oslo", "2027-07-01T04:00:00.000Z"),
                ("2027-01-01 06:00:30", "Asia/Kathmandu", "2027-01-01T00:15:30.000Z"),
                ("2027-03-28T01:59:59.250", "Europe/Oslo", "2027-03-28T00:59:59.250Z"),
                ("2027-03-28T03:00", "Europe/Oslo", "2027-03-28T01:00:00.000Z"),
                ("2027-04-04T01:45", "Australia/Lord_Howe", None),  # half an hour twice
                ("2027-10-31T02:30", "Europe/Oslo", None),  # an hour twice
                ("2027-03-28T02:30", "Europe/Oslo", None),  # an hour skipped
                ("2011-12-30T12:00", "Pacific/Apia", None),  # a day skipped
                ("2027-01-01T06:00Z", "", "2027-01-01T06:00:00.000Z"),
                ("2027-01-01T06:00+05:45", "", "2027-01-01T00:15:00.000Z"),
                ("2027-01-01T06:00:00.5-01:00", "", "2027-01-01T07:00:00.500Z")):
            with self.subTest(text=text, zone=zone):
                arguments = ["x", "--at", text, *(["--tz", zone] if zone else [])]
                if due:
                    self.assertEqual(self.put_body(*arguments), {"body": "x", "due": due})
                else:
                    self.stub.requests.clear()
                    code, _, error = self.run_program("put", "mail", *arguments)
                    self.assertEqual(code, USAGE)
                    self.assertIn("(bad_instant, --due)", error)
                    self.assertEqual(self.stub.requests, [])

    def test_a_time_without_a_zone_is_this_machines(self):
        self.stub.answer = (201, PUT)
        self.run_program("put", "mail", "x", "--at", "2027-01-01T06:00", TZ="America/New_York")
        self.assertEqual(self.sent()[2]["due"], "2027-01-01T11:00:00.000Z")

    def test_each_verb_makes_its_request(self):
        change = {"outcome": "", "attempts": 0, "maybe_delivered": False}
        for arguments, outcome, request in (
                (["get", "7"], None, ("GET", "/v1/messages/7", None)),
                (["cancel", "7"], "cancelled", ("DELETE", "/v1/messages/7", None)),
                (["move", "7", "--in", "1h"], "rescheduled", ("PATCH", "/v1/messages/7", {"delay": "1h"})),
                (["fire", "7"], "fired", ("POST", "/v1/messages/7:fire", None)),
                (["lease", "q", "--max", "3", "--lease", "1m", "--wait", "1s"], None,
                 ("POST", "/v1/queues/q:lease", {"max": 3, "lease": "1m", "wait": "1s"})),
                (["lease", "q"], None, ("POST", "/v1/queues/q:lease", None)),
                (["ack", "t"], "done", ("POST", "/v1/leases/t:ack", None)),
                (["fail", "t", "--reason", "r", "--retry-in", "9s"], "retrying",
                 ("POST", "/v1/leases/t:fail", {"reason": "r", "retry_in": "9s"})),
                (["extend", "t", "--lease", "9s"], "extended", ("POST", "/v1/leases/t:extend", {"lease": "9s"})),
                (["release", "t", "--in", "9s"], "released", ("POST", "/v1/leases/t:release", {"delay": "9s"})),
                (["stats"], None, ("GET", "/v1/stats", None))):
            with self.subTest(arguments=arguments):
                self.stub.requests.clear()
                self.stub.answer = (200, {**change, "outcome": outcome, "messages": []})
                code, _, error = self.run_program(*arguments)
                self.assertEqual((code, error), (0, ""))
                self.assertEqual(self.sent(), request)

    def test_each_verb_of_watchdogs_makes_its_request_and_says_what_came_of_it(self):
        fed_ms, due_ms = (int(time.time() * 1000) + step for step in (-60_000, 600_000))
        watchdog = {"watchdog": "w", "state": "armed", "due_ms": due_ms, "last_fed_ms": fed_ms, "feeds": 7, "fired": 2, "merged": 1,
                    "last_fired": {"id": "9", "due_ms": fed_ms}, "overdue": {"due_ms": fed_ms},
                    "settings": {"queue": "q", "timeout_ms": 30_000, "max_ms": 300_000, "repeat_every_ms": 3_600_000, "body": "x"}}
        for arguments, answer, request, said in (
                (["set", "w", "q", "x", "--timeout", "30s"], watchdog, ("PATCH", "/v1/watchdogs/w", {"queue": "q", "timeout": "30s", "body": "x"}),
                 ["30s after its last feed, 5m after the first feed at the latest, then every 1h", "2; 1 merged", "9 of", "overdue   since"]),
                (["set", "a/b", "q", "x", "--timeout", "30s", "--max", "5m", "--repeat-every", "1h", "--feed", "--priority", "3", "--expires-in",
                  "1d", "--order-key", "k", "--header", "a=b", "--retry-attempts", "3"], {**watchdog, "late": True},
                 ("PATCH", "/v1/watchdogs/a%2Fb", {"queue": "q", "timeout": "30s", "max": "5m", "repeat_every": "1h", "feed": True, "priority": 3,
                                                 "expires_in": "1d", "order_key": "k", "headers": {"a": "b"}, "retry": {"attempts": 3},
                                                 "body": "x"}), [", too late"]),
                (["feed", "w"], {"watchdog": "w", "due_ms": due_ms, "late": False, "fired": 0}, ("POST", "/v1/watchdogs/w:feed", None), ["fed; due"]),
                (["feed", "w"], {"watchdog": "w", "due_ms": due_ms, "late": True, "fired": 1}, ("POST", "/v1/watchdogs/w:feed", None),
                 ["fed, too late: it has fired or was due; due"]),
                (["get", "w"], {**watchdog, "state": "asleep", "due_ms": 0}, ("GET", "/v1/watchdogs/w", None), ["asleep"]),
                (["list"], {"watchdogs": [watchdog]}, ("GET", "/v1/watchdogs?limit=100", None), ["armed"]),
                (["rm", "w"], {"watchdog": "w", "removed": True}, ("DELETE", "/v1/watchdogs/w", None), ["removed; messages"]),
                (["rm", "w"], {"watchdog": "w", "removed": False}, ("DELETE", "/v1/watchdogs/w", None), ["no watchdog has this name"])):
            with self.subTest(arguments=arguments):
                self.stub.requests.clear()
                self.stub.answer = (200, answer)
                code, output, error = self.run_program("watchdog", *arguments)
                self.assertEqual((code, error), (0, ""))
                self.assertEqual(self.sent(), request)
                for words in said:
                    self.assertIn(words, output)

    def test_set_changes_what_is_named_and_removes_what_is_unset(self):
        self.stub.answer = (200, {"queue": "q", "schedule": "s", "watchdog": "w", "namespace": "n", "settings": {}})
        for arguments, request in (
                (["queue", "set", "q", "--lease", "2m"], ("PATCH", "/v1/queues/q", {"lease": "2m"})),
                (["queue", "set", "q", "--webhook-rate", "5", "--unset", "limits.pending", "--unset", "target.webhook.timeout"],
                 ("PATCH", "/v1/queues/q", {"target": {"webhook": {"rate": 5, "timeout": None}}, "limits": {"pending": None}})),
                (["queue", "set", "q", "--kafka-topic", "t", "--kafka-key", "k", "--kafka-partition", "0", "--kafka-delivery", "at_least_once",
                  "--unset", "target.webhook"],
                 ("PATCH", "/v1/queues/q", {"target": {"kafka": {"topic": "t", "key": "k", "partition": 0, "delivery": "at_least_once"},
                                                       "webhook": None}})),
                (["queue", "set", "q", "--lease", "2m", "--replace"], ("PUT", "/v1/queues/q", {"lease": "2m"})),
                (["queue", "set", "q", "--paused", "--pending", "7", "--webhook", "https://x.example/", "--webhook-secret", "a", "--webhook-secret", "b",
                  "--retry-factor", "1.50", "--webhook-header", "X=1"],
                 ("PATCH", "/v1/queues/q", {"paused": True, "limits": {"pending": 7}, "retry": {"factor": 1.5},
                                            "target": {"webhook": {"url": "https://x.example/", "secrets": ["a", "b"], "headers": {"X": "1"}}}})),
                (["queue", "set", "q", "--paused=false"], ("PATCH", "/v1/queues/q", {"paused": False})),
                (["schedule", "set", "s", "--start", "2028-01-01T06:00", "--unset", "zone"],
                 ("PATCH", "/v1/schedules/s", {"start": "2028-01-01T06:00:00.000Z", "zone": None})),
                (["schedule", "set", "s", "--jitter", "5m", "--unset", "zone"],
                 ("PATCH", "/v1/schedules/s", {"jitter": "5m", "zone": None})),
                (["schedule", "set", "s", "--content-type", "text/css"], ("PATCH", "/v1/schedules/s", {"content_type": "text/css"})),
                (["schedule", "set", "s", "q", ""], ("PATCH", "/v1/schedules/s", {"queue": "q", "body": ""})),
                (["watchdog", "set", "w", "q", "[1]", "--json-body"],
                 ("PATCH", "/v1/watchdogs/w", {"queue": "q", "body": "[1]", "content_type": "application/json"})),
                (["schedule", "set", "s", "q", "x", "--every", "1h", "--replace"],
                 ("PUT", "/v1/schedules/s", {"queue": "q", "every": "1h", "body": "x"})),
                (["watchdog", "set", "w", "--timeout", "1h"], ("PATCH", "/v1/watchdogs/w", {"timeout": "1h"})),
                (["watchdog", "set", "w", "q", "x", "--timeout", "1h", "--replace"],
                 ("PUT", "/v1/watchdogs/w", {"queue": "q", "timeout": "1h", "body": "x"})),
                (["namespace", "set", "n", "--queues", "5", "--unset", "weight"],
                 ("PATCH", "/v1/namespaces/n", {"limits": {"queues": 5}, "weight": None})),
                (["namespace", "set", "n", "--queues", "5", "--replace"], ("PUT", "/v1/namespaces/n", {"limits": {"queues": 5}}))):
            with self.subTest(arguments=arguments):
                self.stub.requests.clear()
                self.assertEqual(self.run_program(*arguments)[0], 0)
                self.assertEqual(self.sent(), request)
        for wrong in (["queue", "set", "q", "--replace", "--unset", "lease"], ["schedule", "set", "s", "--json-body"]):
            self.assertEqual(self.run_program(*wrong)[0], USAGE)

    # Settings of queues and namespaces, and retry rules, are options because of their rows in src/resource.
    def test_a_value_that_a_row_does_not_take_is_refused_before_anything_is_sent(self):
        queue, space, put = ["queue", "set", "q"], ["namespace", "set", "n"], ["put", "q", "x"]
        for arguments, said in (([*queue, "--lease", "soon"], "--lease: "), ([*queue, "--lease", ""], "--lease: "),
                                ([*queue, "--pending", "many"], "--pending = many: expected an integer"),
                                ([*queue, "--pending", "0"], "--pending: `limits.pending` must be at least 1"),
                                ([*queue, "--pending", "99999999999999999999"], "--pending = 99999999999999999999: expected an integer"),
                                ([*queue, "--kafka-partition", "-1"], "--kafka-partition: `target.kafka.partition` must be from 0 to 2147483647"),
                                ([*queue, "--kafka-delivery", "twice"], "--kafka-delivery: takes exactly_once or at_least_once, not twice"),
                                ([*queue, "--retry-factor", "twice"], "--retry-factor: takes a number such as 1.5, not twice"),
                                ([*queue, "--webhook-header", "novalue"], "--webhook-header"),
                                ([*space, "--weight", "1001"], "--weight: `weight` must be from 1 to 1000"),
                                ([*put, "--retry-attempts", "0"], "--retry-attempts: `retry.attempts` must be at least 1"),
                                ([*put, "--retry-jitter", "much"], "--retry-jitter: takes a number"),
                                (["watchdog", "set", "w", "--timeout", "soon"], "--timeout: "),
                                (["schedule", "set", "s", "--every", "often"], "--every: ")):
            with self.subTest(arguments=arguments):
                code, output, error = self.run_program(*arguments)
                self.assertEqual((code, output, self.stub.requests), (USAGE, "", []))
                self.assertIn(said, error)

    def test_the_help_of_a_setting_is_the_sentence_of_its_row_and_its_default(self):
        text = re.sub(r"\s+", " ", self.run_program("queue", "set", "--help")[1])
        for part in ("--webhook-rate NUMBER Maximum number of posts per second; default: no limit", "--webhook URL Post its messages to this URL",
                     "--lease DURATION Default duration of leases; default: the server's default", "--kafka-delivery WORD exactly_once, or"):
            self.assertIn(part, text)

    def test_settings_are_shown_by_the_names_that_unset_takes(self):
        self.stub.answer = (200, {"queue": "q", "namespace": "n", "pending": 1, "settings": {
            "target": {"webhook": {"url": "https://x.example/", "secrets": ["a", "b"], "timeout_ms": 5000, "headers": {"X": "***"}}},
            "lease_ms": 120000, "retry": {"attempts": 3, "factor": 1.5}, "limits": {"pending": 100, "newer": True}}})
        for verb in (["queue", "get", "q"], ["namespace", "show", "n"]):
            code, output, error = self.run_program(*verb)
            self.assertEqual((code, error), (0, ""))
            for name, value in (("target.webhook.url", "https://x.example/"), ("target.webhook.secrets", "a, b"), ("target.webhook.timeout", "5s"),
                                ("target.webhook.headers.X", r"\*\*\*"), ("lease", "2m"), ("retry.attempts", "3"), ("retry.factor", r"1\.5"),
                                ("limits.pending", "100"), ("limits.newer", "true")):
                self.assertRegex(output, rf"(?m)^{re.escape(name)} +{value}$")

    def test_call_sends_what_it_is_given_and_prints_what_comes_back(self):
        for arguments, answer, request, printed in (
                (["GET", "/v1/stats?queues=3"], b'{"a" :1.50}', ("GET", "/v1/stats?queues=3", None), '{"a" :1.50}\n'),
                (["POST", "/v1/queues/q/messages", '{"body": "x"}'], b"{}", ("POST", "/v1/queues/q/messages", {"body": "x"}), "{}\n"),
                (["PATCH", "/v1/queues/q", "-"], b"{}", ("PATCH", "/v1/queues/q", [1]), "{}\n"),
                (["GET", "/metrics"], b"a 1\nb\x1b 2\n", ("GET", "/metrics", None), "a 1\nb\\x1b 2\n"),
                (["DELETE", "/v1/queues/q"], b"", ("DELETE", "/v1/queues/q", None), "")):
            with self.subTest(arguments=arguments):
                self.stub.requests.clear()
                self.stub.answer = (200, answer)
                self.assertEqual(self.run_program("call", *arguments, stdin=b"[1]"), (0, printed, ""))
                self.assertEqual(self.sent(), request)
        self.stub.answer = (409, {"code": "in_flight", "detail": "A consumer holds it.", "outcome": "in_flight"})
        code, output, error = self.run_program("call", "DELETE", "/v1/messages/7")
        self.assertEqual((code, json.loads(output), error), (REFUSED, self.stub.answer[1], ""))
        self.stub.answer = (404, {"code": "unknown_id", "detail": "No such message.", "field": "id"})
        self.assertEqual(self.run_program("call", "GET", "/v1/messages/7"), (REFUSED, "", "duewheel: No such message. (unknown_id, id)\n"))
        self.stub.answer = (404, b"<html>")
        self.assertEqual(self.run_program("call", "GET", "/v1/messages/7")[0], UNREACHABLE)
        self.stub.requests.clear()
        for wrong in (["GET"], ["FETCH", "/v1/stats"], ["GET", "v1/stats"], ["POST", "/v1/queues/q:lease", "{"], ["GET", "/v1/stats", "--namespace", "n"],
                      ["POST", "/v1/queues/q:lease", "@/no/such/file"]):
            with self.subTest(wrong=wrong):
                self.assertEqual(self.run_program("call", *wrong)[:2], (USAGE, ""))
        self.assertEqual(self.stub.requests, [])

    def test_a_message_is_named_by_its_id_or_by_its_key(self):
        self.stub.answer = (200, {"outcome": "cancelled", "attempts": 0, "maybe_delivered": False})
        by_key = ["--queue", "a/b", "--key", "order 7&x"]
        for arguments, request in (
                (["get"], ("GET", "/v1/messages?queue=a%2Fb&key=order%207%26x", None)),
                (["cancel", "--namespace", "n"], ("DELETE", "/v1/namespaces/n/messages?queue=a%2Fb&key=order%207%26x", None)),
                (["move", "--in", "1h"], ("PATCH", "/v1/messages?queue=a%2Fb&key=order%207%26x", {"delay": "1h"}))):
            with self.subTest(arguments=arguments):
                self.stub.requests.clear()
                self.assertEqual(self.run_program(*arguments, *by_key)[0], 0)
                self.assertEqual(self.sent(), request)
        self.stub.requests.clear()
        for wrong in ([], ["--key", "k"], ["--queue", "q"], ["7", *by_key], ["--queue", "q", "--key", ""]):
            with self.subTest(wrong=wrong):
                self.assertEqual(self.run_program("cancel", *wrong)[0], USAGE)
        self.assertEqual(self.stub.requests, [])

    # ---- what is printed

    def test_json_is_the_servers_answer_as_it_came(self):
        text = b'{"id":"1", "outcome" :"cancelled","new":[1.50]}'
        self.stub.answer = (200, text)
        for arguments in (["get", "1"], ["cancel", "1"], ["lease", "q"], ["stats"]):
            with self.subTest(arguments=arguments):
                code, output, _ = self.run_program(*arguments, "--json")
                self.assertEqual((code, output), (0, text.decode() + "\n"))

    def test_put_prints_the_id_and_the_time_here_and_from_now(self):
        due = int(time.time() * 1000) + 600_000
        self.stub.answer = (201, {**PUT, "due_ms": due})
        _, output, _ = self.run_program("put", "mail", "x", TZ="Europe/Oslo")
        self.assertRegex(output, r"^1024  scheduled, due \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0[12]:00, in (10m|9m 5\ds)\n$")

    def test_a_lease_prints_what_its_holder_needs(self):
        self.stub.answer = (200, {"messages": [{
            "id": "5", "queue": "q", "lease": "TOKEN", "lease_until_ms": 1798779630000, "body": "å", "headers": {"k": "v"},
            "occurrence": 1, "due_ms": 1798779600000, "delivered_ms": 1798779600012, "lateness_ms": 12, "wait_ms": 61000, "attempt": 2}]})
        _, output, _ = self.run_program("lease", "q")
        self.assertEqual([line for line in output.splitlines() if not line.startswith("leased until")], [
            "message       5", "due           2027-01-01 05:00:00 +00:00, waited 1m 1s, 12ms late, attempt 2", "header        k=v",
            "body          å", "lease         TOKEN"])

    def test_spans_show_their_two_largest_units(self):
        message = {"id": "5", "lease": "T", "due_ms": 0, "body": "", "attempt": 1}
        for late, shown in ((0, "0ms"), (999, "999ms"), (1000, "1s"), (59_999, "59s"), (60_000, "1m"), (897_820, "14m 57s"),
                            (3_600_000, "1h"), (3_605_000, "1h"), (90_061_000, "1d 1h"), (86_400_000, "1d")):
            self.stub.answer = (200, {"messages": [{**message, "wait_ms": 0, "lateness_ms": late}]})
            self.assertIn(f", {shown} late, attempt 1\n", self.run_program("lease", "q")[1])

    def test_nothing_due_is_no_error(self):
        self.stub.answer = (200, {"messages": []})
        self.assertEqual(self.run_program("lease", "q"), (0, "no message is due\n", ""))

    def test_health_believes_only_a_server_that_says_ok(self):
        self.stub.answer = (200, b"ok\n")
        self.assertEqual(self.run_program("health"), (0, "healthy\n", ""))
        self.assertEqual(self.run_program("health", "--json"), (0, '{"healthy":true}\n', ""))
        self.assertEqual(self.stub.requests[0][:2], ("GET", "/healthz"))
        for answer in ((200, b"<html>ok</html>"), (404, b"no such page"), (503, b"")):
            self.stub.answer = answer
            code, output, error = self.run_program("health")
            self.assertEqual((code, output), (UNREACHABLE, ""))
            self.assertIn("(bad_answer)", error)
        self.assertEqual(self.run_program("health", DUEWHEEL_SERVER="http://127.0.0.1:1")[0], UNREACHABLE)

    def test_stats_prints_a_table_of_queues(self):
        self.stub.answer = (200, {"pending": 3, "puts_stalled": True, "queues": [
            {"queue": "mail", "ready": 1}, {"namespace": "other", "queue": "q", "ready": 200}]})
        _, output, _ = self.run_program("stats")
        self.assertEqual(output, "pending       3\nputs stalled  yes\n\n"
                                 "namespace  queue  ready\ndefault    mail       1\nother      q        200\n")

    def test_a_body_cannot_steer_the_terminal(self):
        evil = "\x1b[2J\r\u009b31m\x07\x7fok\n"
        self.stub.answer = (200, {"id": "1", "body": evil, "messages": [{"id": evil, "body": evil, "lease": evil}]})
        for verb, line_end in ((["get", "1"], "\n"), (["lease", "q"], "\\n")):
            _, output, _ = self.run_program(*verb)
            self.assertIn("\\x1b[2J\\r\\xc2\\x9b31m\\x07\\x7fok" + line_end, output)
            self.assertFalse(set(output) & set("\x1b\r\u009b\x07\x7f"))

    # An id or a name with U+202E turned the order of the letters after it round, and `--json` printed U+009B raw.
    def test_invisible_characters_are_shown_as_their_code_points(self):
        name = "a\u202eb\u200bc\u2066d\u00ade\u2028f\U000e0041g"
        self.stub.answer = (200, {"id": "1", "queue": name, "body": "\u2764\ufe0f \u05d0 " + name + "\u009b\x7f"})
        _, output, _ = self.run_program("get", "1")
        shown = "a[U+202E]b[U+200B]c[U+2066]d[U+00AD]e[U+2028]f[U+E0041]g"
        self.assertRegex(output, r"queue +" + re.escape(shown))
        self.assertIn("\u2764\ufe0f \u05d0 " + shown + "\\xc2\\x9b\\x7f", output)
        self.stub.answer = (200, json.dumps(self.stub.answer[1], ensure_ascii=False).encode())
        _, output, _ = self.run_program("get", "1", "--json")
        self.assertNotIn("\u009b", output)
        self.assertEqual(json.loads(output)["body"][-2:], "\u009b\x7f")

    def test_a_problem_cannot_steer_the_terminal(self):
        self.stub.answer = (400, {"code": "bad\x1b", "detail": "no\x1b[2J", "field": "\x07"})
        self.assertEqual(self.run_program("get", "1"), (REFUSED, "", "duewheel: no\\x1b[2J (bad\\x1b, \\x07)\n"))

    # ---- tokens and TLS

    def authorization(self, *arguments, **environment):
        """What the server was sent, or the code of the error where nothing was sent."""
        self.stub.requests.clear()
        self.stub.answer = (200, {"queues": []})
        code, _, error = self.run_program("stats", *arguments, **environment)
        if code == 0:
            return self.stub.requests[0][2].get("Authorization")
        self.assertEqual((code, self.stub.requests), (USAGE, []), error)
        return error.rsplit("(", 1)[1].rstrip(")\n")

    def test_a_token_comes_from_the_environment_or_from_a_private_file(self):
        self.assertIsNone(self.authorization())
        self.assertEqual(self.authorization(DUEWHEEL_TOKEN="of.variable"), "Bearer of.variable")
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "token"
            file.write_text("of-file\n")
            file.chmod(0o600)
            self.assertEqual(self.authorization("--token-file", file), "Bearer of-file")
            self.assertEqual(self.authorization(DUEWHEEL_TOKEN_FILE=str(file)), "Bearer of-file")
            self.assertEqual(self.authorization("--token-file", file, DUEWHEEL_TOKEN="of.variable"), "Bearer of.variable")
            self.assertEqual(self.authorization("--token-file", file, DUEWHEEL_TOKEN=""), "Bearer of-file")
            for mode in (0o640, 0o604, 0o620):
                file.chmod(mode)
                self.assertEqual(self.authorization("--token-file", file), "unsafe_token_file", oct(mode))
            file.chmod(0o600)
            for text in ("", "\n", "two words", "a\r\nX-Other: b", "x" * 9000):
                file.write_text(text)
                self.assertEqual(self.authorization("--token-file", file), "bad_token", text[:20])
            self.assertEqual(self.authorization("--token-file", directory + "/none"), "unreadable_token_file")
        self.assertEqual(self.authorization(DUEWHEEL_TOKEN="two words"), "bad_token")

    # A token was sent readable through every network. 0.0.0.0 is this machine, but not by its name.
    def test_a_token_is_not_sent_over_http_beyond_loopback(self):
        port = self.stub.server_address[1]
        beyond = ("--server", f"http://0.0.0.0:{port}")
        self.assertIsNone(self.authorization(*beyond))
        self.assertEqual(self.authorization(*beyond, DUEWHEEL_TOKEN="a.b"), "exposed_token")
        self.assertEqual(self.authorization(*beyond, "--insecure", DUEWHEEL_TOKEN="a.b"), "Bearer a.b")
        self.assertEqual(self.authorization(*beyond, DUEWHEEL_TOKEN="a.b", DUEWHEEL_INSECURE="1"), "Bearer a.b")
        self.assertEqual(self.authorization("--server", f"http://localhost:{port}", DUEWHEEL_TOKEN="a.b"), "Bearer a.b")
        # Nor where a redirect leads there.
        self.stub.requests.clear()
        self.stub.answer = (307, {"code": "other_node"}, f"http://0.0.0.0:{port}")
        code, _, error = self.run_program("stats", DUEWHEEL_TOKEN="a.b")
        self.assertEqual((code, len(self.stub.requests)), (USAGE, 1), error)
        self.assertIn("(exposed_token)", error)

    # Every command of `--exec` could read the token that the consumer has.
    def test_a_command_does_not_get_the_token(self):
        self.stub.answer = (200, {"messages": [{"id": "1", "queue": "q", "body": "x", "lease": "L", "attempt": 1}]})
        with subprocess.Popen([PROGRAM, "--server", self.url, "lease", "q", "--exec", "echo got ${DUEWHEEL_TOKEN-no token} ${KEPT} >&2"],
                              stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"], "DUEWHEEL_TOKEN": "a.b", "KEPT": "kept"}) as run:
            line = run.stderr.readline()
            run.kill()
        self.assertEqual(line, b"got no token kept\n")
        code, _, error = self.run_program("stats", "--token", "secret")
        self.assertEqual(code, USAGE, error)

    # The word behind `--token` was taken for a command, and printed.
    def test_a_token_on_the_command_line_is_not_printed(self):
        token = "dw_shop_" + "s3cret-_" * 5 + "abc"
        for arguments in (["--token", token, "stats"], ["stats", "--token", token], [f"--token={token}", "stats"], [token],
                          ["--tokne", "s3cret", "stats"], ["queue", token], ["put", "q", "b", "--in", token], ["stats", f"--{token}"]):
            code, output, error = self.run_program(*arguments)
            self.assertEqual((code, output), (USAGE, ""), error)
            self.assertNotIn("s3cret", error)
        self.assertIn("Unknown option: --token; did you mean `--token-file`?", self.run_program("--token", token, "stats")[2])

    def make_certificates(self, directory):
        """An authority, and certificates by it for the server at 127.0.0.1 and for a client."""
        def openssl(*arguments):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-days", "2", *arguments], cwd=directory, check=True, capture_output=True, timeout=60)
        openssl("-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
        for name, extension in (("server", "subjectAltName=IP:127.0.0.1"), ("client", "extendedKeyUsage=clientAuth")):
            openssl("-subj", f"/CN={name}", "-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE",
                    "-addext", extension, "-keyout", f"{name}.key", "-out", f"{name}.pem")

    def test_https_verifies_the_server_and_can_show_a_certificate(self):
        self.stub.answer = (200, {"queues": []})
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            self.make_certificates(folder)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(folder / "server.pem", folder / "server.key")
            self.stub.socket = context.wrap_socket(self.stub.socket, server_side=True)
            port = self.stub.server_address[1]
            ca = str(folder / "ca.pem")

            def stats(*arguments, server=f"https://127.0.0.1:{port}", **environment):
                self.stub.requests.clear()
                code, _, error = self.run_program("stats", "--server", server, *arguments, DUEWHEEL_TOKEN="t", **environment)
                self.assertEqual(len(self.stub.requests), 1 if code == 0 else 0)
                return (code, error.rsplit("(", 1)[1].rstrip(")\n")) if error else (code, "")

            self.assertEqual(stats("--ca-file", ca), (0, ""))
            self.assertEqual(stats(DUEWHEEL_CA_FILE=ca), (0, ""))
            self.assertEqual(stats(), (UNREACHABLE, "untrusted_server"))
            self.assertEqual(stats("--ca-file", str(folder / "client.pem")), (UNREACHABLE, "untrusted_server"))
            self.assertEqual(stats("--ca-file", ca, server=f"https://localhost:{port}"), (UNREACHABLE, "untrusted_server"))
            self.assertEqual(stats("--ca-file", directory + "/none"), (USAGE, "bad_certificate_file"))
            self.assertEqual(stats("--ca-file", ca, server=f"http://127.0.0.1:{port}")[0], UNREACHABLE)
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(ca)
            self.assertEqual(stats("--ca-file", ca)[0], UNREACHABLE)
            own = ("--ca-file", ca, "--client-certificate", str(folder / "client.pem"))
            key = folder / "client.key"
            for mode in (0o644, 0o640, 0o602):
                key.chmod(mode)
                self.assertEqual(stats(*own, "--client-key", str(key)), (USAGE, "unsafe_key_file"), oct(mode))
            key.chmod(0o600)
            self.assertEqual(stats(*own, "--client-key", str(key)), (0, ""))
            self.assertEqual(stats(*own), (USAGE, "bad_certificate_file"), "the file has no key")
            both = folder / "both.pem"
            both.write_bytes((folder / "client.pem").read_bytes() + (folder / "client.key").read_bytes())
            both.chmod(0o644)
            self.assertEqual(stats("--ca-file", ca, "--client-certificate", str(both)), (USAGE, "unsafe_key_file"))
            both.chmod(0o600)
            self.assertEqual(stats("--ca-file", ca, "--client-certificate", str(both)), (0, ""))

    # ---- exit codes

    def test_a_refusal_prints_detail_and_code_and_exits_1(self):
        for status in (400, 404, 409, 429, 503, 507):
            self.stub.answer = (status, {"code": "unknown_id", "detail": "No such message.", "field": "id"})
            for flags in ([], ["--json"]):
                self.assertEqual(self.run_program("get", "1", *flags),
                                 (REFUSED, "", "duewheel: No such message. (unknown_id, id)\n"))

    def test_too_late_exits_1_and_says_so(self):
        self.stub.answer = (409, {"code": "in_flight", "detail": "A consumer holds it.", "outcome": "in_flight", "attempts": 2,
                                  "maybe_delivered": True})
        for arguments in (["cancel", "1"], ["move", "1", "--in", "1s"], ["fire", "1"]):
            code, output, error = self.run_program(*arguments)
            self.assertEqual((code, error), (REFUSED, ""))
            self.assertEqual(output, "too late: in_flight, 2 attempts, "
                                     "and a delivery may have begun before the server's last start\n")
            code, output, error = self.run_program(*arguments, "--json")
            self.assertEqual((code, json.loads(output), error), (REFUSED, self.stub.answer[1], ""))
        self.stub.answer = (409, {"code": "lease_ended", "detail": "It had ended.", "outcome": "expired"})
        for verb in ("ack", "fail", "extend", "release"):
            code, output, _ = self.run_program(verb, "TOKEN")
            self.assertEqual(code, REFUSED)
            self.assertIn("expired", output)

    def test_a_wrong_command_line_exits_2_and_sends_nothing(self):
        for arguments in ([], ["nonsense"], ["put"], ["put", "q"], ["put", "q", "b", "surplus"], ["get"], ["move", "1"],
                          ["put", "q", "b", "--in", "10x"], ["put", "q", "b", "--in", "-1s"], ["put", "q", "b", "--in", "5"],
                          ["put", "q", "b", "--in", "1s", "--at", "2027-01-01T06:00"], ["put", "q", "b", "--tz", "UTC"],
                          ["put", "q", "b", "--at", "tomorrow"], ["put", "q", "b", "--at", "2027-02-29T06:00"],
                          ["put", "q", "b", "--at", "2027-01-01T06:00", "--tz", "Europe/Olso"],
                          ["put", "q", "b", "--at", "2027-01-01T06:00", "--tz", "../passwd"],
                          ["put", "q", "b", "--at", "2027-01-01T06:00Z", "--tz", "Europe/Oslo"],
                          ["put", "q", "b", "--priority", "high"], ["put", "q", "b", "--priority", "2147483648"],
                          ["put", "q", "b", "--header", "novalue"], ["put", "q", "b", "--header", "a=1", "--header", "a=2"],
                          ["put", "q", "@/nowhere/at/all"], ["lease", "q", "--max", "-1"], ["lease", "q", "--wait", "soon"],
                          ["get", "1", "--unknown"], ["stats", "--server", "nonsense:"]):
            with self.subTest(arguments=arguments):
                code, output, error = self.run_program(*arguments)
                self.assertEqual((code, output), (USAGE, ""))
                self.assertTrue(error.startswith("duewheel: "), error)
                self.assertEqual(self.stub.requests, [])

    def test_no_server_exits_3_and_says_what_to_check(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
            code, output, error = self.run_program("stats", "--server", f"http://127.0.0.1:{taken.getsockname()[1]}")
        self.assertEqual((code, output), (UNREACHABLE, ""))
        self.assertIn("DUEWHEEL_SERVER", error)

    # It asked for ever: a nightly job that drains a queue never came to its end.
    def test_draining_gives_up_a_server_that_does_not_come_back(self):
        self.stub.answer = (503, {"code": "overloaded", "detail": "Try again later."})
        self.stub.closes = True
        run = subprocess.Popen([PROGRAM, "--server", self.url, "lease", "q", "--exec", "true", "--drain"],
                               stderr=subprocess.PIPE)
        self.addCleanup(run.kill)
        self.assertIn(b"overloaded", run.stderr.readline())
        self.stub.shutdown()
        self.stub.server_close()
        _, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, UNREACHABLE, error)
        self.assertIn(b"Cannot reach the server", error)
        self.assertTrue(error.endswith(b"0 done, 0 failed, 0 released.\n"), error)

    def test_what_is_no_duewheel_server_exits_3(self):
        for answer in ((200, b"<html>"), (200, b"[1]"), (404, b"<html>"), (500, {"error": "x"}), (301, {})):
            self.stub.answer = answer
            code, output, error = self.run_program("stats")
            self.assertEqual((code, output), (UNREACHABLE, ""))
            self.assertIn("does not belong to a Duewheel server", error)

    def test_the_option_wins_over_the_environment(self):
        self.stub.answer = (200, {"queues": []})
        self.assertEqual(self.run_program("stats", "--server", self.url, DUEWHEEL_SERVER="http://127.0.0.1:1")[0], 0)

    def test_the_word_that_is_wrong_is_named(self):
        for arguments, named in ((["pt", "q", "b"], "Unknown command: pt; did you mean `put`?"), (["--jsno", "stats"], "Unknown option: --jsno; did you mean `--json`?"),
                                 (["put", "q", "b", "--prioritty", "3"], "Unknown option: --prioritty; did you mean `--priority`?"), ([], "No command given"),
                                 (["pt\x1b"], "Unknown command: pt\\x1b"), (["que", "list"], "Unknown command: que; did you mean `queue`?"),
                                 (["clock", "shwo"], "Unknown command: shwo; did you mean `show`?"), (["que", "list"], "Run `duewheel --help`"), (["clock", "shwo"], "Run `duewheel clock --help`"),
                                 (["--server", "http://x:1", "put"], "QUEUE is required"), (["--namespace", "team", "queue", "get"], "QUEUE is required"),
                                 (["--server", "http://x:1", "queue", "lst"], "Unknown command: lst; did you mean `list`?"),
                                 (["--server", "http://x:1", "list", "--jsn"], "Unknown option: --jsn; did you mean `--json`?"), ([""], "No command given"), (["schedule", "fier", "a"], "did you mean `fire`?"), (["put", "q"], "Give the content as BODY"),
                                 (["add", "q", "b"], "Unknown command: add; did you mean `put`?"), (["schedule", "add", "q"], "Unknown command: add; did you mean `set`?"),
                                 (["nack", "lease"], "did you mean `fail`?"), (["namespace", "get", "n"], "did you mean `show`?"), (["queue", "delete", "q"], "did you mean `rm`?"),
                                 (["frobnicate"], "Unknown command: frobnicate.\n"), (["x"], "Unknown command: x.\n"),
                                 (["schedule", "set", "nightly", "--queue", "reports", "Make it", "--cron", "0 9 * * *"],
                                  "Unknown option: --queue. It is a positional argument: duewheel schedule set NAME QUEUE BODY\n"),
                                 (["put", "--queue=q", "b"], "It is a positional argument: duewheel put QUEUE BODY"), (["put", "q", "b", "--dealy", "10m"], "did you mean `--delay`?"),
                                 (["put", "q", "b", "--countdown", "10"], "did you mean `--delay`?"), (["put", "q", "b", "--eta", "x"], "did you mean `--due`?"),
                                 (["put", "q", "b", "--max-retries=3"], "did you mean `--retry-attempts`?"), (["put", "q", "b", "--timezone", "UTC"], "did you mean `--zone`?"), (["put", "q", "b", "--attempts", "3"], "did you mean `--retry-attempts`?"),
                                 (["put", "q", "b", "--cron", "0 9 * * *"], "did you mean `--every`? A cron expression belongs to a schedule."),
                                 (["put", "q", "b", "--优先级", "高"], "Unknown option: --优先级.\n"),
                                 (["stats", "--port", "7420"], "did you mean `--server`?"), (["put", "q", "b", "-x"], "Unknown option: -x.\n"),
                                 (["put", "q", "b", "--priority", "x"], "--priority = x: expected an integer")):
            with self.subTest(arguments=arguments):
                code, output, error = self.run_program(*arguments)
                self.assertEqual((code, output), (USAGE, ""))
                self.assertIn(named, error)

    def test_an_answer_that_cannot_be_written_is_no_success(self):
        self.stub.answer = (201, PUT)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "put", "q", "b", "--server", self.url], stdout=full, stderr=subprocess.PIPE,
                                  timeout=60)
        self.assertEqual(done.returncode, REFUSED)
        self.assertIn(b"could not be written", done.stderr)

    def test_help_has_an_example_for_every_verb(self):
        code, output, _ = self.run_program("--help")
        self.assertEqual(code, 0)
        verbs = [line.split()[0] for line in output.split("Subcommands:")[1].split("\n\n")[0].splitlines() if line.strip()]
        self.assertEqual(verbs, ["put", "prepare", "commit", "rollback", "get", "wait", "cancel", "move", "fire", "hold", "kick", "discard", "list", "history", "forecast",
                                 "lease", "ack", "fail", "extend", "release", "queue", "group", "schedule", "watchdog", "namespace", "token", "clock", "stats", "health", "call",
                                 "top", "kafka", "demo", "bench", "check", "backup", "restore", "audit", "export", "import", "completion"])
        for verb in verbs:
            code, output, _ = self.run_program(verb, "--help")
            self.assertEqual(code, 0)
            self.assertRegex(output, rf"Example:\n(  .*\n)*  duewheel {verb}")

    def test_check_refuses_what_is_no_data_directory(self):
        with tempfile.TemporaryDirectory() as directory:
            code, output, error = self.run_program("check", directory)
            self.assertEqual((code, output), (REFUSED, ""))
            self.assertIn("(not_found)", error)
            self.assertEqual(os.listdir(directory), [])


if __name__ == "__main__":
    unittest.main()
