"""A server between topics of real brokers, and the producer and consumer of Kafka's own console tools on both sides.

    with KafkaCluster(...) as cluster, BridgeDaemon(cluster, ["payments.later=payments"]) as daemon:
        with ConsoleConsumer(cluster, "payments") as consumer:
            daemon.start()
            produce(cluster, "payments.later", [({"duewheel-delay": "2s"}, "key", "value")])
            consumer.wait_for(1, 30)
"""

import collections
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from daemon import BIN, Daemon  # noqa: E402

SEPARATOR, FIELD = "|", "\t"  # between headers, and between the parts of a record


class BridgeDaemon(Daemon):
    """`inputs` as in the setting kafka.in.topics."""

    def __init__(self, cluster, inputs, arguments=(), **how):
        super().__init__(arguments=["--kafka-bootstrap", cluster.bootstrap, "--kafka-in-topics", ",".join(inputs),
                                    *arguments], **how)

    def wait_until_sent(self, count, within_s=60):
        """The counts of Kafka in and out, once this many records are counted as sent: a consumer may see a record before the
        server hears that its transaction is committed and counts it."""
        deadline = time.monotonic() + within_s
        while (kafka := self.client().request("GET", "/v1/stats")[1]["kafka"])["out"]["sent"] < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"{kafka['out']['sent']} records of {count} are counted as sent after {within_s} s")
            time.sleep(0.05)
        return kafka


def duewheel(cluster, verb, *arguments):
    """Runs `duewheel kafka VERB`; (exit code, output, errors)."""
    done = subprocess.run([BIN / "duewheel", "kafka", verb, "--bootstrap", cluster.bootstrap, *arguments],
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def create_topics(cluster, topics, replicas=1, partitions=1):
    code, output, errors = duewheel(cluster, "create-topics", "--replicas", str(replicas), "--partitions", str(partitions),
                                    *topics)
    assert code == 0, output + errors


def produce(cluster, topic, records):
    """Records as (headers, key, value); None is null."""
    lines = []
    for headers, key, value in records:
        parts = [SEPARATOR.join(f"{name}={text}" for name, text in headers.items()),
                 "NULL" if key is None else key, "NULL" if value is None else value]
        lines.append(FIELD.join(parts) + "\n")
    properties = {"parse.headers": "true", "parse.key": "true", "headers.separator": f"\\{SEPARATOR}",
                  "headers.key.separator": "=", "null.marker": "NULL"}
    done = cluster.run("kafka-console-producer", "--topic", topic,
                       *[word for item in properties.items() for word in ("--reader-property", "=".join(item))],
                       input="".join(lines).encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    assert done.returncode == 0, done.stdout.decode()


@dataclass
class Seen:
    received_ms: int
    timestamp_ms: int
    headers: dict
    key: str
    value: str


class ConsoleConsumer:
    """Reads a topic from its beginning, committed transactions only, in the background. After an outage of its broker it
    may read records again, which are left out: those are not records that were sent again."""

    def __init__(self, cluster, topic):
        shown = ("timestamp", "partition", "offset", "headers", "key")
        properties = {**{f"print.{part}": "true" for part in shown}, "headers.separator": SEPARATOR}
        self.command = [*cluster.tool_command("kafka-console-consumer"), "--topic", topic, "--from-beginning",
                        "--isolation-level", "read_committed",
                        *[word for item in properties.items() for word in ("--formatter-property", "=".join(item))]]
        self.seen = []
        self.changed = threading.Condition()  # guards seen

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.reading = threading.Thread(target=self._read, daemon=True)
        self.reading.start()
        return self

    def __exit__(self, *unused):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.reading.join()
        self.process.stdout.close()

    def _read(self):
        offsets = set()
        for line in self.process.stdout:
            timestamp, partition, offset, headers, key, value = line.rstrip("\n").split(FIELD, 5)
            if (partition, offset) in offsets:
                continue
            offsets.add((partition, offset))
            record = Seen(time.time_ns() // 1_000_000, int(timestamp.removeprefix("CreateTime:")),
                          dict(part.split(":", 1) for part in headers.split(SEPARATOR) if ":" in part), key, value)
            with self.changed:
                self.seen.append(record)
                self.changed.notify_all()

    def wait_for(self, count, within_s):
        """All records that were seen, at least `count` of them."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.seen) >= count, within_s)
            assert len(self.seen) >= count, f"{len(self.seen)} of {count} records came within {within_s} s"
            return list(self.seen)


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
