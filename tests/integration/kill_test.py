"""kill -9 under load, again and again: everything that clients were told must hold.

A ledger (kill_ledger.py) records the responses. An operation whose response was lost may have taken effect or not. A
message is lost if it was acknowledged by the server, was not cancelled, purged, discarded or acknowledged by a
consumer, and is neither delivered nor pending nor a dead letter after its last attempt. The seed is printed and can be
given as DUEWHEEL_SEED, the number of kills as DUEWHEEL_KILLS; the test adds more until everything that can happen to a
message has happened to some.

Messages of the queue q are moved, cancelled, held and kicked, and fail until they are dead letters; q is paused, and
its dead letters are redriven or discarded. Messages of `line` have order keys; p is purged now and then. Some have
keys, and are put again.
"""

import http.client
import os
import random
import threading
import time
import unittest

from daemon import Daemon
from kill_ledger import ATTEMPTS, Ledger

KILLS = int(os.environ.get("DUEWHEEL_KILLS", "50"))
KILLS_MOST = 5 * KILLS
HAPPENS = ("cancelled", "failed", "dead", "held", "kicked", "redriven", "discarded", "purged", "pauses", "repeated", "in_line",
           "key_ids")
GONE = (OSError, http.client.HTTPException)
ALL = 100_000


class Worker:
    """A client that works until the server goes away."""

    def __init__(self, daemon, ledger, seed, stop):
        self.daemon, self.ledger, self.stop = daemon, ledger, stop
        self.random = random.Random(seed)
        self.name = f"{seed}"

    def __call__(self):
        try:
            self.client = self.daemon.client()
            self.work()
        except GONE:
            pass

    def ask(self, method, path, value=None, expected=(200,)):
        status, answer = self.client.request(method, path, value)
        assert status in expected, answer
        return answer


    def change(self, method, path, value=None):
        """A call that may come too late: its response has an `outcome` all the same."""
        return self.ask(method, path, value, expected=(200, 409, 410))


class Producer(Worker):
    def work(self):
        mine = []
        self.keys = []  # (queue, body, members), of puts that were answered
        while not self.stop.is_set():
            choice = self.random.random()
            if choice < 0.6 or not mine:
                number = self.put_one()
                if number is not None:
                    mine.append(number)
            elif choice < 0.75:
                self.cancel(self.random.choice(mine))
            elif choice < 0.85:
                self.move(self.random.choice(mine))
            elif choice < 0.95:
                self.hold(self.random.choice(mine))
            else:
                self.kick(self.random.choice(mine))

    def put_one(self):
        """The id, where it may be changed afterwards."""
        choice = self.random.random()
        with self.ledger.lock:
            lost = self.ledger.unsure.pop() if self.ledger.unsure and choice < 0.3 else None
        if lost is not None:
            return self.put_keyed(*lost)
        if choice < 0.35 and self.keys:
            return self.put_keyed(*self.random.choice(self.keys))
        body = "x" * self.random.randrange(400)
        if choice < 0.5:
            order_key = f"o{self.random.randrange(8)}"
            members = {"order_key": order_key, "delay_ms": self.random.choice([0, 1, 50, 300]), "retry": {"attempts": 1000}}
            self.put("line", f"{order_key} {body}", members, order_key=order_key)
            return None
        if choice < 0.6:
            self.put("p", body, {"delay_ms": self.random.choice([0, 1, 50, 300])})
            return None
        delay = self.random.choice([0, 1, 50, 300, 1000, 2500, 3_600_000])
        members = {"delay_ms": delay,
                   "retry": {"attempts": ATTEMPTS, "first": "150ms", "factor": 2, "max": "1s", "jitter": 0.5}}
        if choice < 0.75:
            return self.put_keyed("q", body, {**members, "key": f"{self.name} {self.random.getrandbits(64)}"})
        return self.put("q", body, members)

    def put(self, queue, body, members, **told):
        asked_at = time.monotonic()
        status, answer = self.client.put(queue, body, **members)
        assert status in (200, 201), answer
        self.ledger.put_answered(queue, asked_at, answer, key=members.get("key"), repeated=status == 200, **told)
        return answer["id"]

    def put_keyed(self, queue, body, members):
        try:
            number = self.put(queue, body, members)
        except GONE:
            with self.ledger.lock:
                self.ledger.unsure.append((queue, body, members))
            raise
        self.keys.append((queue, body, members))
        return number

    def cancel(self, number):
        with self.ledger.lock:
            self.ledger.asked_cancel.add(number)
        if self.change("DELETE", f"/v1/messages/{number}")["outcome"] == "cancelled":
            with self.ledger.lock:
                self.ledger.cancelled.setdefault(number, time.monotonic())

    def move(self, number):
        with self.ledger.lock:
            self.ledger.moved.add(number)
        self.ask("PATCH", f"/v1/messages/{number}", {"delay_ms": self.random.choice([0, 700])}, expected=(200, 409, 410))

    def hold(self, number):
        with self.ledger.lock:
            self.ledger.asked_hold.add(number)
        if self.change("POST", f"/v1/messages/{number}:hold")["outcome"] == "held":
            with self.ledger.lock:
                self.ledger.held[number] = time.monotonic()

    def kick(self, number):
        with self.ledger.lock:
            self.ledger.asked_kick[number] = time.monotonic()
        if self.change("POST", f"/v1/messages/{number}:kick")["outcome"] == "kicked":
            with self.ledger.lock:
                self.ledger.kicked += 1


