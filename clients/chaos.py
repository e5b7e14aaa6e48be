"""Kills of workers and of the server while messages are put and handled: each message is handled, and one that is handled twice was at work
when its worker or the server was killed (C5 of docs/promises.md).

The program of a client is started with these words after its own, and prints a line `ready` when it has begun:

    put URL COUNT    puts so many messages into the queue `chaos`, and prints their ids, one a line
    work URL LOG     appends the id of each message that it handles to LOG, AT_ONCE at once with leases of 2 s, until SIGTERM

The programs of the server are in the folder that DUEWHEEL_BIN names.
"""

import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "integration"))
from daemon import Daemon  # noqa: E402

AT_ONCE = 10
MESSAGES = 1000
TURN_S = 0.3  # between two signals
HANDLED_WITHIN_S = 60
TURNS = ("one", "server", "two", "server")


class Program:
    """A process of the client."""

    def __init__(self, words):
        self.process = subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{words} did not start")

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait(timeout=HANDLED_WITHIN_S)
        self.process.stdout.close()


def disturbed(words, number):
    """Ends workers and the server with this signal in turns. (ids that were put, ids in the order in which they were handled, signals)."""
    with tempfile.TemporaryDirectory() as name, Daemon() as daemon:
        log = pathlib.Path(name) / "handled"
        log.touch()
        daemon.start()
        daemon.listen = f"127.0.0.1:{daemon.port}"
        url = f"http://{daemon.listen}"
        workers = {name: Program([*words, "work", url, log]) for name in ("one", "two")}
        producer, ids = Program([*words, "put", url, MESSAGES]), []
        reader = threading.Thread(target=lambda: ids.extend(line.strip() for line in producer.process.stdout))
        reader.start()
        signals = 0
        try:
            while reader.is_alive() or signals < len(TURNS):
                turn = TURNS[signals % len(TURNS)]
                if turn == "server":
                    daemon.process.send_signal(number)
                    daemon.process.wait()
                    daemon.start()
                else:
                    workers[turn].end(number)
                    workers[turn] = Program([*words, "work", url, log])
                signals += 1
                time.sleep(TURN_S)
            reader.join()
            client, deadline = daemon.client(), time.monotonic() + HANDLED_WITHIN_S
            while client.request("GET", "/v1/stats")[1]["pending"] and time.monotonic() < deadline:
                time.sleep(0.1)
        finally:
            for each in (producer, *workers.values()):
                if each.process.poll() is None:
                    each.process.kill()
                each.process.wait()
        return ids, log.read_text().split(), signals


def check(words):
    """(exit code, what failed)."""
    failures = []
    for number in (signal.SIGTERM, signal.SIGKILL):
        ids, handled, signals = disturbed(words, number)
        name = signal.Signals(number).name
        if len(set(ids)) != MESSAGES:
            failures.append(f"{name}: {len(set(ids))} of {MESSAGES} messages were put")
        if lost := set(ids) - set(handled):
            failures.append(f"{name}: {len(lost)} messages were never handled: {sorted(lost)[:10]}")
        repeated, allowed = len(handled) - len(set(handled)), 0 if number == signal.SIGTERM else signals * 2 * AT_ONCE
        if repeated > allowed:
            failures.append(f"{name}: {repeated} messages were handled twice after {signals} signals, and {allowed} may be")
    return len(failures), "\n".join(failures)
