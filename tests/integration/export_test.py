"""Everything pending in the real daemon as lines of JSON: exported while it runs, imported into a second server, and
exported again. The exports are equal except for ids and times, even if the import was killed in the middle and started
again."""

import base64
import datetime
import fcntl
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest
import urllib.parse

from daemon import Daemon, SlowDiskDaemon

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])
SEGMENTS = ["--store-segment-size=1MiB"]
# What an import makes anew or cannot say, and what follows from when it was made.
NOT_CARRIED = {"id", "put_ms", "attempts", "maybe_delivered", "reason", "parent", "schedule", "watchdog", "last_fed_ms",
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

    def carried(self, lines):
        """What an import carries of each line, whatever their order; keys that it adds are left out."""
        kept = []
        for line in lines:
            if line["kind"] in ("export", "end"):
                continue
            line = {name: value for name, value in line.items() if name not in NOT_CARRIED}
            if len(line.get("key", "")) > 32 and line["key"][32] == ":":
                del line["key"]
            kept.append(json.dumps(line, sort_keys=True))
        return sorted(kept)

    def test_everything_pending_comes_through_a_second_server(self):
        self.set_all_kinds()
        self.put_all_kinds()
        lines = self.export(self.source)
        states = {line["state"] for line in lines if line["kind"] == "message"}
        self.assertEqual(states, {"scheduled", "ready", "retrying", "held", "prepared"})
        target = self.started()
        report = self.do_import(target, self.file)
        messages = [line for line in lines if line["kind"] == "message"]
        self.assertEqual((report["put"], report["refused"], report["set"]), (len(messages), 0, 6))
        self.assertEqual(report["changed"]["attempts"], 2)
        there = self.export(target)
        for line in lines:
            if line["kind"] == "schedule" and line["schedule"] == "beat":
                line["settings"]["start"] = there_start(there)
            if line.get("state") == "retrying":
                del line["nominal_due_ms"]
                line["state"] = "scheduled"
        self.assertEqual(self.carried(lines), self.carried(there))
        # And once more it makes nothing.
        report = self.do_import(target, self.file)
        self.assertEqual((report["put"], report["put_before"], report["set"], report["set_before"]), (0, len(messages), 0, 6))
        self.assertEqual(self.carried(self.export(target)), self.carried(there))

    def test_the_order_of_each_order_key_is_kept(self):
        rng = random.Random(9)
        for number in range(300):
            self.ask("POST", "/v1/queues/orders/messages", {"body": str(number), "order_key": f"k{rng.randrange(5)}",
                                                            "due": f"2001-01-01T00:00:00.{rng.randrange(50):03}Z"})
        for message in self.client.take("orders", 5):  # the first of each rest, and hold up the others
            self.ask("POST", f"/v1/leases/{message['lease']}:fail", {"retry_in": "1h"})
        wanted = self.bodies_by_key(self.export(self.source))
        lines = self.file.read_text()
        target = self.started()
        self.do_import(target, self.file)
        client, delivered = target.client(), {}
        keys = {line["body"]: line["order_key"] for line in lines_of(lines) if line["kind"] == "message"}
        for _ in range(300):
            message = client.take("orders", 1)[0]
            delivered.setdefault(keys[message["body"]], []).append(message["body"])
            client.ack(message["lease"])
        self.assertEqual(delivered, wanted)

    @staticmethod
    def bodies_by_key(lines):
        by_key = {}
        for line in lines:
            if line["kind"] == "message":
                due = datetime.datetime.fromisoformat(line["due"]).timestamp() * 1000
                place = (line.get("nominal_due_ms", round(due)), int(line["id"]))
                by_key.setdefault(line["order_key"], []).append((*place, line["body"]))
        for key, bodies in by_key.items():
            assert bodies == sorted(bodies), f"the lines of {key} do not stand in their order"
        return {key: [body for _, _, body in bodies] for key, bodies in by_key.items()}

    def test_an_export_is_of_one_instant_however_busy_the_server_is(self):
        stop, counts = threading.Event(), []

        def load(number):
            client = self.source.client()
            while not stop.is_set():
                batch = "".join(json.dumps({"body": f"{number} " + "x" * 500, "delay": "1h"}) + "\n" for _ in range(50))
                _, text = client.request_text("POST", "/v1/queues/work/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
                ids = [json.loads(line)["id"] for line in text.splitlines()]
                for message in ids[:20]:
                    client.cancel(message)
                counts.append(len(ids))

        threads = [threading.Thread(target=load, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        while sum(counts) < 3000:
            stop.wait(0.05)
        try:
            for _ in range(4):
                lines = self.export(self.source)
                self.assertEqual(lines[0]["pending"], lines[-1]["messages"])
                ids = [line["id"] for line in lines if line["kind"] == "message"]
                self.assertEqual((len(ids), len(set(ids))), (lines[0]["pending"], lines[0]["pending"]))
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        # What was answered before the call is in it.
        known = self.ask("POST", "/v1/queues/last/messages", {"body": "answered", "delay": "1h"})["id"]
        self.assertIn(known, [line["id"] for line in self.messages(self.source)])

    def test_an_import_that_is_killed_and_begun_anew_makes_nothing_twice(self):
        bodies = [f"{number} " + "y" * 300 for number in range(20_000)]
        for at in range(0, len(bodies), 1000):
            batch = "".join(json.dumps({"body": body, "delay": "1h"}) + "\n" for body in bodies[at:at + 1000])
            self.client.request_text("POST", "/v1/queues/work/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
        self.export(self.source)
        target = self.started(kind=SlowDiskDaemon)
        target.slow_down(100)  # so that no import outruns its kill
        client = target.client()
        rng, kills = random.Random(3), 0
        while True:
            command = [BIN / "duewheel", "--server", f"http://127.0.0.1:{target.port}", "import", self.file]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            before = self.pending(client)
            goal = before + rng.randrange(1, 6_000)
            while process.poll() is None and self.pending(client) < goal:
                pass
            if process.poll() is not None:
                process.stderr.close()
                self.assertEqual(process.returncode, 0)
                break
            kills += 1
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stderr.close()
        self.assertGreater(kills, 1)
        target.speed_up()
        self.assertEqual(sorted(line["body"] for line in self.messages(target)), sorted(bodies))

    def begin_import(self, target, *options):
        """One that goes on beside the test."""
        return subprocess.Popen([BIN / "duewheel", "--server", f"http://127.0.0.1:{target.port}", "--json", "import", self.file, *options],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def told_to_stop(self, process, client):
        """Ends it once something has come; its report."""
        while self.pending(client) == 0 and process.poll() is None:
            pass
        process.send_signal(signal.SIGTERM)
        output, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, error)
        self.assertIn("(stopped)", error)
        return json.loads(output)

    @staticmethod
    def pending(client):
        return client.request("GET", "/v1/stats?queues=0")[1]["pending"]

    def test_a_signal_ends_an_import_after_what_it_does_and_says_where(self):
        for at in range(40):
            batch = "".join(json.dumps({"body": f"{at} " + "z" * 900, "delay": "1h"}) + "\n" for _ in range(1000))
            self.client.request_text("POST", "/v1/queues/work/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
        self.export(self.source)
        target = self.started(kind=SlowDiskDaemon)
        target.slow_down(200)  # so that it is not over before the signal
        client = target.client()
        process = self.begin_import(target)
        report = self.told_to_stop(process, client)
        self.assertEqual(report["put"], self.pending(client))
        self.assertLess(self.pending(client), 40_000)
        target.speed_up()
        self.do_import(target, self.file)
        self.assertEqual(self.pending(client), 40_000)

    def test_a_damaged_file_is_refused_before_anything_is_sent(self):
        self.set_all_kinds()
        self.put_all_kinds()
        self.export(self.source)
        whole = self.file.read_text()
        target = self.started()
        damaged = target.directory / "damaged.ndjson"
        at = whole.index('"body":"later"')
        lines = whole.splitlines(keepends=True)
        number = next(i for i, line in enumerate(lines) if '"now"' in line) + 1
        cases = [(whole[:at + 9], "incomplete_export", ""), (whole[:-30], "incomplete_export", ""),
                 ("".join(lines[:-1]), "incomplete_export", ""), (whole.replace("later", "latex"), "changed_export", ""),
                 ("".join(lines[:5] + lines[6:]), "changed_export", ""), (whole + lines[-2], "changed_export", ""),
                 (whole.replace('"priority":-7', '"priority":"-7"'), "changed_export", f"line {number}: "),
                 ("", "no_export", ""), ('{"body":"x"}\n', "no_export", "")]
        for text, code, told in cases:
            damaged.write_text(text)
            refused = duewheel("import", damaged, server=target)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""), code)
            self.assertIn(f"({code}", refused.stderr)
            self.assertIn(told, refused.stderr)
        client = target.client()
        self.assertEqual(self.pending(client), 0)
        self.assertEqual(client.request("GET", "/v1/schedules")[1]["schedules"], [])
        # What is left of a cut file may be taken; the line that was cut is named.
        damaged.write_text(whole[:at + 9])
        taken = duewheel("--json", "import", damaged, "--incomplete", server=target)
        report = json.loads(taken.stdout)
        self.assertEqual((taken.returncode, report["unread"]), (1, 1), taken.stderr)
        self.assertIn("(bad_json", taken.stderr)
        self.assertGreater(report["set"], 0)
        # A digest that is right, and a line that is not.
        header, rest = whole.split("\n", 1)
        damaged.write_text(header + '\n{"kind":"massage"}\n')
        refused = duewheel("import", damaged, server=target)
        self.assertIn("line 2: ", refused.stderr)
        self.assertIn("(unknown_kind, kind)", refused.stderr)

    def test_a_dry_run_checks_and_counts_without_a_server(self):
        self.set_all_kinds()
        self.put_all_kinds()
        lines = self.export(self.source, "--dead")
        done = duewheel("--json", "--server", "http://127.0.0.1:1", "import", self.file, "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual((report["put"], report["dead"], report["held"]), (lines[-1]["messages"], 1, 2))
        missing = duewheel("--server", "http://127.0.0.1:1", "import", self.file)
        self.assertEqual(missing.returncode, 3)
        self.assertIn("(unreachable", missing.stderr)

    def test_dead_letters_are_exported_and_may_be_held(self):
        self.put_all_kinds()
        dead = [line for line in self.messages(self.source, "--dead") if line["state"] == "dead"]
        self.assertEqual([(line["body"], line["reason"], line["attempts"]) for line in dead], [("dead", "dropped", 1)])
        target = self.started()
        self.assertEqual(self.do_import(target, self.file)["dead"], 1)
        report = self.do_import(target, self.file, "--dead-as-held")
        self.assertEqual((report["dead"], report["put"], report["held"]), (0, 1, 3))
        held = [line for line in self.messages(target) if line["state"] == "held"]
        self.assertEqual(sorted(line["body"] for line in held), ["dead", "held, due", "held, later"])

    def test_a_message_held_by_its_import_is_not_delivered(self):
        for number in range(200):
            held = self.ask("POST", "/v1/queues/aside/messages", {"body": str(number)})["id"]
            self.ask("POST", f"/v1/messages/{held}:hold")
        self.ask("POST", "/v1/queues/aside/messages", {"body": "free"})
        self.export(self.source)
        target = self.started()
        stop, got = threading.Event(), []

        def consume():
            client = target.client()
            while not stop.is_set():
                for message in client.lease("aside", 100, "100ms"):
                    got.append(message["body"])
                    client.ack(message["lease"])

        consumer = threading.Thread(target=consume)
        consumer.start()
        report = self.do_import(target, self.file)
        while not got:
            stop.wait(0.02)
        stop.set()
        consumer.join()
        self.assertEqual((report["held"], got), (200, ["free"]))

    def test_a_full_queue_is_waited_for_and_then_reported(self):
        for number in range(30):
            self.ask("POST", "/v1/queues/mail/messages", {"body": str(number), "due": f"2001-01-01T00:00:00.{number:03}Z"})
        self.export(self.source)
        target = self.started()
        client = target.client()
        self.ask("PUT", "/v1/queues/mail", {"limits": {"pending": 10}}, client)
        full = duewheel("--json", "import", self.file, "--patience", "300ms", server=target)
        self.assertEqual(full.returncode, 1)
        self.assertIn("(queue_full, queue)", full.stderr)
        self.assertIn("Stopped before line 12.", full.stderr)
        self.assertEqual(json.loads(full.stdout)["put"], 10)
        # With a consumer it goes on.
        process = self.begin_import(target)
        bodies = []
        while len(bodies) < 30:
            for message in client.lease("mail", 10, "10s"):
                bodies.append(message["body"])
                client.ack(message["lease"])
        output, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, json.loads(output)["put"]), (0, 20))
        self.assertEqual(bodies, [str(number) for number in range(30)])

    # It put everything without a key a second time, beside what was pending still.
    def test_the_server_of_the_export_refuses_it(self):
        for name in ("a", "b"):
            self.ask("POST", "/v1/queues/mail/messages", {"body": name, "delay": "1h"})
        exported = self.export(self.source)[0]["instance"]
        self.assertEqual(self.ask("GET", "/v1/stats")["instance"], exported)
        refused = duewheel("import", self.file, server=self.source)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("(same_server)", refused.stderr)
        self.assertEqual(self.ask("GET", "/v1/stats")["pending"], 2)
        self.ask("POST", "/v1/queues/mail:purge")
        self.assertEqual(self.do_import(self.source, self.file, "--same-server")["put"], 2)

    # Limits that were set late, or that loops and retries go beyond: a message behind the limit was refused, and everything
    # behind that line with it.
    def test_what_is_beyond_its_limits_is_carried_and_then_limited(self):
        due = self.source.client().request("GET", "/v1/stats")[1]["server_time_ms"] + 86_400_000
        for number in range(3):
            self.ask("POST", "/v1/queues/a/messages", {"body": str(number), "due_ms": due})
        self.ask("POST", "/v1/queues/b/messages", {"body": "behind", "due_ms": due})
        limits = {"per_second": 1, "pending": 2}
        self.ask("PUT", "/v1/queues/a", {"limits": limits})
        self.ask("PUT", "/v1/namespaces/default", {"limits": {"pending": 1}})
        self.export(self.source)
        target = self.started()
        report = self.do_import(target, self.file)
        self.assertEqual((report["put"], report["refused"]), (4, 0))
        client = target.client()
        queue = client.request("GET", "/v1/queues/a")[1]
        self.assertEqual((queue["pending"], queue["settings"]["limits"]), (3, limits))
        self.assertEqual(client.request("GET", "/v1/namespaces/default")[1]["settings"], {"limits": {"pending": 1}})
        again = self.do_import(target, self.file)
        self.assertEqual((again["put"], again["put_before"], again["set_before"]), (0, 4, 2))

    # It ended with the refusal that it had been waiting on.
    def test_a_signal_ends_an_import_that_waits_for_room(self):
        for _ in range(3):
            self.ask("POST", "/v1/queues/work/messages", {"body": "x", "delay": "1h"})
        self.export(self.source)
        target = self.started()
        client = target.client()
        self.ask("PUT", "/v1/namespaces/default", {"limits": {"pending": 1}}, client)
        process = self.begin_import(target, "--patience", "10m")
        report = self.told_to_stop(process, client)
        self.assertEqual(report["put"], 1)

    def test_a_rate_is_kept_to(self):
        for at in range(3):
            batch = "".join(json.dumps({"body": str(number), "delay": "1h"}) + "\n" for number in range(100))
            self.client.request_text("POST", "/v1/namespaces/slow/queues/mail/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
        self.export(self.source)
        target = self.started()
        client = target.client()
        self.ask("PUT", "/v1/namespaces/slow", {"limits": {"put_rate": 100}}, client)
        began = time.monotonic()
        self.assertEqual(self.do_import(target, self.file, "--patience", "5s")["put"], 300)
        self.assertGreater(time.monotonic() - began, 1.5)

    def test_a_server_that_restarts_meanwhile_is_waited_for(self):
        for at in range(10):
            batch = "".join(json.dumps({"body": f"{at} {number}", "delay": "1h"}) + "\n" for number in range(1000))
            self.client.request_text("POST", f"/v1/queues/work{at}/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
        self.export(self.source)
        target = self.started()
        client = target.client()
        process = self.begin_import(target)
        while self.pending(client) == 0:
            pass
        target.kill()
        target.listen = f"127.0.0.1:{target.port}"
        target.start()
        output, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, error)
        self.assertEqual(len(self.messages(target)), 10_000)

    def test_what_is_set_already_is_left_unless_it_is_to_be_replaced(self):
        self.set_all_kinds()
        self.export(self.source)
        target = self.started()
        client = target.client()
        self.ask("PUT", "/v1/queues/letters", {"lease": "9m"}, client)
        self.ask("PUT", "/v1/schedules/report", {"queue": "elsewhere", "cron": "0 5 * * *"}, client)
        kept = duewheel("--json", "import", self.file, server=target)
        self.assertEqual((kept.returncode, json.loads(kept.stdout)["refused"]), (1, 2), kept.stderr)
        self.assertIn("(already_set", kept.stderr)
        self.assertEqual(client.request("GET", "/v1/queues/letters")[1]["settings"]["lease_ms"], 540_000)
        self.assertEqual(self.do_import(target, self.file, "--replace")["set"], 2)
        self.assertEqual(client.request("GET", "/v1/queues/letters")[1]["settings"]["lease_ms"], 120_000)
        self.assertEqual(client.request("GET", "/v1/schedules/report")[1]["settings"]["queue"], "reports")

    # The run that waits was dropped without a word where its schedule had no other time; one that was paused when its end
    # passed was refused.
    def test_what_schedules_without_a_time_left_cannot_bring_is_counted(self):
        source, target = self.started("--test-clock"), self.started("--test-clock")
        client = source.client()
        self.ask("PUT", "/v1/schedules/last", {"queue": "q", "every": "10m", "times": 2, "overlap": "queue_one", "misfire": "all"}, client)
        end = client.server_time_ms() + 45 * 60_000
        self.ask("PUT", "/v1/schedules/paused", {"queue": "q", "every": "30m", "end_ms": end, "paused": True}, client)
        for each in (source, target):
            each.client().advance(by="1h")
        while "waiting_run" not in self.ask("GET", "/v1/schedules/last", client=client):
            pass
        self.export(source)
        report = self.do_import(target, source.directory / "pending.ndjson")
        self.assertEqual({name: report[name] for name in ("ended", "overdue", "refused", "set")},
                         {"ended": 2, "overdue": 1, "refused": 0, "set": 0})

    # One that had ended was refused because it could not be set aside once more, and one that had not was set aside.
    def test_messages_redriven_since_an_earlier_import_are_not_changed(self):
        for body in ("ends", "waits", "stays"):
            self.ask("POST", "/v1/queues/q/messages", {"body": body, "held": True})
        self.export(self.source)
        target = self.started()
        self.assertEqual(self.do_import(target, self.file)["held"], 3)
        client = target.client()
        ids = {line["body"]: line["id"] for line in self.messages(target)}
        self.ask("POST", f"/v1/messages/{ids['ends']}:kick", client=client)
        client.ack(client.take("q", 1)[0]["lease"])
        self.ask("POST", f"/v1/messages/{ids['waits']}:kick", client=client)
        report = self.do_import(target, self.file)
        self.assertEqual({name: report[name] for name in ("put_before", "held", "put", "refused")},
                         {"put_before": 3, "held": 1, "put": 0, "refused": 0})
        self.assertEqual(self.ask("GET", f"/v1/messages/{ids['waits']}", client=client)["state"], "ready")

    # It made the occurrences that had come by then before it could be set aside.
    def test_a_held_loop_makes_nothing_on_its_way(self):
        self.ask("POST", "/v1/queues/rounds/messages", {"body": "round", "repeat": {"every": "1ms", "times": 5}, "held": True})
        self.export(self.source)
        target = self.started()
        self.assertEqual(self.do_import(target, self.file)["held"], 1)
        client = target.client()
        (loop,) = self.messages(target)
        self.assertEqual((loop["state"], loop["repeat"]["times"]), ("held", 5))
        self.assertEqual(client.lease("rounds", 10, "0s"), [])
        self.ask("POST", f"/v1/messages/{loop['id']}:kick", client=client)
        self.assertEqual([message["occurrence"] for message in client.take("rounds", 5)], [1, 2, 3, 4, 5])

    # It removed whatever had the names of what it makes meanwhile, and replaced a device, a pipe or a link by a file.
    def test_an_export_touches_nothing_that_it_did_not_make(self):
        self.ask("POST", "/v1/queues/q/messages", {"body": "x", "delay": "1h"})
        data, place = self.source.data, pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("my.scratch", "scratch/duewheel-export"):
            (place / name).mkdir(parents=True)
            (place / name / "precious").write_text("precious")
        (place / "my.partial").write_text("precious")
        for options in ([], ["--scratch", place / "scratch"]):
            done = duewheel("export", data, place / "my", *options)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(path.name for path in place.iterdir()), ["my", "my.partial", "my.scratch", "scratch"])
        self.assertEqual(sorted(path.name for path in (place / "scratch").iterdir()), ["duewheel-export"])
        self.assertEqual((place / "my").stat().st_mode & 0o777, 0o600)
        for name in ("my.scratch/precious", "scratch/duewheel-export/precious", "my.partial"):
            self.assertEqual((place / name).read_text(), "precious")
        (place / "link").symlink_to(place / "led to")
        self.assertEqual(duewheel("export", data, place / "link").returncode, 0)
        self.assertTrue((place / "link").is_symlink())
        self.assertEqual((place / "led to").read_text(), (place / "my").read_text())
        piped = duewheel("export", data, "/dev/stdout")
        self.assertEqual((piped.returncode, piped.stdout.splitlines()[0]), (0, (place / "my").read_text().splitlines()[0]))
        self.assertTrue(pathlib.Path("/dev/stdout").is_symlink())
        full = duewheel("export", data, "/dev/full")
        self.assertIn("(no_space", full.stderr)
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())
        self.assertIn("Is a directory", duewheel("export", data, place).stderr)

    # A second of the future that is full was waited for, and the import ended there each time that it was begun anew.
    def test_a_second_that_is_full_there_is_a_refusal(self):
        due = (int(time.time()) + 7200) * 1000
        for number in range(3):
            self.ask("POST", "/v1/queues/narrow/messages", {"body": str(number), "due_ms": due})
        self.ask("POST", "/v1/queues/other/messages", {"body": "behind", "delay": "1h"})
        self.export(self.source)
        target = self.started()
        self.ask("PUT", "/v1/queues/narrow", {"limits": {"per_second": 1}}, target.client())
        done = duewheel("--json", "import", self.file, server=target)
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["put"], report["refused"]), (1, 2, 2))
        self.assertIn("(second_full", done.stderr)

    # Beside a dead one all with its order key stood still, and one that had an expiry was left out.
    def test_held_dead_letters_block_no_messages_and_do_not_expire(self):
        for queue, more in (("pay", {"order_key": "ann"}), ("brief", {"expires_in": "1h"})):
            self.ask("POST", f"/v1/queues/{queue}/messages", {"body": "dies", "retry": {"attempts": 1}, **more})
            self.client.request("POST", f"/v1/leases/{self.client.take(queue, 1)[0]['lease']}:fail", {"reason": "no"})
        self.ask("POST", "/v1/queues/pay/messages", {"body": "next", "order_key": "ann"})
        self.export(self.source, "--dead")
        target = self.started()
        report = self.do_import(target, self.file, "--dead-as-held")
        self.assertEqual((report["put"], report["held"], report["changed"]["order"]), (3, 2, 1))
        self.assertEqual(target.client().take("pay", 1)[0]["body"], "next")
        (brief,) = [line for line in self.messages(target) if line["queue"] == "brief"]
        self.assertNotIn("expires_ms", brief)

    def test_what_was_due_and_not_made_yet_is_counted(self):
        self.ask("PUT", "/v1/queues/f", {"limits": {"pending": 1}})
        self.ask("POST", "/v1/queues/f/messages", {"body": "in the way", "delay": "1h"})
        self.ask("PUT", "/v1/watchdogs/w", {"queue": "f", "timeout": "1ms"})
        self.ask("PUT", "/v1/schedules/s", {"queue": "f", "every": "1s", "misfire": "all"})
        while not all(self.ask("GET", f"/v1/{name}").get("blocked_by") == "queue_full" for name in ("watchdogs/w", "schedules/s")):
            pass
        self.ask("POST", "/v1/queues/later/messages", {"body": "so that the log knows how late it is", "delay": "1h"})
        self.export(self.source)
        self.assertEqual(self.do_import(self.started(), self.file)["overdue"], 2)

    def test_a_newer_export_leaves_what_an_earlier_one_has_put(self):
        number = self.ask("POST", "/v1/queues/q/messages", {"body": "x", "delay": "1h"})["id"]
        self.export(self.source)
        target = self.started()
        self.do_import(target, self.file)
        self.ask("POST", f"/v1/messages/{number}:hold")
        self.export(self.source)
        again = duewheel("--json", "import", self.file, server=target)
        self.assertEqual((again.returncode, json.loads(again.stdout)["refused"]), (1, 1))
        self.assertIn("an import of an earlier export has put this message", again.stderr)

    def test_what_has_expired_meanwhile_is_counted(self):
        self.ask("POST", "/v1/queues/mail/messages", {"body": "brief", "expires_in": "1h"})
        self.ask("POST", "/v1/queues/mail/messages", {"body": "lasting", "delay": "1h"})
        self.export(self.source)
        target = self.started("--test-clock")
        target.client().advance(by="2h")
        report = self.do_import(target, self.file)
        self.assertEqual((report["put"], report["expired"], report["refused"]), (1, 1, 0))

    def test_a_purge_under_way_is_over_in_an_export(self):
        for at in range(5):
            batch = "".join(json.dumps({"body": str(number), "delay": "1h"}) + "\n" for number in range(1000))
            self.client.request_text("POST", "/v1/queues/work/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
        self.ask("POST", "/v1/queues/work:purge")
        self.ask("POST", "/v1/queues/work/messages", {"body": "after", "delay": "1h"})
        lines = self.export(self.source)
        self.assertEqual([line["body"] for line in lines if line["kind"] == "message"], ["after"])
        self.assertEqual(lines[-1]["purged"] + 1, lines[0]["pending"])

    def test_secrets_of_webhooks_are_named_on_request_and_else_nothing_goes_out_unsigned(self):
        def started():
            daemon = Daemon(arguments=[*SEGMENTS, "--webhooks-secrets=ours=ours"])
            self.addCleanup(daemon.__exit__, None, None, None)
            (daemon.directory / "ours").write_text("whsec_" + base64.b64encode(b"s" * 24).decode() + "\n")
            (daemon.directory / "ours").chmod(0o600)
            daemon.start()
            return daemon

        source, target, other = started(), started(), started()
        webhook = {"url": "https://receiver.example/in", "secrets": ["ours"]}
        self.ask("PUT", "/v1/queues/calls", {"target": {"webhook": webhook}}, source.client())
        for options, daemon, kept in (([], target, {"paused": True, "target": {"webhook": {"url": webhook["url"]}}}),
                                      (["--with-secrets"], other, {"paused": False, "target": {"webhook": webhook}})):
            made = duewheel("export", source.data, self.file, *options)
            self.assertEqual((made.returncode, "--with-secrets" in made.stderr), (0, not options), made.stderr)
            self.assertEqual("ours" in self.file.read_text(), bool(options))
            done = duewheel("import", self.file, server=daemon)
            self.assertEqual((done.returncode, "calls" in done.stderr), (0, not options), done.stderr)
            self.assertEqual(daemon.client().request("GET", "/v1/queues/calls")[1]["settings"], kept)

    def test_without_a_server_and_from_a_backup_it_is_the_same(self):
        self.put_all_kinds()
        running = self.carried(self.export(self.source, "--dead"))
        made = duewheel("backup", self.source.data, self.source.directory / "backup")
        self.assertEqual(made.returncode, 0, made.stderr)
        for directory in (self.source.data, self.source.directory / "backup"):
            self.source.kill()
            done = duewheel("export", directory, "-", "--dead")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("the export is complete", done.stderr)
            self.assertEqual(self.carried(lines_of(done.stdout)), running)
        piped = duewheel("--json", "import", "-", "--dry-run", input=done.stdout)
        self.assertEqual(piped.returncode, 0, piped.stderr)

    def test_how_far_it_is_stands_on_a_terminal_alone(self):
        self.put_all_kinds()
        target = self.started()
        for arguments, word, columns in ((("export", self.source.data, self.file), "exported", 80),
                                         (("import", self.file), "imported", 80),
                                         (("import", self.file), "imported", 30), (("import", self.file), "imported", 12)):
            controller, terminal = os.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            server = ["--server", f"http://127.0.0.1:{target.port}"]
            run = subprocess.run([BIN / "duewheel", *server, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=terminal, timeout=60)
            os.close(terminal)
            shown = b""
            try:
                while piece := os.read(controller, 65536):
                    shown += piece
            except OSError:  # the end of what a terminal has
                pass
            os.close(controller)
            self.assertEqual(run.returncode, 0, shown)
            drawn = shown.decode().split("\r\x1b[K")
            self.assertEqual(drawn[-1], "", "the line is gone at the end")
            # It was 52 letters wide however narrow the terminal, and broken over two lines that nobody took away.
            self.assertLess(max(map(len, drawn)), columns)
            bar = r"\[#+\.*\] +" if columns > 20 else ""
            self.assertRegex(drawn[-2], rf"^{bar} *100.0 % {word[:columns - 10]}")

    def test_an_export_that_is_told_to_stop_or_loses_its_reader_leaves_nothing(self):
        for at in range(30):
            batch = "".join(json.dumps({"body": f"{at} " + "z" * 900, "delay": "1h"}) + "\n" for _ in range(1000))
            self.client.request_text("POST", "/v1/queues/work/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
        temporary = self.source.directory / "temporary"
        temporary.mkdir()
        command = [BIN / "duewheel", "export", self.source.data]
        process = subprocess.Popen([*command, "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=dict(os.environ, TMPDIR=str(temporary)))
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(60), 1)
        self.assertIn(b"(io_error)", process.stderr.read())
        process.stderr.close()
        self.assertEqual(list(temporary.iterdir()), [])
        for _ in range(20):
            process = subprocess.Popen([*command, self.file], stderr=subprocess.PIPE)
            while not list(self.source.directory.glob("pending*")) and process.poll() is None:
                pass
            process.send_signal(signal.SIGTERM)
            _, error = process.communicate(timeout=60)
            if process.returncode != 0:
                break
            self.file.unlink()  # it was over before it was told
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"(stopped)", error)
        self.assertEqual(list(self.source.directory.glob("pending*")), [])

    def test_what_cannot_be_exported_is_refused(self):
        self.put_all_kinds()
        nowhere = duewheel("export", self.source.directory / "nowhere", self.file)
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("(not_found", nowhere.stderr)
        unwritable = duewheel("export", self.source.data, self.source.directory / "no" / "file")
        self.assertEqual(unwritable.returncode, 1)
        self.assertEqual(len(unwritable.stderr.splitlines()), 1, unwritable.stderr)
        self.assertFalse(self.file.exists())
        self.source.kill()
        segment = sorted((self.source.data / "journal").glob("seg-*"))[0]
        with open(segment, "r+b") as file:
            file.seek(4096 + 40)
            file.write(b"\xff\xff\xff")
        damaged = duewheel("export", self.source.data, self.file)
        self.assertEqual(damaged.returncode, 1)
        self.assertIn("(damaged_log", damaged.stderr)
        self.assertFalse(self.file.exists())


def there_start(lines):
    """The first time of the schedule `beat`, which an import sets."""
    return next(line["settings"]["start"] for line in lines if line.get("schedule") == "beat" and line["kind"] == "schedule")


if __name__ == "__main__":
    unittest.main()
