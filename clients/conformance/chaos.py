#!/usr/bin/env python3
"""Puts and handles messages with the adapter of one client, while workers, the server and the network between them fail.

    chaos.py [--adapter NAME] [--seconds S] [--seed N]

In the first half, workers and the server are stopped in order, and the network loses, delays and cuts what passes: no message may be
lost, and none handled twice. In the second half, workers and the server are killed too. Again no message may be lost; those that were
leased at the time of a kill may be handled again (docs/promises.md, C5), and no others.

Exit code 0: all was kept; 1: a message was lost or repeated; 77: the adapter lacks something on this machine. The seed decides which
trouble comes when, as far as threads let it.
"""

import argparse
import collections
import pathlib
import random
import sys
import threading
import time

from run import SKIPPED, adapter_command  # finds the programs of the server
from adapter import Adapter, lacks_something
from proxy import Proxy, Rule

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "integration"))
from daemon import Daemon  # noqa: E402

QUEUE = "chaos"
WORKERS, PRODUCERS, CONCURRENCY = 2, 4, 10
LEASE = "6s"  # longer than faults of the network and pauses of a busy machine, so that heartbeats keep it
RETRY = {"first": "100ms", "max": "500ms", "attempts": 100}
CUT_S, HOLD_S, DELAY_S = 0.6, 1, 0.2
ENDS_WITHIN_S = 60


def ok(answer):
    assert "ok" in answer, answer
    return answer["ok"]


class Worker:
    """One process of the adapter with a worker that takes some time for each message."""

    def __init__(self, command, url, number):
        self.adapter, self.name = Adapter(command), f"worker {number}"
        ok(self.adapter.request("connect", arguments={"url": url, "timeout": "10s"}))
        takes = "take" in self.adapter.about["capabilities"]
        ok(self.adapter.request("work", arguments={"worker": self.name, "queue": QUEUE, "concurrency": CONCURRENCY, "lease": LEASE,
                                                   "outcomes": [{"take": "20ms"} if takes else {"return": None}]}))

    def handled(self):
        """The ids of the messages that its handler has had."""
        return [each["id"] for each in ok(self.adapter.request("handled", arguments={"worker": self.name}))["messages"]]

    def end(self, in_order):
        """What it had handled."""
        if in_order:
            ok(self.adapter.request("stop_work", arguments={"worker": self.name}))
        handled = self.handled()
        self.adapter.kill()
        return handled


class Producer:
    """Threads that put messages, each with a key, until stop(). A put that has failed is repeated by its caller until it succeeds."""

    def __init__(self, command, url):
        self.adapter, self.ids, self.stopping = Adapter(command), set(), False
        ok(self.adapter.request("connect", arguments={"url": url, "timeout": "5s"}))
        self.threads = [threading.Thread(target=self.put, args=(number,)) for number in range(PRODUCERS)]
        for thread in self.threads:
            thread.start()

    def put(self, thread):
        count = 0
        while not self.stopping:
            answer = self.adapter.request("put", arguments={"queue": QUEUE, "body": "x", "key": f"{thread}-{count}", "retry": RETRY})
            if "ok" in answer:
                self.ids.add(answer["ok"]["id"])
                count += 1
                time.sleep(0.01)
            else:
                assert answer.get("error", {}).get("family") in ("unavailable", "throttled"), answer

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        self.adapter.kill()


