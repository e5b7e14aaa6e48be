"""The sender of exactly-once delivery on a real broker, killed again and again: the case of kafka_sender_trial.cc.

    kafka_sender_test.py [arguments of GoogleTest]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from cluster import KafkaCluster, skip_without_kafka

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])


def main():
    skip_without_kafka()
    with tempfile.TemporaryDirectory(prefix="duewheel-kafka-") as directory:
        with KafkaCluster(f"{directory}/cluster") as cluster:
            environment = dict(os.environ, DUEWHEEL_KAFKA=cluster.bootstrap)
            return subprocess.run([BIN / "kafka_sender_trial", *sys.argv[1:]], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
