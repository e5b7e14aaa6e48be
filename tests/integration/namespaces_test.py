"""Limits of namespaces with the real daemon: what is refused and with which code, that other namespaces are not
affected, and that settings and counts are the same after kill -9, after sealing and compaction, and in the offline
check."""

import json
import os
import pathlib
import subprocess
import unittest

from daemon import Daemon

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])
TEAM = "/v1/namespaces/team"


def put(client, queue="q", space=TEAM, **members):
    return client.request("POST", f"{space}/queues/{queue}/messages", {"body": "", **members})


def limit(client, space=TEAM, **limits):
    status, answer = client.request("PUT", space, {"limits": limits})
    assert status == 200, answer
    return answer


class Limits(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(arguments=["--test-clock"])
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()

    def advance(self, by):
        self.client.advance(by=by)

    def refused(self, answer, code):
        status, problem = answer
        self.assertEqual((status, problem["code"]), (429, code), problem)
        return problem

    def test_a_full_namespace_refuses_in_all_its_queues_and_the_others_take_more(self):
        limit(self.client, pending=2)
        self.assertEqual(put(self.client, "a")[0], 201)
        self.assertEqual(put(self.client, "b")[0], 201)
        problem = self.refused(put(self.client, "a"), "namespace_full")
        self.assertEqual(problem["field"], "namespace")
        self.refused(put(self.client, "c"), "namespace_full")
        self.assertEqual(put(self.client, space="/v1")[0], 201)
        _, space = self.client.request("GET", TEAM)
        self.assertEqual((space["pending"], space["queues"], space["settings"]), (2, 2, {"limits": {"pending": 2}}))
        lease = self.client.request("POST", TEAM + "/queues/a:lease", {})[1]["messages"][0]["lease"]
        self.assertEqual(self.client.request("POST", f"/v1/leases/{lease}:ack", {})[0], 200)
        self.assertEqual(put(self.client, "c")[0], 201)

    def test_limits_go_with_the_settings(self):
        limit(self.client, pending=1, put_rate=1, queues=1)
        self.assertEqual(put(self.client, "a")[0], 201)
        self.assertEqual(put(self.client, "b")[0], 429)
        self.assertEqual(self.client.request("DELETE", TEAM), (200, {"namespace": "team", "removed": True}))
        for queue in ("a", "b", "c"):
            self.assertEqual(put(self.client, queue)[0], 201)
        _, space = self.client.request("GET", TEAM)
        self.assertEqual((space["pending"], space["queues"], space["settings"]), (4, 3, {}))

    def test_puts_a_second_are_told_when_to_come_again(self):
        def put_four():
            """At one instant: a third of a second later there may be one more."""
            lines = self.client.request_text("POST", TEAM + "/queues/q/messages:batch", '{"body":""}\n' * 4,
                                             {"Content-Type": "application/x-ndjson"})[1].splitlines()
            return [(line["status"], line.get("code")) for line in map(json.loads, lines)]

        def put_one():
            self.client.connection.request("POST", TEAM + "/queues/q/messages", '{"body":""}', {"Content-Type": "application/json"})
            answer = self.client.connection.getresponse()
            return answer, json.loads(answer.read())

        limit(self.client, put_rate=3)
        three = [(201, None)] * 3 + [(429, "too_many_puts")]
        self.assertEqual(put_four(), three)
        answer, problem = put_one()
        for _ in range(100):
            if answer.status != 201:
                break
            put_four()  # the third of a second had passed, which a machine may not always be quick enough for
            answer, problem = put_one()
        self.refused((answer.status, problem), "too_many_puts")
        self.assertEqual(answer.getheader("Retry-After"), "1")
        self.advance("1s")
        self.assertEqual(put_four(), three)

    def test_a_dead_message_comes_back_only_where_there_is_room(self):
        status, dying = put(self.client, retry={"attempts": 1})
        lease = self.client.request("POST", TEAM + "/queues/q:lease", {})[1]["messages"][0]["lease"]
        self.assertEqual(self.client.request("POST", f"/v1/leases/{lease}:fail", {})[1]["outcome"], "dead")
        self.assertEqual(put(self.client)[0], 201)
        limit(self.client, pending=1)
        self.refused(self.client.request("POST", f"{TEAM}/messages/{dying['id']}:kick"), "namespace_full")
        self.refused(self.client.request("POST", f"{TEAM}/queues/q:redrive", {}), "namespace_full")
        limit(self.client)
        self.assertEqual(self.client.request("POST", f"{TEAM}/queues/q:redrive", {})[1]["redriven"], 1)

    def test_a_schedule_fired_by_hand_is_refused_and_its_runs_wait(self):
        self.assertEqual(self.client.request("PUT", f"{TEAM}/schedules/s", {"queue": "q", "every": "1h"})[0], 201)
        limit(self.client, pending=1, schedules=1)
        self.assertEqual(put(self.client, "other")[0], 201)
        self.refused(self.client.request("POST", f"{TEAM}/schedules/s:fire"), "namespace_full")
        self.refused(self.client.request("PUT", f"{TEAM}/schedules/t", {"queue": "q", "every": "1h"}), "schedule_limit")
        self.advance("61m")
        self.assertEqual(self.client.request("GET", TEAM)[1]["pending"], 1)
        limit(self.client)
        self.advance("2s")
        message = self.client.request("POST", TEAM + "/queues/q:lease", {"wait": "20s"})[1]["messages"][0]
        self.assertEqual(message["schedule"], "s")

    def test_the_command_line_sets_shows_lists_and_removes(self):
        def run(*arguments):
            return subprocess.run([BIN / "duewheel", "--server", f"http://127.0.0.1:{self.daemon.port}", *arguments],
                                  capture_output=True, text=True, timeout=60)

        done = run("namespace", "set", "team", "--pending", "1", "--put-rate", "500", "--weight", "7")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(put(self.client)[0], 201)
        shown = run("namespace", "show", "team").stdout
        for line in (r"pending +1", r"limits\.pending +1", r"limits\.put_rate +500", r"weight +7"):
            self.assertRegex(shown, rf"(?m)^{line}$")
        self.assertIn("`weight`", run("namespace", "set", "team", "--weight", "1001").stderr)
        refused = run("--namespace", "team", "put", "q", "x")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("namespace `team` hold 1 unfinished", refused.stderr)
        self.assertRegex(run("namespace", "list").stdout, r"(?m)^team +1 of 1 .* 500 a second +7$")
        listed = [json.loads(line) for line in run("--json", "namespace", "list").stdout.splitlines()]
        self.assertEqual([space["namespace"] for space in listed], ["team"])
        self.assertIn("has no limits", run("namespace", "rm", "team").stdout)
        self.assertIn("had no settings", run("namespace", "rm", "team").stdout)
        self.assertEqual(run("namespace", "show", "nobody").returncode, 1)
        self.assertNotEqual(run("namespace", "set", "team", "--pending", "many").returncode, 0)


class Restarts(unittest.TestCase):
    def test_settings_and_counts_are_the_same_after_kill_9_sealing_and_cleaning(self):
        with Daemon(arguments=["--store-segment-size=1MiB"]) as daemon:
            daemon.start()
            client = daemon.client()
            limit(client, "/v1/namespaces/gone", pending=1)
            asked = {"limits": {"pending": 40, "queues": 3, "put_rate": 1000}, "weight": 3}
            self.assertEqual(client.request("PUT", TEAM, asked)[1]["settings"], asked)
            for number in range(30):
                self.assertEqual(put(client, f"q{number % 3}", delay="1h")[0], 201)
            self.assertEqual(client.request("DELETE", "/v1/namespaces/gone")[1]["removed"], True)
            before = client.request("GET", TEAM)[1]
            self.assertEqual((before["pending"], before["queues"]), (30, 3))
            body = "x" * 60_000
            for round in range(3):
                for _ in range(80):  # several segments, so that the settings' own is sealed and cleaned
                    status, answer = client.request("POST", "/v1/queues/other/messages", {"body": body})
                    self.assertEqual(status, 201, answer)
                    lease = client.lease("other", 1, wait="20s")[0]["lease"]
                    self.assertEqual(client.request("POST", f"/v1/leases/{lease}:ack", {})[0], 200)
                daemon.kill()
                daemon.start()
                client = daemon.client()
                self.assertEqual(client.request("GET", TEAM)[1], before)
                self.assertEqual(client.request("GET", "/v1/namespaces/gone")[1]["code"], "unknown_namespace")
            self.assertEqual(put(client, "q3")[1]["code"], "queue_limit")
            self.assertEqual([put(client, "q0", delay="1h")[0] for _ in range(11)], [201] * 10 + [429])
            daemon.kill()
            done = subprocess.run([BIN / "duewheel", "check", daemon.data], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
