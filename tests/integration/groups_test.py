"""Groups of a queue with the real daemon: turns and limits, the calls and the commands on groups, and that settings, a
backoff and the group of each message outlive kill -9, an export and an import."""

import json
import os
import pathlib
import subprocess
import unittest

from daemon import Daemon

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])
# Its slash and colon are part of the name, and no verb.
ODD = "a/b:backoff"
ODD_PATH = "/v1/queues/q/groups/a%2Fb%3Abackoff"


class Groups(unittest.TestCase):
    def setUp(self):
        self.daemon = self.started()
        self.client = self.daemon.client()

    def started(self):
        daemon = Daemon(arguments=["--test-clock"])
        self.addCleanup(daemon.__exit__, None, None, None)
        daemon.start()
        return daemon

    def ask(self, method, path, value=None):
        status, answer = self.client.request(method, path, value)
        self.assertEqual(status, 200, answer)
        return answer

    def put(self, *groups):
        for group in groups:
            self.assertEqual(self.client.put("q", "x", group=group)[0], 201)

    def take(self, count):
        """The groups of the messages that a lease gets: at least `count`, and up to ten."""
        lease = self.ask("POST", "/v1/queues/q:lease", {"max": 10, "min": count, "wait": "20s"})
        return [message["group"] for message in lease["messages"]]

    def duewheel(self, *arguments):
        done = subprocess.run([BIN / "duewheel", "--server", f"http://127.0.0.1:{self.daemon.port}", *arguments],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_groups_take_turns_within_their_limits(self):
        self.ask("PUT", "/v1/queues/q", {"groups": {"leased": 2}})
        self.ask("PUT", ODD_PATH, {"leased": 1})
        self.put("ann", "ann", "ann", "ann", "bob", ODD, ODD)
        self.assertEqual(sorted(self.take(4)), [ODD, "ann", "ann", "bob"])
        groups = self.ask("GET", "/v1/queues/q/groups")
        self.assertEqual([(each["group"], each["ready"], each["leased"], each.get("limited_by")) for each in groups["groups"]],
                         [("ann", 2, 2, "leased"), (ODD, 1, 1, "leased"), ("bob", 0, 1, None)])
        self.assertEqual((groups["known"], groups["more"]), (3, False))
        limited = self.ask("GET", "/v1/queues/q/groups?limited=true&order=leased")["groups"]
        self.assertEqual([each["group"] for each in limited], ["ann", ODD])
        by_name = self.ask("GET", "/v1/queues/q/groups?order=name&limit=1&after=a%2Fb%3Abackoff")
        self.assertEqual(([each["group"] for each in by_name["groups"]], by_name["more"]), (["ann"], True))

    def test_a_backoff_is_no_setting_and_outlives_kill_9(self):
        self.ask("PUT", ODD_PATH, {"weight": 3})
        until = self.ask("POST", ODD_PATH + ":backoff", {"for": "1h"})["backoff_until_ms"]
        self.ask("PUT", ODD_PATH, {"leased": 4})
        self.put(ODD, "ann")
        self.daemon.kill()
        self.daemon.start()
        self.client = self.daemon.client()
        self.assertEqual(self.take(1), ["ann"])
        group = self.ask("GET", ODD_PATH)
        self.assertEqual((group["settings"], group["limited_by"], group["backoff_until_ms"]), ({"leased": 4}, "backoff", until))
        ended = self.ask("POST", ODD_PATH + ":backoff", {"for": "0s"})
        self.assertNotIn("backoff_until", ended)
        self.assertEqual(self.take(1), [ODD])
        self.assertEqual(self.ask("DELETE", ODD_PATH)["settings"], {})

    def test_errors_name_the_member(self):
        for path, value, field in (("/v1/queues/q", {"limits": {"leased": 10**9}}, "limits.leased"),
                                   ("/v1/queues/q", {"groups": {"leased": 10**9}}, "groups.leased"),
                                   ("/v1/queues/q", {"groups": {"rate": {"count": 10**6}}}, "groups.rate.count"),
                                   ("/v1/queues/q", {"rate": {"count": 1, "per": "25h"}}, "rate.per"),
                                   (ODD_PATH, {"weight": 1001}, "weight"),
                                   (ODD_PATH, {"rate": {"count": 1, "burst": 10**6}}, "rate.burst"),
                                   ("/v1/queues/q", {"groups": {"rate": {"count": 1, "per": "24h", "burst": 2}}}, "groups.rate.burst")):
            for method in ("PUT", "PATCH"):
                status, problem = self.client.request(method, path, value)
                self.assertEqual((status, problem["code"], problem["field"]), (400, "out_of_range", field), problem)

    def test_commands_set_and_show_them(self):
        self.duewheel("queue", "set", "q", "--leased", "9", "--rate-count", "100", "--groups-leased", "1",
                      "--groups-rate-count", "5", "--groups-rate-per", "1m")
        self.assertEqual(self.ask("GET", "/v1/queues/q")["settings"],
                         {"paused": False, "limits": {"leased": 9}, "rate": {"count": 100},
                          "groups": {"leased": 1, "rate": {"count": 5, "per_ms": 60000}}})
        self.duewheel("queue", "set", "q", "--unset", "rate", "--unset", "groups.rate")
        self.duewheel("put", "q", "x", "--group", ODD)
        self.duewheel("put", "q", "x", "--group", ODD)
        self.duewheel("group", "set", "q", ODD, "--leased", "1", "--rate-count", "3", "--weight", "2")
        self.assertEqual(self.take(1), [ODD])
        table = self.duewheel("group", "list", "q", "--order", "oldest")
        self.assertIn(ODD, table)
        self.assertIn("leased", table)
        rows = [json.loads(line) for line in self.duewheel("--json", "group", "list", "q").splitlines()]
        self.assertEqual([(row["group"], row["ready"], row["leased"]) for row in rows], [(ODD, 1, 1)])
        self.assertIn("backoff until", self.duewheel("group", "backoff", "q", ODD, "5m"))
        self.assertIn("rate.count", self.duewheel("group", "get", "q", ODD))
        self.assertIn(ODD, self.duewheel("group", "list", "q", "--limited"))
        self.assertNotIn(ODD, self.duewheel("group", "list", "q", "--after", ODD))
        done = subprocess.run([BIN / "duewheel", "group", "set", "q", ODD], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, "Give a setting" in done.stderr), (2, True), done.stderr)
        self.assertEqual(json.loads(self.duewheel("--json", "group", "rm", "q", ODD))["settings"], {})

    def test_an_import_has_what_the_export_had(self):
        self.ask("PUT", "/v1/queues/q", {"groups": {"leased": 2}, "limits": {"leased": 5, "pending": 10}})
        self.ask("PUT", ODD_PATH, {"rate": {"count": 3, "per": "1m"}, "weight": 2})
        self.put(ODD, "ann")
        queue, group = self.ask("GET", "/v1/queues/q"), self.ask("GET", ODD_PATH)
        self.daemon.terminate()
        file = self.daemon.directory / "pending.ndjson"
        subprocess.run([BIN / "duewheel", "export", self.daemon.data, file], check=True, capture_output=True, timeout=120)
        self.daemon = self.started()
        self.client = self.daemon.client()
        self.duewheel("import", str(file))
        self.assertEqual(self.ask("GET", "/v1/queues/q")["settings"], queue["settings"])
        self.assertEqual(self.ask("GET", ODD_PATH)["settings"], group["settings"])
        self.assertEqual(sorted(self.take(2)), [ODD, "ann"])
        again = json.loads(self.duewheel("--json", "import", str(file)))
        self.assertEqual(again["refused"], 0, again)


if __name__ == "__main__":
    unittest.main()
