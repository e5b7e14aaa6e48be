"""The groups of rows about single puts, the due window and the store. Each takes the rows, a directory on the disk that
is measured, and whether it is only to see that it works."""

import json
import shutil
import signal
import subprocess
import time

from durable.subject import BIN, BY_BEANSTALK, Server, disk_megabytes, fill, load, settle, stats, sync_rate


def put_for(server, seconds, seed):
    """W1: puts over 64 connections, one outstanding each, on a new server. Returns puts a second, p99 in us, and server CPU per put in us."""
    load("put", server, connections=64, seconds=1)
    before = server.cpu_seconds()
    result = load("put", server, connections=64, seconds=seconds, seed=seed)
    return result["per_second"], result["took_us"]["p99"], (server.cpu_seconds() - before) / result["accepted"] * 1e6


def puts(rows, scratch, quick):
    """W1 at 64 connections, one outstanding each, interleaved with beanstalkd on the same disk."""
    seconds = 2 if quick else 10
    rounds = 1 if quick else 5
    subjects = ["duewheel", BY_BEANSTALK] + (["beanstalkd -f0", "beanstalkd -f50"] if shutil.which("beanstalkd") else [])
    rates = {subject: [] for subject in subjects}
    cpu = {subject: [] for subject in subjects}
    p99 = {subject: [] for subject in subjects}
    syncs = []
    for round_number in range(rounds):
        for subject in subjects[round_number % len(subjects):] + subjects[:round_number % len(subjects)]:
            syncs.append(sync_rate(scratch, 0.5))
            server = Server(subject, scratch / "puts")
            server.start()
            for values, figure in zip((rates, p99, cpu), put_for(server, seconds, round_number + 2)):
                values[subject].append(figure)
            server.stop()
            shutil.rmtree(scratch / "puts")
    rows.add("fdatasync alone", 0, "disk", "1/s", syncs)
    for subject in subjects:
        rows.add("W1 puts, 64 connections", 64, subject, "1/s", rates[subject])
        rows.add("W1 p99", 64, subject, "us", p99[subject])
        rows.add("W1 server CPU a put", 64, subject, "us", cpu[subject])
    for peer in subjects[2:]:
        for ours in subjects[:2]:
            ratios = [our / their for our, their in zip(rates[ours], rates[peer])]
            rows.add("W1 ratio to " + peer, 64, ours, "x", ratios)


def fire_due(server, rate, seconds, delay_max_ms, queue="late"):
    """W3: `rate` messages a second put with delays from a second on, and leased when they are due."""
    # Over beanstalkd's protocol a consumer reserves one message at a time, so they are many.
    takers = dict(takers=4) if server.address == server.http else dict(takers=200, take_batch=1)
    return load("fire", server, rate=rate, seconds=seconds, connections=4, queue=queue, delay_min_ms=1000, delay_max_ms=delay_max_ms,
                **takers)


def lateness(rows, scratch, quick):
    """W3: 1 M pending over 24 h, 2,000 a second falling due to pull workers."""
    server = Server("duewheel", scratch / "late")
    server.start()
    fill(server, 100_000 if quick else 1_000_000)
    settle(server)
    result = fire_due(server, 2000, 5 if quick else 30, 5000 if quick else 30_000)
    for name in ("p50", "p99", "p999", "max"):
        rows.add("W3 lateness " + name, 1_000_000, "duewheel", "ms", [result["late_ms"][name]])
    rows.add("W3 early", 1_000_000, "duewheel", "messages", [result["early"]])
    rows.add("W3 lost", 1_000_000, "duewheel", "messages", [result["accepted"] - result["taken"]])
    server.stop()
    shutil.rmtree(scratch / "late")


def kill_and_start(server, times):
    """W8: seconds from the start after a `kill -9` until the server is ready, each time."""
    took = []
    for _ in range(times):
        server.stop(signal.SIGKILL)
        took.append(server.start())
    return took


