#!/usr/bin/env python3
"""The load of the benchmarks over beanstalkd's protocol for what the C++ program (load.cc) does over HTTP only: messages that are all
due at one time, and the runs with consumers. Its options and the line of JSON that it prints are those of that program.

    beanstalk_load.py put   --server beanstalk://HOST:PORT --queue Q --count N --due-ms T --connections 4 --batch 500
    beanstalk_load.py fire  ... --rate 5000 --seconds 15 --delay-min-ms 1000 --delay-max-ms 5000 --connections 4 --takers 200
    beanstalk_load.py drain ... --count N --connections 4 --take-batch 1000
    beanstalk_load.py cycle ... --seconds 5 --connections 64 --batch 1

A connection sends `--batch` puts (consumers: `--take-batch` reserves or deletes) and then waits for their replies; with 1, a command at a
time. The body of a message is its number, its due time and random text, so the consumers check that each comes once and none early.
Delays are whole seconds: with `--due-ms`, messages are due in the second after it."""

import argparse
import json
import math
import os
import random
import select
import socket
import sys
import time

PATIENCE_S = 30  # without any reply
CONNECT_WITHIN_S = 20
TTR_S = 60
BODY_BYTES = 200
READ_BYTES = 1 << 18
TURN_S = 0.001
HEAD = b"%012d %016d "  # number; due time in microseconds
NUMBER, DUE = slice(0, 12), slice(13, 29)


def now_us():
    return time.time_ns() // 1000


class Ledger:
    """How often each message came, and how late."""

    def __init__(self):
        self.deliveries = bytearray()
        self.twice = self.early = self.unknown = 0
        self.late_ms = []

    def expect(self, count):
        """Numbers below `count` are those of messages that were put."""
        self.deliveries.extend(bytes(max(0, count - len(self.deliveries))))

    def delivered(self, body, at_us):
        number, late_us = int(body[NUMBER]), at_us - int(body[DUE])
        if number >= len(self.deliveries):
            self.unknown += 1
        elif self.deliveries[number]:
            self.twice += 1
        else:
            self.deliveries[number] = 1
            self.early += late_us < 0
            self.late_ms.append(max(0, late_us) / 1000)


def levels(values):
    """Percentiles and maximum; zeros without values."""
    ordered = sorted(values) or [0]
    at = {"p50": 0.5, "p99": 0.99, "p999": 0.999, "max": 1}
    return {name: round(ordered[min(len(ordered) - 1, int(part * len(ordered)))], 3) for name, part in at.items()}


