"""Three nodes of one replicated log on three real brokers; the broker that leads everything is lost together with the
owner, as if one machine had held both, or alone.

The story: a standby node asked the lost broker where the log ends, again and again. The call waited for that broker,
whatever its timeout, and did not ask which broker leads the partition now, so no node took over until the broker was back. In
every case here the log has an owner again within the wait of the standby nodes and 15 seconds, of which Kafka needs about
ten to elect a leader; a broker that is paused says no word, not even that the connection is closed.

When it is back, it believes for a moment that it still leads, and lacks what was written since. Nodes took that for a topic
that has lost records: they stopped, or read their input no more.
"""

import tempfile
import time
import unittest

from bridge import duewheel, produce
from cluster import KafkaCluster, are_in_sync, leader_of, skip_without_kafka
from nodes import TAKEOVER_S, Node, ask

WITHIN_S = TAKEOVER_S + 15
REPLACED = 75  # the exit status of a node that another one replaced
PATIENCE = 3  # a machine that compiles meanwhile is slower by so much
TOPICS = {
    "duewheel.default.log": ["min.insync.replicas=2", "retention.ms=-1", "retention.bytes=-1", "cleanup.policy=delete",
                             "max.message.bytes=2097152", "unclean.leader.election.enable=false"],
    "duewheel.default.ledger": ["min.insync.replicas=2", "retention.ms=-1", "retention.bytes=-1", "cleanup.policy=delete",
                                "unclean.leader.election.enable=false"],
    "duewheel.default.owners": ["cleanup.policy=compact"],
    "later": [],
    "out": [],
}


class Takeover(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="duewheel-kafka-")
        cls.addClassCleanup(directory.cleanup)
        cls.cluster = cls.enterClassContext(KafkaCluster(f"{directory.name}/cluster", brokers=3))
        for topic, settings in TOPICS.items():  # all led by the same broker
            done = cls.cluster.run("kafka-topics", "--create", "--topic", topic, "--replica-assignment", "1:2:3",
                                   *[word for setting in settings for word in ("--config", setting)],
                                   capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        code, output, errors = duewheel(cls.cluster, "create-topics", "--log", "--replicas", "3")
        assert code == 0, output + errors
        cls.nodes = [Node(cls.cluster.bootstrap, arguments=["--kafka-in-topics", "later=out"]) for _ in range(3)]
        for node in cls.nodes:
            cls.addClassCleanup(node.__exit__)
            node.launch()
        cls.owner = cls.await_owner(cls.nodes)[0]
        status, answer = ask(cls.owner.port, "PUT", "/v1/queues/out", {"target": {"kafka": {"topic": "out"}}})
        assert status in (200, 201), answer

    @staticmethod
    def await_owner(nodes):
        """The one of them that becomes the owner, and when."""
        deadline = time.monotonic() + PATIENCE * WITHIN_S
        while time.monotonic() < deadline:
            for node in nodes:
                if line := node.line(0.02):
                    assert line.startswith("ready http="), f"{line!r}\n{node.log_text()}"
                    return node, time.monotonic()
        raise AssertionError("no node took over\n" + "\n".join(node.log_text()[-3000:] for node in nodes))

    def ask(self, *request):
        """Asks any node that runs: on a busy machine another one may have become the owner."""
        for node in self.nodes:
            try:
                if node.process and node.process.poll() is None and (answer := ask(node.port, *request))[0] < 300:
                    return answer[1]
            except OSError:
                pass
        return None

    def stats(self):
        found = []
        self.await_that("no node answers", lambda: found.append(self.ask("GET", "/v1/stats")) or found[-1])
        return found[-1]["kafka"]

    def await_that(self, what, is_so):
        began = time.monotonic()
        while not is_so():
            self.assertLess(time.monotonic() - began, PATIENCE * WITHIN_S, what + "\n" + type(self).owner.log_text()[-3000:])
            time.sleep(0.05)
        return time.monotonic() - began

    def put(self, queue):
        """Until it is acknowledged; how long that took."""
        return self.await_that("puts are not acknowledged any more",
                               lambda: self.ask("POST", f"/v1/queues/{queue}/messages", {"body": "x"}))

    def heal(self, number):
        ended = [node for node in self.nodes if not node.process or node.process.poll() is not None]
        self.cluster.resume(number)
        self.cluster.start()
        for node in ended:
            node.launch()
        if type(self).owner in ended:
            type(self).owner, _ = self.await_owner(self.nodes)
        self.await_that("the replicas are not in sync again", lambda: are_in_sync(self.cluster))
        for node in self.nodes:
            self.assertIn(node.process.poll(), (None, REPLACED), node.log_text()[-3000:])
            for event in ("log_went_back", "kafka_position_trimmed", "kafka_ledger_lost"):
                self.assertNotIn(event, node.log_text())

    def check_bridge(self):
        """The owner sends messages, knows from the ledger what was sent, and reads records; how long each took."""
        before = self.stats()
        self.put("out")
        sent = self.await_that("messages are not sent", lambda: self.stats()["out"]["sent"] > before["out"]["sent"])
        produce(self.cluster, "later", [({"duewheel-delay": "0s"}, "key", "value")])
        return sent, self.await_that("records are not read", lambda: self.stats()["in"]["records"] > before["in"]["records"])

    def lose(self, break_broker, leads, with_owner):
        cls = type(self)
        leader = leader_of(self.cluster, "duewheel.default.log")
        number = leader if leads else leader % 3 + 1
        self.addCleanup(self.heal, number)
        others = [node for node in self.nodes if node is not cls.owner]
        began = time.monotonic()
        break_broker(number)
        if with_owner:
            cls.owner.kill()
            cls.owner, at = self.await_owner(others)
            taken = at - began
        else:
            taken = self.put("q")
        sent, read = self.check_bridge()
        print(f"{self.id().rpartition('.')[2]}: {taken:.1f} s ({TAKEOVER_S} s are the wait of a standby node); messages are "
              f"sent {sent:.1f} s later, records read {read:.1f} s later", flush=True)
        self.assertLess(taken, PATIENCE * WITHIN_S)

    def test_the_owner_and_the_leading_broker_are_killed(self):
        self.lose(self.cluster.kill, leads=True, with_owner=True)

    def test_the_owner_is_killed_and_the_leading_broker_paused(self):
        self.lose(self.cluster.pause, leads=True, with_owner=True)

    def test_the_owner_and_another_broker_are_killed(self):
        self.lose(self.cluster.kill, leads=False, with_owner=True)

    def test_the_leading_broker_is_paused_and_the_owner_goes_on(self):
        self.lose(self.cluster.pause, leads=True, with_owner=False)

    def test_the_leading_broker_is_killed_and_the_owner_goes_on(self):
        self.lose(self.cluster.kill, leads=True, with_owner=False)


if __name__ == "__main__":
    skip_without_kafka()
    unittest.main(verbosity=2)
