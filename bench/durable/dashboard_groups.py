"""The group of rows about the dashboard: what open pages cost, and how long its timeline takes. Takes the rows, a directory
on the disk that is measured, and whether it is only to see that it works."""

import contextlib
import http.client
import shutil
import socket
import threading
import time

from durable.subject import Server, fill, load, settle

OPEN = "20 event streams"
NONE = "no event stream"


def read_to_the_end(answer):
    with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        while answer.read1(65536):
            pass


@contextlib.contextmanager
def event_streams(server, count):
    """Open pages of the dashboard: each reads all events."""
    streams = []
    for _ in range(count):
        connection = http.client.HTTPConnection(server.address.removeprefix("http://"))
        connection.request("GET", "/v1/events")
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        reader = threading.Thread(target=read_to_the_end, args=(answer,), daemon=True)
        reader.start()
        streams.append((connection, reader))
    yield
    for connection, reader in streams:
        connection.sock.shutdown(socket.SHUT_RDWR)
        reader.join()
        connection.close()


def puts(rows, scratch, quick):
    """64 connections, one outstanding each, in turns: with 20 open event streams and without."""
    seconds, rounds = (2, 1) if quick else (10, 5)
    rates = {OPEN: [], NONE: []}
    for number in range(rounds):
        for subject in sorted(rates, reverse=number % 2 == 1):
            server = Server("duewheel", scratch / "dashboard")
            server.start()
            load("put", server, connections=64, seconds=1, seed=1)
            with event_streams(server, 20 if subject == OPEN else 0):
                rates[subject].append(load("put", server, connections=64, seconds=seconds, seed=number + 2)["per_second"])
            server.stop()
            shutil.rmtree(scratch / "dashboard")
    for subject, values in rates.items():
        rows.add("puts with open dashboards", 64, subject, "1/s", values)
    rows.add("puts with open dashboards, ratio", 64, OPEN, "x", [on / off for on, off in zip(rates[OPEN], rates[NONE])])


def timeline(rows, scratch, quick):
    """The forecast of a day, minute by minute, with messages that are due in 1 to 24 hours."""
    for pending in ([20_000] if quick else [1_000_000, 10_000_000]):
        server = Server("duewheel", scratch / "dashboard")
        server.start()
        fill(server, pending)
        settle(server)
        connection = http.client.HTTPConnection(server.address.removeprefix("http://"))
        took_ms = []
        for _ in range(11):
            began = time.monotonic()
            connection.request("GET", "/v1/forecast?minutes=1440")
            answer = connection.getresponse()
            assert answer.status == 200 and answer.read(), answer.status
            took_ms.append((time.monotonic() - began) * 1000)
        rows.add("forecast of a day", pending, "duewheel", "ms", took_ms)
        server.stop()
        shutil.rmtree(scratch / "dashboard")


def dashboard(rows, scratch, quick):
    puts(rows, scratch, quick)
    timeline(rows, scratch, quick)
