"""kill -9 under load, again and again; what clients were told must hold.

A ledger keeps what was answered. An operation whose answer was lost may have happened or not. Lost: an acknowledged
message that was neither cancelled nor acknowledged as done, and neither comes nor is pending nor is dead after its last
attempt. The seed is printed and
can be given as DUEWHEEL_SEED; kills as DUEWHEEL_KILLS.
"""

import http.client
import os
import random
import threading
import time
import unittest

from daemon import Daemon

KILLS = int(os.environ.get("DUEWHEEL_KILLS", "50"))
GONE = (OSError, http.client.HTTPException)


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.due = {}        # id -> due_ms, of every put that was answered
        self.moved = {}      # id -> least due_ms it may come at, after a reschedule that was asked for
        self.cancelled = {}  # id -> when the answer had come
        self.asked_cancel = set()
        self.done = set()    # acks answered `done`
        self.asked_ack = set()
        self.failed = {}     # id -> (attempt, least due_ms of the next one), of failures answered `retrying`
        self.dead = set()    # failures answered `dead`
        self.asked_fail = set()
        self.delivered = {}  # id -> times
        self.wrong = []

    def delivery(self, message, asked_at):
        number = message["id"]
        with self.lock:
            self.delivered[number] = self.delivered.get(number, 0) + 1
            if message["delivered_ms"] < message["due_ms"]:
                self.wrong.append(f"{number} came early: {message}")
            if number in self.due and number not in self.moved and message["due_ms"] != self.due[number]:
                self.wrong.append(f"{number} came with another due time: {message}, put at {self.due[number]}")
            # The request that got it was sent after the cancel had been answered.
            if number in self.cancelled and asked_at > self.cancelled[number]:
                self.wrong.append(f"{number} came after it was cancelled")
            if number in self.done:
                self.wrong.append(f"{number} came after its ack was answered")
            if number in self.dead:
                self.wrong.append(f"{number} came after its last failure was answered")
            attempt, not_before = self.failed.get(number, (0, 0))
            if message["attempt"] <= attempt:
                self.wrong.append(f"{number} came as attempt {message['attempt']} after {attempt} had failed")
            if message["delivered_ms"] < not_before and number not in self.moved:
                self.wrong.append(f"{number} came before its rest was over: {message}, not before {not_before}")


def producer(daemon, ledger, seed, stop):
    randomness = random.Random(seed)
    mine = []
    try:
        client = daemon.client()
        while not stop.is_set():
            choice = randomness.random()
            if choice < 0.7 or not mine:
                delay = randomness.choice([0, 1, 50, 300, 1000, 2500, 3_600_000])
                retry = {"attempts": 4, "first": "150ms", "factor": 2, "most": "1s", "jitter": 0.5}
                status, answer = client.put("q", "x" * randomness.randrange(400), delay=delay, retry=retry)
                assert status == 201, answer
                with ledger.lock:
                    ledger.due[answer["id"]] = answer["due_ms"]
                mine.append(answer["id"])
            elif choice < 0.9:
                number = randomness.choice(mine)
                with ledger.lock:
                    ledger.asked_cancel.add(number)
                status, answer = client.cancel(number)
                assert status == 200, answer
                if answer["outcome"] == "cancelled":
                    with ledger.lock:
                        ledger.cancelled.setdefault(number, time.monotonic())
            else:
                number = randomness.choice(mine)
                with ledger.lock:
                    ledger.moved[number] = 0
                status, answer = client.request("PATCH", f"/v1/messages/{number}", {"delay": randomness.choice([0, 700])})
                assert status == 200, answer
    except GONE:
        pass


def fail(client, ledger, message):
    number = message["id"]
    with ledger.lock:
        ledger.asked_fail.add(number)
    status, answer = client.request("POST", f"/v1/leases/{message['lease']}:fail", {"reason": "no luck"})
    assert status == 200, answer
    with ledger.lock:
        if answer["outcome"] == "retrying":
            ledger.failed[number] = max(ledger.failed.get(number, (0, 0)), (message["attempt"], answer["due_ms"]))
        elif answer["outcome"] == "dead":
            ledger.dead.add(number)


