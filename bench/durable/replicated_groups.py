"""The group of rows about a log on Kafka: puts beside those of a local log, how long a takeover takes, what a consumer of
committed records sees while owners are killed, and two shards beside one. Three brokers on this machine, each commit on all
of them; brokers, servers and load share its cores."""

import concurrent.futures
import contextlib
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException

from durable.kafka_groups import Reader, create_topic
from durable.queue_groups import order
from durable.subject import BIN, Server, fill, load, sync_rate

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from kafka_cluster import KafkaCluster, free_ports, why_unavailable  # noqa: E402

LOCAL, BROKERS = "local log", "three brokers"
CONNECTIONS = 64
WITHIN_S = 120


class Node(Server):
    """A node of a replicated log. It starts as a standby node."""

    def __init__(self, cluster, name, directory, *arguments):
        super().__init__("duewheel", directory, ("--kafka-bootstrap", cluster.bootstrap, "--kafka-log-replicate", "--kafka-cluster", name,
                                                 *arguments))
        self.listen = f"127.0.0.1:{free_ports(1)[0]}"
        self.ready = threading.Event()
        self.log = directory.with_suffix(".log")

    def start(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        self.ready = ready = threading.Event()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([BIN / "duewheeld", "--data", self.directory, "--http", self.listen, *self.arguments],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        self.address = "http://" + line.split("http=")[1].strip()
        threading.Thread(target=self._wait, args=(self.process.stdout, ready), daemon=True).start()

    @staticmethod
    def _wait(output, ready):
        for line in output:
            if line.startswith("ready"):
                ready.set()

    def own(self):
        self.start()
        self.wait_ready()
        return self

    def wait_ready(self):
        assert self.ready.wait(WITHIN_S), "the node does not take its log over:\n" + self.log.read_text()[-4000:]

    def follows(self):
        """Waits until this standby node knows the owner, and so has read the log."""
        deadline = time.monotonic() + WITHIN_S
        while time.monotonic() < deadline:
            status = ask(self, "GET", "/v1/stats")
            if status == 307:
                return
            time.sleep(0.05)
        raise AssertionError("the standby node finds no owner")


def ask(server, method, path, value=None):
    """The status; 0: there was no answer."""
    connection = HTTPConnection(server.address.split("//")[1], timeout=10)
    try:
        connection.request(method, path, None if value is None else json.dumps(value), {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        return response.status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()


def create_topics(cluster, name, shards=1):
    subprocess.run([BIN / "duewheel", "kafka", "create-topics", "--bootstrap", cluster.bootstrap, "--cluster", name, "--log", "--shards",
                    str(shards)], check=True, stdout=subprocess.DEVNULL)


def topic_bytes(cluster, name):
    """The size of the log of shard 0 on one broker."""
    return sum(path.stat().st_size for path in (cluster.directory / "broker-1" / f"duewheel.{name}.log-0").glob("*.log"))


def puts(rows, scratch, cluster, quick):
    """W1, with one outstanding put on each of 64 connections, in turns."""
    seconds, rounds = (2, 1) if quick else (10, 5)
    figures = {subject: {"1/s": [], "p50": [], "p99": [], "cpu": [], "bytes": []} for subject in (LOCAL, BROKERS)}
    create_topics(cluster, "puts")
    syncs = []
    for round_number in range(rounds):
        for subject in sorted(figures, reverse=round_number % 2 == 1):
            syncs.append(sync_rate(scratch, 0.5))
            directory = scratch / subject.replace(" ", "-")
            if subject == LOCAL:
                server = Server("duewheel", directory)
                server.start()
            else:
                server = Node(cluster, "puts", directory).own()
            load("put", server, connections=CONNECTIONS, seconds=1)
            before, bytes_before = server.cpu_seconds(), topic_bytes(cluster, "puts")
            result = load("put", server, connections=CONNECTIONS, seconds=seconds, seed=round_number + 2)
            mine = figures[subject]
            mine["bytes"].append((topic_bytes(cluster, "puts") - bytes_before) / result["accepted"])
            mine["cpu"].append((server.cpu_seconds() - before) / result["accepted"] * 1e6)
            mine["1/s"].append(result["per_second"])
            mine["p50"].append(result["took_us"]["p50"] / 1000)
            mine["p99"].append(result["took_us"]["p99"] / 1000)
            server.stop()
    shutil.rmtree(scratch / LOCAL.replace(" ", "-"))
    rows.add("fdatasync alone", 0, "disk", "1/s", syncs)
    for subject, mine in figures.items():
        rows.add("puts, 64 connections", CONNECTIONS, subject, "1/s", mine["1/s"])
        rows.add("puts, latency p50", CONNECTIONS, subject, "ms", mine["p50"])
        rows.add("puts, latency p99", CONNECTIONS, subject, "ms", mine["p99"])
        rows.add("puts, server CPU each", CONNECTIONS, subject, "us", mine["cpu"])
    rows.add("puts, bytes of the topic each", CONNECTIONS, BROKERS, "B", figures[BROKERS]["bytes"])
    ratios = [theirs / ours for theirs, ours in zip(figures[BROKERS]["1/s"], figures[LOCAL]["1/s"])]
    rows.add("puts, three brokers / local log", CONNECTIONS, BROKERS, "x", ratios)


def takeovers(rows, scratch, cluster, quick):
    """From the end of the owner until the standby node has acknowledged a put, with the default kafka.log.takeover_after."""
    create_topics(cluster, "takeover")
    owner = Node(cluster, "takeover", scratch / "one").own()
    standby = Node(cluster, "takeover", scratch / "two")
    standby.start()
    fill(owner, 20_000)
    for how, name, times in ((signal.SIGKILL, "takeover after kill -9", 2 if quick else 60),
                             (signal.SIGTERM, "takeover after release", 2 if quick else 20)):
        took = []
        for _ in range(times):
            standby.follows()
            owner.stop(how)
            began = time.monotonic()
            while ask(standby, "POST", "/v1/queues/q/messages", {"body": "x", "delay_ms": 3_600_000}) != 201:
                assert time.monotonic() < began + WITHIN_S, "no takeover"
                time.sleep(0.005)
            took.append(time.monotonic() - began)
            owner, standby = standby, owner
            standby.start()
        rows.add(name, len(took), "duewheel", "s", took)
    owner.stop()
    standby.stop()


def killed(rows, scratch, cluster, quick):
    """One-shots that fall due over minutes, while the owner is killed every 20 s, as a consumer of committed records sees
    them: the reader refuses a record that is early, or comes twice."""
    count, seconds, every = (4_000, 20, 10) if quick else (200_000, 300, 20)
    create_topics(cluster, "killed")
    create_topic(cluster, "killed")
    nodes = [Node(cluster, "killed", scratch / f"killed{number}") for number in range(2)]
    nodes[0].own()
    nodes[1].start()
    order(nodes[0], "PUT", "/v1/queues/killed", {"target": {"kafka": {"topic": "killed", "delivery": "exactly_once"}}})
    reader = Reader(cluster, "killed", count)
    filled = fill(nodes[0], count, batch=500, queue="killed", delay_min_ms=10_000, delay_max_ms=10_000 + seconds * 1000)
    assert filled["accepted"] == count, filled
    kills = 0
    stop_at = time.monotonic() + seconds
    while time.monotonic() < stop_at:
        time.sleep(every)
        owner = max(nodes, key=lambda node: node.ready.is_set())
        owner.stop(signal.SIGKILL)
        owner.start()
        kills += 1
        next(node for node in nodes if node is not owner).wait_ready()
    report = reader.report(count)
    rows.add("one-shots while the owner is killed every 20 s: received once", count, "duewheel", "records", [report["received"]])
    rows.add("one-shots while the owner is killed every 20 s: twice or early", count, "duewheel", "records",
             [report["repeated"] + report["early"]])
    rows.add("one-shots while the owner is killed every 20 s: kills", count, "duewheel", "kills", [kills])
    for level in ("p50", "p99", "max"):
        rows.add(f"one-shots while the owner is killed every 20 s: lateness {level}", count, "duewheel", "ms",
                 [report["read_late_ms"][level]])
    for node in nodes:
        node.stop(signal.SIGKILL)


def names_of(servers):
    """A namespace of each shard, as the first server says."""
    names = [None] * len(servers)
    number = 0
    while not all(names):
        name = f"n{number}"
        number += 1
        shard = 0 if ask(servers[0], "GET", f"/v1/namespaces/{name}/queues") == 200 else 1
        names[shard] = name
    return names


def shards(rows, scratch, cluster, quick):
    """The same 64 connections on one server, and half of them on each of two, with a local log and with three brokers."""
    seconds, rounds = (2, 1) if quick else (10, 3)
    for count in (1, 2):
        create_topics(cluster, f"shards{count}", count)
    rates = {}
    for round_number in range(rounds):
        for subject in (LOCAL, BROKERS):
            for count in (1, 2) if round_number % 2 == 0 else (2, 1):
                with contextlib.ExitStack() as started:
                    ports = free_ports(count)
                    urls = ",".join(f"http://127.0.0.1:{port}" for port in ports)
                    servers = []
                    for number in range(count):
                        directory = scratch / f"{subject.replace(' ', '-')}-{count}-{number}"
                        arguments = ("--shard", str(number), "--shards", str(count))
                        if subject == LOCAL:
                            urls_of = ("--shards-urls", urls) if count > 1 else ()
                            server = Server("duewheel", directory, (*arguments, *urls_of))
                            server.listen = f"127.0.0.1:{ports[number]}"
                            server.start()
                        else:
                            server = Node(cluster, f"shards{count}", directory, *arguments).own()
                        started.callback(server.stop)
                        servers.append(server)
                    names = names_of(servers) if count > 1 else ["default"]
                    with concurrent.futures.ThreadPoolExecutor() as pool:
                        results = list(pool.map(
                            lambda at: load("put", at[0], namespace=at[1], connections=CONNECTIONS // count, seconds=seconds,
                                            seed=round_number + 2), zip(servers, names)))
                    rates.setdefault((subject, count), []).append(sum(result["per_second"] for result in results))
    for (subject, count), values in sorted(rates.items()):
        rows.add(f"puts, {count} shard{'s' if count > 1 else ''}", CONNECTIONS, subject, "1/s", values)
    for subject in (LOCAL, BROKERS):
        rows.add("puts, two shards / one", CONNECTIONS, subject, "x",
                 [two / one for two, one in zip(rates[subject, 2], rates[subject, 1])])


def replicated(rows, scratch, quick):
    if why := why_unavailable():
        raise SystemExit(f"the group replicated cannot run: {why}")
    scratch = scratch / "replicated"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    with KafkaCluster(scratch / "cluster", brokers=3) as cluster:
        for part in (puts, takeovers, killed, shards):
            part(rows, scratch, cluster, quick)
