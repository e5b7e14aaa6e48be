"""The audit log of the real server: one line for each administrative request, a limited number of lines for refusals of
access, and a chain that reveals changes; over restarts, kill -9, a full disk and a flood of refusals."""

import http.client
import json
import os
import pathlib
import subprocess
import threading
import time
import unittest

from daemon import BIN, Daemon
from small_disk import Refused, SmallDisk

# Method, path, body, and the verb, namespace and object of the line.
ADMINISTRATIVE = [
    ("PUT", "/v1/queues/q", {"lease": "1m"}, "queue.set", "default", "q"),
    ("PATCH", "/v1/queues/q", {"lease": "2m"}, "queue.set", "default", "q"),
    ("PUT", "/v1/namespaces/team/queues/gr%C3%B6%C3%9Fe", {}, "queue.set", "team", "größe"),
    ("POST", "/v1/queues/q:pause", None, "queue.pause", "default", "q"),
    ("POST", "/v1/queues/q:resume", None, "queue.resume", "default", "q"),
    ("POST", "/v1/queues/q:purge", None, "queue.purge", "default", "q"),
    ("POST", "/v1/queues/q:redrive", {}, "queue.redrive", "default", "q"),
    ("POST", "/v1/queues/q:discard", {}, "queue.discard", "default", "q"),
    ("DELETE", "/v1/queues/q", None, "queue.remove", "default", "q"),
    ("PUT", "/v1/schedules/s", {"queue": "q", "every": "1h"}, "schedule.set", "default", "s"),
    ("PATCH", "/v1/schedules/s", {"every": "2h"}, "schedule.set", "default", "s"),
    ("POST", "/v1/schedules/s:pause", None, "schedule.pause", "default", "s"),
    ("POST", "/v1/schedules/s:resume", None, "schedule.resume", "default", "s"),
    ("POST", "/v1/schedules/s:fire", None, "schedule.fire", "default", "s"),
    ("DELETE", "/v1/schedules/s", None, "schedule.remove", "default", "s"),
    ("PUT", "/v1/watchdogs/w", {"queue": "q", "timeout": "1h"}, "watchdog.set", "default", "w"),
    ("PATCH", "/v1/watchdogs/w", {"timeout": "2h"}, "watchdog.set", "default", "w"),
    ("DELETE", "/v1/watchdogs/w", None, "watchdog.remove", "default", "w"),
    ("PUT", "/v1/namespaces/team", {"weight": 2}, "namespace.set", "team", ""),
    ("PATCH", "/v1/namespaces/team", {"weight": 3}, "namespace.set", "team", ""),
    ("DELETE", "/v1/namespaces/team", None, "namespace.remove", "team", ""),
    ("POST", "/v1/clock:advance", {"by": "1s"}, "clock.advance", "", ""),
]
# Refused, with their codes: they have a line too.
REFUSED = [
    ("PUT", "/v1/queues/q", {"lease": "soon"}, "queue.set", "q", "bad_duration"),
    ("PUT", "/v1/queues/-q", {}, "queue.set", "-q", "bad_queue_name"),
    ("POST", "/v1/schedules/none:pause", None, "schedule.pause", "none", "unknown_schedule"),
    ("POST", "/v1/clock:accept", None, "clock.accept", "", "clock_not_held"),
]


def duewheel(*arguments):
    return subprocess.run([BIN / "duewheel", *map(str, arguments)], capture_output=True, text=True, timeout=120)


def files(daemon):
    return sorted((daemon.data / "audit").glob("audit-*.jsonl"))


def verify(daemon, *options):
    return duewheel(*options, "audit", "verify", "--data", daemon.data)


def wait_until(condition, within_s=60):
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


