"""The limits of a queue and of its groups hold while the server is killed and stopped, again and again.

60 workers lease jobs of 20 groups, of which two each may be leased at once, and 25 of the queue. They are those of living_workers.py, whose
rules hold here too: nothing is lost, and nothing is done twice. In addition, each time that a worker gets a lease, the leases that living
workers hold are counted. A lease counts from its response until its worker sends the call that ends it, or until its end. One that a crash
may have forgotten, or its extension (C8 of docs/promises.md), counts until that crash: the server may then deliver another message.

The seed is printed and can be given as DUEWHEEL_SEED, the number of kills and stops as DUEWHEEL_KILLS.
"""

import asyncio
import collections
import math
import os
import random
import time

from living_workers import QUEUE, Connection, Crew, Job, Load, Worker
from worker_restarts_test import Server

KILLS = int(os.environ.get("DUEWHEEL_KILLS", "8"))
GROUPS, GROUP_MAX, QUEUE_MAX = 20, 2, 25
LOAD = Load(workers=60, work_s=(0, 2), lease_s=(4, 6), falls=KILLS, rest_s=(0.5, 3))
GRACE = "2s"  # of leases after a start: those of workers that are gone use up the limits for so long


class GroupJob(Job):
    """Most are done: a job that is abandoned uses up a place of its group until its lease ends."""

    def __init__(self, seed, number, load):
        super().__init__(seed, number, load)
        self.group = f"group {number % GROUPS}"
        self.fate = random.Random(f"{seed} fate {number}").choices(["done", "failed", "released", "abandoned"], [90, 4, 4, 2])[0]

    def put(self):
        return {**super().put(), "group": self.group}


class GroupWorker(Worker):
    async def lease(self):
        run = self.crew.runs
        lease = await super().lease()
        if lease and run == self.crew.runs:
            self.crew.count(lease)
        return lease

    async def end(self, lease, fate):
        self.crew.counted.discard(lease)
        await super().end(lease, fate)


class GroupCrew(Crew):
    def __init__(self, *how):
        super().__init__(*how)
        self.runs = 0
        self.counted = set()  # leases that the server must count too
        self.most = collections.Counter()  # at once, of the queue ("") and of each group
        self.served_at = {f"group {number}": -math.inf for number in range(GROUPS)}

    def start(self):
        self.tasks = [asyncio.create_task(GroupWorker(self, number).run()) for number in range(self.load.workers)]

    def new_job(self):
        job = GroupJob(self.seed, len(self.jobs), self.load)
        self.jobs.append(job)
        self.unfinished.add(job.number)
        return job

    def count(self, lease):
        self.counted.add(lease)
        group = self.jobs[lease.job].group
        self.served_at[group] = time.monotonic()
        now_ms = time.time() * 1000
        held = [each for each in self.counted if each.end == "" and each.until_ms > now_ms]
        of_group = sum(self.jobs[each.job].group == group for each in held)
        for name, count, limit in (("", len(held), QUEUE_MAX), (group, of_group, GROUP_MAX)):
            self.most[name] = max(self.most[name], count)
            if count > limit:
                self.wrong.append(f"{count} leased at once of {name or 'the queue'}, run {self.runs}: "
                                  f"{[each for each in held if not name or self.jobs[each.job].group == name]}")

    def falls_now(self, forgets):
        super().falls_now(forgets)
        self.runs += 1
        fall = self.falls[-1]
        self.counted = {lease for lease in self.counted
                        if not (fall.may_forget_since(lease.granted_at) or fall.may_forget_since(lease.renewed_at))}

    def report(self):
        assert self.most[""] == QUEUE_MAX, f"the limit of the queue was never reached: {self.most}"
        reached = sum(self.most[group] == GROUP_MAX for group in self.served_at)
        assert reached == GROUPS, f"the limits of some groups were never reached: {self.most}"
        served = min(self.served_at.values())
        assert served > self.falls[-1].over_at, "a group was not served after the last start"
        return f"{super().report()}; {self.most['']} leased at once, {GROUP_MAX} of each of {reached} groups"


async def ask(port, method, path, value=None):
    connection = Connection([port])
    try:
        status, answer = await connection.once(method, path, value, 30)
        assert status == 200, answer
        return answer
    finally:
        connection.close()


async def run(seed):
    randomness = random.Random(seed)
    with Server(arguments=[f"--leases-grace={GRACE}"]) as server:
        await server.begin()
        await ask(server.port, "PUT", f"/v1/queues/{QUEUE}", {"limits": {"leased": QUEUE_MAX}, "groups": {"leased": GROUP_MAX}})
        crew = GroupCrew([server.port], LOAD, seed)
        crew.start()
        try:
            for number in range(KILLS):
                await crew.go_on(randomness.uniform(*LOAD.rest_s))
                how = ("kill", "stop", "kill", "upgrade")[number % 4]
                crew.falls_now(forgets=how == "kill")
                await server.restart(how, 0)
                crew.serves_again()
            await crew.go_on(3)
            await crew.finish()
            await crew.judge()
        finally:
            await crew.stop()
        print(crew.report())
        assert server.terminate() == 0, server.log_text()[-3000:]


def main():
    seed = int(os.environ.get("DUEWHEEL_SEED", str(random.randrange(1 << 32))))
    print(f"seed {seed}", flush=True)
    asyncio.run(run(seed))
    print("OK")


if __name__ == "__main__":
    main()