class Consumer(Worker):
    def work(self):
        while not self.stop.is_set():
            queue = self.random.choice(["q", "q", "q", "line", "line", "p"])
            asked_at = time.monotonic()
            messages = self.client.lease(queue, 20, "50ms", "1s")
            for message in messages:
                self.ledger.delivery(message, asked_at)
            for message in messages:
                choice = self.random.random()
                if choice < 0.1:
                    continue  # lets the lease run out
                if queue == "q" and choice < 0.35:
                    self.fail(message)
                else:
                    self.ack(message)

    def ack(self, message):
        with self.ledger.lock:
            self.ledger.asked_ack.add(message["id"])
        if self.change("POST", f"/v1/leases/{message['lease']}:ack")["outcome"] == "done":
            with self.ledger.lock:
                self.ledger.done.add(message["id"])

    def fail(self, message):
        number = message["id"]
        asked_at = time.monotonic()
        with self.ledger.lock:
            self.ledger.asked_fail.add(number)
        answer = self.change("POST", f"/v1/leases/{message['lease']}:fail", {"reason": "no luck"})
        with self.ledger.lock:
            if answer["outcome"] == "retrying":
                told = (message["attempt"], answer["due_ms"])
                self.ledger.failed[number] = max(self.ledger.failed.get(number, (0, 0)), told)
            elif answer["outcome"] == "dead":
                self.ledger.dead[number] = (asked_at, time.monotonic())


class Operator(Worker):
    """Tells whole queues what to do. There is one at a time, so that it knows whether q is paused."""

    def work(self):
        chores = [self.pause, self.pause, self.redrive, self.redrive, self.purge, self.discard]
        while not self.stop.is_set():
            self.stop.wait(self.random.uniform(0, 0.06))
            self.random.choice(chores)()

    def pause(self):
        self.resume()
        self.ask("POST", "/v1/queues/q:pause")
        with self.ledger.lock:
            self.ledger.paused_since = time.monotonic()
            self.ledger.pauses += 1
        self.stop.wait(self.random.uniform(0, 0.1))
        if self.random.random() < 0.9:
            self.resume()

    def resume(self):
        with self.ledger.lock:
            self.ledger.paused_since = None
        self.ask("POST", "/v1/queues/q:resume")

    def redrive(self):
        with self.ledger.asking(self.ledger.redrives):
            answer = self.ask("POST", "/v1/queues/q:redrive", {"max": self.random.choice([1, 10, ALL])})
        with self.ledger.lock:
            self.ledger.redriven += answer["redriven"]

    def purge(self):
        with self.ledger.lock:
            there = [number for number, queue in self.ledger.queue.items() if queue == "p"]
        with self.ledger.asking(self.ledger.purges):
            self.ask("POST", "/v1/queues/p:purge")
        with self.ledger.lock:
            for number in there:
                self.ledger.purged.setdefault(number, time.monotonic())

    def discard(self):
        """Those go for good that were told dead, if nobody can have brought them back meanwhile."""
        with self.ledger.lock:
            dead = [number for number, (asked, _) in self.ledger.dead.items() if not self.ledger.may_be_back(number)]
        with self.ledger.asking(self.ledger.discards):
            self.ask("POST", "/v1/queues/q:discard")
        with self.ledger.lock:
            for number in dead:
                if not self.ledger.may_be_back(number):
                    self.ledger.discarded.setdefault(number, time.monotonic())


