"""KAFKA-17754 on a real broker: a held EndTxn ends the next transaction of its producer, unless the producer is given up
after the unknown outcome. The cases of the client are HeldEnd in kafka_client_trial.cc; they control the proxy by lines on
a socket. Then the server sends through the same proxy, and each message comes out once.
"""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading

from bridge import BridgeDaemon, ConsoleConsumer, create_topics, produce
from cluster import KafkaCluster, free_ports, skip_without_kafka
from end_txn_proxy import EndTxnProxy

ROUNDS, RECORDS = 2, 40
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


def check_server(cluster, proxy):
    create_topics(cluster, ["held.later", "held"])
    with ConsoleConsumer(cluster, "held") as consumer, BridgeDaemon(cluster, ["held.later=held"]) as daemon:
        daemon.start()
        values = []

        def send(count):
            fresh = [str(len(values) + number) for number in range(count)]
            values.extend(fresh)
            produce(cluster, "held.later", [({"duewheel-delay": f"{number % 5 * 300}ms"}, "k", value)
                                            for number, value in enumerate(fresh)])

        send(1)
        consumer.wait_for(1, 60)
        for _ in range(ROUNDS):
            proxy.hold_next()
            send(RECORDS)
            with proxy.lock:
                assert proxy.lock.wait_for(lambda: proxy.is_holding, 30), "no transaction was ended"
            consumer.wait_for(len(values), 120)  # the server gives up its producers and sends on with new ones
            send(RECORDS)
            proxy.release()
            consumer.wait_for(len(values), 60)
        send(1)
        seen = [record.value for record in consumer.wait_for(len(values), 60)]
        assert sorted(seen) == sorted(values), sorted(seen)
        kafka = daemon.wait_until_sent(len(values))
        assert kafka["out"]["sent"] == len(values), kafka
        page = daemon.client().request_text("GET", "/metrics", None)[1]
        assert "duewheel_kafka_transactions_unknown_total 0\n" not in page, "the held end had no effect"


def main():
    skip_without_kafka()
    broker_port, proxy_port = free_ports(2)
    with tempfile.TemporaryDirectory(prefix="duewheel-kafka-") as directory:
        advertised = {"advertised.listeners": f"CLIENTS://127.0.0.1:{proxy_port}"}
        proxy = EndTxnProxy(proxy_port, broker_port)
        with KafkaCluster(f"{directory}/cluster", port=broker_port, settings=advertised) as cluster:
            with socket.create_server(("127.0.0.1", 0)) as control:
                threading.Thread(target=obey, args=(control, proxy), daemon=True).start()
                environment = dict(os.environ, DUEWHEEL_KAFKA=f"127.0.0.1:{proxy_port}",
                                   DUEWHEEL_KAFKA_PROXY=str(control.getsockname()[1]))
                code = subprocess.run([BIN / "kafka_client_trial", "--gtest_filter=HeldEnd.*"], env=environment).returncode
            if code == 0:
                check_server(cluster, proxy)
            return code


if __name__ == "__main__":
    sys.exit(main())
