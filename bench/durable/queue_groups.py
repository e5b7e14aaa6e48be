"""The groups of rows about the queue: batches, whole cycles, bursts, cancels, and the log through churn. Each takes the
rows, a directory on the disk that is measured, and whether it is only to see that it works."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import urllib.request

from durable.subject import (LOAD_WITHIN_S, READY_WITHIN_S, Server, disk_megabytes, fill, load, load_command, settle, stats,
                             sync_rate)


def start(scratch, name, *arguments):
    server = Server("duewheel", scratch / name, arguments)
    server.start()
    return server


def finish(server):
    server.stop(signal.SIGKILL)
    shutil.rmtree(server.directory)


def in_background(command, server, **options):
    return subprocess.Popen(load_command(command, server, **options), stdout=subprocess.PIPE, text=True)


def result_of(process):
    try:
        output, _ = process.communicate(timeout=LOAD_WITHIN_S)
    finally:
        process.kill()
    if not output:
        raise RuntimeError(f"a load ended with status {process.returncode} and no result")
    return json.loads(output)


def metric(server, name):
    with urllib.request.urlopen(server.http + "/metrics", timeout=READY_WITHIN_S) as answer:
        found = re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)
    return float(found.group(1))


def order(server, method, path, body=None):
    """A call that must succeed; the answer's members."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.address + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def device_megabytes(directory):
    """What the disk that holds `directory` has written since the machine started, for all processes. A process's own count would
    not do: it counts whole folios of the page cache, of which a sync writes the changed blocks alone."""
    device = os.stat(directory).st_dev
    fields = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat").read_text().split()
    return int(fields[6]) * 512 / 1e6


def batches(rows, scratch, quick):
    """Puts in NDJSON batches of 500 over 4 connections for ten minutes; the server must keep up with sealing."""
    seconds = 5 if quick else 600
    server = start(scratch, "batches")
    run = in_background("put", server, connections=4, batch=500, seconds=seconds)
    unsealed, held_back = [], 0
    while run.poll() is None:
        time.sleep(1)
        now = stats(server)
        unsealed.append(now["unsealed_segments"])
        held_back += now["puts_stalled"]
    result = result_of(run)
    rows.add("puts in batches of 500, 4 connections", seconds, "duewheel", "1/s", [result["per_second"]])
    rows.add("the same, request p99", seconds, "duewheel", "ms", [result["took_us"]["p99"] / 1000])
    rows.add("the same, refused", seconds, "duewheel", "messages", [result["refused"]])
    rows.add("the same, unsealed segments, each second", seconds, "duewheel", "segments", unsealed)
    rows.add("the same, part of the seconds with puts held back", seconds, "duewheel", "%",
             [100 * held_back / max(1, len(unsealed))])
    rows.add("the same, server CPU a put", seconds, "duewheel", "us", [server.cpu_seconds() / result["accepted"] * 1e6])
    finish(server)


def asks(rows, scratch, quick):
    """GET /healthz over 64 connections, one outstanding each: what HTTP alone costs."""
    server = start(scratch, "asks")
    for _ in range(1 if quick else 5):
        result = load("ask", server, connections=64, seconds=1 if quick else 5)
        rows.add("requests/s on /healthz, 64 connections", 64, "duewheel", "1/s", [result["per_second"]])
    rows.merge("requests/s on /healthz, 64 connections")
    finish(server)


def flood(rows, scratch, quick):
    """One namespace puts over one connection, one after the other, alone and beside one that floods over eight."""
    seconds = 1 if quick else 5

    def quiet():
        return load("put", server, namespace="quiet", connections=1, pipeline=1, body=100, seconds=seconds,
                    delay_min_ms=3_600_000, delay_max_ms=7_200_000)["took_us"]["p99"] / 1000

    for round_number in range(1 if quick else 5):
        server = start(scratch, f"flood-{round_number}")
        rows.add("put beside no other namespace, p99", 0, "duewheel", "ms", [quiet()])
        loud = in_background("put", server, namespace="loud", connections=8, pipeline=4000, body=1000, seconds=seconds + 2,
                             delay_min_ms=3_600_000, delay_max_ms=7_200_000, seed=round_number + 1)
        time.sleep(1)
        rows.add("put beside one that floods, p99", 0, "duewheel", "ms", [quiet()])
        rows.add("what floods", 0, "duewheel", "1/s", [result_of(loud)["per_second"]])
        finish(server)
    for workload in ("put beside no other namespace, p99", "put beside one that floods, p99", "what floods"):
        rows.merge(workload)


