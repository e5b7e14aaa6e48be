"""The Kafka client against a real broker: starts one, and runs the cases of kafka_client_trial.cc.

    kafka_client_test.py [arguments of GoogleTest]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from cluster import TOOLS, KafkaCluster, skip_without_kafka

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])


def main():
    skip_without_kafka()
    with tempfile.TemporaryDirectory(prefix="duewheel-kafka-") as directory:
        with KafkaCluster(f"{directory}/cluster", sasl_users={"alice": "right-password"}) as cluster:
            environment = dict(os.environ, DUEWHEEL_KAFKA=cluster.bootstrap, DUEWHEEL_KAFKA_SASL=cluster.sasl_bootstrap,
                               DUEWHEEL_KAFKA_CLUSTER=f"{sys.executable} {TOOLS}/kafka_cluster.py --directory "
                                                      f"{cluster.directory}")
            return subprocess.run([BIN / "kafka_client_trial", *sys.argv[1:]], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
