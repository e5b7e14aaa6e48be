"""Limits per second with the real daemon: the counts after a restart, a kill and sealing, and many clients at once that
fill the same seconds."""

import concurrent.futures
import json
import time
import unittest

from daemon import Daemon

NINE = (int(time.time()) // 86_400 + 30) * 86_400_000  # a midnight a month ahead


def put(client, due_ms=NINE, **members):
    return client.request("POST", "/v1/queues/calls/messages", {"body": "", "due_ms": due_ms, **members})


def limit(client, most):
    status, answer = client.request("PUT", "/v1/queues/calls", {"limits": {"per_second": most}})
    assert (status, answer["settings"]["limits"]) == (200, {"per_second": most}), answer


class Seconds(unittest.TestCase):
    def setUp(self):
        # Small segments, so that some of what is counted stands in the index and some does not.
        self.daemon = Daemon(arguments=["--store-segment-size=1MiB"])
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()

    def full(self, answer):
        self.assertEqual((answer[0], answer[1]["code"]), (429, "second_full"), answer)

    def test_counts_are_the_same_after_a_kill_and_after_sealing(self):
        for i in range(3):  # before the limit: they count
            self.assertEqual(put(self.client)[0], 201)
        limit(self.client, 4)
        last = put(self.client)[1]["id"]
        self.full(put(self.client))
        self.daemon.kill()
        self.daemon.start()
        self.client = self.daemon.client()
        self.full(put(self.client))
        self.assertEqual(self.client.request("DELETE", f"/v1/messages/{last}")[1]["outcome"], "cancelled")
        self.assertEqual(put(self.client)[0], 201)
        self.full(put(self.client))
        body = "x" * 30_000
        for _ in range(100):  # three segments of another queue, so that the index has all that was counted
            self.assertEqual(self.client.put("filler", body, delay="1h")[0], 201)
        self.full(put(self.client))
        self.daemon.kill()
        self.daemon.start()
        self.client = self.daemon.client()
        self.full(put(self.client))
        status, moved = put(self.client, flex="1s")
        self.assertEqual((status, moved["due_ms"]), (201, NINE + 1000))
        status, again = self.client.request("PATCH", f"/v1/messages/{moved['id']}", {"due_ms": NINE})
        self.assertEqual((status, again["code"]), (429, "second_full"))
        status, again = self.client.request("PATCH", f"/v1/messages/{moved['id']}", {"due_ms": NINE, "flex": "1m"})
        self.assertEqual((status, again["due_ms"]), (200, NINE + 1000), "its own second")

    def test_many_clients_fill_seconds_to_the_brim_and_no_further(self):
        limit(self.client, 5)

        def fill(number):
            client = self.daemon.client()
            dues = []
            for i in range(40):
                if (number + i) % 3 == 0:
                    lines = "\n".join('{"body": "", "due_ms": %d, "flex": "10m"}' % NINE for _ in range(3))
                    client.connection.request("POST", "/v1/queues/calls/messages:batch", lines, {"Content-Type": "application/x-ndjson"})
                    answer = client.connection.getresponse()
                    got = [json.loads(line) for line in answer.read().decode().splitlines()]
                    dues += [each["due_ms"] for each in got]
                else:
                    dues.append(put(client, flex="10m")[1]["due_ms"])
            return dues

        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            dues = sorted(due for each in threads.map(fill, range(8)) for due in each)
        self.assertEqual(dues, [NINE + 1000 * (i // 5) for i in range(len(dues))])


if __name__ == "__main__":
    unittest.main()
