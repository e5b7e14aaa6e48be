"""The real server between two topics of a real broker: what docs/kafka.md shows, with nothing but Kafka's console tools."""

import os
import pathlib
import re
import sys
import tempfile
import time
import unittest

from cluster import KafkaCluster, free_ports, skip_without_kafka

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from daemon import Daemon  # noqa: E402

TOPICS = ("payments.later", "payments", "orders", "duewheel.errors", "duewheel.default.ledger")
SHOWN = {"print.key": "true", "print.headers": "true", "headers.separator": "\x1f", "null.literal": "(null)"}


def wait_until(condition, what, within_s=60):
    deadline = time.monotonic() + within_s
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        time.sleep(0.1)
    return found


class Bridge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="duewheel-kafka-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.cluster = cls.enterClassContext(KafkaCluster(f"{cls.directory.name}/cluster"))
        for topic in TOPICS:
            done = cls.cluster.run("kafka-topics", "--create", "--topic", topic, "--partitions", "1", capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr

    def daemon(self):
        daemon = Daemon(arguments=["--kafka-bootstrap", self.cluster.bootstrap, "--kafka-in-topics", "payments.later=payments"])
        self.addCleanup(daemon.__exit__)
        daemon.start()
        return daemon

    def produce(self, topic, lines):
        """Lines as `name:value,name:value<tab>key<tab>value`."""
        done = self.cluster.run("kafka-console-producer", "--topic", topic, "--reader-property", "parse.headers=true",
                                "--reader-property", "parse.key=true", "--reader-property", "null.marker=(null)",
                                input="".join(line + "\n" for line in lines), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def consume(self, topic, count, timeout_ms=30_000):
        """[(headers, key, value)] of the first committed records; fewer if no more come in time."""
        options = [word for name, value in SHOWN.items() for word in ("--formatter-property", f"{name}={value}")]
        done = self.cluster.run("kafka-console-consumer", "--topic", topic, "--from-beginning", "--max-messages", str(count),
                                "--timeout-ms", str(timeout_ms), "--isolation-level", "read_committed", *options,
                                capture_output=True, text=True)
        records = []
        for line in done.stdout.splitlines():
            headers, key, value = line.split("\t")
            records.append((dict(pair.split(":", 1) for pair in headers.split("\x1f")) if ":" in headers else {}, key, value))
        return records

    def test_a_record_appears_in_its_target_topic_when_it_is_due_through_a_kill(self):
        daemon = self.daemon()
        due_ms = int(time.time() * 1000) + 8_000
        self.produce("payments.later", ["duewheel-delay:1s,trace:a\tann\tfirst", "duewheel-delay:8s\tbob\tsecond",
                                        "duewheel-dealy:1s\tann\tmisspelt", "duewheel-delay:soon\tann\tbroken",
                                        "duewheel-delay:1h,duewheel-key:c\tann\tcancelled", "duewheel-key:c\tann\t(null)"])
        wait_until(lambda: daemon.client().request("GET", "/v1/stats")[1]["kafka"]["in"]["records"] == 6, "records are taken")
        daemon.kill()
        daemon.start()
        (first, key, value), (second, *of_second) = self.consume("payments", 2)
        self.assertEqual((first["trace"], key, value, of_second), ("a", "ann", "first", ["bob", "second"]))
        self.assertEqual(first["duewheel-source"], "payments.later/0/0")
        self.assertGreaterEqual(int(second["duewheel-due-ms"]), due_ms)
        self.assertGreaterEqual(int(second["duewheel-lateness-ms"]), 0)
        errors = self.consume("duewheel.errors", 2)
        self.assertEqual([(headers["duewheel-error-code"], headers["duewheel-source"], value) for headers, _, value in errors],
                         [("unknown_member", "payments.later/0/2", "misspelt"), ("bad_duration", "payments.later/0/3", "broken")])
        self.assertEqual(len(self.consume("payments", 3, timeout_ms=5_000)), 2, "each once")
        status, queue = daemon.client().request("GET", "/v1/namespaces/kafka/queues/payments")
        self.assertEqual((status, queue["settings"]["target"]["kafka"]["topic"], queue["kafka"]["state"], queue["pending"]),
                         (200, "payments", "ok", 0))
        self.assertEqual(daemon.terminate(), 0, daemon.log_text())

    def test_a_put_over_http_goes_to_the_topic_of_its_queue(self):
        daemon = self.daemon()
        client = daemon.client()
        target = {"target": {"kafka": {"topic": "orders", "key": "other"}}}
        self.assertEqual(client.request("PUT", "/v1/queues/orders", target)[0], 200)
        self.assertEqual(client.request("PUT", "/v1/queues/orders", {"target": {"kafka": {"topic": "payments.later"}}})[1]["code"], "kafka_loop")
        client.put("orders", "one", headers={"colour": "red"}, kafka={"key": "mine"})
        client.put("orders", "two", order_key="in line")
        client.put("orders", "three")
        records = self.consume("orders", 3)
        self.assertEqual(sorted((key, value) for _, key, value in records), [("in line", "two"), ("mine", "one"), ("other", "three")])
        self.assertEqual([headers["colour"] for headers, key, _ in records if key == "mine"], ["red"])
        page = client.request_text("GET", "/metrics", None)[1]
        self.assertRegex(page, r"(?m)^duewheel_kafka_records_sent_total 3$")
        self.assertRegex(page, r'(?m)^duewheel_kafka_in_reading\{topic="payments.later",partition="0"\} 1$')

    def test_a_server_without_brokers_serves_http_and_stops(self):
        daemon = Daemon(arguments=["--kafka-bootstrap", f"127.0.0.1:{free_ports(1)[0]}", "--kafka-in-topics", "a=b"])
        self.addCleanup(daemon.__exit__)
        daemon.start()
        client = daemon.client()
        self.assertEqual(client.request("PUT", "/v1/queues/q", {"target": {"kafka": {"topic": "t"}}})[0], 200)
        self.assertEqual(client.put("q", "x")[0], 201)
        wait_until(lambda: re.search(r"kafka_unavailable", daemon.log_text()), "it says so")
        self.assertEqual(client.request("GET", "/v1/queues/q")[1]["dead"], 0)
        began = time.monotonic()
        self.assertEqual(daemon.terminate(), 0, daemon.log_text())
        self.assertLess(time.monotonic() - began, 30)


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
