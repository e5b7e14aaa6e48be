"""A tenant that tries to have more than the quotas of its namespace: rules of the past that create as fast as the server can, and every other
way to a message. The clock is the test's.
"""

import time
import unittest

from attacks import Target, main
from raw_sockets import wait_until

ALL = ["put", "read", "consume", "cancel", "schedule", "admin"]
RATE, PENDING, SECONDS = 20, 5, 10
PAST = "2025-01-01T00:00:00Z"
FAST = {"recurring message": ("POST", "queues/q/messages", {"body": "x", "due": PAST, "repeat": {"every": "1ms"}}),
        "recurring message that speeds up": ("POST", "queues/q/messages", {"body": "x", "due": PAST, "repeat": {"every": "1ms", "factor": 1}}),
        "schedule": ("PUT", "schedules/s", {"queue": "q", "every": "1ms", "start": PAST, "misfire": "all", "body": "x"}),
        "repeating interval": ("PUT", "schedules/s", {"queue": "q", "iso": "R/2025-01-01T00:00:00Z/PT1S", "misfire": "all", "body": "x"}),
        "watchdog": ("PUT", "watchdogs/w", {"queue": "q", "timeout": "1ms", "repeat_every": "1ms", "body": "x"})}


class Quotas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = cls.enterClassContext(Target("--test-clock", "--limits-catch-up-rate", "50"))

    def tenant(self, name, **limits):
        if limits:
            self.assertEqual(self.target.ask("PUT", f"/v1/namespaces/{name}", {"limits": limits})[0], 200)
        return self.target.token(name, *ALL, namespaces=[name])

    def pending(self, name):
        status, answer = self.target.ask("GET", f"/v1/namespaces/{name}")
        return answer["pending"] if status == 200 else 0

    def advance(self, seconds):
        for _ in range(seconds):
            self.assertEqual(self.target.ask("POST", "/v1/clock:advance", {"by": "1s"})[0], 200)

    # One put made 50,000 messages a second, whatever the rate of its namespace.
    def test_rules_that_are_faster_than_the_rate(self):
        for number, (what, (method, path, body)) in enumerate(FAST.items()):
            with self.subTest(what):
                name = f"fast{number}"
                token = self.tenant(name, put_rate=RATE)
                self.assertIn(self.target.ask(method, f"/v1/namespaces/{name}/{path}", body, token)[0], (200, 201))
                wait_until(lambda: self.pending(name) > 1, "it creates messages")
                self.advance(SECONDS)
                self.assertLessEqual(self.pending(name), RATE * (SECONDS + 2))
                other = self.target.token(f"other{number}", "put", namespaces=[f"quiet{number}"])
                self.assertEqual(self.target.ask("POST", f"/v1/namespaces/quiet{number}/queues/q/messages", {"body": "x"}, other)[0], 201)

    def test_rules_of_the_past_without_a_rate_have_a_pace(self):
        for number, (what, (method, path, body)) in enumerate(list(FAST.items())[:3]):
            with self.subTest(what):
                name = f"past{number}"
                token = self.tenant(name)
                self.assertIn(self.target.ask(method, f"/v1/namespaces/{name}/{path}", body, token)[0], (200, 201))
                wait_until(lambda: self.pending(name) > 1, "it creates messages")
                self.advance(3)
                self.assertLessEqual(self.pending(name), 50 * 5 + 1100)

    def test_every_way_to_a_message(self):
        token = self.tenant("full", pending=PENDING)
        base = "/v1/namespaces/full"

        def ask(method, path, value=None, **fields):
            return self.target.ask(method, f"{base}/{path}", value, token, **fields)

        dead = ask("POST", "queues/dead/messages", {"body": "x", "retry": {"attempts": 1}})[1]["id"]
        lease = ask("POST", "queues/dead:lease", {})[1]["messages"][0]["lease"]
        self.assertEqual(ask("POST", f"leases/{lease}:fail", {})[0], 200)
        for path, rule in (("schedules/s", {"cron": "0 0 1 1 *"}), ("watchdogs/w", {"timeout": "1s", "repeat_every": "1s"})):
            self.assertEqual(ask("PUT", path, {"queue": "q", "body": "x", **rule})[0], 201)
        for number in range(PENDING):
            ask("POST", "queues/q/messages", {"body": "x", "delay": "1h"})
        messages = [{"body": "x"}] * 10
        for what, words in {"put": ("POST", "queues/q/messages", {"body": "x"}), "put to another queue": ("POST", "queues/new/messages", {"body": "x"}),
                            "batch": ("POST", "queues/q/messages:batch", messages), "transaction": ("POST", "queues/q/messages", {"body": "x", "transaction": {"check_back": {"after": "1s", "queue": "q"}}}),
                            "held message": ("POST", "queues/q/messages", {"body": "x", "held": True}), "message far ahead": ("POST", "queues/q/messages", {"body": "x", "delay": "30000d"}),
                            "recurring message": ("POST", "queues/q/messages", {"body": "x", "repeat": {"every": "1ms"}}), "new key": ("POST", "queues/q/messages", {"body": "x", "key": "k"}),
                            "message that expires": ("POST", "queues/q/messages", {"body": "x", "expires_in": "1s"}), "fired schedule": ("POST", "schedules/s:fire", {}),
                            "redrive": ("POST", "queues/dead:redrive", {}), "kick": ("POST", f"messages/{dead}:kick", {}), "fed watchdog": ("POST", "watchdogs/w:feed", {}),
                            "more room": ("PUT", "", {"limits": {"pending": 1000}})}.items():
            with self.subTest(what):
                answer = ask(*words) if words[1] else self.target.ask("PUT", base, words[2], token)
                self.assertIn({"fed watchdog": "'fired': 0", "more room": "forbidden"}.get(what, "namespace_full"), str(answer))
                self.advance(2)
                self.assertLessEqual(self.pending("full"), PENDING)

    def test_every_way_to_a_queue_or_a_rule(self):
        token = self.tenant("names", queues=1, schedules=1, watchdogs=1)
        rule = {"queue": "q", "cron": "0 0 1 1 *"}

        def ask(method, path, value=None):
            return self.target.ask(method, f"/v1/namespaces/names/{path}", value, token)

        self.assertEqual(ask("POST", "queues/q/messages", {"body": "x", "delay": "1h"})[0], 201)
        self.assertEqual(ask("PUT", "schedules/s", rule)[0], 201)
        self.assertEqual(ask("PUT", "watchdogs/w", {"queue": "q", "timeout": "1h"})[0], 201)
        for what, words in {"put": ("POST", "queues/new/messages", {"body": "x"}), "batch": ("POST", "queues/new/messages:batch", [{"body": "x"}]),
                            "settings": ("PUT", "queues/new", {}), "patch": ("PATCH", "queues/new", {"paused": True}), "pause": ("POST", "queues/new:pause", {}),
                            "another form": ("PUT", "queues/Q", {}), "waiting consumer": ("POST", "queues/new:lease", {"wait": "1ms"}),
                            "queue of checks": ("POST", "queues/q/messages", {"body": "x", "transaction": {"check_back": {"after": "1s", "queue": "new"}}}),
                            "schedule": ("PUT", "schedules/new", rule), "fired schedule of a new queue": ("PUT", "schedules/s", {**rule, "queue": "new"}),
                            "watchdog": ("PUT", "watchdogs/new", {"queue": "new", "timeout": "1ms"}), "watchdog of a new queue": ("PUT", "watchdogs/w", {"queue": "new", "timeout": "1ms"})}.items():
            with self.subTest(what):
                outcome = {"schedule": "schedule_limit", "watchdog": "watchdog_limit", "watchdog of a new queue": "armed", "fired schedule of a new queue": "active"}
                self.assertIn(outcome.get(what, "queue_limit"), str(ask(*words)))
                fired = ask("POST", "schedules/s:fire", {})
                self.assertTrue(fired[0] == 201 or "queue_limit" in str(fired), fired)
                self.advance(1)
                answer = self.target.ask("GET", "/v1/namespaces/names")[1]
                self.assertEqual((answer["queues"], answer["schedules"], answer["watchdogs"]), (1, 1, 1))

    def test_more_than_the_rate_at_once(self):
        token = self.tenant("rate", put_rate=RATE)
        second = self.target.token("second", "put", namespaces=["rate"])

        def accepted(ask):
            """How many are accepted, and how many may be: the rate counts by the clock of the machine."""
            before, began = self.pending("rate"), time.monotonic()
            ask()
            return self.pending("rate") - before, RATE * (time.monotonic() - began + 1) + 1

        def put(number, by=token, **members):
            answer = self.target.ask("POST", f"/v1/namespaces/rate/queues/q{number % 5}/messages", {"body": "x", "delay": "1h", **members}, by)
            self.assertTrue(answer[0] == 201 or "too_many_puts" in str(answer), answer)

        batch = [{"body": "x", "delay": "1h"}] * (RATE * 5)
        for what, ask in {"several queues": lambda: [put(number) for number in range(RATE * 5)], "two tokens": lambda: [put(number, (token, second)[number % 2]) for number in range(RATE * 5)],
                          "batches": lambda: [self.target.ask("POST", f"/v1/namespaces/rate/queues/q{n}/messages:batch", batch, token) for n in range(3)],
                          "keys": lambda: [put(number, key=str(number)) for number in range(RATE * 5)]}.items():
            with self.subTest(what):
                count, allowed = accepted(ask)
                self.assertLessEqual(count, allowed)


if __name__ == "__main__":
    main(tries=38)
