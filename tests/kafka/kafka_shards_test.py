"""Two shards of one replicated log on a real broker, each with an owner and one with a standby node: every node redirects
a request to the owner of its namespace, which is found in a topic, also after a takeover and from a standby node.
"""

import json
import pathlib
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from bridge import BIN, ConsoleConsumer, duewheel, produce
from cluster import KafkaCluster, free_ports, skip_without_kafka
from nodes import Node, ask

WITHIN_S = 60
IDS_PER_SHARD = 1024


class Shards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="duewheel-kafka-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.cluster = cls.enterClassContext(KafkaCluster(f"{cls.directory.name}/cluster"))
        code, output, errors = duewheel(cls.cluster, "create-topics", "--replicas", "1", "--log", "--shards", "2", "--partitions", "2",
                                        "in", "out")
        assert code == 0, output + errors

    def node(self, shard, shards=2, *arguments):
        node = Node(self.cluster.bootstrap, arguments=["--shard", str(shard), "--shards", str(shards), *arguments])
        node.port, = free_ports(1)  # a standby node must be found before it is ready
        node.listen = f"127.0.0.1:{node.port}"
        self.addCleanup(node.__exit__)
        return node

    def location(self, node, path):
        """(status, port in Location) of a request that is not redirected, or where it is."""
        client = node.client()
        client.connection.request("GET", path)
        response = client.connection.getresponse()
        response.read()
        location = response.getheader("Location")
        return response.status, location and urllib.parse.urlsplit(location).port

    def await_location(self, node, path, port):
        deadline = time.monotonic() + WITHIN_S
        while (found := self.location(node, path)) != (307, port):
            self.assertLess(time.monotonic(), deadline, found)
            time.sleep(0.05)

    def test_every_node_leads_to_the_owner_of_a_namespace(self):
        inputs = ["--kafka-in-topics", "in=out"]
        owners = [self.node(shard, 2, *inputs) for shard in range(2)]
        for owner in owners:
            owner.launch()
            owner.wait_ready()
        standby = self.node(1, 2, *inputs)
        standby.launch()
        names = [None, None]
        number = 0
        while not all(names):
            name = f"n{number}"
            number += 1
            names[0 if self.location(owners[0], f"/v1/namespaces/{name}/queues")[0] == 200 else 1] = name
        paths = [f"/v1/namespaces/{name}/queues" for name in names]
        self.await_location(owners[0], paths[1], owners[1].port)
        self.await_location(owners[1], paths[0], owners[0].port)
        # A standby node leads to its own owner, and to that of the other shard.
        self.await_location(standby, paths[1], owners[1].port)
        self.await_location(standby, paths[0], owners[0].port)
        self.await_location(standby, "/v1/stats", owners[1].port)
        for shard, name in enumerate(names):
            for node in [*owners, standby]:
                status, answer = ask(node.port, "POST", f"/v1/namespaces/{name}/queues/q/messages", {"body": "x"})
                self.assertEqual(status, 201, answer)
                self.assertEqual(int(answer["id"]) % IDS_PER_SHARD, shard)

        # Each shard reads one of two partitions of the input topic, into a namespace of its own.
        with ConsoleConsumer(self.cluster, "out") as consumer:
            produce(self.cluster, "in", [({"duewheel-delay": "100ms"}, f"key{number}", f"{number}") for number in range(40)])
            seen = consumer.wait_for(40, WITHIN_S)
        self.assertEqual(sorted(int(record.value) for record in seen), list(range(40)))
        self.assertEqual({int(record.headers["duewheel-id"]) % IDS_PER_SHARD for record in seen}, {0, 1})
        for record in seen:
            self.assertEqual(int(record.headers["duewheel-id"]) % IDS_PER_SHARD,
                             int(record.headers["duewheel-source"].split("/")[1]) % 2)
        self.assertEqual(ask(owners[0].port, "GET", "/v1/namespaces/kafka-1/queues/out")[0], 200)

        # The directory says which shard it is of.
        for owner in owners:
            code, output, errors = duewheel(self.cluster, "verify", "--data", str(owner.data))
            self.assertEqual(code, 0, output + errors)
            self.assertIn("the directory has the bytes of the topic", output)
        # A ledger without a partition for each shard is named.
        code, output, errors = duewheel(self.cluster, "create-topics", "--replicas", "1", "--cluster", "short")
        self.assertEqual(code, 0, output + errors)
        settings = pathlib.Path(self.directory.name) / "two.toml"
        settings.write_text("[shards]\ncount = 2\n[kafka]\ncluster = \"short\"\n")
        code, output, errors = duewheel(self.cluster, "check", "--config", str(settings))
        self.assertEqual(code, 1, output + errors)
        self.assertIn("--topic duewheel.short.ledger --partitions 2", output)

        # After a takeover the other shard's owner leads to the new one, which has everything.
        owners[1].kill()
        standby.wait_ready()
        self.await_location(owners[0], paths[1], standby.port)
        done = subprocess.run([BIN / "duewheel", "--server", f"http://127.0.0.1:{owners[0].port}", "--namespace", names[1], "--json",
                               "queue", "get", "q"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["pending"], 3)

    def test_another_number_of_shards_is_refused(self):
        code, output, errors = duewheel(self.cluster, "create-topics", "--replicas", "1", "--log", "--shards", "2", "--cluster", "other")
        self.assertEqual(code, 0, output + errors)
        owner = self.node(1, 2, "--kafka-cluster", "other")
        owner.launch()
        owner.wait_ready()
        owner.terminate()
        for arguments in (["--shard", "1", "--shards", "3"], ["--shard", "0", "--shards", "1"]):
            self.refused(owner, arguments, "topic duewheel.other.log: it has 2 partitions, and the setting shards.count is")
        # The directory of another shard, and the other way round: partitions that were added.
        self.refused(owner, ["--shard", "0", "--shards", "2"], "has the log of shard 1 of 2")
        done = self.cluster.run("kafka-topics", "--alter", "--topic", "duewheel.other.log", "--partitions", "3", capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.refused(self.node(1), ["--shard", "1", "--shards", "3"],
                     "partition 1 of topic duewheel.other.log has the log of shard 1 of 2")

    def refused(self, node, shard, text):
        done = subprocess.run([BIN / "duewheeld", "--data", node.data, "--http", "127.0.0.1:0", "--kafka-bootstrap",
                               self.cluster.bootstrap, "--kafka-log-replicate", "--kafka-log-unsafe-replication", "--kafka-cluster", "other",
                               *shard], capture_output=True, text=True, timeout=120, env=node.environment)
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertIn("shards_changed", done.stderr)
        self.assertIn(text, done.stderr)


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