def cycles(rows, scratch, quick):
    """Put, taken and acknowledged in batches of 100 over 4 + 4 connections."""
    server = start(scratch, "cycles")
    for round_number in range(1 if quick else 5):
        result = load("cycle", server, connections=4, takers=4, batch=100, take_batch=100, seed=round_number + 1,
                      delay_min_ms=0, delay_max_ms=0, seconds=2 if quick else 20)
        rows.add("put -> lease -> ack in batches of 100, 4 + 4 connections", 0, "duewheel", "1/s", [result["per_second"]])
        rows.add("the same, lost", 0, "duewheel", "messages", [result["accepted"] - result["acknowledged"]])
    rows.merge("put -> lease -> ack in batches of 100, 4 + 4 connections")
    rows.merge("the same, lost")
    finish(server)


def drain_burst(server, count, lead_s, seed, beside_s):
    """W4: `count` messages of one queue due at one instant, `lead_s` from now, taken in batches, while another queue gets 100 a second for
    `beside_s`. Returns the seconds until all are acknowledged, and the results of the drain and of the other queue."""
    due_ms = int(time.time() * 1000) + lead_s * 1000
    load("put", server, queue="crowd", connections=4, batch=500, count=count, due_ms=due_ms, seed=seed)
    settle(server)
    # What goes into the other queue falls due from the instant on.
    if (left_s := due_ms / 1000 - 1 - time.time()) < 0:
        raise RuntimeError(f"the {count:,} puts took longer than the {lead_s} s until the messages are due")
    time.sleep(left_s)
    # Its consumers are several, because an acknowledgement waits for the disk behind the crowd's. Over beanstalkd's protocol they reserve one
    # at a time: a batch there is a command for each message, whether there is one or not.
    beside = in_background("fire", server, queue="beside", connections=1, takers=8, take_batch=100 if server.address == server.http else 1,
                           rate=100, delay_min_ms=1000, delay_max_ms=1000, seconds=beside_s)
    taking = in_background("drain", server, queue="crowd", connections=4, take_batch=1000, count=count)
    drained = result_of(taking)
    drained_s = time.time() - due_ms / 1000
    return drained_s, drained, result_of(beside)


def burst(rows, scratch, quick):
    """W4: a million messages of one queue due at one instant, taken in batches, while another gets 100 a second."""
    count = 50_000 if quick else 1_000_000
    for round_number in range(1 if quick else 3):
        server = start(scratch, "burst")
        # The other queue gets messages for about as long as the drain takes.
        drained_s, drained, bystander = drain_burst(server, count, lead_s=5 if quick else 30, seed=round_number + 1,
                                                    beside_s=1 if quick else 7)
        rows.add("W4 drain of 1 M due at one instant, acks durable", count, "duewheel", "s", [drained_s])
        rows.add("W4 lateness of the other queue p99", count, "duewheel", "ms", [bystander["late_ms"]["p99"]])
        rows.add("W4 lateness of the other queue max", count, "duewheel", "ms", [bystander["late_ms"]["max"]])
        rows.add("W4 early", count, "duewheel", "messages", [drained["early"] + bystander["early"]])
        rows.add("W4 lost", count, "duewheel", "messages",
                 [count - drained["acknowledged"] + bystander["accepted"] - bystander["acknowledged"]])
        finish(server)
    for row in ("drain of 1 M due at one instant, acks durable", "lateness of the other queue p99",
                "lateness of the other queue max", "early", "lost"):
        rows.merge("W4 " + row)


