"""Clients of beanstalkd's protocol that misbehave. Every wait has a limit, and an error that says what was waited for."""

import contextlib
import socket
import struct
import threading
import time

WITHIN_S = 30
PIECE = b"x" * 16_384
PAUSE_S = 0.02  # between two pieces of a client that never ends
HALF_PUTS = 500
HALF_BYTES = 30_000
JOB_BYTES = 60_000
HUGE_JOB_BYTES = 4_294_967_295
STATS = b"stats\r\n" * 200


class Crowd:
    """Connections to `address`, and a thread that keeps those of them busy that never end. `accepted` returns how many connections the
    server has: others are open only after connect() and before close()."""

    def __init__(self, address, accepted):
        self.address = address
        self.accepted = accepted
        self.connections = []
        self.stopping = threading.Event()
        self.thread = None

    def connect(self, count, first=b"", receive_buffer=None):
        for number in range(count):
            connection = socket.socket()
            self.connections.append(connection)
            # Closed with a reset, so that thousands of them leave no port in use behind, and unread data holds back no end.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if receive_buffer:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            connection.settimeout(WITHIN_S)
            try:
                connection.connect(self.address)
                connection.sendall(first)
            except OSError as problem:
                raise RuntimeError(f"hostile client {number + 1} of {count} could not connect and send {len(first)} bytes within "
                                   f"{WITHIN_S} s: {problem}") from problem
            connection.setblocking(False)
        self.await_accepted(lambda here: here >= len(self.connections),
                            f"of {len(self.connections)} connections that it should have accepted: is http.connections_max or the limit "
                            "on open files lower?")

    def await_accepted(self, condition, what):
        deadline = time.monotonic() + WITHIN_S
        while not condition(here := self.accepted()):
            if time.monotonic() > deadline:
                raise RuntimeError(f"after {WITHIN_S} s the server has {here:.0f} {what}")
            time.sleep(0.02)

    def repeat(self, step):
        """Calls `step(connection)` for each connection, with pauses, until the end."""
        def work():
            while not self.stopping.wait(PAUSE_S):
                for connection in self.connections:
                    with contextlib.suppress(BlockingIOError, ConnectionError):
                        step(connection)

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def close(self):
        self.stopping.set()
        if self.thread:
            self.thread.join(WITHIN_S)
        for connection in self.connections:
            connection.close()
        self.await_accepted(lambda here: here == 0, "connections that their clients have closed")


def endless_lines(crowd, idle):
    crowd.connect(20)
    crowd.repeat(lambda connection: connection.send(PIECE))


def huge_jobs(crowd, idle):
    crowd.connect(20, b"put 0 0 60 %d\r\n" % HUGE_JOB_BYTES)
    crowd.repeat(lambda connection: connection.send(PIECE))


def half_puts(crowd, idle):
    crowd.connect(HALF_PUTS, b"put 0 0 60 %d\r\n" % JOB_BYTES + b"x" * HALF_BYTES)


def slow_readers(crowd, idle):
    """They request more than they read: the server always has replies that it cannot send."""
    def step(connection):
        with contextlib.suppress(BlockingIOError):
            connection.send(STATS)
        connection.recv(4096)

    crowd.connect(20, receive_buffer=4096)
    crowd.repeat(step)


def idle_connections(crowd, idle):
    crowd.connect(idle)


KINDS = {"endless lines": endless_lines, "huge jobs": huge_jobs, "half puts": half_puts, "slow readers": slow_readers,
         "idle connections": idle_connections}
