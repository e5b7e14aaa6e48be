"""Records through the server, from topic to topic, with one real broker and Kafka's own console tools: the quick start of
docs/kafka.md, exactly once through kill -9 of server and broker, records that are invalid, and puts over HTTP.
"""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest

from bridge import BIN, BridgeDaemon, ConsoleConsumer, check_exactly_once, create_topics, duewheel, produce
from cluster import TOOLS, KafkaCluster, free_ports, skip_without_kafka
from daemon import Daemon

PAGE = TOOLS.parent / "docs" / "kafka.md"
MESSAGES = 1200
EACH_MS = 5  # from one delay to the next
KILLS = 3


class Bridge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="duewheel-kafka-")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.cluster = cls.enterClassContext(KafkaCluster(f"{cls.temporary.name}/cluster"))

    def test_a_record_comes_out_once_at_its_time_through_kills(self):
        create_topics(self.cluster, ["once.later", "once"])
        with ConsoleConsumer(self.cluster, "once") as consumer, \
                BridgeDaemon(self.cluster, ["once.later=once"]) as daemon:
            daemon.start()
            self.assertEqual(duewheel(self.cluster, "check", "once.later", "once")[0], 0)
            sent_from_ms = time.time_ns() // 1_000_000
            delays = {str(number): number * EACH_MS for number in range(MESSAGES)}
            produce(self.cluster, "once.later",
                    [({"duewheel-delay": f"{delay}ms"}, value, value) for value, delay in delays.items()])
            for kill in range(KILLS):
                consumer.wait_for((kill + 1) * len(delays) // (KILLS + 2), 60)
                daemon.kill()
                if kill == KILLS // 2:
                    self.cluster.kill(1)
                    self.cluster.start()
                daemon.start()
            consumer.wait_for(len(delays), 60)
            # A copy, if there is one, is before this one.
            put = {"target": {"kafka": {"topic": "once", "key": "end"}}}
            self.assertEqual(daemon.client().request("PUT", "/v1/queues/ends", put)[0], 200)
            daemon.client().put("ends", "end")
            seen = consumer.wait_for(len(delays) + 1, 60)
            check_exactly_once(self, seen, {**delays, "end": 0}, sent_from_ms)
            self.assertEqual({record.key for record in seen}, {record.value for record in seen})
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())

    def test_bad_records_go_to_the_errors_topic_and_the_rest_goes_on(self):
        create_topics(self.cluster, ["bad.later", "bad"])
        with ConsoleConsumer(self.cluster, "bad") as consumer, \
                ConsoleConsumer(self.cluster, "duewheel.errors") as errors, \
                BridgeDaemon(self.cluster, ["bad.later=bad"], ["--kafka-cluster", "second"]) as daemon:
            create = duewheel(self.cluster, "create-topics", "--cluster", "second", "--replicas", "1")
            self.assertEqual(create[0], 0, create)
            daemon.start()
            now = "2020-01-01T00:00:00Z"
            produce(self.cluster, "bad.later", [
                ({"duewheel-delay": "soon"}, "k", "no duration"),
                ({"duewheel-delay": "1s", "duewheel-due": now}, "k", "both"),
                ({"x": "1"}, "k", "neither"),
                ({"duewheel-delay": "1s", "duewheel-topic": "bad.later"}, "k", "a loop"),
                ({"duewheel-due": now, "x": "1"}, "k", "past"),
                ({"duewheel-dealy": "1s"}, "k", "misspelt"),
                ({"duewheel-delay": "30s", "duewheel-key": "order"}, "k", "cancelled"),
                ({"duewheel-key": "order"}, "k", None),
                ({"duewheel-delay": "2s"}, "k", "last"),
            ])
            seen = consumer.wait_for(2, 60)
            self.assertEqual([record.value for record in seen], ["past", "last"])
            self.assertEqual(seen[0].headers["x"], "1")
            self.assertRegex(seen[0].headers["duewheel-source"], r"^bad\.later/0/4$")
            self.assertGreaterEqual(int(seen[0].headers["duewheel-lateness-ms"]), 0)
            refused = {record.value: record for record in errors.wait_for(5, 60)}
            self.assertEqual({value: record.headers["duewheel-error-code"] for value, record in refused.items()},
                             {"no duration": "bad_duration", "both": "conflicting_members", "neither": "missing_member",
                              "a loop": "topic_loop", "misspelt": "unknown_member"})
            self.assertEqual(refused["both"].headers["duewheel-due"], now)
            self.assertEqual(refused["misspelt"].headers["duewheel-source"], "bad.later/0/5")
            self.assertTrue(all(record.headers["duewheel-error"] for record in refused.values()))
            _, queue = daemon.client().request("GET", "/v1/namespaces/kafka/queues/bad")
            self.assertEqual((queue["ready"], queue["scheduled"]), (0, 0), queue)  # the cancelled one has ended
            self.assertEqual((queue["settings"]["target"]["kafka"]["topic"], queue["kafka"]["state"]), ("bad", "ok"))
            daemon.wait_until_sent(2)
            status = [BIN / "duewheel", "--server", f"http://127.0.0.1:{daemon.port}", "kafka", "status"]
            shown = json.loads(subprocess.check_output([*status, "--json"]))
            self.assertEqual((shown["brokers_up"], shown["in"]["errors"], shown["out"]["sent"], shown["out"]["fenced"]), (1, 5, 2, 0))
            self.assertEqual(shown["in"]["partitions"][0]["position"], 9)
            self.assertRegex(subprocess.check_output(status, text=True), r"bad\.later +0 +reading +9 ")

    def test_a_put_over_http_goes_to_the_topic_of_its_queue(self):
        create_topics(self.cluster, ["orders.later", "orders"])
        with ConsoleConsumer(self.cluster, "orders") as consumer, \
                BridgeDaemon(self.cluster, ["orders.later=orders"]) as daemon:
            daemon.start()
            client = daemon.client()
            target = {"target": {"kafka": {"topic": "orders", "key": "other"}}}
            self.assertEqual(client.request("PUT", "/v1/queues/orders", target)[0], 200)
            loop = {"target": {"kafka": {"topic": "orders.later"}}}
            self.assertEqual(client.request("PUT", "/v1/queues/orders", loop)[1]["code"], "kafka_loop")
            client.put("orders", "one", headers={"colour": "red"}, kafka={"key": "mine"})
            client.put("orders", "two", order_key="in line")
            client.put("orders", "three")
            seen = consumer.wait_for(3, 60)
            self.assertEqual(sorted((record.key, record.value) for record in seen),
                             [("in line", "two"), ("mine", "one"), ("other", "three")])
            self.assertEqual([record.headers["colour"] for record in seen if record.key == "mine"], ["red"])
            daemon.wait_until_sent(3)
            page = client.request_text("GET", "/metrics", None)[1]
            self.assertRegex(page, r"(?m)^duewheel_kafka_records_sent_total 3$")
            self.assertRegex(page, r'(?m)^duewheel_kafka_in_reading\{topic="orders.later",partition="0"\} 1$')

    def test_a_server_without_brokers_serves_http_and_stops(self):
        daemon = Daemon(arguments=["--kafka-bootstrap", f"127.0.0.1:{free_ports(1)[0]}", "--kafka-in-topics", "a=b"])
        self.addCleanup(daemon.__exit__)
        daemon.start()
        client = daemon.client()
        self.assertEqual(client.request("PUT", "/v1/queues/q", {"target": {"kafka": {"topic": "t"}}})[0], 200)
        self.assertEqual(client.put("q", "x")[0], 201)
        deadline = time.monotonic() + 60
        while "kafka_unavailable" not in daemon.log_text():
            self.assertLess(time.monotonic(), deadline, "the log does not say kafka_unavailable")
            time.sleep(0.1)
        self.assertEqual(client.request("GET", "/v1/queues/q")[1]["dead"], 0)
        began = time.monotonic()
        self.assertEqual(daemon.terminate(), 0, daemon.log_text())
        self.assertLess(time.monotonic() - began, 30)

    def test_the_quick_start_of_the_page_runs(self):
        script = "\n".join(re.findall(r"^```sh\n(.*?)^```", PAGE.read_text().split("## Quick start")[1].split("\n## ")[0],
                                      re.DOTALL | re.MULTILINE))
        for old, new in [("tools/kafka_cluster.py", f"{TOOLS}/kafka_cluster.py --directory {self.cluster.directory}"),
                         ("127.0.0.1:9092", self.cluster.bootstrap), ("duewheeld --data", "duewheeld --http 127.0.0.1:0 --data"),
                         ("--from-beginning", "--from-beginning --max-messages 1 --timeout-ms 60000")]:
            self.assertIn(old, script)
            script = script.replace(old, new)
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run(["sh", "-eu", "-c", f"{script}\nkill $!\n"], cwd=directory, capture_output=True,
                                  text=True, timeout=120, env=dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('{"amount": 5}\n', done.stdout)


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