def downtime(rows, scratch, quick):
    """W6: a million fall due in ten minutes without a server; then it starts, and beside the backlog a thousand a second fall due,
    put after the start but for ten thousand that were put before the end."""
    count, down_s, seconds = (50_000, 20, 5) if quick else (1_000_000, 600, 12)
    server = start(scratch, "downtime")
    began = time.time()
    into = dict(queue="work", connections=4, batch=500)
    lead_s = 10 if quick else 60
    load("put", server, count=count, delay_min_ms=lead_s * 1000, delay_max_ms=(lead_s + down_s) * 1000, **into)
    up_at = began + lead_s + down_s + 5
    ahead_ms = int((up_at + 1 - time.time()) * 1000)
    load("put", server, count=count // 100, delay_min_ms=ahead_ms, delay_max_ms=ahead_ms + 10_000, **into)
    settle(server)
    server.stop(signal.SIGKILL)
    assert time.time() < began + lead_s, "some were due before the server was down"
    time.sleep(max(0.0, up_at - time.time()))
    ready_s = server.start()
    run = in_background("fire", server, queue="work", connections=1, takers=8, take_batch=100, rate=1000, delay_min_ms=1000,
                        delay_max_ms=3000, seconds=seconds)
    started = time.monotonic()
    result = result_of(run)
    load("drain", server, queue="work", connections=4, take_batch=1000)
    drained_s = time.monotonic() - started
    rows.add("W6 ready after the start", count, "duewheel", "s", [ready_s])
    rows.add("W6 first message after the start", count, "duewheel", "s", [ready_s + result["first_taken_seconds"]])
    rows.add("W6 backlog taken and acknowledged after", count, "duewheel", "s", [drained_s])
    for level in ("p50", "p99", "max"):
        rows.add(f"W6 lateness of what falls due meanwhile, {level}", count, "duewheel", "ms", [result["late_ms"][level]])
    rows.add("W6 early", count, "duewheel", "messages", [result["early"]])
    # The run ends with acknowledgements on their way: the server's own count of them.
    done = metric(server, "duewheel_messages_acknowledged_total") + stats(server)["pending"]
    rows.add("W6 lost", count, "duewheel", "messages", [count + count // 100 + result["accepted"] - done])
    finish(server)


def paused(rows, scratch, quick):
    """A paused queue with five million due messages: what others feel of it, a restart, and its drain when it goes on."""
    count = 100_000 if quick else 5_000_000
    beside = dict(queue="beside", connections=2, takers=2, rate=1000, delay_min_ms=1000, delay_max_ms=3000,
                  seconds=3 if quick else 20)
    server = start(scratch, "paused")
    without = load("fire", server, **beside)
    order(server, "PUT", "/v1/queues/crowd", {})
    order(server, "POST", "/v1/queues/crowd:pause")
    load("put", server, queue="crowd", connections=4, batch=500, count=count, delay_min_ms=0, delay_max_ms=0)
    settle(server)
    with_it = load("fire", server, **beside)
    for name, result in (("without it", without), ("with it", with_it)):
        for percentile in ("p50", "p99", "max"):
            rows.add(f"paused queue, lateness of another queue {name} {percentile}", count, "duewheel", "ms",
                     [result["late_ms"][percentile]])
    restarts = []
    for _ in range(3):
        server.stop(signal.SIGKILL)
        restarts.append(server.start())
    rows.add("paused queue, restart after kill -9", count, "duewheel", "s", restarts)
    rows.add("paused queue, resident set", count, "duewheel", "MB", [server.resident_megabytes()])
    order(server, "POST", "/v1/queues/crowd:resume")
    drained = load("drain", server, queue="crowd", connections=4, take_batch=1000, count=count)
    rows.add("paused queue, drain after resume, acks durable", count, "duewheel", "1/s", [drained["per_second"]])
    rows.add("paused queue, lost", count, "duewheel", "messages", [count - drained["acknowledged"]])
    finish(server)


def put_and_cancel(server, seconds, seed):
    """W5: puts due in 30 s of which 99 of 100 are cancelled a second later. Returns puts and cancels a second, and per message the bytes
    written to the disk and the server CPU in us."""
    before, cpu_s = device_megabytes(server.directory), server.cpu_seconds()
    result = load("cancel", server, connections=64, delay_min_ms=30_000, delay_max_ms=30_000, seconds=seconds, seed=seed)
    return (result["per_second"], (device_megabytes(server.directory) - before) * 1e6 / result["accepted"],
            (server.cpu_seconds() - cpu_s) / result["accepted"] * 1e6)


def cancels(rows, scratch, quick):
    """W5: puts due in 30 s of which 99 of 100 are cancelled a second later, beside beanstalkd; then ten minutes alone."""
    subjects = ["duewheel"] + (["beanstalkd -f0", "beanstalkd -f50"] if shutil.which("beanstalkd") else [])
    for round_number in range(1 if quick else 3):
        for subject in subjects[round_number % len(subjects):] + subjects[:round_number % len(subjects)]:
            rows.add("fdatasync alone, between the rounds of W5", 0, "disk", "1/s", [sync_rate(scratch, 0.5)])
            server = Server(subject, scratch / "cancels")
            server.start()
            if subject == "duewheel":
                time.sleep(3)  # its spare segments are filled once, whatever comes
            per_second, written, _ = put_and_cancel(server, 3 if quick else 15, round_number + 1)
            rows.add("W5 puts and cancels", 64, subject, "1/s", [per_second])
            rows.add("W5 disk written a message", 64, subject, "bytes", [written])
            finish(server)
    for name in ("W5 puts and cancels", "W5 disk written a message", "fdatasync alone, between the rounds of W5"):
        rows.merge(name)
    # What is kept of ended messages is kept for a short time here, so that growth of anything else would show.
    seconds = 10 if quick else 600
    server = start(scratch, "cancels", "--store-keep-outcomes", "1m", "--store-history-max", "16MiB")
    run = in_background("cancel", server, connections=64, delay_min_ms=30_000, delay_max_ms=30_000, seconds=seconds)
    resident, disk = [], []
    while run.poll() is None:
        time.sleep(seconds / 20)
        resident.append(server.resident_megabytes())
        disk.append(disk_megabytes(server.directory, spares=False))
    result_of(run)
    half = len(disk) // 2
    for part, begin, end in (("first half", 1, half), ("second half", half, len(disk))):
        rows.add(f"W5 over {seconds} s, resident set, {part}", 64, "duewheel", "MB", resident[begin:end])
        rows.add(f"W5 over {seconds} s, log and index on disk, {part}", 64, "duewheel", "MB", disk[begin:end])
    finish(server)


def churn(rows, scratch, quick):
    """The log and index on disk while ten million messages come and go beside a million that stay."""
    stay, pass_through = (50_000, 500_000) if quick else (1_000_000, 10_000_000)
    server = start(scratch, "churn")
    fill(server, stay)
    settle(server)
    at_rest = disk_megabytes(server.directory, spares=False)
    putting = in_background("put", server, queue="through", connections=4, batch=100, count=pass_through,
                            delay_min_ms=0, delay_max_ms=2000)
    taking = in_background("drain", server, queue="through", connections=4, take_batch=100, count=pass_through)
    ratios, unsealed = [], []
    began = time.time()
    while taking.poll() is None:
        time.sleep(1)
        disk = disk_megabytes(server.directory, spares=False)
        needed = sum(metric(server, "duewheel_" + name)
                     for name in ("log_live_bytes", "log_outcome_bytes", "index_bytes")) / 1e6
        ratios.append(disk / needed)
        unsealed.append(stats(server)["unsealed_segments"])
    seconds = time.time() - began
    assert result_of(putting)["accepted"] == pass_through
    rows.add("churn, messages through", pass_through, "duewheel", "1/s", [result_of(taking)["acknowledged"] / seconds])
    rows.add("churn, on disk before it", stay, "duewheel", "MB", [at_rest])
    rows.add("churn, log and index over needed log and index", pass_through, "duewheel", "x", ratios)
    rows.add("churn, unsealed segments", pass_through, "duewheel", "segments", unsealed)
    rows.add("churn, on disk at its end", stay, "duewheel", "MB", [disk_megabytes(server.directory, spares=False)])
    finish(server)
