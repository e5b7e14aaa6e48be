#!/usr/bin/env python3
"""Three nodes of one replicated log on three real brokers, while owners, brokers and disks are lost, under load.

    kafka_chaos_test.py [--scale 0.1]     1: `./dev chaos`, about ten minutes; 0.1, the default: the test

Writers put messages to any node, follow redirects, and repeat a put with its idempotency key until it is acknowledged.
The acknowledged puts are the ledger. At the end each message that is due was in its topic exactly once, as a consumer of
committed records sees it, none early, and each that is not due is still there.
"""

import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse

from bridge import ConsoleConsumer, duewheel
from cluster import KafkaCluster, are_in_sync, free_ports, leader_of, skip_without_kafka
from kept_nodes import REPLACED, WITHIN_S, KeptNode, KeptNodes
from wall import Wall

NODES = 3
WRITERS = 4
FATAL = 74
SKEW_S = 2


class Writer(threading.Thread):
    """Puts messages one after the other, and notes what was acknowledged: body -> (due in, when it was sent)."""

    def __init__(self, number, ports):
        super().__init__(daemon=True)
        self.number, self.ports = number, ports
        self.random = random.Random(number)
        self.ended = threading.Event()
        self.acknowledged = {}  # body -> (queue, due_ms, id)
        self.repeats = 0
        self.wrong = []

    def run(self):
        count = 0
        while not self.ended.is_set():
            queue = "later" if count % 20 == 0 else "out"
            body = f"{self.number}-{count}"
            delay_ms = 3_600_000 if queue == "later" else self.random.choice([0, 0, 100, 2_000, 8_000])
            count += 1
            self.put(queue, body, delay_ms)

    def put(self, queue, body, delay_ms):
        """Until it is acknowledged: also after the end of the load, so that nothing is unknown."""
        request = json.dumps({"body": body, "delay_ms": delay_ms, "key": body})
        for attempt in range(100_000):
            self.repeats += attempt > 0
            try:
                status, answer = self.send(f"/v1/queues/{queue}/messages", request)
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.05)
                continue
            if status in (200, 201):
                self.acknowledged[body] = (queue, answer["due_ms"], answer["id"])
                return
            if status not in (307, 503):
                self.wrong.append(f"{body}: {status} {answer}")
                return
            time.sleep(0.05)

    def send(self, path, request):
        port = self.random.choice(self.ports)
        for _ in range(4):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
            try:
                connection.request("POST", path, request, {"Content-Type": "application/json"})
                response = connection.getresponse()
                answer = json.loads(response.read())
            finally:
                connection.close()
            if response.status != 307:
                break
            port = urllib.parse.urlsplit(response.getheader("Location")).port
        return response.status, answer