class Connection:
    """Runs one generator at a time, which yields commands and how many replies they get, and receives these replies, each as
    (line, body or None). `unsent` is the set of those that have commands left to send."""

    def __init__(self, host, port, unsent):
        self.socket = socket.create_connection((host, port), CONNECT_WITHIN_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.work = None
        self.output = memoryview(b"")
        self.unsent = unsent
        self.input = b""
        self.replies = []
        self.expected = 0

    def begin(self, work):
        self.work = work
        self.resume(None)

    def resume(self, replies):
        try:
            commands, self.expected = self.work.send(replies)
            self.output = memoryview(commands)
            self.flush()
        except StopIteration:
            self.work = None
            self.expected = 0

    def flush(self):
        try:
            while self.output:
                self.output = self.output[self.socket.send(self.output):]
            self.unsent.discard(self)
        except BlockingIOError:
            self.unsent.add(self)

    def read(self):
        data = self.socket.recv(READ_BYTES)
        if not data:
            raise RuntimeError("the server closed a connection")
        data = self.input + data
        at = 0
        while (end := data.find(b"\r\n", at)) >= 0:
            line, body, after = data[at:end], None, end + 2
            if line.startswith(b"RESERVED "):
                after += int(line[line.rindex(b" "):]) + 2
                if len(data) < after:
                    break
                body = data[end + 2:after - 2]
            self.replies.append((line, body))
            at = after
        self.input = data[at:]
        if self.expected and len(self.replies) >= self.expected:
            replies, self.replies = self.replies, []
            self.resume(replies)


class Run:
    def __init__(self, options):
        self.options = options
        self.ledger = Ledger()
        self.submitted = self.accepted = self.refused = self.taken = self.acknowledged = 0
        self.refusal = b""
        self.took_us = []
        self.poll = select.epoll()
        self.connections = {}
        self.unsent = set()
        self.began = self.replied = time.monotonic()

    def connect(self, count, *commands):
        """Connections on which these commands have been answered."""
        host, _, port = self.options.server.removeprefix("beanstalk://").rpartition(":")
        made = [Connection(host, int(port), self.unsent) for _ in range(count)]
        for connection in made:
            self.connections[connection.socket.fileno()] = connection
            self.poll.register(connection.socket, select.EPOLLIN)
        for connection in made:
            connection.begin(iter_of(commands))
        self.until(lambda: not any(connection.work for connection in made))
        return made

    def close(self):
        self.poll.close()
        for connection in self.connections.values():
            connection.socket.close()

    def producers(self, count):
        return self.connect(count, b"use %s\r\n" % self.options.queue)

    def consumers(self, count):
        return self.connect(count, b"watch %s\r\nignore default\r\n" % self.options.queue)

    def turn(self, wait_s):
        for connection in list(self.unsent):
            connection.flush()
        ready = self.poll.poll(wait_s)
        for descriptor, _ in ready:
            self.connections[descriptor].read()
        now = time.monotonic()
        if ready or not any(connection.expected for connection in self.connections.values()):
            self.replied = now
        elif now - self.replied > PATIENCE_S:
            raise RuntimeError(f"{self.options.run}: no reply for {PATIENCE_S} s, with {self.accepted} puts accepted, {self.taken} "
                               f"messages reserved and {self.acknowledged} deleted")

    def until(self, condition, within_s=math.inf):
        end = time.monotonic() + within_s
        while not condition() and time.monotonic() < end:
            self.turn(0.01)

    def elapsed(self):
        return time.monotonic() - self.began

    def puts(self, count, delay_s):
        """Commands of puts; `delay_s` is a function of the time in microseconds."""
        commands = []
        for number in range(self.submitted, self.submitted + count):
            at_us = now_us() // 1000 * 1000  # servers count whole milliseconds
            seconds = delay_s(at_us)
            body = HEAD % (number, at_us + seconds * 1_000_000)
            body += os.urandom((BODY_BYTES - len(body)) // 2).hex().encode()
            commands.append(b"put 0 %d %d %d\r\n%s\r\n" % (seconds, TTR_S, len(body), body))
        self.submitted += count
        self.ledger.expect(self.submitted)
        return b"".join(commands)

    def note_puts(self, replies):
        for line, _ in replies:
            if line.startswith(b"INSERTED"):
                self.accepted += 1
            else:
                self.refuse(line)

    def note_reserved(self, replies):
        """Commands that delete what was reserved, and how many."""
        at_us, deletes = now_us(), []
        for line, body in replies:
            if body is not None:
                self.ledger.delivered(body, at_us)
                deletes.append(b"delete %s\r\n" % line.split()[1])
            elif line != b"TIMED_OUT":
                self.refuse(line)
        self.taken += len(deletes)
        return b"".join(deletes), len(deletes)

    def note_deleted(self, replies):
        for line, _ in replies:
            if line == b"DELETED":
                self.acknowledged += 1
            else:
                self.refuse(line)

    def refuse(self, line):
        self.refused += 1
        self.refusal = self.refusal or line

    # ---- what connections do: generators for Connection.begin()

    def put_once(self, count, delay_s):
        self.note_puts((yield self.puts(count, delay_s), count))

    def take(self, goes_on):
        """Waits up to a second for a message, takes up to `take_batch`, and deletes them."""
        batch = self.options.take_batch
        reserves = b"reserve-with-timeout 1\r\n" + b"reserve-with-timeout 0\r\n" * (batch - 1)
        while goes_on():
            deletes, count = self.note_reserved((yield reserves, batch))
            if count:
                self.note_deleted((yield deletes, count))

    # ---- the runs

    def put(self):
        def delay_s(at_us):
            return max(0, math.ceil((self.options.due_ms * 1000 - at_us) / 1e6))

        def work():
            while (left := self.options.count - self.submitted) > 0:
                yield from self.put_once(min(self.options.batch, left), delay_s)

        connections = self.producers(self.options.connections)
        self.restart_clock()
        for connection in connections:
            connection.begin(work())
        self.until(lambda: not any(connection.work for connection in connections))

    def fire(self):
        first_s, last_s = (round(ms / 1000) for ms in (self.options.delay_min_ms, self.options.delay_max_ms))
        chosen = random.Random(self.options.seed)
        producers = self.producers(self.options.connections)
        consumers = self.consumers(self.options.takers)
        self.restart_clock()
        for connection in consumers:
            connection.begin(self.take(lambda: True))
        while self.elapsed() < self.options.seconds:
            free = [connection for connection in producers if not connection.work]
            for place, connection in enumerate(free):
                allowed = int(self.elapsed() * self.options.rate) - self.submitted
                if (share := math.ceil(allowed / (len(free) - place))) > 0:
                    connection.begin(self.put_once(share, lambda at_us: chosen.randint(first_s, last_s)))
            self.turn(TURN_S)
        self.until(lambda: self.acknowledged + self.refused >= self.submitted, last_s + PATIENCE_S)

    def drain(self):
        self.ledger.expect(self.options.count)
        connections = self.consumers(self.options.connections)
        self.restart_clock()
        ended = [False]
        for connection in connections:
            connection.begin(self.take(lambda: self.taken < self.options.count and not ended[0]))
        taken, at = 0, time.monotonic()
        while any(connection.work for connection in connections):
            self.turn(0.01)
            if self.taken > taken:
                taken, at = self.taken, time.monotonic()
            ended[0] = time.monotonic() - at > PATIENCE_S  # what has not come by then is lost

    def cycle(self):
        batch = self.options.batch

        def at_once(_):
            return 0

        def goes_on():
            return self.elapsed() < self.options.seconds

        def one_at_a_time():
            while goes_on():
                began = time.perf_counter()
                yield from self.put_once(1, at_once)
                deletes, count = self.note_reserved((yield b"reserve\r\n", 1))
                self.note_deleted((yield deletes, count))
                self.took_us.append((time.perf_counter() - began) * 1e6)

        # The deletes come before the next reserves, so a reserve that waits holds back none of them; and before it come as many puts, so
        # there is always a message for one of those that wait.
        def pipelined():
            deletes, count = b"", 0
            while (more := batch if goes_on() else 0) or count:
                commands = deletes + (self.puts(more, at_once) + b"reserve\r\n" * more if more else b"")
                replies = yield commands, count + 2 * more
                self.note_deleted(replies[:count])
                self.note_puts(replies[count:count + more])
                deletes, count = self.note_reserved(replies[count + more:])

        connections = self.connect(self.options.connections, b"use %s\r\nwatch %s\r\nignore default\r\n" % ((self.options.queue,) * 2))
        self.restart_clock()
        for connection in connections:
            connection.begin(one_at_a_time() if batch == 1 else pipelined())
        self.until(lambda: not any(connection.work for connection in connections))

    def restart_clock(self):
        self.began = time.monotonic()
        self.cpu_s = time.process_time()

    def report(self):
        seconds = self.elapsed()
        done = self.accepted if self.options.run == "put" else self.acknowledged
        return {"what": self.options.run, "seconds": round(seconds, 3), "per_second": round(done / seconds),
                "accepted": self.accepted, "refused": self.refused, "taken": self.taken, "acknowledged": self.acknowledged,
                "early": self.ledger.early, "twice": self.ledger.twice, "unknown": self.ledger.unknown,
                "took_us": levels(self.took_us), "late_ms": levels(self.ledger.late_ms),
                "client_cpu_seconds": round(time.process_time() - self.cpu_s, 3)}


def iter_of(commands):
    for command in commands:
        yield command, command.count(b"\r\n")


RUNS = {"put": Run.put, "fire": Run.fire, "drain": Run.drain, "cycle": Run.cycle}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("--server", required=True)
    parser.add_argument("--queue", type=str.encode, default=b"load")
    parser.add_argument("--seconds", type=float, default=10)
    for name, default in (("connections", 4), ("takers", 4), ("count", 0), ("batch", 1), ("take-batch", 1), ("rate", 2000), ("due-ms", 0),
                          ("delay-min-ms", 1000), ("delay-max-ms", 1000), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=default)
    return parser.parse_args(arguments)


def main():
    run = Run(parse(sys.argv[1:]))
    try:
        RUNS[run.options.run](run)
    except (RuntimeError, OSError) as problem:
        print(f"beanstalk_load: {problem}", file=sys.stderr)
        return 1
    finally:
        run.close()
    print(json.dumps(run.report()))
    if run.refused:
        print("refused:", run.refusal.decode(errors="replace"), file=sys.stderr)
    return 1 if run.refused or run.ledger.early else 0


if __name__ == "__main__":
    sys.exit(main())
