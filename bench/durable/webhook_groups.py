"""The groups of rows about webhooks: how many a second, and what a target that never answers does to the others."""

import json
import pathlib
import select
import shutil
import signal
import subprocess
import time
import urllib.request
from http.client import HTTPConnection

from durable.queue_groups import metric, order
from durable.subject import BIN, Server, fill

LOOPBACK = "--webhooks-allowed-networks=127.0.0.0/8"


class Receiver:
    """duewheel_webhook_receiver, a process of its own."""

    def __enter__(self):
        self.process = subprocess.Popen([BIN / "duewheel_webhook_receiver"], stdout=subprocess.PIPE)
        select.select([self.process.stdout], [], [], 60)
        self.address = "http://" + self.process.stdout.readline().decode().split("http=")[1].strip()
        return self

    def __exit__(self, *unused):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def report(self):
        with urllib.request.urlopen(self.address + "/report") as answer:
            return json.load(answer)


def set_target(server, queue, url, **members):
    order(server, "PUT", f"/v1/queues/{queue}", {"target": {"webhook": {"url": url, **members}},
                                                 "retry": {"attempts": 1000}})


def wait_until_empty(server, queue):
    while order(server, "GET", f"/v1/queues/{queue}")["pending"] > 0:
        time.sleep(0.05)


def deliveries(rows, scratch, quick):
    """A queue full of what is due is given a webhook; how many posts a second are answered, signed and acknowledged."""
    count = 5_000 if quick else 300_000
    secret = pathlib.Path(scratch) / "secret"
    secret.write_text("whsec_" + "A" * 32)
    secret.chmod(0o600)
    for signs in (False, True):
        server = Server("duewheel", scratch / "deliveries", (LOOPBACK, f"--webhooks-secrets=key={secret}"))
        server.start()
        order(server, "POST", "/v1/queues/bench:pause")
        fill(server, count, batch=500, queue="bench", due_ms=int(time.time() * 1000))
        assert order(server, "GET", "/v1/queues/bench")["pending"] == count
        with Receiver() as receiver:
            set_target(server, "bench", receiver.address + "/in", concurrency=256, **({"secrets": ["key"]} if signs else {}))
            before = server.cpu_seconds()
            began = time.monotonic()
            order(server, "POST", "/v1/queues/bench:resume")
            wait_until_empty(server, "bench")
            seconds = time.monotonic() - began
            got = receiver.report()["received"]
        name = "webhooks to a receiver on this machine" + (", signed" if signs else "")
        rows.add(name, count, "duewheel", "1/s", [count / seconds])
        rows.add(name + ": server CPU each", count, "duewheel", "us", [(server.cpu_seconds() - before) / count * 1e6])
        rows.add(name + ": posts more than messages", count, "duewheel", "posts", [got - count])
        server.stop(signal.SIGKILL)
        shutil.rmtree(server.directory)


def hanging(rows, scratch, quick):
    """20 queues with a webhook each: one never answers and has 50,000 due, the others get 100 a second each."""
    count, seconds = (500, 3) if quick else (50_000, 60)
    server = Server("duewheel", scratch / "hanging", (LOOPBACK,))
    server.start()
    with Receiver() as receiver:
        for with_one_that_hangs in (False, True):
            for number in range(19):
                set_target(server, f"works{number}", receiver.address + "/in")
            if with_one_that_hangs:
                fill(server, count, batch=500, queue="hangs", due_ms=int(time.time() * 1000))
                set_target(server, "hangs", receiver.address + "/hang")
                time.sleep(1)
            receiver.report()
            paced(server, seconds)
            for number in range(19):
                wait_until_empty(server, f"works{number}")
            report = receiver.report()
            name = "lateness at 19 targets, 100/s each" + (", beside one that never answers" if with_one_that_hangs else "")
            for level in ("p50", "p99", "max"):
                rows.add(f"{name}: {level}", report["received"], "duewheel", "ms", [report["late_ms"][level]])
        rows.add("targets that rest then", 20, "duewheel", "targets", [metric(server, "duewheel_webhook_targets_backing_off")])
    server.stop(signal.SIGKILL)
    shutil.rmtree(server.directory)


def paced(server, seconds):
    """100 messages a second for each of the 19, due over the following second: a batch for each queue each second."""
    connection = HTTPConnection(server.address.split("//")[1])
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        for number in range(19):
            due = int(time.time() * 1000) + 1000
            lines = "".join(f'{{"body":"x","due_ms":{due + 10 * each}}}\n' for each in range(100))
            connection.request("POST", f"/v1/queues/works{number}/messages:batch", lines, {"Content-Type": "application/x-ndjson"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
        time.sleep(max(0, 1 - (time.monotonic() - began)))