class Chaos:
    def __init__(self, directory, cluster, scale):
        self.directory, self.cluster, self.scale = directory, cluster, scale
        self.takeover_s = 5 if scale >= 1 else 2
        self.ports = free_ports(NODES)
        self.began = time.monotonic()
        arguments = ["--kafka-bootstrap", cluster.bootstrap, "--kafka-log-replicate",
                     "--kafka-log-takeover-after", f"{self.takeover_s}s"]
        self.walls = [Wall() for _ in range(NODES)]
        self.nodes = KeptNodes(KeptNode(directory, number, port, arguments, wall.environment)
                               for number, (port, wall) in enumerate(zip(self.ports, self.walls)))
        self.writers = [Writer(number, self.ports) for number in range(WRITERS)]

    def say(self, text):
        count = sum(len(writer.acknowledged) for writer in self.writers)
        print(f"{time.monotonic() - self.began:6.1f} s  {count:7} acknowledged  {text}", flush=True)

    def rest(self, seconds, least=1):
        """For so long at scale 1, while the load goes on."""
        time.sleep(max(seconds * self.scale, least))

    def check_alive(self):
        self.nodes.check()
        for writer in self.writers:
            assert not writer.wrong, writer.wrong[:5]

    def await_progress(self, count=50):
        """Until this number of further puts is acknowledged."""
        target = sum(len(writer.acknowledged) for writer in self.writers) + count
        deadline = time.monotonic() + WITHIN_S
        while sum(len(writer.acknowledged) for writer in self.writers) < target:
            self.check_alive()
            assert time.monotonic() < deadline, "puts are not acknowledged any more"
            time.sleep(0.05)

    def request(self, method, path, value=None):
        """One that may be repeated: on a busy machine the owner may be replaced at any time."""
        deadline = time.monotonic() + WITHIN_S
        while True:
            owner = self.nodes.owner()
            connection = http.client.HTTPConnection("127.0.0.1", owner.port, timeout=30)
            try:
                connection.request(method, path, None if value is None else json.dumps(value), {"Content-Type": "application/json"})
                response = connection.getresponse()
                return response.status, json.loads(response.read() or b"null")
            except (OSError, http.client.HTTPException) as error:
                assert time.monotonic() < deadline, f"no owner answers: {error}\n" + owner.log_text()[-2000:]
                self.say(f"owner {owner.number} did not answer: {error}")
                time.sleep(0.1)
            finally:
                connection.close()

    # ---- what goes wrong

    def owners_are_killed(self):
        kills = max(2, round(6 * self.scale))
        for kill in range(kills):
            killed_at = time.monotonic()
            owner = self.nodes.owner()
            owner.send(signal.SIGKILL)
            taken = self.nodes.new_owner(killed_at).ready_at - killed_at
            self.say(f"owner {owner.number} killed ({kill + 1} of {kills}); another one took over after {taken:.1f} s")
            self.await_progress()
            time.sleep(max(20 * self.scale - taken, 1))

    def the_owner_is_paused(self):
        owner = self.nodes.owner()
        paused_at = time.monotonic()
        replaced = owner.codes[REPLACED]
        owner.send(signal.SIGSTOP)
        self.nodes.new_owner(paused_at)
        self.await_progress()
        self.rest(40 - (time.monotonic() - paused_at), 0)
        owner.send(signal.SIGCONT)
        deadline = time.monotonic() + WITHIN_S
        while owner.codes[REPLACED] == replaced:
            assert time.monotonic() < deadline, "the owner that was paused does not end\n" + owner.log_text()[-2000:]
            time.sleep(0.05)
        self.say(f"owner {owner.number} was paused for {time.monotonic() - paused_at:.0f} s, replaced, and started again")
        self.await_progress()

    def each_broker_is_killed(self):
        for broker in self.cluster.numbers:
            self.cluster.kill(broker)
            self.await_progress()
            self.rest(10)
            self.cluster.start()
            self.await_brokers()
            self.say(f"broker {broker} killed and started again")
            self.await_progress()

    def the_owner_and_the_leading_broker_are_lost(self):
        """As if one machine had held both: killed, then cut off without a word."""
        for how, lose in (("killed", self.cluster.kill), ("paused", self.cluster.pause)):
            broker = leader_of(self.cluster, "duewheel.default.log")
            owner = self.nodes.owner()
            lost_at = time.monotonic()
            lose(broker)
            owner.send(signal.SIGKILL)
            taken = self.nodes.new_owner(lost_at).ready_at - lost_at
            self.await_progress()
            self.say(f"owner {owner.number} killed and broker {broker}, which led the log, {how}; another node took over "
                     f"after {taken:.1f} s, while that broker was away")
            self.cluster.resume(broker)
            self.cluster.start()
            self.await_brokers()
            self.await_progress()

    def await_brokers(self):
        """All replicas are in sync again."""
        deadline = time.monotonic() + WITHIN_S
        while not are_in_sync(self.cluster):
            assert time.monotonic() < deadline, "the replicas are not in sync again"
            time.sleep(0.2)

    def two_brokers_are_away(self):
        for broker in (1, 2):
            self.cluster.kill(broker)
        time.sleep(1)  # of what was on its way
        before = sum(len(writer.acknowledged) for writer in self.writers)
        self.rest(15, 3)
        after = sum(len(writer.acknowledged) for writer in self.writers)
        assert after == before, f"{after - before} puts were acknowledged by one broker of three"
        self.cluster.start()
        self.await_brokers()
        self.await_progress()
        self.say("two of three brokers were away, nothing was acknowledged meanwhile, and it goes on")

    def all_nodes_are_killed(self):
        killed_at = time.monotonic()
        for node in self.nodes:
            node.send(signal.SIGKILL)
        self.nodes.new_owner(killed_at)
        self.await_progress()
        self.say("all nodes were killed at once")

    def a_disk_is_lost(self):
        owner = self.nodes.owner()
        standby = next(node for node in self.nodes if node is not owner)
        standby.stop(signal.SIGKILL)
        shutil.rmtree(standby.data)
        standby.start()
        self.await_progress()
        # When it owns the log, it has copied everything.
        for node in self.nodes:
            if node not in (owner, standby):
                node.stop()
        stopped_at = time.monotonic()
        owner.stop()
        assert self.nodes.new_owner(stopped_at) is standby
        standby.stop()
        compared = self.compare(owner, standby)
        for node in self.nodes:
            node.start()
        self.nodes.owner()
        self.await_progress()
        self.say(f"the disk of node {standby.number} was lost and rebuilt: {compared} bytes of the log are the same")

    def compare(self, former, rebuilt):
        """What both have of a segment; the former owner's ends with zeros. Segments that one has removed are not compared."""
        compared = 0
        for path in (former.data / "journal").glob("seg-*"):
            other = rebuilt.data / "journal" / path.name
            if not other.exists():
                continue
            content = path.read_bytes().rstrip(b"\0")
            assert other.read_bytes().startswith(content), f"{path.name} differs"
            compared += len(content)
        assert compared > 0, "no segment is on both disks"
        return compared

    def clocks_differ(self):
        """The clocks of the nodes differ by two seconds each, and owners change."""
        for number, wall in enumerate(self.walls):
            wall.set_ahead(SKEW_S * (number - 1))
        for _ in range(2):
            killed_at = time.monotonic()
            self.nodes.owner().send(signal.SIGKILL)
            self.nodes.new_owner(killed_at)
            self.await_progress()
            self.rest(10)
        self.say(f"the clocks of the nodes are {SKEW_S} s apart, and owners changed")

    # ---- the end

    def check(self, consumer):
        for writer in self.writers:
            writer.ended.set()
        for writer in self.writers:
            writer.join(WITHIN_S)
            assert not writer.is_alive(), "a put is never acknowledged"
        self.check_alive()
        acknowledged = {}
        for writer in self.writers:
            acknowledged.update(writer.acknowledged)
        due = {body: put for body, put in acknowledged.items() if put[0] == "out"}
        seen = consumer.wait_for(len(due), WITHIN_S)
        # One more, so that a second copy of an earlier one would have come.
        self.writers[0].put("out", "end", 0)
        seen = consumer.wait_for(len(due) + 1, WITHIN_S)
        counts = collections.Counter(record.value for record in seen)
        missing = [body for body in due if body not in counts]
        twice = [body for body, count in counts.items() if count > 1]
        unknown = [body for body in counts if body not in due and body != "end"]
        repeated = [record for record in seen if record.value in twice[:3]]
        assert not missing and not twice and not unknown, f"missing {missing[:5]}, twice {repeated}, unknown {unknown[:5]}"
        for record in seen:
            if record.value == "end":
                continue
            _, due_ms, number = due[record.value]
            assert record.headers["duewheel-id"] == number, record
            assert int(record.headers["duewheel-due-ms"]) == due_ms, record
            assert int(record.headers["duewheel-lateness-ms"]) >= 0, record
            # By the clock of this machine, which the nodes' clocks differed from at the end.
            assert record.received_ms >= due_ms - SKEW_S * 1_000, record
        later = len(acknowledged) - len(due)
        status, queue = self.request("GET", "/v1/queues/later")
        assert (status, queue["pending"]) == (200, later), (queue, later)
        self.say(f"{len(due)} records, each exactly once and none early; {later} messages that are not due; "
                 f"{sum(writer.repeats for writer in self.writers)} puts were repeated")

    def run(self):
        self.nodes.start()
        status, answer = self.request("PUT", "/v1/queues/out", {"target": {"kafka": {"topic": "out"}}})
        assert status in (200, 201), answer
        with ConsoleConsumer(self.cluster, "out") as consumer:
            for writer in self.writers:
                writer.start()
            for step in (self.owners_are_killed, self.the_owner_is_paused, self.each_broker_is_killed,
                         self.the_owner_and_the_leading_broker_are_lost, self.two_brokers_are_away, self.all_nodes_are_killed,
                         self.a_disk_is_lost, self.clocks_differ):
                step()
            self.check(consumer)

    def stop(self):
        self.nodes.stop()
        for wall in self.walls:
            wall.__exit__()


