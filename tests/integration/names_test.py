"""Names in other scripts with the real daemon: in paths, responses, metrics, logs, webhooks, exports and on the command
line, after kill -9, and in byte order."""

import os
import pathlib
import subprocess
import time
import unicodedata
import unittest
import urllib.parse

from daemon import Daemon
from webhook_receiver import Receiver

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])
TEAM = "équipe"
QUEUE = "größe/注文"
SCHEDULE = "nächtlich"
WATCHDOG = "сторож"


def quoted(name):
    return urllib.parse.quote(name, safe="")


SPACE = f"/v1/namespaces/{quoted(TEAM)}"
PATH = f"{SPACE}/queues/{quoted(QUEUE)}"


def columns(text):
    """What a terminal needs for it."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Names(unittest.TestCase):
    def setUp(self):
        self.daemon = self.started()
        self.client = self.daemon.client()

    def started(self, *arguments):
        daemon = Daemon(arguments=["--webhooks-allowed-networks=127.0.0.0/8", *arguments])
        self.addCleanup(daemon.__exit__, None, None, None)
        daemon.start()
        return daemon

    def ask(self, method, path, value=None, client=None):
        status, answer = (client or self.client).request(method, path, value)
        self.assertLess(status, 300, answer)
        return answer

    def duewheel(self, *arguments, code=0, server=None):
        done = subprocess.run([BIN / "duewheel", "--server", f"http://127.0.0.1:{(server or self.daemon).port}", *arguments],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def make_one_of_each(self):
        self.ask("POST", f"{PATH}/messages", {"body": "later", "delay": "1h"})
        self.ask("POST", f"{PATH}/messages", {"body": "now"})
        self.ask("PUT", PATH, {"limits": {"pending": 100}})
        self.ask("PUT", f"{SPACE}/schedules/{quoted(SCHEDULE)}", {"queue": QUEUE, "every": "1h", "body": "run"})
        self.ask("PUT", f"{SPACE}/watchdogs/{quoted(WATCHDOG)}", {"queue": QUEUE, "timeout": "1h", "body": "late"})

    def check_one_of_each(self, client):
        self.assertEqual([each["queue"] for each in self.ask("GET", f"{SPACE}/queues", client=client)["queues"]], [QUEUE])
        listed = self.ask("GET", f"{SPACE}/schedules", client=client)["schedules"]
        self.assertEqual([(each["schedule"], each["settings"]["queue"]) for each in listed], [(SCHEDULE, QUEUE)])
        listed = self.ask("GET", f"{SPACE}/watchdogs", client=client)["watchdogs"]
        self.assertEqual([(each["watchdog"], each["settings"]["queue"]) for each in listed], [(WATCHDOG, QUEUE)])
        self.assertIn(TEAM, [each["namespace"] for each in self.ask("GET", "/v1/namespaces", client=client)["namespaces"]])
        leased = self.ask("POST", f"{PATH}:lease", {"wait": "20s"}, client=client)["messages"]
        self.assertEqual([message["body"] for message in leased], ["now"])

    def test_they_are_the_same_after_kill(self):
        self.make_one_of_each()
        self.daemon.kill()
        self.daemon.start()
        self.check_one_of_each(self.daemon.client())

    def test_an_export_brings_them_to_another_server(self):
        self.make_one_of_each()
        file = self.daemon.directory / "pending.ndjson"
        self.duewheel("export", self.daemon.data, file)
        self.assertIn(QUEUE, file.read_text())
        other = self.started()
        self.duewheel("import", file, server=other)
        self.check_one_of_each(other.client())

    def test_lists_are_in_the_order_of_bytes_page_by_page(self):
        names = ["z", "é", "ä/b", "注文", "A", "я", "𠮷", "\uff21"]
        for name in names:
            self.ask("PUT", f"/v1/schedules/{quoted(name)}", {"queue": name, "every": "1h"})
        seen, cursor = [], None
        while not seen or cursor:
            page = self.ask("GET", "/v1/schedules?limit=3" + (f"&cursor={cursor}" if cursor else ""))
            seen += [each["schedule"] for each in page["schedules"]]
            cursor = page.get("cursor")
        self.assertEqual(seen, sorted(names, key=str.encode))

    def test_metrics_and_logs_have_them_as_they_are(self):
        self.make_one_of_each()
        metrics = self.client.request_text("GET", "/metrics", None)[1]
        self.assertRegex(metrics, f'(?m)^duewheel_queue_[a-z_]+{{namespace="{TEAM}",queue="{QUEUE}"}} ')
        receiver = Receiver(lambda post: 410)
        self.addCleanup(receiver.__exit__)
        self.ask("PUT", PATH, {"target": {"webhook": {"url": receiver.url("/")}}})
        receiver.wait_for(1)
        deadline = time.monotonic() + 60
        while "webhook_target_gone" not in self.daemon.log_text():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        line = next(line for line in self.daemon.log_text().splitlines() if "webhook_target_gone" in line)
        self.assertIn(f'queue="{QUEUE}"', line)

    def test_webhooks_have_them_percent_encoded(self):
        receiver = Receiver()
        self.addCleanup(receiver.__exit__)
        self.ask("PUT", PATH, {"target": {"webhook": {"url": receiver.url("/")}}})
        self.ask("PUT", f"{SPACE}/schedules/{quoted(SCHEDULE)}", {"queue": QUEUE, "every": "1h"})
        self.ask("POST", f"{SPACE}/schedules/{quoted(SCHEDULE)}:fire")
        headers = receiver.wait_for(1)[0].headers
        for field, name, text in (("namespace", TEAM, "%C3%A9quipe"), ("queue", QUEUE, "gr%C3%B6%C3%9Fe/%E6%B3%A8%E6%96%87"),
                                  ("schedule", SCHEDULE, "n%C3%A4chtlich")):
            self.assertEqual(headers[f"duewheel-{field}"], text)
            self.assertEqual(urllib.parse.unquote(headers[f"duewheel-{field}"]), name)

    def test_the_command_line_takes_and_shows_them(self):
        self.duewheel("--namespace", TEAM, "put", QUEUE, "body")
        self.duewheel("--namespace", TEAM, "put", "ascii", "body")
        table = self.duewheel("--namespace", TEAM, "queue", "list").splitlines()
        self.assertTrue(any(line.startswith(QUEUE + " ") for line in table), table)
        self.assertEqual(len({columns(line) for line in table}), 1, "columns of numbers end at one place: " + "\n".join(table))
        self.duewheel("schedule", "set", SCHEDULE, QUEUE, "body", "--every", "1h")
        self.assertIn(SCHEDULE, self.duewheel("schedule", "get", SCHEDULE))
        leased = self.duewheel("--namespace", TEAM, "--json", "lease", QUEUE)
        self.assertIn('"body"', leased)

    def test_another_form_than_nfc_is_refused_with_the_name_in_nfc(self):
        told = self.duewheel("put", "cafe\u0301", "body", code=1)
        self.assertIn("this one is caf%C3%A9 there", told)
        self.duewheel("put", "caf\u00e9", "body")


if __name__ == "__main__":
    unittest.main()
