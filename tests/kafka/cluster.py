"""What the tests of this folder start brokers with: tools/kafka_cluster.py, or a skipped test where that cannot run."""

import pathlib
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