def lose_acknowledged_records(directory, cluster):
    """A topic that allows it loses its end by an unclean election: the owner notices it and stops, instead of going on
    without the messages that it has acknowledged."""
    code, output, errors = duewheel(cluster, "create-topics", "--cluster", "unclean", "--replicas", "3")
    assert code == 0, output + errors
    for topic, settings in {"duewheel.unclean.log": ["unclean.leader.election.enable=true", "min.insync.replicas=1", "retention.ms=-1",
                                                     "retention.bytes=-1", "cleanup.policy=delete", "max.message.bytes=2097152"],
                            "duewheel.unclean.owners": ["cleanup.policy=compact"]}.items():
        done = cluster.run("kafka-topics", "--create", "--topic", topic, "--replica-assignment", "1:2",
                           *[word for setting in settings for word in ("--config", setting)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    port, = free_ports(1)
    node = KeptNode(directory, NODES, port, ["--kafka-bootstrap", cluster.bootstrap, "--kafka-log-replicate", "--kafka-cluster", "unclean",
                                         "--kafka-log-unsafe-replication", "--kafka-log-takeover-after", "2s"])
    node.start()
    writer = Writer(0, [port])
    try:
        writer.put("q", "before", 3_600_000)
        cluster.kill(2)
        writer.put("q", "lost", 3_600_000)
        for number in range(20):
            writer.put("q", f"lost {number}", 3_600_000)
        cluster.kill(1)
        time.sleep(1)
        cluster.start(2)
        threading.Thread(target=writer.put, args=("q", "after", 3_600_000), daemon=True).start()
        deadline = time.monotonic() + WITHIN_S
        while node.ended is None and "after" not in writer.acknowledged and time.monotonic() < deadline:
            time.sleep(0.1)
        assert "after" not in writer.acknowledged, "the owner goes on without what it has acknowledged"
        assert node.ended == FATAL and "log_went_back" in node.log_text(), (node.ended, node.log_text()[-3000:])
        print("an unclean election: the owner stopped with log_went_back", flush=True)
    finally:
        writer.wrong.append("ended")
        node.stop(signal.SIGKILL)
        cluster.start()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=0.1, help="of the time between losses (default: 0.1)")
    options = parser.parse_args()
    skip_without_kafka()
    with tempfile.TemporaryDirectory(prefix="duewheel-chaos-") as directory, \
            KafkaCluster(f"{directory}/cluster", brokers=3) as cluster:
        code, output, errors = duewheel(cluster, "create-topics", "--log", "--partitions", "1", "out")
        assert code == 0, output + errors
        chaos = Chaos(directory, cluster, options.scale)
        try:
            chaos.run()
        finally:
            chaos.stop()
        lose_acknowledged_records(directory, cluster)
    print("OK")


if __name__ == "__main__":
    main()
