"""The topic of a replicated log on a real broker: what the owner removes from its log is deleted from the topic too, a
new node copies the rest, and a standby node seals and removes segments as the owner does.
"""

import concurrent.futures
import json
import subprocess
import tempfile
import time
import unittest

from cluster import KafkaCluster, skip_without_kafka
from nodes import BIN, Node, ask, create_log_topic

MIB = 1 << 20
WITHIN_S = 120


def wait_until(check, what, within_s=WITHIN_S):
    deadline = time.monotonic() + within_s
    while not (found := check()):
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        time.sleep(0.2)
    return found


class ReplicatedLog(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="duewheel-kafka-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.cluster = cls.enterClassContext(KafkaCluster(f"{cls.directory.name}/cluster"))

    def node(self, cluster, **options):
        node = Node(self.cluster.bootstrap, arguments=["--kafka-cluster", cluster, "--store-segment-size", "1MiB"], **options)
        self.addCleanup(node.__exit__)
        return node

    def first_offset(self, cluster):
        done = self.cluster.run("kafka-get-offsets", "--topic", f"duewheel.{cluster}.log", "--time", "earliest", text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout.split(":")[-1])

    def put_and_purge(self, port, mebibytes):
        """Fills the log with messages that nothing needs afterwards."""
        lines = "\n".join(json.dumps({"body": "x" * (256 << 10), "delay": "1h"}) for _ in range(4))
        for _ in range(mebibytes):
            status, answer = ask(port, "POST", "/v1/queues/bulk/messages:batch", lines, content_type="application/x-ndjson")
            self.assertEqual(status, 200, answer)
        self.assertEqual(ask(port, "POST", "/v1/queues/bulk:purge")[0], 200)

    def test_the_topic_and_the_disks_of_all_nodes_stay_as_small_as_the_log(self):
        create_log_topic(self.cluster.bootstrap, "--cluster", "cleaned")
        owner, standby, late = (self.node("cleaned") for _ in range(3))
        owner.launch()
        owner.wait_ready()
        standby.launch()
        kept = {ask(owner.port, "POST", "/v1/queues/q/messages", {"body": f"{i}"})[1]["id"] for i in range(50)}
        self.put_and_purge(owner.port, 90)
        wait_until(lambda: len(owner.segments()) < 30, "the owner has removed segments")
        begins = wait_until(lambda: self.first_offset("cleaned"), "the topic begins later")
        print(f"the topic begins at offset {begins}; the owner has {len(owner.segments())} segments")
        late.launch()
        wait_until(lambda: late.segments() and late.segments()[-1] == owner.segments()[-1], "the new node has the newest segment")
        self.assertLess(len(late.segments()), 40)

        # The one that copied the rest of the log has all that counts.
        standby.kill()
        owner.kill()
        late.wait_ready()
        status, queue = ask(late.port, "GET", "/v1/queues/q")
        self.assertEqual((status, queue["pending"]), (200, len(kept)))
        messages = late.client().take("q", len(kept))
        self.assertEqual({message["id"] for message in messages}, kept)
        # One whose log ends before the topic begins says so.
        self.assertEqual(late.terminate(), 0, late.log_text())

    def test_while_no_broker_answers_nothing_is_acknowledged_or_delivered_and_nothing_is_lost(self):
        create_log_topic(self.cluster.bootstrap, "--cluster", "outage")
        node, standby = self.node("outage"), self.node("outage")
        node.launch()
        node.wait_ready()
        standby.launch()
        acknowledged = [ask(node.port, "POST", "/v1/queues/q/messages", {"body": "before", "delay": "3s"})[1]["id"]]
        self.cluster.pause(1)
        try:
            # In the connection of one that waits, and in one of its own for a consumer.
            with concurrent.futures.ThreadPoolExecutor() as threads:
                put = threads.submit(ask, node.port, "POST", "/v1/queues/q/messages", {"body": "during", "key": "k"})
                lease = threads.submit(ask, node.port, "POST", "/v1/queues/q:lease", {"wait": "8s"})
                status, problem = put.result()
                self.assertEqual((status, problem["code"]), (503, "log_unavailable"), problem)
                status, problem = ask(node.port, "POST", "/v1/queues/q/messages", {"body": "later"})
                self.assertEqual((status, problem["code"]), (503, "log_unavailable"), problem)
                self.assertIn("nothing was changed", problem["detail"])
                status, problem = ask(node.port, "GET", "/readyz")
                self.assertEqual(status, 503, problem)
                status, answer = lease.result()
                self.assertFalse(answer.get("messages"), "a message was delivered that fell due long after the last commit")
        finally:
            self.cluster.resume(1)
        wait_until(lambda: ask(node.port, "GET", "/readyz")[0] == 200, "the node is ready again")
        wait_until(lambda: "log_written" in node.log_text(), "the log says that commits are acknowledged again")
        self.assertRegex(node.log_text(), "log_waits: .*error=")
        # The outcome of the put that waited was open. Its key makes the repetition safe.
        status, answer = ask(node.port, "POST", "/v1/queues/q/messages", {"body": "during", "key": "k"})
        self.assertIn(status, (200, 201), answer)
        acknowledged.append(answer["id"])
        messages = node.client().take("q", 2)
        self.assertEqual({message["id"] for message in messages}, set(acknowledged))
        node.client().ack_all(messages)
        self.assertEqual(ask(node.port, "GET", "/v1/queues/q")[1]["pending"], 0)

        # Both end after SIGTERM, also while brokers do not answer, and then none owns the log.
        self.cluster.pause(1)
        try:
            self.assertEqual(standby.terminate(), 0, standby.log_text())
            self.assertEqual(node.terminate(), 0, node.log_text())
        finally:
            self.cluster.resume(1)
        self.assertNotIn("takeover_begins", standby.log_text())

    def run_duewheel(self, *words, cluster):
        done = subprocess.run([BIN / "duewheel", "kafka", *words, "--bootstrap", self.cluster.bootstrap, "--cluster", cluster],
                              capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def test_the_command_line_shows_compares_and_writes_anew(self):
        cluster = "tools"
        create_log_topic(self.cluster.bootstrap, "--cluster", cluster)
        owner, standby = self.node(cluster), self.node(cluster)
        owner.launch()
        owner.wait_ready()
        standby.launch()
        put = {ask(owner.port, "POST", "/v1/queues/q/messages", {"body": f"{i}"})[1]["id"] for i in range(100)}

        # Both nodes say what they are.
        status = [BIN / "duewheel", "kafka", "status", "--json", "--server"]

        def of_owner():  # it looks at the topic a second after its start
            log = json.loads(subprocess.run([*status, f"http://127.0.0.1:{owner.port}"], capture_output=True, check=True).stdout)["log"]
            return log if log["topic_state"] == "unsafe" else None

        shown = wait_until(of_owner, "the owner has looked at its topic")
        self.assertEqual((shown["role"], shown["state"]), ("owner", "writing"))

        def of_standby():
            node = json.loads(subprocess.run([*status, f"http://127.0.0.1:{standby.port}"], capture_output=True, check=True).stdout)
            return node if node["epoch"] == shown["epoch"] and node["lag_records"] < 5 and node["commit"] > 90 else None

        node = wait_until(of_standby, "the standby node has caught up")
        self.assertEqual((node["status"], node["owner"]), ("standby", f"http://127.0.0.1:{owner.port}"))
        metrics = standby.client().request("GET", "/metrics")[1]
        self.assertIn('duewheel_kafka_log_is_owner{shard="0"} 0', metrics)
        self.assertIn('duewheel_kafka_log_is_owner{shard="0"} 1', owner.client().request("GET", "/metrics")[1])

        # Their directories have the bytes of the topic, also while they run.
        for each in (owner, standby):
            code, output, errors = self.run_duewheel("verify", "--data", str(each.data), cluster=cluster)
            self.assertEqual(code, 0, output + errors)
        standby.kill()
        segment = standby.data / "journal" / standby.segments()[0]
        with open(segment, "r+b") as file:
            file.seek(4096 + 20)
            byte = file.read(1)
            file.seek(4096 + 20)
            file.write(bytes([byte[0] ^ 1]))
        code, output, errors = self.run_duewheel("verify", "--data", str(standby.data), cluster=cluster)
        self.assertEqual(code, 1, output + errors)
        self.assertRegex(output + errors, "seg-.*offset 4116|damaged")

        # The topic is lost. It is written anew from the directory of the owner, which stops.
        code, output, errors = self.run_duewheel("reseed", "--data", str(owner.data), cluster=cluster)
        self.assertEqual(code, 1)
        self.assertIn("in use", errors.replace("_", " "))
        owner.kill()
        code, output, errors = self.run_duewheel("reseed", "--data", str(owner.data), cluster=cluster)
        self.assertEqual(code, 1)
        self.assertIn("topic_not_empty", errors)
        done = self.cluster.run("kafka-topics", "--delete", "--topic", f"duewheel.{cluster}.log", stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)
        wait_until(lambda: self.creates_log_topic(cluster), "the topic can be created again")
        code, output, errors = self.run_duewheel("reseed", "--data", str(owner.data), cluster=cluster)
        self.assertEqual(code, 0, output + errors)
        late = self.node(cluster)
        late.launch()
        late.wait_ready()
        messages = late.client().take("q", len(put))
        self.assertEqual({message["id"] for message in messages}, put)
        late.client().ack_all(messages)
        owner.launch()
        self.assertEqual(late.terminate(), 0, late.log_text())
        owner.wait_ready()
        self.assertEqual(ask(owner.port, "GET", "/v1/queues/q")[1]["pending"], 0)

    def creates_log_topic(self, cluster):
        code, output, errors = self.run_duewheel("create-topics", "--replicas", "1", "--log", cluster=cluster)
        self.assertEqual(code, 0, output + errors)
        return f"created duewheel.{cluster}.log" in output

    def test_a_topic_whose_settings_lose_records_is_refused_and_reported(self):
        cluster = "unsafe"
        create_log_topic(self.cluster.bootstrap, "--cluster", cluster)
        node = self.node(cluster)
        node.launch()
        node.wait_ready()
        done = self.cluster.run("kafka-configs", "--alter", "--entity-type", "topics", "--entity-name", f"duewheel.{cluster}.log",
                                "--add-config", "retention.ms=86400000", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)
        # The owner looks once a minute.
        wait_until(lambda: "retention.ms is 86400000" in node.log_text(), "the owner reports the setting")
        self.assertIn("--add-config retention.ms=-1", node.log_text())


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
