"""Two nodes of one replicated log on a real broker: the owner is killed, stopped, paused; the standby takes over.

What was acknowledged comes out of the node that owns the log, each message at least once and with the same id; a node
that was replaced answers nothing. Clients follow the redirects of standby nodes.
"""

import http.client
import json
import signal
import subprocess
import tempfile
import time
import unittest

from cluster import KafkaCluster, skip_without_kafka
from nodes import BIN, TAKEOVER_S, Client, Node, ask, create_log_topic


class Failover(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="duewheel-kafka-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.cluster = cls.enterClassContext(KafkaCluster(f"{cls.directory.name}/cluster"))
        create_log_topic(cls.cluster.bootstrap)

    def node(self, **options):
        node = Node(self.cluster.bootstrap, **options)
        self.addCleanup(node.__exit__)
        return node

    def test_a_standby_takes_over_with_everything_that_was_acknowledged(self):
        first, second = self.node(), self.node()
        first.launch()
        first.wait_ready()
        second.launch()
        put = set()
        for i in range(200):
            status, answer = ask(first.port, "POST", "/v1/queues/q/messages", {"body": f"{i}", "delay_ms": 100})
            self.assertEqual(status, 201, answer)
            put.add(answer["id"])

        # Killed: the other one answers within seconds.
        killed_at = time.monotonic()
        first.kill()
        second.wait_ready()
        taken = time.monotonic() - killed_at
        print(f"takeover after kill -9: {taken:.2f} s, of which {TAKEOVER_S} s are the wait")
        self.assertGreater(taken, 1)
        status, stats = ask(second.port, "GET", "/v1/queues/q")
        self.assertEqual((status, stats["pending"]), (200, 200))

        # Back as a standby, it sends clients to the owner.
        first.launch()
        standby = Client(first.port)
        self.addCleanup(standby.close)
        status, state = standby.request("GET", "/livez")
        self.assertEqual((status, state["status"]), (200, "standby"))
        deadline = time.monotonic() + 60
        while standby.request("GET", "/v1/stats")[0] == 503 and time.monotonic() < deadline:
            time.sleep(0.05)
        status, problem = standby.request("GET", "/readyz")
        self.assertEqual((status, problem["code"]), (503, "standby"))
        status, answer = ask(first.port, "POST", "/v1/queues/q/messages", {"body": "through the standby"})
        self.assertEqual(status, 201, answer)
        put.add(answer["id"])

        # Stopped: the log is released, and taken over at once.
        stopped_at = time.monotonic()
        self.assertEqual(second.terminate(), 0, second.log_text())
        ended_at = time.monotonic()
        first.wait_ready()
        print(f"takeover after SIGTERM: {time.monotonic() - ended_at:.2f} s after the end, which took {ended_at - stopped_at:.2f} s")
        delivered = set()
        deadline = time.monotonic() + 60
        while delivered != put and time.monotonic() < deadline:
            messages = first.client().lease("q", 100, "1s")
            delivered.update(message["id"] for message in messages)
            first.client().ack_all(messages)
        self.assertEqual(delivered, put)
        self.assertEqual(ask(first.port, "GET", "/v1/queues/q")[1]["pending"], 0)
        self.assertEqual(first.terminate(), 0, first.log_text())

    def test_an_owner_that_was_paused_answers_nothing_when_it_wakes(self):
        first, second = self.node(arguments=["--kafka-cluster", "paused"]), self.node(arguments=["--kafka-cluster", "paused"])
        create_log_topic(self.cluster.bootstrap, "--cluster", "paused")
        first.launch()
        first.wait_ready()
        self.assertEqual(ask(first.port, "POST", "/v1/queues/q/messages", {"body": "before"})[0], 201)
        second.launch()
        process = first.process
        process.send_signal(signal.SIGSTOP)
        try:
            second.wait_ready()
            self.assertEqual(ask(second.port, "POST", "/v1/queues/q/messages", {"body": "after"})[0], 201)
            # Waits in the sockets of the one that sleeps.
            connection = http.client.HTTPConnection("127.0.0.1", first.port, timeout=60)
            connection.request("POST", "/v1/queues/q/messages", json.dumps({"body": "too late"}), {"Content-Type": "application/json"})
            consumer = http.client.HTTPConnection("127.0.0.1", first.port, timeout=60)
            consumer.request("POST", "/v1/queues/q:lease")
        finally:
            process.send_signal(signal.SIGCONT)
        # It once delivered what was ready when it was paused, which the new owner delivers, too.
        for each in (connection, consumer):
            with self.assertRaises((OSError, http.client.HTTPException)):
                print(each.getresponse().status)
        self.assertEqual(first.wait(), 75, first.log_text())
        self.assertIn("replaced", first.log_text())
        self.assertEqual(ask(second.port, "GET", "/v1/queues/q")[1]["pending"], 2)
        # The segments of both are the same once the first one has followed.
        first.launch()
        deadline = time.monotonic() + 60
        while ask(first.port, "GET", "/v1/stats")[0] == 503 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(second.terminate(), 0)
        first.wait_ready()
        self.assertEqual(first.terminate(), 0)
        ours, theirs = ({path.name for path in (node.data / "journal").glob("seg-*")} for node in (first, second))
        self.assertEqual(ours, theirs)
        for name in theirs:
            theirs_bytes = (second.data / "journal" / name).read_bytes().rstrip(b"\0")
            self.assertTrue((first.data / "journal" / name).read_bytes().startswith(theirs_bytes), name)

    # Between the loops of the standby and of the owner nothing listened: the process went on, or ended without a release.
    def test_a_node_that_is_ended_while_it_takes_over_releases_the_log(self):
        create_log_topic(self.cluster.bootstrap, "--cluster", "ended")
        for number, after_ms in enumerate((0, 1, 3, 10, 20, 30, 50, 80)):
            node = self.node(arguments=["--kafka-cluster", "ended"])
            node.launch()
            while "takeover_begins" not in node.log_text():
                self.assertIsNone(node.process.poll(), node.log_text())
            at = time.monotonic() + after_ms / 1000
            while time.monotonic() < at:
                pass
            self.assertEqual(node.terminate(), 0, node.log_text())
            if number > 0:
                self.assertIn("The owner has released the log", node.log_text())

    def test_what_cannot_be_is_refused(self):
        node = self.node()
        arguments = [BIN / "duewheeld", "--data", node.data, "--http", "127.0.0.1:0", "--kafka-log-replicate"]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("kafka.bootstrap", done.stderr)
        done = subprocess.run([*arguments, "--kafka-bootstrap", self.cluster.bootstrap], capture_output=True, text=True, timeout=60)
        self.assertIn("unsafe_topic", done.stderr)
        self.assertIn("kafka.log.unsafe_replication", done.stderr)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
