"""Records through the server, from topic to topic, with one real broker and Kafka's own console tools: the quick start of
docs/kafka.md, exactly once through kill -9 of server and broker, and what becomes of records that ask for nonsense.
"""

import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from bridge import BIN, BridgeDaemon, ConsoleConsumer, create_topics, duewheel, produce
from cluster import TOOLS, KafkaCluster, free_ports, skip_without_kafka

PAGE = TOOLS.parent / "docs" / "kafka.md"
KILLS = 4


def check_exactly_once(test, seen, values, sent_from_ms):
    """Each value came once, with an id of its own, and at or after its time; delays are those of `values`."""
    counts = collections.Counter(record.value for record in seen)
    test.assertEqual(set(counts), set(values))
    test.assertEqual([value for value, count in counts.items() if count != 1], [])
    test.assertEqual(len({record.headers["duewheel-id"] for record in seen}), len(values))
    for record in seen:
        due_ms = int(record.headers["duewheel-due-ms"])
        test.assertGreaterEqual(due_ms, sent_from_ms + values[record.value], record)
        test.assertGreaterEqual(record.timestamp_ms, due_ms, record)
        test.assertGreaterEqual(record.received_ms, due_ms, record)


class ExactlyOnce(unittest.TestCase):
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
            delays = {str(number): number * 5 for number in range(2000)}  # within 10 seconds
            produce(self.cluster, "once.later",
                    [({"duewheel-delay": f"{delay}ms"}, value, value) for value, delay in delays.items()])
            for kill in range(KILLS):
                consumer.wait_for((kill + 1) * len(delays) // (KILLS + 2), 30)
                daemon.kill()
                if kill == KILLS // 2:
                    self.cluster.kill(1)
                    self.cluster.start()
                daemon.start()
            seen = consumer.wait_for(len(delays), 60)
            produce(self.cluster, "once.later", [({"duewheel-delay": "0s"}, "end", "end")])
            seen = consumer.wait_for(len(delays) + 1, 30)
            check_exactly_once(self, seen, {**delays, "end": 0}, sent_from_ms)
            self.assertEqual({record.key for record in seen}, {record.value for record in seen})

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
                ({"duewheel-delay": "30s", "duewheel-key": "order"}, "k", "cancelled"),
                ({"duewheel-key": "order"}, "k", None),
                ({"duewheel-delay": "2s"}, "k", "last"),
            ])
            seen = consumer.wait_for(2, 40)
            self.assertEqual([record.value for record in seen], ["past", "last"])
            self.assertEqual(seen[0].headers["x"], "1")
            self.assertRegex(seen[0].headers["duewheel-source"], r"^bad\.later/0/4$")
            refused = {record.value: record for record in errors.wait_for(4, 20)}
            self.assertEqual({value: record.headers["duewheel-error-code"] for value, record in refused.items()},
                             {"no duration": "bad_duration", "both": "conflicting_members", "neither": "missing_member",
                              "a loop": "topic_loop"})
            self.assertEqual(refused["both"].headers["duewheel-due"], now)
            self.assertTrue(all(record.headers["duewheel-error"] for record in refused.values()))
            _, totals = daemon.client().request("GET", "/v1/namespaces/kafka/queues/bad")
            self.assertEqual((totals["ready"], totals["scheduled"]), (0, 0), totals)  # the cancelled one has ended
            status = [BIN / "duewheel", "--server", f"http://127.0.0.1:{daemon.port}", "kafka", "status"]
            shown = json.loads(subprocess.check_output([*status, "--json"]))
            self.assertEqual((shown["brokers_up"], shown["in"]["errors"], shown["out"]["sent"]), (1, 4, 2))
            self.assertEqual(shown["in"]["partitions"][0]["position"], 8)
            self.assertRegex(subprocess.check_output(status, text=True), r"bad\.later +0 +reading +8 ")

    def test_the_quick_start_of_the_page_runs(self):
        port, = free_ports(1)
        script = "\n".join(re.findall(r"^```sh\n(.*?)^```", PAGE.read_text().split("## Quick start")[1].split("\n## ")[0],
                                      re.DOTALL | re.MULTILINE))
        for old, new in [("tools/kafka_cluster.py start", f"tools/kafka_cluster.py start --port {port}"),
                         ("tools/kafka_cluster.py", f"{TOOLS}/kafka_cluster.py --directory \"$PWD/cluster\""),
                         ("127.0.0.1:9092", f"127.0.0.1:{port}"), ("duewheeld --data", "duewheeld --http 127.0.0.1:0 --data"),
                         ("--from-beginning", "--from-beginning --max-messages 1 --timeout-ms 60000")]:
            self.assertIn(old, script)
            script = script.replace(old, new)
        with tempfile.TemporaryDirectory() as directory:
            try:
                done = subprocess.run(["sh", "-eu", "-c", f"{script}\nkill $!\n"], cwd=directory, capture_output=True,
                                      text=True, timeout=120, env=dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}"))
            finally:
                KafkaCluster(pathlib.Path(directory) / "cluster").remove()
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn('{"amount": 5}\n', done.stdout)


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