class Audit(unittest.TestCase):
    def started(self, *arguments):
        daemon = self.enterContext(Daemon(arguments=arguments))
        daemon.start()
        return daemon

    def assert_whole(self, daemon):
        verified = verify(daemon)
        self.assertEqual(verified.returncode, 0, verified.stderr)
        self.assertIn("the audit log is intact", verified.stdout)

    # ---- what has a line

    def test_each_administrative_request_writes_one_line_before_its_response(self):
        daemon = self.started("--test-clock")
        client = daemon.client()
        for method, path, body, verb, name_space, name in ADMINISTRATIVE:
            with self.subTest(f"{method} {path}"):
                before = len(daemon.audit_lines())
                status, answer = client.request(method, path, body)
                self.assertLess(status, 300, answer)
                new = daemon.audit_lines()[before:]  # it stands in the file already
                self.assertEqual(len(new), 1)
                line = new[0]
                self.assertEqual((line["verb"], line.get("namespace", ""), line.get("object", ""), line["outcome"]),
                                 (verb, name_space, name, "ok"))
                self.assertEqual((line["actor"], line["address"]), ("anonymous", "127.0.0.1"))
                self.assertNotIn("call", line)
        for method, path, body, verb, name, code in REFUSED:
            with self.subTest(f"{method} {path}"):
                before = len(daemon.audit_lines())
                status, answer = client.request(method, path, body)
                self.assertEqual(answer["code"], code)
                wait_until(lambda: len(daemon.audit_lines()) > before)  # a refusal does not wait for its line
                new = daemon.audit_lines()[before:]
                self.assertEqual([(line["verb"], line.get("object", ""), line["outcome"]) for line in new], [(verb, name, code)])
        times = [line["time"] for line in daemon.audit_lines()]
        self.assertEqual(times, sorted(times))
        self.assert_whole(daemon)

    def test_messages_and_reads_write_none(self):
        daemon = self.started()
        client = daemon.client()
        client.request("PUT", "/v1/queues/q", {})
        client.request("PUT", "/v1/watchdogs/w", {"queue": "q", "timeout": "1h"})
        before = daemon.audit_lines()
        message = client.put("q", "body")[1]["id"]
        client.get(message)
        client.ack_all(client.take("q", 1))
        client.request("POST", "/v1/watchdogs/w:feed")
        for path in ("/v1/queues/q", "/v1/queues", "/v1/namespaces", "/v1/clock", "/metrics", "/v1/stats", "/readyz", "/none"):
            client.request("GET", path)
        client.request("POST", "/v1/queues/q/messages", {"nonsense": 1})
        self.assertEqual(daemon.audit_lines(), before)

    def test_a_traceparent_is_kept_and_bodies_and_header_values_are_not(self):
        daemon = self.started()
        client = daemon.client()
        parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        client.request_text("PUT", "/v1/queues/q", json.dumps({"target": {"webhook": {
            "url": "https://receiver.example/in?CANARY", "headers": {"Authorization": "CANARY"}}}}), {"traceparent": parent})
        self.assertEqual([line["traceparent"] for line in daemon.audit_lines()], [parent])
        self.assertNotIn("CANARY", "".join(path.read_text() for path in files(daemon)))

    def test_can_be_switched_off(self):
        daemon = self.started("--audit-enabled=false")
        self.assertEqual(daemon.client().request("PUT", "/v1/queues/q", {})[0], 200)
        self.assertFalse((daemon.data / "audit").exists())
        self.assertNotIn("\nduewheel_audit_log_available ", daemon.client().request("GET", "/metrics")[1])  # nothing to alert on
        self.assertIn("no_audit_log" if (daemon.data / "audit").exists() else "not_found", verify(daemon).stderr)

    # ---- refusals of access

    def test_refusals_of_access_have_lines_and_a_flood_only_a_few(self):
        daemon = self.started()
        client = daemon.client()
        foreign = {"Host": "foreign.example"}
        status, answer = client.request_text("POST", "/v1/queues/q/messages", "{}", foreign)
        self.assertEqual((status, answer["code"]), (403, "foreign_host"))
        wait_until(lambda: daemon.audit_lines())
        line = daemon.audit_lines()[0]
        self.assertEqual({name: line[name] for name in ("verb", "actor", "address", "call", "outcome")},
                         {"verb": "access.refuse", "actor": "anonymous", "address": "127.0.0.1",
                          "call": "POST /v1/queues/q/messages", "outcome": "foreign_host"})
        status, answer = client.request_text("PUT", "/v1/queues/q", "{}", {"Origin": "http://foreign.example"})
        self.assertEqual((status, answer["code"]), (403, "foreign_origin"))
        # The token of a lease opens the lease.
        client.request_text("POST", "/v1/leases/SECRETLEASE:ack", None, foreign)
        flood = 3000
        for _ in range(flood):
            self.assertEqual(client.request_text("GET", "/v1/queues/q", None, foreign)[0], 403)
        wait_until(lambda: sum(1 + line.get("suppressed", 0) for line in daemon.audit_lines() if "call" in line)
                   + sum(line.get("suppressed", 0) for line in daemon.audit_lines() if "call" not in line) == flood + 3)
        self.assertLess(len(daemon.audit_lines()), 40)
        self.assertNotIn("SECRETLEASE", "".join(path.read_text() for path in files(daemon)))
        self.assert_whole(daemon)

    def test_lines_name_the_token_and_refused_ones_too(self):
        daemon = self.enterContext(Daemon(arguments=["--auth-required"]))
        daemon.data.mkdir()
        made = duewheel("token", "add", "root", "--admin", "--data", daemon.data)
        self.assertEqual(made.returncode, 0, made.stderr)
        admin = {"Authorization": f"Bearer {made.stdout.strip()}"}
        self.assertEqual([(line["verb"], line["actor"], line["object"], line["outcome"]) for line in daemon.audit_lines()],
                         [("token.set", "offline", "root", "ok")])
        daemon.start()
        client = daemon.client()
        status, shop = client.request_text("PUT", "/v1/tokens/shop", '{"scopes": ["put"]}', admin)
        self.assertLess(status, 300, shop)
        limited = {"Authorization": f"Bearer {shop['token']}"}
        wrong = {"Authorization": f"Bearer {shop['token'][:-1]}x"}
        before = len(daemon.audit_lines())
        for method, path, body, headers in (("PUT", "/v1/queues/q", "{}", admin),
                                            ("PUT", "/v1/queues/q", "{}", limited), ("GET", "/v1/queues", None, limited),
                                            ("PUT", "/v1/queues/q", "{}", wrong), ("PUT", "/v1/queues/q", "{}", None),
                                            ("POST", "/v1/tokens/shop:rotate", None, admin), ("DELETE", "/v1/tokens/shop", None, admin)):
            client.request_text(method, path, body, headers)
        # Refusals do not wait for their lines.
        wait_until(lambda: len(daemon.audit_lines()) == before + 7)
        self.assertEqual([(line["verb"], line["actor"], line.get("object"), line.get("call"), line["outcome"])
                          for line in daemon.audit_lines()[before:]],
                         [("queue.set", "root", "q", None, "ok"),
                          ("queue.set", "shop", "q", None, "forbidden"), ("access.refuse", "shop", None, "GET /v1/queues", "forbidden"),
                          ("access.refuse", "anonymous", None, "PUT /v1/queues/q", "bad_token"),
                          ("access.refuse", "anonymous", None, "PUT /v1/queues/q", "token_required"),
                          ("token.rotate", "root", "shop", None, "ok"), ("token.remove", "root", "shop", None, "ok")])
        text = "".join(path.read_text() for path in files(daemon))
        for token in (made.stdout.strip(), shop["token"]):
            self.assertNotIn(token.split("_", 2)[2][:20], text)
        self.assert_whole(daemon)

    def test_a_stop_writes_how_many_refusals_have_no_line(self):
        daemon = self.started()
        client = daemon.client()
        for _ in range(50):
            client.request_text("GET", "/v1/queues/q", None, {"Host": "foreign.example"})
        self.assertEqual(daemon.terminate(), 0)
        self.assertEqual(sum(line.get("suppressed", 0) + ("call" in line) for line in daemon.audit_lines()), 50)
        self.assert_whole(daemon)

    # ---- the chain

    def test_continues_through_restarts_and_kills(self):
        daemon = self.started()
        seen = 0
        for stop in (daemon.kill, daemon.terminate, daemon.kill):
            client = daemon.client()
            for number in range(20):
                self.assertEqual(client.request("PUT", f"/v1/queues/q{seen + number}", {})[0], 200)
            seen += 20
            stop()
            self.assertEqual(len(daemon.audit_lines()), seen, "what was answered has its line")
            self.assert_whole(daemon)
            daemon.start()
        self.assertEqual((daemon.data / "audit").stat().st_mode & 0o077, 0o050)
        self.assertEqual({path.stat().st_mode & 0o777 for path in files(daemon)}, {0o600})

    def test_a_torn_last_line_is_repaired_by_a_line_that_says_so(self):
        daemon = self.started()
        daemon.client().request("PUT", "/v1/queues/kept", {})
        daemon.client().request("PUT", "/v1/queues/torn", {})
        daemon.kill()
        path = files(daemon)[-1]
        whole = path.read_bytes()
        path.write_bytes(whole[:-20])
        broken = verify(daemon)
        self.assertEqual(broken.returncode, 1)
        self.assertIn("line 3: the last line is incomplete", broken.stderr)
        daemon.start()
        self.assertIn("audit_log_repaired", daemon.log_text())
        self.assert_whole(daemon)
        repair = daemon.audit_lines()[-1]
        self.assertEqual((repair["verb"], repair["torn_bytes"]), ("audit.repair", len(whole.splitlines()[-1]) + 1 - 20))
        self.assertIn('"object":"torn"', repair["torn"])
        shown = duewheel("audit", "show", "--data", daemon.data, "--verb", "audit.repair")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("torn", shown.stdout)

    def test_verify_names_the_file_the_line_and_why_also_while_the_server_writes(self):
        daemon = self.started()
        stop = threading.Event()

        def write():
            client = daemon.client()
            number = 0
            while not stop.is_set():
                client.request("PUT", f"/v1/queues/q{number % 50}", {"lease": f"{number % 100 + 1}s"})
                number += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for _ in range(15):
                self.assert_whole(daemon)
        finally:
            stop.set()
            thread.join()
        report = json.loads(verify(daemon, "--json").stdout)
        self.assertTrue(report["is_whole"])
        self.assertEqual((report["files"], report["lines"]), (1, len(daemon.audit_lines()) + 1))
        path = files(daemon)[0]
        text = path.read_text().splitlines(keepends=True)
        text[4] = text[4].replace('"outcome":"ok"', '"outcome":"no"')
        path.write_text("".join(text))
        broken = verify(daemon)
        self.assertEqual(broken.returncode, 1)
        self.assertIn("audit-000001.jsonl, line 5: its hash does not match its content", broken.stderr)
        report = json.loads(verify(daemon, "--json").stdout)
        self.assertEqual((report["is_whole"], report["break"]["file"], report["break"]["line"]), (False, "audit-000001.jsonl", 5))
        self.assertEqual(duewheel("audit", "verify", "--data", daemon.directory / "none").returncode, 1)

    def test_show_filters_by_time_and_verb(self):
        daemon = self.started("--test-clock")
        client = daemon.client()
        client.request("PUT", "/v1/queues/before", {})
        client.advance(by="1d")
        between = client.request("GET", "/v1/clock")[1]["server_time"]
        client.advance(by="1d")
        client.request("PUT", "/v1/queues/after", {})
        client.request("POST", "/v1/queues/after:pause")
        shown = duewheel("audit", "show", "--data", daemon.data, "--since", between, "--verb", "queue.set")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"^\S+ \S+ \S+  queue\.set  ok  default/after  anonymous  127\.0\.0\.1\n$")
        raw = duewheel("--json", "audit", "show", "--data", daemon.data)
        self.assertEqual(raw.stdout, "".join(path.read_text() for path in files(daemon)))
        self.assertEqual(duewheel("audit", "show", "--data", daemon.data, "--since", "soon").returncode, 2)

    # ---- a disk that does not take it

    def test_while_it_cannot_be_written_administrative_requests_are_refused_and_messages_go_on(self):
        daemon = self.enterContext(Daemon())
        daemon.data.mkdir()
        try:
            disk = self.enterContext(SmallDisk(daemon.data / "audit", 1))
        except Refused as why:
            self.skipTest(f"no small disk can be made here: {why}")
        self.addCleanup(daemon.kill)  # before the disk goes
        daemon.start()
        client = daemon.client()
        disk.fill()
        done = 0
        while True:  # into the reserve
            status, answer = client.request("PUT", f"/v1/queues/q{done}", {})
            if status != 200:
                break
            done += 1
        self.assertGreater(done, 50, "the reserve takes some")
        # This one was carried out, as its response says; the next ones are not.
        self.assertEqual((status, answer["code"]), (503, "audit_unavailable"))
        self.assertIn("was carried out", answer["detail"])
        self.assertEqual(client.request("GET", f"/v1/queues/q{done}")[0], 200)
        status, answer = client.request("PUT", "/v1/queues/refused", {})
        self.assertEqual((status, answer["code"]), (503, "audit_unavailable"))
        self.assertIn("nothing was changed", answer["detail"])
        self.assertEqual(client.request("GET", "/v1/queues/refused")[0], 404)
        self.assertEqual(client.put("q0", "x")[0], 201)
        self.assertEqual(client.ack_all(client.take("q0", 1)), ["done"])
        status, ready = client.request("GET", "/readyz")
        self.assertEqual(status, 200)
        self.assertIn("audit log", ready["reason"])
        self.assertIn("\nduewheel_audit_log_available 0\n", client.request("GET", "/metrics")[1])
        self.assertIn("audit_log_unavailable", daemon.log_text())
        self.assert_whole(daemon)

        disk.make_room()
        wait_until(lambda: client.request("PUT", "/v1/queues/again", {})[0] == 200)
        self.assertIn("audit_log_available", daemon.log_text())
        self.assertIn("\nduewheel_audit_log_available 1\n", client.request("GET", "/metrics")[1])
        self.assertEqual([line["object"] for line in daemon.audit_lines()], [f"q{number}" for number in range(done + 1)] + ["again"],
                         "each that was carried out has its line")
        self.assert_whole(daemon)

    def test_after_a_failed_sync_administrative_requests_are_refused_until_a_restart(self):
        daemon = self.enterContext(Daemon())
        trigger = daemon.directory / "syncs-fail"
        daemon.environment.update(LD_PRELOAD=os.environ["DUEWHEEL_FAILING_SYNC"], DUEWHEEL_FAIL_SYNC_WHEN=str(trigger),
                                  DUEWHEEL_FAIL_SYNC_OF="/audit/")
        daemon.start()
        client = daemon.client()
        self.assertEqual(client.request("PUT", "/v1/queues/before", {})[0], 200)
        self.assertEqual(client.request("PUT", "/v1/queues/not-synced", {})[0], 200)
        trigger.touch()
        wait_until(lambda: "audit_log_failed" in daemon.log_text())
        trigger.unlink()  # what is on disk stays unknown, whatever later syncs say
        until = time.monotonic() + 2.5  # twice as long as a failed write waits for its repetition
        while time.monotonic() < until:
            status, answer = client.request("PUT", "/v1/queues/refused", {})
            self.assertEqual((status, answer["code"]), (503, "audit_unavailable"))
            self.assertIn("nothing was changed", answer["detail"])
            self.assertEqual(client.put("before", "x")[0], 201)
            self.assertEqual(client.ack_all(client.take("before", 1)), ["done"])
        self.assertEqual(client.request("GET", "/v1/queues/refused")[0], 404)
        self.assertIn("audit log", client.request("GET", "/readyz")[1]["reason"])
        self.assertIn("\nduewheel_audit_log_available 0\n", client.request("GET", "/metrics")[1])
        daemon.kill()
        daemon.start()
        self.assertEqual(daemon.client().request("PUT", "/v1/queues/after", {})[0], 200)
        self.assertEqual([line["object"] for line in daemon.audit_lines()], ["before", "not-synced", "after"])
        self.assert_whole(daemon)

    def test_a_start_without_a_place_for_the_log_is_refused(self):
        daemon = self.enterContext(Daemon())
        daemon.data.mkdir()
        (daemon.data / "audit").write_text("not a directory")
        start = subprocess.run([BIN / "duewheeld", "--data", daemon.data, "--http", "127.0.0.1:0"], capture_output=True, text=True,
                               timeout=60, env=daemon.environment)
        self.assertEqual((start.returncode, start.stdout), (1, ""), start.stderr)
        self.assertIn("/audit", start.stderr)

    def test_a_start_on_a_full_disk_waits_for_space_for_the_log(self):
        daemon = self.enterContext(Daemon())
        daemon.data.mkdir()
        try:
            disk = self.enterContext(SmallDisk(daemon.data / "audit", 1))
        except Refused as why:
            self.skipTest(f"no small disk can be made here: {why}")
        self.addCleanup(daemon.kill)
        disk.fill()
        daemon.start()
        client = daemon.client()
        self.assertEqual(client.request("PUT", "/v1/queues/q", {})[1]["code"], "audit_unavailable")
        self.assertEqual(client.put("q", "x")[0], 201)
        disk.make_room()
        wait_until(lambda: client.request("PUT", "/v1/queues/q", {})[0] == 200)
        self.assert_whole(daemon)


if __name__ == "__main__":
    unittest.main(verbosity=2)
