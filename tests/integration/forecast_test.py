"""Forecasts of the real daemon, compared with a count of the puts, with most messages in the index, some in memory, and
after a start. Each test begins at the eighth minute of an hour. It begins with a full minute so that no minute ends
during the test, and always with the same one because the runs of a cron rule in the next sixty minutes depend on it (at
a minute of the rule itself, which has already begun, there is one run less)."""

import random
import unittest

from daemon import Daemon

MINUTE = 60_000
HOUR = 60 * MINUTE
SEED = 20261124


class Forecast(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(arguments=["--test-clock", "--store-segment-size=1MiB"])
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()
        now = self.forecast()["now_ms"]
        start = now // HOUR * HOUR + HOUR + 7 * MINUTE + 1000
        status, advanced = self.client.request("POST", "/v1/clock:advance", {"to_ms": start})
        self.assertEqual(status, 200, advanced)

    def forecast(self, query="", name_space=""):
        status, answer = self.client.request("GET", f"/v1{name_space}/forecast{query}")
        self.assertEqual(status, 200, answer)
        self.assertEqual(answer["total"]["due"], sum(minute["due"] for minute in answer["minutes"]))
        return answer

    def seal(self):
        """Fills the open file of the log, so that what was put before gets into the index."""
        for _ in range(2):
            self.client.put("filler", "x" * 900_000, delay="30d")
        while self.client.request("GET", "/v1/stats")[1]["unsealed_segments"]:
            pass

    def test_each_kind_in_its_minute(self):
        now = self.forecast()["now_ms"]
        first = now // MINUTE * MINUTE
        self.client.put("q", "x", due_ms=first + 10 * MINUTE)
        self.client.put("q", "x", due_ms=first + 11 * MINUTE - 1)
        self.client.put("q", "x", due_ms=first + 11 * MINUTE)
        self.client.put("q", "x", due_ms=first + 60 * MINUTE)
        self.client.put("q", "x", due_ms=first + 12 * MINUTE, repeat={"every": "1m"})
        self.client.put("r", "x", due_ms=first + 12 * MINUTE)
        self.client.request("PUT", "/v1/schedules/s", {"queue": "q", "cron": "*/20 * * * *"})
        self.client.put("q", "x")
        token = self.client.take("q", 1)[0]["lease"]
        status, failed = self.client.request("POST", f"/v1/leases/{token}:fail", {"retry_in": "13m"})
        self.assertEqual((status, failed["outcome"]), (200, "retrying"))
        answer = self.forecast("?queue=q")
        self.assertEqual((answer["queue"], answer["exact"]), ("q", True))
        self.assertEqual([minute["start_ms"] for minute in answer["minutes"]], [first + i * MINUTE for i in range(60)])
        self.assertEqual(answer["total"], {"due": 8, "scheduled": 3, "retrying": 1, "recurring": 1, "runs": 3})
        by_minute = answer["minutes"]
        self.assertEqual([by_minute[i]["scheduled"] for i in (9, 10, 11, 12)], [0, 2, 1, 0])
        self.assertEqual(by_minute[12]["recurring"], 1)
        self.assertEqual(by_minute[(failed["due_ms"] - first) // MINUTE]["retrying"], 1)
        for minute in by_minute:
            self.assertEqual(minute["runs"], 1 if minute["start_ms"] // MINUTE % 20 == 0 and minute["start_ms"] > now else 0)
        self.assertEqual(self.forecast("?queue=q&minutes=61")["total"]["scheduled"], 4)
        self.assertEqual(self.forecast("?minutes=60")["total"]["scheduled"], 4)
        self.assertEqual(self.forecast("?minutes=60", "/namespaces/team")["total"]["due"], 0)
        status, advanced = self.client.request("POST", "/v1/clock:advance", {"by": "10m"})
        self.assertEqual(status, 200, advanced)
        self.assertEqual(self.forecast("?queue=q")["minutes"][0]["start_ms"], first + 10 * MINUTE)

    def test_tiers_and_starts_change_nothing(self):
        chance = random.Random(SEED)
        standing = {}  # id: (queue, due)

        def any_time():
            return self.forecast("?minutes=1")["now_ms"] + chance.randrange(2 * MINUTE, 70 * MINUTE)

        def counted(queue, now):
            due = {}
            for name, due_ms in standing.values():
                if now < due_ms < now // MINUTE * MINUTE + 60 * MINUTE and queue in ("", name):
                    start = due_ms // MINUTE * MINUTE
                    due[start] = due.get(start, 0) + 1
            return due

        def compare():
            for queue in ("q", "r", ""):
                answer = self.forecast(f"?queue={queue}" if queue else "")
                self.assertTrue(answer["exact"])
                due = {minute["start_ms"]: minute["due"] for minute in answer["minutes"] if minute["due"]}
                self.assertEqual(due, counted(queue, answer["now_ms"]))

        for round_ in range(6):
            for _ in range(300):
                name, due_ms = chance.choice("qqr"), any_time()
                standing[self.client.put(name, "x" * chance.randrange(2000), due_ms=due_ms)[1]["id"]] = (name, due_ms)
            for each in chance.sample(sorted(standing), 40):
                if chance.random() < 0.5:
                    self.assertEqual(self.client.cancel(each)[1]["outcome"], "cancelled")
                    del standing[each]
                else:
                    due_ms = any_time()
                    moved = self.client.request("PATCH", f"/v1/messages/{each}", {"due_ms": due_ms})
                    self.assertEqual(moved[1]["outcome"], "rescheduled")
                    standing[each] = (standing[each][0], due_ms)
            if round_ == 3:
                self.assertEqual(self.client.request("POST", "/v1/queues/r:purge")[0], 200)
                standing = {each: at for each, at in standing.items() if at[0] != "r"}
                while self.client.request("GET", "/v1/queues/r")[1]["pending"]:
                    pass
            compare()
            if round_ % 2:
                self.seal()
                compare()
            if round_ % 3 == 2:
                self.daemon.kill()
                self.daemon.start()
                self.client = self.daemon.client()
                compare()


if __name__ == "__main__":
    unittest.main()