class Chaos:
    def __init__(self, command, seed):
        self.command, self.random = command, random.Random(seed)
        self.daemon, self.proxy = Daemon(), Proxy()
        self.url = f"http://127.0.0.1:{self.proxy.port}"
        self.workers, self.handled, self.troubles = [], [], collections.Counter()
        self.started, self.may_repeat = 0, 0

    def __enter__(self):
        self.start_server()
        self.workers = [self.new_worker() for _ in range(WORKERS)]
        return self

    def __exit__(self, *unused):
        for worker in self.workers:
            worker.adapter.kill()
        self.proxy.close()
        self.daemon.__exit__()

    def start_server(self):
        self.daemon.start()
        self.proxy.server_port = self.daemon.port

    def new_worker(self):
        self.started += 1
        return Worker(self.command, self.url, self.started)

    def stats(self):
        return self.daemon.client().request("GET", "/v1/stats")[1]

    # Trouble

    def stop_worker(self):
        worker = self.workers.pop(0)
        self.handled += worker.end(in_order=True)
        self.workers.append(self.new_worker())

    def kill_worker(self):
        worker = self.workers.pop(0)
        self.handled += worker.end(in_order=False)
        self.may_repeat += self.stats()["leased"]
        self.workers.append(self.new_worker())

    def stop_server(self):
        self.proxy.server_port = 0
        self.daemon.terminate()
        self.start_server()

    def kill_server(self):
        self.may_repeat += self.stats()["leased"] + CONCURRENCY  # more may be leased in the moment before
        self.proxy.server_port = 0
        self.daemon.kill()
        self.start_server()

    def drop_connections(self):
        self.proxy.drop_connections()

    def cut_network(self):
        self.proxy.server_port = 0
        self.proxy.drop_connections()
        time.sleep(CUT_S)
        self.proxy.server_port = self.daemon.port

    def fault(self, fault, calls, times, delay_s=0.0):
        for call in calls:
            self.proxy.add(Rule(fault, call, times=times, delay_s=delay_s))

    def lose_responses(self):
        self.fault("drop_response", ["put", "lease", "ack"], 3)

    def lose_requests(self):
        self.fault("cut_request", ["put", "lease", "ack", "extend"], 2)

    def cut_responses(self):
        self.fault("cut_body", ["put", "lease", "ack"], 2)
        self.fault("cut_head", ["put", "ack"], 1)

    def hold_requests(self):
        self.fault("hold_request", ["put", "ack", "extend"], 1, HOLD_S)

    def delay_responses(self):
        self.fault("delay", ["put", "lease", "ack"], 5, DELAY_S)

    ORDERLY = (stop_worker, stop_server, drop_connections, cut_network, lose_responses, lose_requests, cut_responses, hold_requests, delay_responses)
    KILLS = (kill_worker, kill_server)

    def trouble(self, kinds, seconds):
        """Each kind at least once."""
        until_s, left = time.monotonic() + seconds, list(kinds)
        self.random.shuffle(left)
        while left or time.monotonic() < until_s:
            kind = left.pop() if left else self.random.choice(kinds)
            self.troubles[kind.__name__] += 1
            kind(self)
            time.sleep(self.random.uniform(0.05, 0.3))
        self.proxy.clear()

    # The verdict

    def until_all_is_handled(self):
        deadline = time.monotonic() + ENDS_WITHIN_S
        while (left := self.stats()["pending"]) and time.monotonic() < deadline:
            time.sleep(0.1)
        while self.workers:
            self.handled += self.workers.pop().end(in_order=True)
        return left

    def run(self, kinds, seconds):
        """What was not kept, as texts."""
        producer = Producer(self.command, self.url)
        try:
            self.trouble(kinds, seconds)
        finally:
            producer.stop()
        left = self.until_all_is_handled()
        times = collections.Counter(self.handled)
        repeated = sum(count - 1 for count in times.values())
        unknown = [] if self.may_repeat else sorted(producer.ids - times.keys(), key=int)
        client = self.daemon.client()
        states = collections.Counter(client.request("GET", f"/v1/messages/{number}")[1].get("state") for number in producer.ids)
        print(f"{len(producer.ids)} messages, {repeated} handled again, {self.may_repeat} of which might be; "
              + ", ".join(f"{name} {count}" for name, count in sorted(self.troubles.items())), flush=True)
        return ([f"{left} messages are not handled after {ENDS_WITHIN_S} s"] if left else []) + \
               ([f"not all messages are done: {dict(states)}"] if set(states) != {"done"} else []) + \
               ([f"messages were done without a handler: {unknown}"] if unknown else []) + \
               ([f"{repeated} messages were handled again, and only {self.may_repeat} were leased when something was killed"]
                if repeated > self.may_repeat else [])


def main():
    parser = argparse.ArgumentParser(description="Runs a client while workers, the server and the network fail.")
    parser.add_argument("--adapter", default="python", help="a folder of adapters/, by default python")
    parser.add_argument("--seconds", type=float, default=3, help="how long each half has trouble, at least")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    command = adapter_command(options.adapter)
    if lacks_something(command):
        print(f"the chaos of the adapter {options.adapter} is skipped")
        return SKIPPED
    print(f"seed {options.seed}", flush=True)
    found = []
    for kinds in (Chaos.ORDERLY, Chaos.ORDERLY + Chaos.KILLS * 2):
        with Chaos(command, options.seed) as chaos:
            found += chaos.run(kinds, options.seconds)
    print("".join(f"FAILED {text}\n" for text in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
