"""Transactions of the real daemon: the interfaces, and that after kill -9 no prepared message is delivered before its
commit and no committed one is lost."""

import collections
import random
import threading
import time
import unittest

from daemon import Daemon
from wall import Wall

KILLS = 12  # at least
SEED = 20261123


def transaction(after, **members):
    otherwise = {"otherwise": members.pop("otherwise")} if "otherwise" in members else {}
    return {"check_back": {"after": after, **members}, **otherwise}


class Interface(unittest.TestCase):
    """On a clock that goes on when it is told, so that nothing depends on how soon a machine asks and answers."""

    def setUp(self):
        self.daemon = Daemon(arguments=["--test-clock"])
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()

    def settle(self, half, end):
        return self.client.request("POST", f"/v1/messages/{half}:{end}")

    def test_a_prepared_message_is_not_delivered_until_it_is_committed(self):
        status, half = self.client.put("q", "x", headers={"a": "b"}, priority=3, key="mine", transaction=transaction("1h"))
        self.assertEqual((status, half["state"]), (201, "prepared"))
        self.assertEqual(self.client.lease("q"), [])
        again = self.client.put("q", "x", headers={"a": "b"}, priority=3, key="mine", transaction=transaction("1h"))
        self.assertEqual(again, (200, half))
        seen = self.client.get(half["id"])[1]
        self.assertEqual((seen["state"], seen["due_ms"], seen["checks"]), ("prepared", half["due_ms"], 0))
        self.assertEqual(seen["answer_by_ms"] - seen["put_ms"], 3600000)
        self.assertEqual(seen["transaction"], {"check_back": {"after_ms": 3600000}, "otherwise": "rollback"})
        listed = self.client.request("GET", "/v1/queues/q/messages?state=prepared")[1]["messages"]
        self.assertEqual([row["id"] for row in listed], [half["id"]])
        queue = self.client.request("GET", "/v1/queues/q")[1]
        self.assertEqual((queue["pending"], queue["prepared"], queue["scheduled"]), (1, 1, 0))
        for _ in range(3):
            self.assertEqual(self.settle(half["id"], "commit"), (200, {"id": half["id"], "outcome": "committed"}))
        taken = self.client.lease("q")
        self.assertEqual([(message["id"], message["headers"], message["due_ms"]) for message in taken],
                         [(half["id"], {"a": "b"}, half["due_ms"])])
        self.assertEqual(self.client.ack(taken[0]["lease"])[1]["outcome"], "done")
        self.assertEqual(self.settle(half["id"], "commit")[1]["outcome"], "committed")
        status, problem = self.settle(half["id"], "rollback")
        self.assertEqual((status, problem["code"]), (409, "already_committed"))

    def test_a_rollback_is_for_good_over_a_restart_too(self):
        half = self.client.put("q", "x", transaction=transaction("1h"))[1]["id"]
        self.assertEqual(self.settle(half, "rollback"), (200, {"id": half, "outcome": "rolled_back"}))
        self.daemon.kill()
        self.daemon.start()
        self.client = self.daemon.client()
        self.assertEqual(self.settle(half, "rollback"), (200, {"id": half, "outcome": "rolled_back"}))
        status, problem = self.settle(half, "commit")
        self.assertEqual((status, problem["code"]), (409, "already_rolled_back"))
        self.assertEqual(self.client.lease("q", wait="200ms"), [])
        ended = self.client.request("GET", "/v1/history?queue=q")[1]["ended"]
        self.assertEqual([(row["id"], row["outcome"], row["cause"]) for row in ended], [(half, "cancelled", "rolled_back")])

    def test_delayed_and_transactional_in_one(self):
        half = self.client.put("q", "x", delay="30m", transaction=transaction("1h"))[1]
        self.assertEqual(self.settle(half["id"], "commit")[0], 200)
        self.assertEqual(self.client.get(half["id"])[1]["due_ms"], half["due_ms"])
        self.assertEqual(self.client.lease("q"), [])
        self.client.advance(to_ms=half["due_ms"] - 200)  # what is left goes by as time does
        taken = self.client.lease("q", wait="10s")
        self.assertEqual(taken[0]["due_ms"], half["due_ms"])
        self.assertGreaterEqual(taken[0]["lateness_ms"], 0)

    def test_an_unanswered_half_is_asked_about_and_then_settled(self):
        half = self.client.put("q", "order 7", headers={"a": "b"},
                               transaction=transaction("1h", queue="checks", times=2, otherwise="commit"))[1]["id"]
        for number in (1, 2):
            self.client.advance(by="61m")
            check = self.client.lease("checks", wait="10s")[0]
            self.assertEqual(check["check"], {"message": half, "number": number, "times": 2, "otherwise": "commit"})
            self.assertEqual((check["body"], check["headers"]), ("order 7", {"a": "b"}))
            self.assertNotIn("parent", check)
            self.assertEqual(self.client.ack(check["lease"])[1]["outcome"], "done")
        self.assertEqual(self.client.lease("q"), [])
        self.client.advance(by="61m")
        taken = self.client.lease("q", wait="10s")
        self.assertEqual(taken[0]["id"], half)
        self.assertEqual(self.settle(half, "rollback")[1]["code"], "already_committed")
        stats = self.client.request("GET", "/v1/stats")[1]
        self.assertEqual((stats["prepared"], stats["committed"], stats["unanswered"], stats["checks"]), (1, 1, 1, 2))
        metrics = self.client.request("GET", "/metrics")[1]
        for line in ("duewheel_transaction_messages_defaulted_total 1", "duewheel_transaction_checks_total 2", "duewheel_messages_prepared 0"):
            self.assertIn(line + "\n", metrics)

    # They left no room for their checks: nobody was ever asked, and they stood for ever.
    def test_prepared_messages_that_fill_their_namespace_are_checked_and_settled(self):
        self.client.request("PUT", "/v1/namespaces/default", {"limits": {"pending": 2}})
        halves = [self.client.put("q", str(number), transaction=transaction("1h", queue="checks", times=2))[1]["id"]
                  for number in range(2)]
        for number in (1, 2):
            self.client.advance(by="61m")
            asked = self.client.take("checks", 2)
            self.assertEqual({check["check"]["message"] for check in asked}, set(halves))
            self.assertEqual({check["check"]["number"] for check in asked}, {number})
            status, problem = self.client.put("q", "x")
            self.assertEqual((status, problem["code"]), (429, "namespace_full"))
            self.assertEqual(self.client.ack_all(asked), ["done", "done"])
        self.client.advance(by="61m")
        for half in halves:
            while self.client.get(half)[1]["state"] == "prepared":
                pass
            self.assertEqual(self.client.get(half)[1]["state"], "cancelled")

    def test_a_half_whose_check_queue_would_be_one_too_many_is_refused(self):
        limit = lambda queues: self.client.request("PUT", "/v1/namespaces/default", {"limits": {"queues": queues}})
        limit(1)
        status, problem = self.client.put("q", "x", transaction=transaction("1h", queue="checks", times=1))
        self.assertEqual((status, problem["code"], problem["field"]),
                         (429, "queue_limit", "transaction.check_back.queue"))
        self.assertEqual(self.client.request("GET", "/v1/namespaces/default")[1]["pending"], 0)
        limit(2)
        half = self.client.put("q", "x", transaction=transaction("1h", queue="checks", times=1))[1]["id"]
        self.assertNotIn("blocked_by", self.client.get(half)[1])
        limit(1)
        self.assertEqual(self.client.get(half)[1]["blocked_by"], "queue_limit")
        limit(2)
        self.client.advance(by="61m")
        self.assertEqual(self.client.take("checks", 1)[0]["check"]["message"], half)

    def test_the_default_without_a_queue_is_a_rollback(self):
        half = self.client.put("q", "x", transaction=transaction("50ms"))[1]["id"]
        deadline = time.monotonic() + 10
        while self.client.get(half)[1]["state"] == "prepared":
            self.assertLess(time.monotonic(), deadline)
        ended = self.client.request("GET", "/v1/history?queue=q")[1]["ended"]
        self.assertEqual([(row["outcome"], row["cause"]) for row in ended], [("cancelled", "unanswered")])

    def test_a_server_that_was_away_asks_once_and_waits_for_the_answer(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            half = daemon.client().put("q", "x", transaction=transaction("1h", queue="checks", times=2))[1]["id"]
            daemon.kill()
            wall.set_ahead_in_another_run(daemon, 5 * 3600)  # more than all of its checks would have taken
            daemon.start()
            client = daemon.client()
            (check,) = client.lease("checks", wait="10s")
            self.assertEqual(check["check"]["number"], 1)
            self.assertEqual(client.request("POST", f"/v1/messages/{half}:commit")[0], 200)
            self.assertEqual(client.lease("q", wait="10s")[0]["id"], half)


class Kills(unittest.TestCase):
    """Halves are put, committed, rolled back and left alone while the process is killed again and again. In the end what was
    committed was delivered, what was rolled back never, and what was left alone as its put said."""

    def test_each_prepared_message_ends_as_requested(self):
        random_ = random.Random(SEED)
        meant = {}    # id: "commit", "rollback", or what its put said for no answer
        unknown = {}  # id: what was asked of it when the process died: it may have been done or not
        taken = {}    # id: how often
        early = []
        with Daemon() as daemon:
            daemon.start()
            stop = threading.Event()
            self.addCleanup(stop.set)

            def produce():
                client = daemon.client()
                while not stop.is_set():
                    end = random_.choice(["commit", "rollback", "commit left alone", "rollback left alone"])
                    left_alone = end.endswith("left alone")
                    after = random_.choice([30, 200]) if left_alone else 600_000
                    checks = {"queue": "checks", "times": random_.randint(1, 2)} if random_.random() < 0.5 else {}
                    members = transaction(f"{after}ms", otherwise=end.split()[0], **checks) if left_alone else transaction(f"{after}ms", **checks)
                    half = None
                    try:
                        status, answer = client.put("q", "x" * random_.choice([1, 3000]), delay_ms=random_.choice([0, 0, 40]),
                                                    transaction=members)
                        if status != 201:
                            continue
                        half = answer["id"]
                        if left_alone:
                            meant[half] = end
                        else:
                            unknown[half] = end
                            if half in taken:
                                early.append(half)
                            outcome = client.request("POST", f"/v1/messages/{half}:{end}")[1]["outcome"]
                            if outcome == {"commit": "committed", "rollback": "rolled_back"}[end]:
                                meant[half] = end
                    except Exception:  # the process is gone: what it did not answer may have been done or not
                        time.sleep(0.02)
                        if daemon.process is not None and not stop.is_set():
                            client = daemon.client()

            def take(client, wait):
                messages = client.lease("q", 1000, wait)
                for message in messages:
                    taken[message["id"]] = taken.get(message["id"], 0) + 1
                return messages

            def enough_of_each():
                of_each = collections.Counter(list(meant.values()))
                return len(of_each) == 4 and min(of_each.values()) > 10

            def consume():
                client = daemon.client()
                while not stop.is_set():
                    try:
                        for message in take(client, "20ms"):
                            client.ack(message["lease"])
                    except Exception:
                        time.sleep(0.02)
                        if daemon.process is not None and not stop.is_set():
                            client = daemon.client()

            threads = [threading.Thread(target=produce), threading.Thread(target=produce), threading.Thread(target=consume)]
            for thread in threads:
                thread.start()
            kills = 0
            while kills < KILLS or not enough_of_each():
                self.assertLess(kills, 20 * KILLS, "too little is answered between the kills")
                time.sleep(random_.uniform(0.05, 0.3))
                daemon.kill()
                daemon.start()
                kills += 1
            stop.set()
            for thread in threads:
                thread.join()
            client = daemon.client()
            # Every answer is repeated; what nobody knows is settled now.
            for half, end in unknown.items():
                status, answer = client.request("POST", f"/v1/messages/{half}:{end}")
                self.assertEqual(status, 200, answer)
                meant[half] = end
            for half, end in meant.items():
                if not end.endswith("left alone"):
                    other = {"commit": "rollback", "rollback": "commit"}[end]
                    self.assertEqual(client.request("POST", f"/v1/messages/{half}:{other}")[0], 409)
            states = dict.fromkeys(meant)
            give_up = time.monotonic() + 120
            while waiting := [half for half, state in states.items() if state not in ("done", "cancelled")]:
                self.assertLess(time.monotonic(), give_up, states)
                client.ack_all(take(client, "100ms"))
                states.update((half, client.get(half)[1]["state"]) for half in waiting)
            self.assertEqual(early, [], "a half was handed out before anybody committed it")
            for half, end in meant.items():
                if end.startswith("commit"):
                    self.assertEqual(states[half], "done", f"{half} {end}")
                    self.assertIn(half, taken, end)
                else:
                    self.assertEqual(states[half], "cancelled", f"{half} {end}")
                    self.assertNotIn(half, taken, end)
            print(f"{len(meant)} halves settled, {len(taken)} delivered, over {kills} kills")
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
