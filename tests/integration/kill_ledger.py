"""What the clients of kill_test.py know from responses, and what each delivery must be after that.

If a response was lost, it is unknown whether the operation took effect. So a request counts where it allows something,
and a response counts where it forbids something. Instants are by the clients' own monotonic clock, except members that
end in _ms, which are server time.
"""

import bisect
import contextlib
import math
import threading
import time

ATTEMPTS = 4  # of messages in the queue q


class Asked:
    """Something that was asked of a whole queue: when, and until when it may have been carried out."""

    def __init__(self):
        self.at = time.monotonic()
        self.until = math.inf


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.run = 0         # of the process
        self.due = {}        # id -> due_ms, of every put that was answered
        self.queue = {}      # id -> its queue
        self.put_asked = {}  # id -> when its put was sent, the last time
        self.put_told = {}   # id -> when its answer had come
        self.key_ids = {}    # key -> the one id that it stands for
        self.unsure = []     # puts with a key whose answer was lost: (queue, body, members)
        self.repeated = 0    # puts that were answered as there already
        self.lines = {}      # order key -> [(due_ms, id)], sorted
        self.out = {}        # order key -> [(id, run, delivered_ms, lease_until_ms)]
        self.in_line = 0     # deliveries of messages with an order key that another one preceded
        self.moved = set()   # a reschedule was asked for
        self.cancelled = {}  # id -> when the answer had come
        self.asked_cancel = set()
        self.asked_hold = set()
        self.held = {}       # id -> when the answer had come
        self.asked_kick = {}  # id -> when, the last time
        self.kicked = 0
        self.done = set()    # acks answered `done`
        self.asked_ack = set()
        self.failed = {}     # id -> (attempt, least due_ms of the next one), of failures answered `retrying`
        self.dead = {}       # id -> (when the failure that was answered `dead` was asked, and when it was answered)
        self.asked_fail = set()
        self.redrives, self.discards, self.purges = [], [], []
        self.redriven = 0
        self.discarded = {}  # id -> when the answer of a discard had come that it was dead for
        self.purged = {}     # id -> when the answer of a purge had come
        self.paused_since = None  # the answer of a pause of q, if nobody has asked to resume it since
        self.pauses = 0
        self.delivered = {}  # id -> times
        self.wrong = []

    # ---- what is asked

    @contextlib.contextmanager
    def asking(self, of):
        """Around a call that works on a whole queue. Where the process dies with it, it is begun no later."""
        asked = Asked()
        with self.lock:
            of.append(asked)
        try:
            yield asked
        finally:
            with self.lock:
                asked.until = time.monotonic()

    def put_answered(self, queue, asked_at, answer, key=None, order_key=None, repeated=False):
        number = answer["id"]
        with self.lock:
            self.repeated += repeated
            if key is not None and self.key_ids.setdefault(key, number) != number:
                self.wrong.append(f"the key {key} stands for {number} and for {self.key_ids[key]}")
            if self.due.setdefault(number, answer["due_ms"]) != answer["due_ms"]:
                self.wrong.append(f"{number} was answered as due at {self.due[number]}, and again: {answer}")
            self.queue[number] = queue
            self.put_asked[number] = asked_at
            if number not in self.put_told:
                self.put_told[number] = time.monotonic()
                if order_key is not None:
                    bisect.insort(self.lines.setdefault(order_key, []), (answer["due_ms"], int(number)))

    # ---- what comes

    def delivery(self, message, asked_at):
        """`asked_at`: when the request was sent that got it; what was answered before that was so before it."""
        number = message["id"]
        with self.lock:
            self.delivered[number] = self.delivered.get(number, 0) + 1
            for rule in (self.time_of, self.end_of, self.attempt_of, self.key_of, self.position_in_line):
                complaint = rule(number, message, asked_at)
                if complaint:
                    self.wrong.append(f"{number} came {complaint}: {message}")

    def time_of(self, number, message, asked_at):
        if message["delivered_ms"] < message["due_ms"]:
            return "early"
        if number in self.due and number not in self.moved and message["due_ms"] != self.due[number]:
            return f"with another due time than {self.due[number]}"
        if self.queue.get(number) == "q" and self.paused_since is not None and asked_at > self.paused_since:
            return "while its queue was paused"
        return None

    def end_of(self, number, message, asked_at):
        if number in self.cancelled and asked_at > self.cancelled[number]:
            return "after it was cancelled"
        if number in self.done:
            return "after its ack was answered"
        if number in self.purged and asked_at > self.purged[number]:
            return "after it was purged"
        if number in self.discarded and asked_at > self.discarded[number]:
            return "after it was discarded"
        if number in self.held and asked_at > self.held[number] > self.asked_kick.get(number, 0):
            return "while it was set aside"
        if number in self.dead and asked_at > self.dead[number][1] and not self.may_be_back(number):
            return "after its last failure was answered, and nobody brought it back"
        return None

    def may_be_back(self, number):
        died_after = self.dead[number][0]
        return self.asked_kick.get(number, 0) >= died_after or any(each.until >= died_after for each in self.redrives)

    def attempt_of(self, number, message, asked_at):
        attempt, not_before = self.failed.get(number, (0, 0))
        if message["attempt"] <= attempt:
            return f"again, after attempt {attempt} had failed"
        if message["delivered_ms"] < not_before and number not in self.moved:
            return f"before its rest was over at {not_before}"
        return None

    def key_of(self, number, message, asked_at):
        key = message.get("key")
        if key is not None and self.key_ids.setdefault(key, number) != number:
            return f"under a key that stands for {self.key_ids[key]}"
        return None

    def position_in_line(self, number, message, asked_at):
        """Messages of one order key are delivered one at a time, and none before an earlier one."""
        order_key = message["body"].partition(" ")[0] if self.queue.get(number) == "line" else None
        if order_key is None:
            return None
        mine = (number, self.run, message["delivered_ms"], message["lease_until_ms"])
        others = self.out.setdefault(order_key, [])
        for other, run, since_ms, until_ms in others:
            overlap = since_ms < mine[3] and mine[2] < until_ms
            if other != number and run == self.run and other not in self.asked_ack and overlap:
                return f"while {other} of its order key was out"
        others[:] = [each for each in others if each[1] == self.run and each[0] not in self.asked_ack] + [mine]
        for place in self.lines.get(order_key, []):
            if place >= (message["due_ms"], int(number)):
                break
            self.in_line += 1
            first = str(place[1])
            if first not in self.asked_ack and self.put_told[first] < asked_at:
                return f"before {first} of its order key"
        return None

    # ---- what has become of it

    def check_end(self, number, answer):
        """Everything was drained: whatever did not come is where it may be."""
        state = answer["state"]
        queue = self.queue[number]
        if number in self.cancelled and state != "cancelled":
            return "was cancelled"
        if number in self.discarded and state != "cancelled":
            return "was discarded"
        if state == "done":
            return None if number in self.asked_ack or number in self.done else "nobody acknowledged it"
        if state == "cancelled":
            may_be_purged = queue == "p" and any(each.until >= self.put_asked[number] for each in self.purges)
            may_be_discarded = queue == "q" and self.discards and answer["attempts"] >= ATTEMPTS
            fits = number in self.asked_cancel or may_be_purged or may_be_discarded
            return None if fits else "nobody cancelled it"
        if state == "dead":
            told_why = number in self.asked_fail and answer["reason"] == "no luck"
            by_lease = answer["reason"] == "lease lost"
            return None if queue == "q" and answer["attempts"] >= ATTEMPTS and (told_why or by_lease) else "is dead"
        is_far = state == "scheduled" and answer["due_ms"] > time.time() * 1000
        return None if queue == "q" and is_far else "should have come"