def pending(rows, scratch, quick):
    """W8: resident set, disk, restart after kill -9 to the first answer."""
    for count in [100_000] if quick else [1_000_000, 10_000_000]:
        server = Server("duewheel", scratch / "pending")
        server.start()
        result = fill(server, count)
        rows.add("burst of pipelined durable puts", count, "duewheel", "1/s", [result["per_second"]])
        settle(server)
        rows.add("W8 resident set", count, "duewheel", "MB", [server.resident_megabytes()])
        rows.add("W8 restart after kill -9", count, "duewheel", "s", kill_and_start(server, 3))
        rows.add("W8 resident set after restart", count, "duewheel", "MB", [server.resident_megabytes()])
        rows.add("W8 log and index on disk, no spares", count, "duewheel", "MB",
                 [disk_megabytes(server.directory, spares=False)])
        server.stop()
        shutil.rmtree(scratch / "pending")


def listing(rows, scratch, quick):
    """W13: 100 messages of one queue in a window of time among 10 M pending, at rest and beside 2,000 puts a second."""
    import http.client
    import random
    count, asked = (200_000, 100) if quick else (10_000_000, 1000)
    day_ms = 24 * 3600 * 1000
    server = Server("duewheel", scratch / "listing")
    server.start()
    for queue, share in (("bulk", 0.9), ("mail", 0.1)):
        fill(server, int(count * share), queue=queue)
    settle(server)
    first_due_ms = int(time.time() * 1000) + 3600 * 1000
    chosen = random.Random(13)

    def ask(subject):
        connection = http.client.HTTPConnection(server.address.split("//")[1], timeout=60)
        took = []
        for _ in range(asked):
            after = (first_due_ms + chosen.randrange(day_ms * 9 // 10)) // 1000
            instant = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(after))
            began = time.monotonic()
            connection.request("GET", f"/v1/queues/mail/messages?due_after={instant}&limit=100")
            page = json.loads(connection.getresponse().read())
            took.append((time.monotonic() - began) * 1000)
            assert len(page["messages"]) == 100, page
            assert all(message["due_ms"] >= after * 1000 for message in page["messages"])
        took.sort()
        for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
            rows.add(f"W13 list 100 of a queue, {subject} {name}", count, "duewheel", "ms",
                     [took[min(len(took) - 1, int(part * len(took)))]])

    ask("at rest")
    puts = subprocess.Popen([BIN / "duewheel_load", "fire", "--server", server.address, "--rate", "2000", "--seconds",
                             "600", "--connections", "2", "--takers", "2", "--queue", "late", "--delay-min-ms", "1000",
                             "--delay-max-ms", "30000"], stdout=subprocess.DEVNULL)
    time.sleep(2)
    ask("beside 2,000 puts/s")
    puts.kill()
    puts.wait()
    rows.add("W13 entry memory slots", count, "duewheel", "messages", [stats(server)["in_memory"]])
    server.stop(signal.SIGKILL)
    shutil.rmtree(scratch / "listing")


def rebuild(rows, scratch, quick):
    """Replay of what is not sealed, and rebuild of the index from the log, without sockets."""
    for count, rounds in [(200_000, 1)] if quick else [(1_000_000, 3), (10_000_000, 2)]:
        replay = []
        again = []
        for _ in range(rounds):
            run = subprocess.run([BIN / "duewheel_shard_bench", "--data", scratch / "rebuild", "--count", str(count)],
                                 stdout=subprocess.PIPE, text=True, check=True)
            result = json.loads(run.stdout)
            replay.append(result["replayed"] / result["reopen_seconds"])
            again.append(result["rebuild_per_second"])
            shutil.rmtree(scratch / "rebuild")
        rows.add("replay of unsealed records", count, "duewheel", "1/s", replay)
        rows.add("rebuild of the index", count, "duewheel", "1/s", again)
