"""What the tests of this folder start brokers with: tools/kafka_cluster.py, or a skipped test where that cannot run."""

import pathlib
import subprocess
import sys

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
sys.dont_write_bytecode = True
from kafka_cluster import KafkaCluster, free_ports, why_unavailable  # noqa: E402, F401

SKIPPED = 77  # the exit status that CMakeLists.txt declares


def skip_without_kafka():
    if why := why_unavailable():
        print(f"skipped: {why}")
        sys.exit(SKIPPED)


def leader_of(cluster, topic):
    """The number of the broker that leads the first partition."""
    done = describe_topics(cluster, "--topic", topic, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout.partition("Leader: ")[2].split()[0])


def are_in_sync(cluster):
    """Whether all brokers have all records of their partitions; not on a machine that is too busy to tell in a minute."""
    try:
        done = describe_topics(cluster, "--under-replicated-partitions", timeout=60)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 and not done.stdout.strip()


def describe_topics(cluster, *arguments, timeout):
    return cluster.run("kafka-topics", "--describe", *arguments, capture_output=True, text=True, timeout=timeout)
