"""100,000 messages from topic to topic on three real brokers, while the server is killed 100 times, a broker is killed,
another one is paused for 40 seconds, and a target topic is deleted. A read_committed consumer gets each message exactly
once, and none before its time.
"""

import random
import tempfile
import threading
import time
import unittest

from bridge import BridgeDaemon, ConsoleConsumer, check_exactly_once, create_topics, produce
from cluster import KafkaCluster, skip_without_kafka

MESSAGES = 100_000
KILLS = 100
SPREAD_MS = 110_000  # of the delays
SEED = 20261127


class Faults(unittest.TestCase):
    def test_each_message_comes_out_once_through_all_faults(self):
        numbers = random.Random(SEED)
        print(f"seed {SEED}")
        with tempfile.TemporaryDirectory(prefix="duewheel-kafka-") as directory, \
                KafkaCluster(f"{directory}/cluster", brokers=3) as cluster:
            create_topics(cluster, ["later", "out", "doomed"], replicas=3, partitions=3)
            with ConsoleConsumer(cluster, "out") as consumer, BridgeDaemon(cluster, ["later=out"]) as daemon:
                daemon.start()
                sent_from_ms = time.time_ns() // 1_000_000
                delays = {str(number): numbers.randrange(SPREAD_MS) for number in range(MESSAGES)}
                produce(cluster, "later",
                        [({"duewheel-delay": f"{delay}ms"}, value, value) for value, delay in delays.items()] +
                        [({"duewheel-delay": "20s", "duewheel-topic": "doomed"}, "k", "doomed")])
                kills = threading.Thread(target=self.kill_server, args=(daemon, numbers))
                kills.start()
                self.break_brokers(cluster)  # here, because brokers end with the thread that starts them
                kills.join()
                try:
                    consumer.wait_for(MESSAGES, 150)
                except AssertionError as error:
                    self.fail(f"{error}\n{daemon.client().request('GET', '/v1/stats')}\n{daemon.log_text()[-3000:]}")
                produce(cluster, "later", [({"duewheel-delay": "0s"}, "end", "end")])
                seen = consumer.wait_for(MESSAGES + 1, 60)
                check_exactly_once(self, seen, {**delays, "end": 0}, sent_from_ms)
                self.assertEqual(daemon.client().request("GET", "/healthz")[0], 200)

    def kill_server(self, daemon, numbers):
        for _ in range(KILLS):
            time.sleep(numbers.uniform(0.1, 1.5))
            daemon.kill()
            daemon.start()

    def break_brokers(self, cluster):
        cluster.run("kafka-topics", "--delete", "--topic", "doomed")
        time.sleep(15)
        cluster.kill(2)
        time.sleep(5)
        cluster.start()
        time.sleep(15)
        cluster.pause(3)
        time.sleep(40)
        cluster.resume(3)


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
