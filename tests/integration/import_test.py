"""Imports of lines of JSON into a real daemon: what they refuse, wait for and leave, and that one which was killed or
stopped may be started again."""

import json
import random
import signal
import subprocess
import threading
import time
import unittest

from daemon import SlowDiskDaemon
from exports import BIN, Exports, duewheel


class Import(Exports):
    # An import lost how far the workers of a message were, and gave it all its attempts again.
    def test_what_workers_have_done_and_said_comes_along(self):
        retry = {"attempts": 9, "first": "1h", "jitter": 0}
        shown = {}
        for queue in ("fails", "fetches", "runs"):
            self.ask("POST", f"/v1/queues/{queue}/messages", {"body": queue, "key": queue, "retry": retry})
            for number, (verb, members) in enumerate([("fail", {"reason": "no route", "retry_in_ms": 0}), ("release", {})]):
                lease = self.leased(queue, f"host-{number}")
                self.ask("POST", f"/v1/leases/{lease}:extend", {"progress": {"page": number}, "checkpoint": {"seen": [1, {"x": 1.50}]}})
                self.ask("POST", f"/v1/leases/{lease}:{verb}", members)
        self.ask("POST", f"/v1/leases/{self.leased('fails', 'host-2')}:fail", {"reason": "no route again"})
        self.ask("POST", f"/v1/leases/{self.leased('fetches', 'host-2')}:release", {"delay": "2h"})
        lease = self.leased("runs", "host-2")
        self.ask("POST", f"/v1/leases/{lease}:extend", {"progress": 0.5, "lease": "1h"})
        lines = self.messages(self.source)
        for line in lines:
            self.assertEqual((line["attempts"], line["checkpoint"], len(line["timeline"])), (3, {"seen": [1, {"x": 1.5}]}, 3), line)
        self.assertEqual({line["queue"]: line["attempts_counted"] for line in lines}, {"fails": 2, "fetches": 1, "runs": 1})
        for line in lines:
            shown[line["key"]] = self.ask("GET", f"/v1/messages/{line['id']}")
        target = self.started()
        self.assertEqual(self.do_import(target, self.file)["put"], 3)
        again = self.messages(target)
        new = ("id", "put_ms", "first_put_ms")
        without = lambda of: [{name: value for name, value in line.items() if name not in new} for line in of]
        self.assertEqual(without(again), without(lines))
        for line in again:
            there = self.ask("GET", f"/v1/messages/{line['id']}", client=target.client())
            here = shown[line["key"]]
            if line["key"] == "runs":  # the export has ended its lease
                self.assertEqual(here["state"], "leased")
                there["timeline"][-1] = {name: value for name, value in there["timeline"][-1].items() if name in here["timeline"][-1]}
                for name in ("lease_until_ms", "delivered_ms", "worker"):
                    del here[name]
                here["state"] = "ready"
            self.assertEqual(without([there]), without([here]))
        # The next attempt goes on where the last one stopped, and the rule counts on.
        client = target.client()
        message = client.take("runs", 1)[0]
        self.assertEqual((message["attempt"], message["checkpoint"]), (4, {"seen": [1, {"x": 1.5}]}))

    def leased(self, queue, worker):
        status, answer = self.client.request("POST", f"/v1/queues/{queue}:lease", {"worker": worker, "wait": "10s"})
        self.assertEqual(status, 200, answer)
        return answer["messages"][0]["lease"]

    def test_a_history_that_no_server_has_written_is_refused(self):
        attempt = {"attempt": 1, "ended_ms": 1, "outcome": "failed"}
        cases = [({"attempts": "3"}, "wrong_type", "attempts"), ({"attempts": 1, "attempts_counted": 2}, "out_of_range", "attempts_counted"),
                 ({"progress": 1.5}, "out_of_range", "progress"), ({"checkpoint": "x" * (16 << 10)}, "out_of_range", "checkpoint"),
                 ({"reason": "x" * 4097}, "out_of_range", "reason"), ({"timeline": {}}, "wrong_type", "timeline"),
                 ({"attempts": 1, "timeline": [attempt] * 11}, "out_of_range", "timeline"),
                 ({"attempts": 1, "timeline": [{**attempt, "attempt": 2}]}, "out_of_range", "timeline[0].attempt"),
                 ({"attempts": 1, "timeline": [{**attempt, "started_ms": 2}]}, "out_of_range", "timeline[0].ended_ms"),
                 ({"attempts": 1, "timeline": [{**attempt, "outcome": "lost"}]}, "out_of_range", "timeline[0].outcome"),
                 ({"attempts": 1, "timeline": [{**attempt, "worker": "w" * 65}]}, "out_of_range", "timeline[0].worker"),
                 ({"timeline": [attempt]}, "out_of_range", "attempts")]
        self.client.put("q", "x", due="2100-01-01T00:00:00Z")
        self.export(self.source)
        first, line, _ = self.file.read_text().splitlines()
        for history, code, field in cases:
            with self.subTest(history=str(history)[:80]):
                status, answer = self.client.request("POST", "/v1/queues/q/messages", {"body": "x", "imported": history})
                self.assertEqual((status, answer["code"], answer["field"]), (400, code, f"imported.{field}"), answer)
                self.file.write_text(first + "\n" + json.dumps({**json.loads(line), **history}) + "\n")
                done = duewheel("--json", "import", self.file, "--incomplete", server=self.source)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"`{field}`", done.stdout + done.stderr)
        for members in ({"repeat": {"every": "1h"}}, {"transaction": {"check_back": {"after": "1m"}}}, {"key": "k", "on_key": "replace"}):
            status, answer = self.client.request("POST", "/v1/queues/q/messages", {"body": "x", "imported": {"attempts": 1}, **members})
            self.assertEqual((status, answer["code"]), (400, "conflicting_members"), answer)

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


if __name__ == "__main__":
    unittest.main()
