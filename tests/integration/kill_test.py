"""kill -9 under load, again and again; what clients were told must hold.

A ledger keeps what was answered. An operation whose answer was lost may have happened or not. Lost: an acknowledged
message that was neither cancelled nor acknowledged as done, and neither comes nor is pending. The seed is printed and
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


def producer(daemon, ledger, seed, stop):
    randomness = random.Random(seed)
    mine = []
    try:
        client = daemon.client()
        while not stop.is_set():
            choice = randomness.random()
            if choice < 0.7 or not mine:
                delay = randomness.choice([0, 1, 50, 300, 1000, 2500, 3_600_000])
                status, answer = client.put("q", "x" * randomness.randrange(400), delay=delay)
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


def consumer(daemon, ledger, seed, stop):
    randomness = random.Random(seed)
    try:
        client = daemon.client()
        while not stop.is_set():
            asked_at = time.monotonic()
            for message in client.lease("q", 20, "200ms", "1s"):
                ledger.delivery(message, asked_at)
                if randomness.random() < 0.1:
                    continue  # lets the lease run out
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
            print(f"{len(ledger.due)} accepted, {sum(ledger.delivered.values())} deliveries of "
                  f"{len(ledger.delivered)}, {len(ledger.cancelled)} cancelled, 0 lost")

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
            else:
                self.assertEqual(answer["state"], "scheduled", answer)
                self.assertGreater(answer["due_ms"], time.time() * 1000, answer)
        self.assertEqual(daemon.terminate(), 0, daemon.log_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