class Kill(unittest.TestCase):
    def test_nothing_acknowledged_is_lost_and_nothing_comes_early_or_after_its_end(self):
        seed = int(os.environ.get("DUEWHEEL_SEED", str(random.randrange(1 << 32))))
        print(f"seed {seed}, {KILLS} kills")
        randomness = random.Random(seed)
        ledger = Ledger()

        def met():
            return {name: count if isinstance(count := vars(ledger)[name], int) else len(count) for name in HAPPENS}

        # Small segments, so that kills meet rolling, sealing and cleaning too.
        with Daemon(arguments=["--store-segment-size", "1MiB"]) as daemon:
            kills = 0
            while kills < KILLS or (KILLS >= 20 and not all(met().values())):
                self.assertLess(kills, KILLS_MOST, met())
                kills += 1
                daemon.start()
                ledger.run += 1
                stop = threading.Event()
                threads = [threading.Thread(target=kind(daemon, ledger, randomness.random(), stop))
                           for kind in [Producer] * 3 + [Consumer] * 2 + [Operator]]
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
                  f"{len(ledger.delivered)}, {met()}, 0 lost over {kills} kills")

    def settle(self, daemon, ledger):
        """Brings back what may come and takes all that comes, then asks for whatever did not."""
        daemon.start()
        ledger.run += 1
        client = daemon.client()
        ledger.paused_since = None
        self.assertEqual(client.request("POST", "/v1/queues/q:resume")[0], 200)
        for number in ledger.asked_hold & ledger.due.keys():
            ledger.asked_kick[number] = time.monotonic()
            self.assertIn("outcome", client.request("POST", f"/v1/messages/{number}:kick")[1])
        with ledger.asking(ledger.redrives):
            self.assertEqual(client.request("POST", "/v1/queues/q:redrive", {"max": ALL})[0], 200)
        give_up = time.monotonic() + 300
        while self.may_come(client):
            self.assertLess(time.monotonic(), give_up, f"something never comes: {self.waiting(client)}")
            for queue, wait in (("line", "0s"), ("p", "0s"), ("q", "20ms")):
                asked_at = time.monotonic()
                messages = client.lease(queue, 100, wait, "30s")
                for message in messages:
                    ledger.delivery(message, asked_at)
                    ledger.asked_ack.add(message["id"])
                self.assertLessEqual(set(client.ack_all(messages)), {"done"})
                ledger.done.update(message["id"] for message in messages)
        for number in ledger.due:
            status, answer = client.get(number)
            self.assertEqual(status, 200, answer)
            self.assertIsNone(ledger.check_end(number, answer), answer)
        self.assertEqual(daemon.terminate(), 0, daemon.log_text())

    @staticmethod
    def waiting(client):
        return [client.request("GET", f"/v1/queues/{queue}{part}")[1] for queue in ("line", "p", "q") for part in ("", "/messages")]

    @staticmethod
    def may_come(client):
        """Whether anything waits that is not an hour ahead, as some are put, nor dead.

        Pages are followed to the last. The test once took an empty page with a cursor for messages that wait, and failed
        on fast machines: a page ends after 10,000 rows of the index, and that many messages of a queue had ended.
        """
        soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(client.server_time_ms() / 1000 + 600))
        for queue in ("line", "p", "q"):
            cursor = ""
            while True:
                page = client.request("GET", f"/v1/queues/{queue}/messages?due_before={soon}&limit=1000{cursor}")[1]
                if page["messages"]:
                    return True
                if "cursor" not in page:
                    break
                cursor = "&cursor=" + page["cursor"]
        return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
