"""The group of rows about clients that misbehave: what the others notice of them. Takes the rows, a directory on the disk that is
measured, and whether it is only to see that it works."""

import contextlib
import resource
import shutil
import socket
import threading

from durable.subject import BY_BEANSTALK, Server, load

HEALTHY = 8  # connections, one put outstanding each
PIECE = b"x" * 4096
PAUSE_S = 0.02  # between two pieces of a client that sends for ever


class Hostile:
    """10,000 clients that are idle, 50 that send a line without an end, 50 that send jobs that are too big, 500 that stopped within a
    put, and 50 that request statistics and read nothing."""

    def __init__(self, address, idle):
        self.address = address
        self.sockets = []
        for _ in range(idle):
            self.connect()
        self.endless = [self.connect() for _ in range(50)]
        self.huge = [self.connect(b"put 0 0 60 4294967295\r\n") for _ in range(50)]
        for _ in range(500):
            self.connect(b"put 0 0 60 60000\r\n" + b"x" * 30_000)
        for _ in range(50):
            slow = self.connect(receive_buffer=4096)
            slow.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                slow.send(b"stats\r\n" * 2_000)
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def connect(self, first=b"", receive_buffer=None):
        connection = socket.socket()
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.connect(self.address)
        if first:
            connection.sendall(first)
        self.sockets.append(connection)
        return connection

    def send(self):
        while not self.stopping.wait(PAUSE_S):
            for connection in self.endless + self.huge:
                connection.sendall(PIECE)

    def close(self):
        self.stopping.set()
        self.thread.join()
        for connection in self.sockets:
            connection.close()


def hostile(rows, scratch, quick):
    """Puts of eight connections over the protocol of beanstalkd, alone and beside hostile clients, in turns on one server."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    idle = 500 if quick else 10_000
    server = Server(BY_BEANSTALK, scratch / "hostile", ["--http-connections-max", str(idle + 1_000)])
    server.start()
    host, port = server.address.removeprefix("beanstalk://").rsplit(":", 1)
    load("put", server, connections=HEALTHY, seconds=1)
    took = {"alone": [], "beside hostile clients": []}
    for round_number in range(1 if quick else 5):
        for subject in sorted(took, reverse=round_number % 2 == 1):
            clients = Hostile((host, int(port)), idle) if subject != "alone" else None
            result = load("put", server, connections=HEALTHY, seconds=2 if quick else 5, seed=round_number + 2)
            took[subject].append(result["took_us"]["p99"])
            if clients:
                clients.close()
    server.stop()
    shutil.rmtree(scratch / "hostile")
    for subject, values in took.items():
        rows.add("puts of 8 connections, p99", idle, subject, "us", values)
    rows.add("puts of 8 connections, p99, ratio", idle, "beside hostile clients", "x",
             [beside / alone for beside, alone in zip(took["beside hostile clients"], took["alone"])])
