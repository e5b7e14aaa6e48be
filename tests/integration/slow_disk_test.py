"""A disk whose syncs take two seconds, long compared with other load of the machine: what depends on the disk waits,
and nothing else does."""

import concurrent.futures
import json
import time
import unittest

from daemon import SlowDiskDaemon

SYNC_S = 2
CLIENTS = 40


class SlowDisk(unittest.TestCase):
    def daemon(self, *arguments):
        daemon = SlowDiskDaemon(arguments=arguments)
        self.addCleanup(daemon.__exit__)
        daemon.start()
        return daemon

    def test_puts_wait_together_for_one_sync_and_reads_for_none(self):
        daemon = self.daemon()
        reader = daemon.client()
        known = reader.put("q", "known", delay="1h")[1]["id"]
        clients = [daemon.client() for _ in range(CLIENTS)]
        daemon.slow_down(SYNC_S * 1000)
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            puts = [pool.submit(client.put, "q", "new", delay="1h") for client in clients]
            reads_before_the_first = 0
            while not any(put.done() for put in puts):
                self.assertEqual(reader.get(known)[0], 200)
                reads_before_the_first += 1
            answers = [put.result() for put in puts]
        took = time.monotonic() - began
        self.assertEqual({status for status, _ in answers}, {201})
        self.assertGreaterEqual(took, SYNC_S, "answered before the disk had it")
        self.assertLess(took, CLIENTS * SYNC_S / 4, "each waited for a sync of its own")
        self.assertGreater(reads_before_the_first, 5, "reads wait for the disk")
        daemon.kill()
        daemon.speed_up()
        daemon.start()
        client = daemon.client()
        for _, answer in answers:
            self.assertEqual(client.get(answer["id"])[1]["state"], "scheduled")

    def test_what_is_due_comes_and_is_not_acknowledged_before_the_disk_has_it(self):
        daemon = self.daemon("--test-clock")
        client = daemon.client()
        due = client.server_time_ms() + 3_600_000
        lines = (json.dumps({"body": "soon", "due_ms": due}) + "\n") * 20
        self.assertEqual(client.request_text("POST", "/v1/queues/q/messages:batch", lines, {"Content-Type": "application/x-ndjson"})[0], 200)
        daemon.slow_down(SYNC_S * 1000)
        client.advance(to_ms=due - 500)  # what is left goes by as time does
        taken = []
        while len(taken) < 20:
            messages = client.lease("q", maximum=20, wait="30s")
            self.assertTrue(messages, "a message did not come")
            taken += messages
        for message in taken:
            # A delivery may wait for the commit that tells a start about it, one or two syncs; twenty would be one each.
            self.assertLess(message["delivered_ms"] - message["due_ms"], 10_000 * SYNC_S)
        began = time.monotonic()
        self.assertEqual(client.ack(taken[0]["lease"])[1]["outcome"], "done")
        self.assertGreaterEqual(time.monotonic() - began, SYNC_S)
        daemon.kill()
        daemon.speed_up()
        daemon.start()
        self.assertEqual(daemon.client().get(taken[0]["id"])[1]["state"], "done")

    def test_more_than_may_wait_is_refused_and_taken_again_later(self):
        daemon = self.daemon("--limits-waiting-max=1MiB", "--http-body-max=1MiB")
        clients = [daemon.client() for _ in range(160)]
        daemon.slow_down(SYNC_S * 1000)
        with concurrent.futures.ThreadPoolExecutor(len(clients)) as pool:
            answers = list(pool.map(lambda client: client.put("q", "x" * 20_000, delay="1h"), clients))
        refused = [answer for status, answer in answers if status != 201]
        self.assertGreater(len(refused), 0)
        self.assertEqual({answer["code"] for answer in refused}, {"too_busy"})
        daemon.speed_up()
        self.assertEqual(clients[0].put("q", "new", delay="1h")[0], 201)
        stats = clients[0].request("GET", "/v1/stats")[1]
        self.assertEqual(stats["pending"], len(clients) - len(refused) + 1, "what was refused is not there, what was taken is")


if __name__ == "__main__":
    unittest.main(verbosity=2)
