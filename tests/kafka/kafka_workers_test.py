#!/usr/bin/env python3
"""200 workers of three nodes with one replicated log, which is taken over again and again while they work.

    kafka_workers_test.py           5 takeovers in a minute, on one broker
    kafka_workers_test.py --long    20 takeovers, jobs of up to a minute, on three brokers: ten minutes

The owner is killed, stopped, or paused until another node has taken over, and then killed. The rules and the excuses are in
living_workers.py. The seed is printed and can be given as DUEWHEEL_SEED.
"""

import argparse
import asyncio
import os
import random
import signal
import tempfile
import time

from bridge import duewheel
from cluster import KafkaCluster, free_ports, skip_without_kafka
from kept_nodes import KeptNode, KeptNodes
from living_workers import Crew, Load
from nodes import TAKEOVER_S

SHORT = Load(workers=200, work_s=(0.5, 8), lease_s=(3, 6, 12), falls=5, rest_s=(1, 5))
LONG = Load(workers=200, work_s=(1, 60), lease_s=(15, 30, 60), falls=20, rest_s=(2, 25))


class Log:
    """The nodes, and who owns the log."""

    def __init__(self, directory, bootstrap):
        arguments = ["--kafka-bootstrap", bootstrap, "--kafka-log-replicate", "--kafka-log-unsafe-replication",
                     "--kafka-log-takeover-after", f"{TAKEOVER_S}s"]
        self.nodes = KeptNodes(KeptNode(directory, number, port, arguments) for number, port in enumerate(free_ports(3)))
        self.expected = 1  # takeovers: the first owner, and one for each that was lost
        self.losing = False

    def unasked(self):
        """On a busy machine a node may be taken for dead."""
        happened = sorted(at for node in self.nodes for at in node.takeovers)
        more = [] if self.losing else happened[self.expected:]
        self.expected += len(more)
        return more

    async def lose_owner(self, how, crew):
        owner = await asyncio.to_thread(self.nodes.owner)
        crew.check()
        self.losing = True
        crew.falls_now(forgets=how != signal.SIGTERM)
        lost_at = time.monotonic()
        owner.send(how)
        new = await asyncio.to_thread(self.nodes.new_owner, lost_at)
        if how == signal.SIGSTOP:
            owner.send(signal.SIGKILL)  # as a machine that never wakes
        self.expected += 1
        self.losing = False
        crew.serves_again()
        print(f"node {owner.number} got {how.name}; node {new.number} took over after {new.ready_at - lost_at:.1f} s", flush=True)


async def run(directory, bootstrap, load, seed):
    randomness = random.Random(seed)
    log = Log(directory, bootstrap)
    try:
        await asyncio.to_thread(log.nodes.start)
        crew = Crew([node.port for node in log.nodes], load, seed, log.unasked)
        crew.start()
        try:
            for number in range(load.falls):
                await crew.go_on(randomness.uniform(*load.rest_s))
                log.nodes.check()
                await log.lose_owner((signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP)[number % 3], crew)
            await crew.finish()
            await crew.judge()
        finally:
            await crew.stop()
        print(crew.report())
    finally:
        log.nodes.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="20 takeovers, jobs of up to a minute, three brokers")
    options = parser.parse_args()
    skip_without_kafka()
    seed = int(os.environ.get("DUEWHEEL_SEED", str(random.randrange(1 << 32))))
    print(f"seed {seed}", flush=True)
    brokers = 3 if options.long else 1
    with tempfile.TemporaryDirectory(prefix="duewheel-workers-") as directory, \
            KafkaCluster(f"{directory}/cluster", brokers=brokers) as cluster:
        code, output, errors = duewheel(cluster, "create-topics", "--log", "--replicas", str(brokers))
        assert code == 0, output + errors
        asyncio.run(run(directory, cluster.bootstrap, LONG if options.long else SHORT, seed))
    print("OK")


if __name__ == "__main__":
    main()
