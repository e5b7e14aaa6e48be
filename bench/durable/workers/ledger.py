"""What the Python programs share: the payloads, and the ledger that each is handled once."""

import json
import threading

BATCH = 500
PAD = "x" * 180  # about 200 bytes with the rest


def payload(n):
    return {"n": n, "pad": PAD}


class Ledger:
    def __init__(self, count):
        self.left = set(range(count))
        self.count, self.repeats = count, 0
        self.done = threading.Event()

    def handled(self, n):
        if n in self.left:
            self.left.discard(n)
            if not self.left:
                self.done.set()
        else:
            self.repeats += 1

    def wait(self):
        if not self.done.wait(120):
            raise SystemExit(f"{len(self.left)} of {self.count} jobs were not handled within 120 s")

    def report(self, put_s, all_s):
        print(json.dumps({"put_s": put_s, "all_s": all_s, "repeats": self.repeats}))
