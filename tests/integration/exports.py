"""For the tests of export and import: a server to export from, messages and settings of all kinds, and the commands."""

import json
import os
import pathlib
import random
import subprocess
import unittest
import urllib.parse

from daemon import Daemon

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])
SEGMENTS = ["--store-segment-size=1MiB"]
# What an import makes anew or cannot say, and what follows from when it was made.
NOT_CARRIED = {"id", "put_ms", "first_put_ms", "parent", "schedule", "watchdog", "last_fed_ms",
               "occurrence", "next_occurrence", "answer_by_ms", "checks", "created_ms", "due_ms", "feeds", "fired",
               "merged", "last_fired", "runs", "last_run"}


def duewheel(*arguments, server=None, **more):
    command = [BIN / "duewheel", *(["--server", f"http://127.0.0.1:{server.port}"] if server else []), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


class Exports(unittest.TestCase):
    def setUp(self):
        self.source = self.started()
        self.client = self.source.client()
        self.file = self.source.directory / "pending.ndjson"

    def started(self, *arguments, kind=Daemon):
        daemon = kind(arguments=[*SEGMENTS, *arguments])
        self.addCleanup(daemon.__exit__, None, None, None)
        daemon.start()
        return daemon

    def export(self, daemon, *options):
        """The lines of an export, which stands in the file too."""
        file = daemon.directory / "pending.ndjson"
        made = duewheel("--json", "export", daemon.data, file, *options)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(sorted(path.name for path in daemon.directory.iterdir()), ["data", "log.txt", "pending.ndjson"])
        return lines_of(file.read_text())

    def messages(self, daemon, *options):
        return [line for line in self.export(daemon, *options) if line["kind"] == "message"]

    def do_import(self, daemon, file, *options, code=0):
        done = duewheel("--json", "import", file, *options, server=daemon)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def ask(self, method, path, value=None, client=None):
        status, answer = (client or self.client).request(method, path, value)
        self.assertLess(status, 300, answer)
        return answer

    def put_all_kinds(self):
        """Messages in every unfinished state, of every kind, in two namespaces, and a dead one."""
        def put(queue, body, **members):
            return self.ask("POST", f"/v1/queues/{urllib.parse.quote(queue, safe='')}/messages", {"body": body, **members})["id"]

        rng = random.Random(5)
        put("mail", "later", delay="1h", headers={"to": "ann"}, content_type="text/plain")
        put("mail", "now", priority=-7, key="invoice 7")
        put("mail", "ends", delay="1h", expires_in="3h", retry={"attempts": 3, "first": "5s", "jitter": 0.25})
        self.ask("POST", "/v1/queues/pics/messages", {"body_base64": "R0lG/wA=", "delay": "2d"})
        self.ask("POST", "/v1/queues/orders.json/messages", {"json": {"b": 1.5, "a": [None]}, "delay": "1h"})
        put("odd.names/+;$()", "text with \n \" \\ \u0001 é 日本 \U0001f600", delay="30d")
        for number in range(20):
            put("orders", f"step {number}", order_key=f"order {number % 3}", delay=rng.choice(["0s", "1h"]))
        put("rounds", "round", delay="1h", repeat={"every": "1h", "times": 5, "factor": 1.5, "max": "4h"}, order_key="o")
        put("rounds", "held round", delay="1h", repeat={"every": "1h"})
        held = put("aside", "held, due", order_key="x")
        self.ask("POST", f"/v1/messages/{held}:hold")
        self.ask("POST", f"/v1/messages/{put('aside', 'held, later', delay='5h')}:hold")
        put("halves", "half", delay="2h", transaction={"check_back": {"queue": "checks", "after": "1h"}, "otherwise": "commit"})
        committed = put("halves", "committed", delay="2h", transaction={"check_back": {"after": "1h"}})
        self.ask("POST", f"/v1/messages/{committed}:commit")
        self.ask("POST", "/v1/namespaces/team/queues/mail/messages", {"body": "of the team", "delay": "1h"})
        put("tried", "rests", retry={"attempts": 9, "first": "1h", "jitter": 0})
        self.ask("POST", f"/v1/leases/{self.client.take('tried', 1)[0]['lease']}:fail", {"reason": "no route"})
        put("fragile", "dead", retry={"attempts": 1})
        self.ask("POST", f"/v1/leases/{self.client.take('fragile', 1)[0]['lease']}:fail", {"reason": "dropped"})
        put("taken", "with a consumer")
        self.client.take("taken", 1)
        self.client.request_text("POST", "/v1/queues/traced/messages", '{"body":"traced","delay":"1h"}',
                                 {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})

    def set_all_kinds(self):
        self.ask("PUT", "/v1/namespaces/team", {"limits": {"pending": 1000, "put_rate": 500}})
        self.ask("PUT", "/v1/queues/letters", {"lease": "2m", "limits": {"pending": 9}, "retry": {"attempts": 3}, "paused": True})
        self.ask("PUT", "/v1/schedules/report", {"queue": "reports", "cron": "0 9 * * MON-FRI", "zone": "Europe/Oslo",
                                                 "closed": "12-25", "body": "make it", "headers": {"a": "b"}})
        self.ask("PUT", "/v1/schedules/orders", {"queue": "reports", "every": "1h", "start": "2100-01-01T00:00:00Z", "json": {"b": 1.5, "a": [None]}})
        self.ask("PUT", "/v1/schedules/beat", {"queue": "pulses", "every": "1h", "times": 7, "paused": True})
        self.ask("PUT", "/v1/watchdogs/backup", {"queue": "alarms", "timeout": "25h", "repeat_every": "1h", "body_base64": "/w=="})

    @staticmethod
    def pending(client):
        return client.request("GET", "/v1/stats?queues=0")[1]["pending"]
