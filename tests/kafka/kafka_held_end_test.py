"""KAFKA-17754 on a real broker: a held EndTxn ends the next transaction of its producer, unless the producer is given up
after the unknown outcome. The cases are HeldEnd in kafka_client_trial.cc; they control the proxy by lines on a socket.
"""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading

from cluster import KafkaCluster, free_ports, skip_without_kafka
from end_txn_proxy import EndTxnProxy

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])


def obey(control, proxy):
    """Answers each line, a method of the proxy, when it is done."""
    while True:
        connection, _ = control.accept()
        with connection, connection.makefile("rw") as lines:
            for line in lines:
                getattr(proxy, line.strip())()
                lines.write("done\n")
                lines.flush()


def main():
    skip_without_kafka()
    broker_port, proxy_port = free_ports(2)
    with tempfile.TemporaryDirectory(prefix="duewheel-kafka-") as directory:
        advertised = {"advertised.listeners": f"CLIENTS://127.0.0.1:{proxy_port}"}
        proxy = EndTxnProxy(proxy_port, broker_port)
        with KafkaCluster(f"{directory}/cluster", port=broker_port, settings=advertised):
            with socket.create_server(("127.0.0.1", 0)) as control:
                threading.Thread(target=obey, args=(control, proxy), daemon=True).start()
                environment = dict(os.environ, DUEWHEEL_KAFKA=f"127.0.0.1:{proxy_port}",
                                   DUEWHEEL_KAFKA_PROXY=str(control.getsockname()[1]))
                return subprocess.run([BIN / "kafka_client_trial", "--gtest_filter=HeldEnd.*"], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
