"""Sockets that send exactly the bytes of a test, and what a test of hostile clients reads of the server beside them."""

import contextlib
import json
import re
import resource
import socket
import struct
import time

WITHIN_S = 60


def raise_open_files(test):
    """For a test with thousands of sockets; the number of files that it may open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    test.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
    return hard


def connect(daemon, receive_buffer=None, address=None):
    """`address`: of both ends, 127.0.0.1 by default."""
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(WITHIN_S)
    if address:
        connection.bind((address, 0))
    connection.connect((address or "127.0.0.1", daemon.port))
    return connection


def request(method, path, value=None, **fields):
    """The bytes of a request. Further fields of its head are named with underscores: X_Api_Key="x"."""
    body = b"" if value is None else json.dumps(value).encode()
    fields = {"Host": "localhost"} | ({"Content_Type": "application/json"} if body else {}) | {"Content_Length": len(body)} | fields
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items() if value is not None)
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def read_answer(stream):
    """(status, body) of the next answer, or None where the connection ends without one."""
    line = stream.readline()
    if not line:
        return None
    length = 0
    for field in iter(stream.readline, b"\r\n"):
        name, value = field.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
    return int(line.split()[1]), stream.read(length)


def rest_of(connection):
    """All that comes until the connection ends, however it ends."""
    got = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            got += part
    return got


def vanish(connection):
    """As a client that was killed together with its machine's memory of it: a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def metric(client, name):
    client.connection.request("GET", "/metrics")
    page = client.connection.getresponse().read().decode()
    return float(re.search(rf"^{name} (.*)$", page, re.MULTILINE)[1])


def wait_until(condition, what):
    """Polls what the server says of itself."""
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"the server did not get there: {what}")


def memory_bytes(daemon, which="VmHWM"):
    with open(f"/proc/{daemon.process.pid}/status") as status:
        return int(re.search(rf"{which}:\s+(\d+) kB", status.read())[1]) * 1024


def processor_s(daemon):
    with open(f"/proc/{daemon.process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100
