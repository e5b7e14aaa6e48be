"""The group of rows about schedules: very many that all come at one instant, again and again."""

import concurrent.futures
import json
import signal
import shutil
import threading
import time
from http.client import HTTPConnection

from durable.queue_groups import metric, order
from durable.subject import Server, load

MINUTES = 5
QUEUES = 20
ZONES = ["Africa/Cairo", "America/Anchorage", "America/Caracas", "America/Chicago", "America/New_York", "America/Sao_Paulo",
         "America/St_Johns", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Shanghai", "Asia/Tehran", "Asia/Tokyo", "Australia/Lord_Howe",
         "Australia/Sydney", "Europe/Berlin", "Europe/London", "Europe/Moscow", "Pacific/Apia", "Pacific/Auckland", "UTC"]


def put_schedules(server, count, start_ms, times=MINUTES, threads=32):
    """Schedules that come every minute from then on, a number of times each."""
    def put(first):
        connection = HTTPConnection(server.address.split("//")[1])
        for number in range(first, count, threads):
            body = {"queue": f"runs{number % QUEUES}", "cron": "* * * * *", "zone": ZONES[number % len(ZONES)], "start_ms": start_ms, "times": times,
                    "misfire": "all", "body": "x" * 100}
            connection.request("PUT", f"/v1/schedules/job{number}", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == 201, text
    running = [threading.Thread(target=put, args=(first,)) for first in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def drain_runs(server, count):
    """The reports of the consumers of all queues, one each, after that number of runs."""
    with concurrent.futures.ThreadPoolExecutor(QUEUES) as pool:
        return list(pool.map(lambda number: load("drain", server, queue=f"runs{number}", connections=1, take_batch=1000, count=count // QUEUES),
                             range(QUEUES)))


def w11(server, quick, seed):
    """W11 in short: the schedules of the group crons come once."""
    count = 1_000 if quick else 100_000
    first_ms = (int(time.time()) // 60 + (2 if quick else 3)) * 60_000
    put_schedules(server, count, first_ms, times=1)
    if time.time() * 1000 > first_ms:
        raise RuntimeError(f"the {count:,} schedules were not set in time")
    before = server.cpu_seconds()
    reports = drain_runs(server, count)
    figures = {f"W11 lateness of the worst queue, {level}": ("ms", max(report["late_ms"][level] for report in reports))
               for level in ("p50", "p99", "max")}
    wrong = count - sum(report["acknowledged"] - report["early"] for report in reports)
    return {**figures, "W11 server CPU per run": ("us", (server.cpu_seconds() - before) / count * 1e6),
            "W11 lost or early": ("messages", wrong)}


def crons(rows, scratch, quick):
    """W11: 100,000 cron schedules in 20 zones come every minute for five minutes, into 20 queues with a consumer each."""
    count = 1_000 if quick else 100_000
    server = Server("duewheel", scratch / "crons")
    server.start()
    resident = server.resident_megabytes()
    began = time.monotonic()
    first_ms = (int(time.time()) // 60 + (2 if quick else 5)) * 60_000
    put_schedules(server, count, first_ms)
    rows.add("schedules set, one a request, 32 connections", count, "duewheel", "1/s", [count / (time.monotonic() - began)])
    rows.add("resident set beside them, each", count, "duewheel", "bytes", [(server.resident_megabytes() - resident) * 1048576 / count])
    assert time.time() * 1000 < first_ms, "they were not set in time"
    before = server.cpu_seconds()
    reports = drain_runs(server, count * MINUTES)
    name = f"{count:,} cron schedules in 20 zones, every minute"
    rows.add(name + ": runs acknowledged", count, "duewheel", "runs", [sum(report["acknowledged"] for report in reports)])
    rows.add(name + ": of them early", count, "duewheel", "runs", [sum(report["early"] for report in reports)])
    for level in ("p50", "p99", "max"):
        rows.add(f"{name}: lateness {level}, of the worst queue", count, "duewheel", "ms", [max(report["late_ms"][level] for report in reports)])
    rows.add(name + ": server CPU a run", count, "duewheel", "us", [(server.cpu_seconds() - before) / count / MINUTES * 1e6])
    for total, what in (("runs", "made"), ("late_runs", "made up for"), ("skipped_times", "skipped"), ("merged_times", "merged")):
        rows.add(f"{name}: {what}", count, "duewheel", "runs", [metric(server, f"duewheel_schedules_{total}_total")])
    assert order(server, "GET", "/v1/stats?queues=0")["pending"] == 0
    server.stop(signal.SIGKILL)
    shutil.rmtree(server.directory)
