"""The group of rows about Kafka: how many records a second go out, exactly once and at least once, how many come in, and how
late they are on their topic. Three brokers on this machine, each record on all of them; topics of three partitions."""

import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import time
from http.client import HTTPConnection

from durable.queue_groups import finish, order
from durable.subject import BIN, Server, fill, stats

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from kafka_cluster import KafkaCluster, why_unavailable  # noqa: E402

DELIVERIES = {"exactly_once": "exactly once", "at_least_once": "at least once"}
PARTITIONS = 3
BODY_BYTES = 200


class Reader:
    """duewheel_kafka_load, which reads a topic until `count` messages have come."""

    def __init__(self, cluster, topic, count):
        self.process = subprocess.Popen([BIN / "duewheel_kafka_load", "read", "--bootstrap", cluster.bootstrap, "--topic", topic,
                                         "--partitions", str(PARTITIONS), "--count", str(count)], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def report(self, count):
        output, _ = self.process.communicate()
        report = json.loads(output)
        assert (report["received"], report["repeated"], report["early"]) == (count, 0, 0), report
        return report


def create_topic(cluster, topic):
    subprocess.run([BIN / "duewheel", "kafka", "create-topics", "--bootstrap", cluster.bootstrap, "--replicas", "3",
                    "--partitions", str(PARTITIONS), topic], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def server_for(scratch, cluster, *arguments):
    server = Server("duewheel", scratch / "kafka", ("--kafka-bootstrap", cluster.bootstrap, *arguments))
    server.start()
    try:
        yield server
    finally:
        finish(server)


def set_target(server, topic, delivery):
    """Waits until the sender is open, which takes most of a second and is no part of a rate."""
    order(server, "PUT", f"/v1/queues/{topic}", {"target": {"kafka": {"topic": topic, "delivery": delivery}}})
    time.sleep(5)


def out(rows, scratch, cluster, quick, topic, delivery):
    """A paused queue is filled with what is due, and resumed."""
    count = 5_000 if quick else 200_000 if delivery == "exactly_once" else 400_000
    create_topic(cluster, topic)
    with server_for(scratch, cluster) as server:
        order(server, "POST", f"/v1/queues/{topic}:pause")
        set_target(server, topic, delivery)
        fill(server, count, batch=500, queue=topic, body=BODY_BYTES, due_ms=int(time.time() * 1000))
        reader = Reader(cluster, topic, count)
        before = server.cpu_seconds()
        began_ms = time.time() * 1000
        order(server, "POST", f"/v1/queues/{topic}:resume")
        report = reader.report(count)
        cpu = server.cpu_seconds() - before
        name = f"Kafka, out {DELIVERIES[delivery]}"
        rows.add(name, count, "duewheel", "1/s", [count / (report["last_ms"] - began_ms) * 1000])
        rows.add(name + ": server CPU each", count, "duewheel", "us", [cpu / count * 1e6])
    return name


def lateness(rows, scratch, cluster, quick, topic, delivery):
    """1,000 a second fall due, one each millisecond."""
    seconds = 3 if quick else 30
    count = 1000 * seconds
    create_topic(cluster, topic)
    with server_for(scratch, cluster) as server:
        set_target(server, topic, delivery)
        reader = Reader(cluster, topic, count)
        connection = HTTPConnection(server.address.split("//")[1])
        first_due_ms = int(time.time() * 1000) + 1500
        for tenth in range(10 * seconds):
            time.sleep(max(0.0, first_due_ms / 1000 - 1.5 + tenth / 10 - time.time()))
            lines = "".join(f'{{"body":"{"x" * BODY_BYTES}","due_ms":{first_due_ms + 100 * tenth + each}}}\n'
                            for each in range(100))
            connection.request("POST", f"/v1/queues/{topic}/messages:batch", lines, {"Content-Type": "application/x-ndjson"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
        report = reader.report(count)
        name = f"Kafka, lateness at 1,000/s {DELIVERIES[delivery]}"
        for level in ("p50", "p99", "max"):
            rows.add(f"{name}, as read: {level}", count, "duewheel", "ms", [report["read_late_ms"][level]])
        for level in ("p50", "p99", "max"):
            rows.add(f"{name}, as passed to the client: {level}", count, "duewheel", "ms", [report["passed_late_ms"][level]])


def into(rows, scratch, cluster, quick, topic):
    """A topic that was filled before, until its records are messages in the store."""
    count = 6_000 if quick else 600_000
    create_topic(cluster, topic)
    subprocess.run([BIN / "duewheel_kafka_load", "fill", "--bootstrap", cluster.bootstrap, "--topic", topic, "--count", str(count),
                    "--partitions", str(PARTITIONS), "--body", str(BODY_BYTES)], check=True)
    time.sleep(1)
    with server_for(scratch, cluster, "--kafka-in-topics", f"{topic}={topic}.out") as server:
        began = time.monotonic()
        taken_at_first = None
        while (taken := stats(server)["kafka"]["in"]["records"]) < count:
            if taken and taken_at_first is None:
                taken_at_first, began = taken, time.monotonic()
            time.sleep(0.02)
        seconds = time.monotonic() - began
        rows.add("Kafka, in", count, "duewheel", "1/s", [(count - (taken_at_first or 0)) / seconds])
        rows.add("Kafka, in: server CPU each", count, "duewheel", "us", [server.cpu_seconds() / count * 1e6])
        assert order(server, "GET", f"/v1/namespaces/kafka/queues/{topic}.out")["pending"] == count


def kafka(rows, scratch, quick):
    if why := why_unavailable():
        raise SystemExit(f"the group kafka cannot run: {why}")
    shutil.rmtree(scratch / "cluster", ignore_errors=True)
    with KafkaCluster(scratch / "cluster", brokers=3) as cluster:
        for round_number in range(1 if quick else 3):
            for delivery in sorted(DELIVERIES, reverse=round_number % 2 == 0):
                out(rows, scratch, cluster, quick, f"{delivery}.{round_number}", delivery)
            into(rows, scratch, cluster, quick, f"in.{round_number}")
            for delivery in sorted(DELIVERIES, reverse=round_number % 2 == 0):
                lateness(rows, scratch, cluster, quick, f"late.{delivery}.{round_number}", delivery)
    for workload in dict.fromkeys(row["workload"] for row in rows.rows if row["workload"].startswith("Kafka, ")):
        rows.merge(workload)
