"""Recurring messages of the real daemon: the interfaces, and that kill -9 duplicates and loses no occurrence.

The time of each occurrence follows from the answer to its put and the rule alone, so it is compared exactly.
"""

import random
import threading
import time
import unittest

from daemon import Daemon
from wall import Wall

KILLS = 12  # at least
SEED = 20261122


def due_times(first_ms, every_ms, times, factor=1.0, max_ms=None):
    """The judge: the rule of docs/http_api.md once more."""
    due, interval = [first_ms], every_ms
    while len(due) < times:
        due.append(due[-1] + int(min(interval, max_ms or interval)))
        interval *= factor
    return due


class Interface(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()

    def test_occurrences_come_with_their_parent_number_and_time(self):
        status, recurring = self.client.put("q", "again", delay="20ms", headers={"a": "b"}, key="mine",
                                       repeat={"every": "10ms", "times": 4, "factor": 2, "max": "25ms"})
        self.assertEqual((status, recurring["state"]), (201, "scheduled"))
        taken = self.client.take("q", 4)
        self.assertEqual([message["occurrence"] for message in taken], [1, 2, 3, 4])
        self.assertEqual([message["due_ms"] for message in taken], due_times(recurring["due_ms"], 10, 4, 2, 25))
        self.assertEqual({message["parent"] for message in taken}, {recurring["id"]})
        self.assertEqual(len({message["id"] for message in taken} | {recurring["id"]}), 5)
        for message in taken:
            self.assertEqual((message["body"], message["headers"]), ("again", {"a": "b"}))
            self.assertNotIn("key", message)
            self.assertGreaterEqual(message["lateness_ms"], 0)
        status, child = self.client.get(taken[1]["id"])
        self.assertEqual((child["parent"], child["occurrence"], child["state"]), (recurring["id"], 2, "leased"))
        self.assertEqual(self.client.get(recurring["id"])[1]["state"], "done")
        history = self.client.request("GET", "/v1/history?queue=q")[1]["ended"]
        self.assertEqual([(row["id"], row["outcome"], row["cause"]) for row in history], [(recurring["id"], "done", "spawned")])
        again = self.client.put("q", "again", delay="20ms", headers={"a": "b"}, key="mine",
                                repeat={"every": "10ms", "times": 4, "factor": 2, "max": "25ms"})
        self.assertEqual((again[0], again[1]["id"]), (200, recurring["id"]))

    def test_get_shows_the_rule_and_the_next_occurrence(self):
        recurring = self.client.put("q", "x", delay="1h", order_key="o", expires_in="5m",
                               repeat={"every": "1h", "until": "2100-01-01T00:00:00Z"})[1]
        status, seen = self.client.get(recurring["id"])
        self.assertEqual(seen["repeat"], {"every_ms": 3600000, "until": "2100-01-01T00:00:00.000Z"})
        self.assertEqual((seen["next_occurrence"], seen["due_ms"], seen["state"]), (1, recurring["due_ms"], "scheduled"))
        listed = self.client.request("GET", "/v1/queues/q/messages")[1]["messages"]
        self.assertEqual([(row["id"], row["next_occurrence"]) for row in listed], [(recurring["id"], 1)])
        for call, body in ((":fire", None), ("", {"delay": "1s"})):
            method = "POST" if call else "PATCH"
            status, problem = self.client.request(method, f"/v1/messages/{recurring['id']}{call}", body)
            self.assertEqual((status, problem["code"]), (409, "repeats"))
        self.assertEqual(self.client.cancel(recurring["id"])[1],
                         {"outcome": "cancelled", "attempts": 0, "maybe_delivered": False})

    def test_seconds_for_milliseconds_are_refused(self):
        status, problem = self.client.put("q", "x", due_ms=1_795_717_296, repeat={"every": "1m"})
        self.assertEqual((status, problem["code"], problem["field"]), (400, "bad_instant", "due_ms"), problem)
        status, problem = self.client.put("q", "x", due="1970-01-21T18:48:37Z", repeat={"every": "1m"})
        self.assertEqual((status, problem["code"], problem["field"]), (400, "out_of_range", "due"), problem)
        self.assertEqual(self.client.request("GET", "/v1/queues/q/messages")[1]["messages"], [])

    def test_what_was_missed_while_the_server_was_away_is_made_with_its_times(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            client = daemon.client()
            recurring = client.put("q", "x", repeat={"every": "1h", "times": 60})[1]
            first = client.take("q", 1)
            self.assertEqual(client.lease("q"), [])
            daemon.kill()
            wall.set_ahead_in_another_run(daemon, 24 * 3600 + 1800)
            daemon.start()
            client = daemon.client()
            seen = {message["occurrence"]: message["due_ms"] for message in first}
            while len(seen) < 25:  # the first one, which nobody acknowledged, may come once more
                seen.update({message["occurrence"]: message["due_ms"] for message in client.take("q", 1)})
            self.assertEqual(sorted(seen.items()), list(enumerate(due_times(recurring["due_ms"], 3600_000, 25), 1)))
            self.assertEqual(client.get(recurring["id"])[1]["next_occurrence"], 26)


class Room(unittest.TestCase):
    """On a manual clock."""

    # Three in a queue for three waited for ever for room for what they make.
    def test_limits_leave_room_for_an_occurrence_and_one_that_waits_shows_why(self):
        daemon = Daemon(arguments=["--test-clock"])
        self.addCleanup(daemon.__exit__, None, None, None)
        daemon.start()
        client = daemon.client()
        client.request("PUT", "/v1/queues/q", {"limits": {"pending": 3}})
        recurring_messages = [client.put("q", "x", delay="1h", repeat={"every": "5h"})[1]["id"] for _ in range(2)]
        status, problem = client.put("q", "x", repeat={"every": "5h"})
        self.assertEqual((status, problem["code"], problem["field"]), (429, "queue_full", "queue"))
        self.assertIn("needs room for itself and for an occurrence", problem["detail"])
        client.advance(by="2h")
        made = client.take("q", 1)[0]
        waits = next(recurring for recurring in recurring_messages if recurring != made["parent"])
        self.assertEqual(client.get(waits)[1]["blocked_by"], "queue_full")
        self.assertNotIn("blocked_by", client.get(made["parent"])[1])
        client.ack(made["lease"])
        self.assertEqual(client.take("q", 1)[0]["parent"], waits)
        self.assertNotIn("blocked_by", client.get(waits)[1])


class Kills(unittest.TestCase):
    """Recurring messages are put while the process is killed repeatedly. In the end each confirmed one has made each of its
    occurrences, and each of them is one message."""

    def test_each_number_is_made_once(self):
        random_ = random.Random(SEED)
        recurring_messages = {}  # id: its due times
        with Daemon() as daemon:
            daemon.start()
            stop = threading.Event()
            self.addCleanup(stop.set)

            def put():
                client = daemon.client()
                while not stop.is_set():
                    every, times = random_.choice([1, 3, 7, 20]), random_.randint(1, 40)
                    growth = random_.choice([{}, {"factor": 1.5, "max_ms": 50}])
                    members = {"every_ms": every, "times": times, **growth}
                    try:
                        status, answer = client.put("q", "x" * random_.choice([1, 2000]), repeat=members,
                                                    delay_ms=random_.choice([0, 5, 50]))
                        if status == 201:
                            recurring_messages[answer["id"]] = due_times(answer["due_ms"], every, times, growth.get("factor", 1),
                                                            growth.get("max_ms"))
                        time.sleep(0.005)
                    except Exception:  # the process is gone: what it did not answer is nobody's claim
                        time.sleep(0.02)
                        if daemon.process is not None and not stop.is_set():
                            client = daemon.client()

            putting = threading.Thread(target=put)
            putting.start()
            kills = 0
            while kills < KILLS or len(recurring_messages) <= KILLS:
                self.assertLess(kills, 20 * KILLS, "too little is answered between the kills")
                time.sleep(random_.uniform(0.05, 0.3))
                daemon.kill()
                daemon.start()
                kills += 1
            stop.set()
            putting.join()
            client = daemon.client()
            seen = {}
            give_up = time.monotonic() + 300
            while client.request("GET", "/v1/stats")[1]["pending"] > 0:
                self.assertLess(time.monotonic(), give_up, "something never comes")
                messages = client.lease("q", 1000, "100ms", "30s")
                for message in messages:
                    place = (message["parent"], message["occurrence"])
                    self.assertEqual(seen.setdefault(place, message["id"]), message["id"], "one number, two messages")
                    if message["parent"] in recurring_messages:
                        self.assertEqual(message["due_ms"], recurring_messages[message["parent"]][message["occurrence"] - 1])
                self.assertLessEqual(set(client.ack_all(messages)), {"done"})
            for recurring, due in recurring_messages.items():
                made = sorted(number for parent, number in seen if parent == recurring)
                self.assertEqual(made, list(range(1, len(due) + 1)), f"recurring message {recurring}")
                self.assertEqual(client.get(recurring)[1]["state"], "done")
            print(f"{len(recurring_messages)} recurring messages, {len(seen)} occurrences, each once, over {kills} kills")
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