def consumer(daemon, ledger, seed, stop):
    randomness = random.Random(seed)
    try:
        client = daemon.client()
        while not stop.is_set():
            asked_at = time.monotonic()
            messages = client.lease("q", 20, "200ms", "1s")
            for message in messages:
                ledger.delivery(message, asked_at)
            for message in messages:
                choice = randomness.random()
                if choice < 0.1:
                    continue  # lets the lease run out
                if choice < 0.35:
                    fail(client, ledger, message)
                    continue
                with ledger.lock:
                    ledger.asked_ack.add(message["id"])
                status, answer = client.ack(message["lease"])
                assert status == 200, answer
                if answer["outcome"] == "done":
                    with ledger.lock:
                        ledger.done.add(message["id"])
    except GONE:
        pass


class Kill(unittest.TestCase):
    def test_nothing_acknowledged_is_lost_and_nothing_comes_early_or_after_its_cancel(self):
        seed = int(os.environ.get("DUEWHEEL_SEED", str(random.randrange(1 << 32))))
        print(f"seed {seed}, {KILLS} kills")
        randomness = random.Random(seed)
        ledger = Ledger()
        # Small segments, so that kills meet rolling, sealing and cleaning too.
        with Daemon(arguments=["--store-segment-size", "1MiB"]) as daemon:
            for _ in range(KILLS):
                daemon.start()
                stop = threading.Event()
                threads = [threading.Thread(target=work, args=(daemon, ledger, randomness.random(), stop))
                           for work in [producer] * 3 + [consumer] * 2]
                for thread in threads:
                    thread.start()
                stop.wait(randomness.uniform(0.02, 0.6))
                daemon.kill()
                stop.set()
                for thread in threads:
                    thread.join()
            self.settle(daemon, ledger)
            self.assertEqual(ledger.wrong, [])
            self.assertGreater(len(ledger.due), KILLS)
            self.assertTrue(ledger.failed and ledger.dead, "nothing failed, or nothing failed for good")
            print(f"{len(ledger.due)} accepted, {sum(ledger.delivered.values())} deliveries of "
                  f"{len(ledger.delivered)}, {len(ledger.cancelled)} cancelled, {len(ledger.failed)} failed once or more, "
                  f"{len(ledger.dead)} told dead, 0 lost")

    def settle(self, daemon, ledger):
        """Takes all that comes, then asks for whatever did not."""
        daemon.start()
        client = daemon.client()
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < 4:
            asked_at = time.monotonic()
            for message in client.lease("q", 100, "500ms", "30s"):
                ledger.delivery(message, asked_at)
                self.assertEqual(client.ack(message["lease"])[1]["outcome"], "done")
                ledger.done.add(message["id"])
                quiet_since = time.monotonic()
        for number in ledger.due:
            status, answer = client.get(number)
            self.assertEqual(status, 200, answer)
            if number in ledger.cancelled:
                self.assertEqual(answer["state"], "cancelled", answer)
            elif answer["state"] == "cancelled":
                self.assertIn(number, ledger.asked_cancel, answer)
            elif answer["state"] == "done":
                self.assertIn(number, ledger.asked_ack | ledger.done, answer)
            elif answer["state"] == "dead":
                self.assertEqual(answer["attempts"], 4, answer)
                told_why = number in ledger.asked_fail and answer["reason"] == "no luck"
                self.assertTrue(told_why or (answer["reason"] == "lease lost" and number not in ledger.dead), answer)
            else:
                self.assertNotIn(number, ledger.dead, answer)
                self.assertEqual(answer["state"], "scheduled", answer)
                self.assertGreater(answer["due_ms"], time.time() * 1000, answer)
        self.assertEqual(daemon.terminate(), 0, daemon.log_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
