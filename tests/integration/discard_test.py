"""Discarding the dead letters of a queue, with kill -9 in the middle: the marked dead letters end once, and no others.
"""

import json
import unittest

from daemon import SlowDiskDaemon

BATCHES = 20  # most of them are there yet when all is done that is done before the kill
BATCH = 1000
SYNC_MS = 500  # so that a batch of ends takes that long


class Discard(unittest.TestCase):
    def setUp(self):
        self.daemon = SlowDiskDaemon(arguments=["--store-segment-size=1MiB"])
        self.addCleanup(self.daemon.__exit__)
        self.start()

    def start(self):
        self.daemon.start()
        self.client = self.daemon.client()

    def queue(self):
        status, answer = self.client.request("GET", "/v1/queues/q")
        self.assertEqual(status, 200, answer)
        return answer

    def die(self, count, **members):
        """Puts messages that die at once; their ids."""
        lines = "\n".join(json.dumps({"body": "x" * 100, "retry": {"attempts": 1}, **members}) for _ in range(count))
        status, answer = self.client.request_text("POST", "/v1/queues/q/messages:batch", lines,
                                                  {"Content-Type": "application/x-ndjson"})
        self.assertEqual(status, 200)
        ids = [json.loads(line)["id"] for line in answer.splitlines()]
        taken = self.client.lease("q", count, "10s")
        self.assertEqual({message["id"] for message in taken}, set(ids))
        status, answer = self.client.request("POST", "/v1/leases:fail", {"leases": [each["lease"] for each in taken],
                                                                         "reason": "beyond repair"})
        self.assertEqual({result["outcome"] for result in answer["results"]}, {"dead"})
        return ids

    def ended(self):
        """[(id, cause)] of the queue's cancelled messages, as its history has them."""
        found, cursor = [], ""
        while True:
            status, page = self.client.request("GET", "/v1/history?queue=q&outcome=cancelled&limit=1000" + cursor)
            self.assertEqual(status, 200, page)
            found += [(row["id"], row["cause"]) for row in page["ended"]]
            if "cursor" not in page:
                return found
            cursor = "&cursor=" + page["cursor"]

    def test_it_continues_after_kill_9_and_returns_no_message(self):
        ids = [number for _ in range(BATCHES) for number in self.die(BATCH)]
        ids += self.die(1, key="k")
        self.daemon.slow_down(SYNC_MS)
        status, begun = self.client.request("POST", "/v1/queues/q:discard")
        self.assertEqual((status, begun["dead"], begun["discard"]["discarded"]), (200, len(ids), 0))
        status, kicked = self.client.request("POST", f"/v1/messages/{ids[-2]}:kick")
        self.assertEqual((status, kicked["code"], kicked["outcome"]), (409, "already_cancelled", "cancelled"), "it was discarded already, by its answer")
        later = self.die(1)[0]
        while (before := self.queue())["discard"]["discarded"] < BATCH:
            pass
        self.assertGreater(before["dead"], BATCH, "the kill comes in the middle")
        self.daemon.kill()
        self.daemon.speed_up()

        self.start()
        self.assertLess(self.queue()["dead"], len(ids), "what had ended has ended")
        self.assertEqual(self.client.request("POST", "/v1/queues/q:redrive", {"max": 100_000})[1]["redriven"], 1)
        self.assertEqual([message["id"] for message in self.client.lease("q", 1000)], [later], "who died after the call")
        while "discard" in (now := self.queue()):
            pass
        self.assertEqual((now["dead"], now["pending"]), (0, 1))
        self.assertEqual(sorted(self.ended()), sorted((number, "discarded") for number in ids))
        for number in ids[::100]:
            status, answer = self.client.get(number)
            self.assertEqual((status, answer["state"], answer.get("body")), (200, "cancelled", None))
        repeated = self.client.put("q", "x" * 100, retry={"attempts": 1}, key="k")
        self.assertEqual((repeated[0], repeated[1]["id"]), (200, ids[-1]), "its key is held still")
        self.assertEqual(self.client.lease("q", 1000), [])
        self.assertIn("\nduewheel_dead_letters 0\n", self.client.request("GET", "/metrics")[1])
        self.assertEqual(self.daemon.terminate(), 0, self.daemon.log_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
