"""A real server for tests, in a temporary directory and with a clock that the test moves.

    with duewheel.testing.Server() as server:
        server.client.put("mail", {"to": "ann"}, delay=timedelta(days=1))
        server.advance(timedelta(days=1))

For pytest there is the fixture `duewheel_server`, which is such a server for one test. The program `duewheeld` is found in the folder
that DUEWHEEL_BIN names, or on the PATH.
"""

from __future__ import annotations

import datetime
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import time
from typing import Any, Callable, List, Optional

from .client import Client
from .errors import NotFound
from .messages import Message

READY_WITHIN_S = 60.0
POLL_S = 0.02
QUIET_POLLS = 3
ANYTHING: Any = object()


class Server:
    """Starts with the block of the `with`, and is gone after it. `arguments` are more arguments of duewheeld."""

    def __init__(self, *arguments: str) -> None:
        folder = os.environ.get("DUEWHEEL_BIN")
        program = str(pathlib.Path(folder) / "duewheeld") if folder else shutil.which("duewheeld")
        if not program or not pathlib.Path(program).exists():
            raise FileNotFoundError("duewheeld was not found: install the package duewheel, or name its folder in DUEWHEEL_BIN")
        self.command = [program, "--http", "127.0.0.1:0", "--test-clock", *arguments]
        self.directory = tempfile.TemporaryDirectory(prefix="duewheel-")
        self.process: Optional[subprocess.Popen[bytes]] = None

    def __enter__(self) -> Server:
        log = pathlib.Path(self.directory.name) / "log.txt"
        with open(log, "wb") as output:
            self.process = subprocess.Popen([*self.command, "--data", f"{self.directory.name}/data"], stdout=subprocess.PIPE, stderr=output)
        assert self.process.stdout
        readable, _, _ = select.select([self.process.stdout], [], [], READY_WITHIN_S)
        line = self.process.stdout.readline().decode() if readable else ""
        found = re.match(r"ready http=([\d.]+:\d+)", line)
        if not found:
            self.__exit__()
            raise RuntimeError(f"duewheeld did not start: {line!r}\n{log.read_text(errors='replace') if log.exists() else ''}")
        self.url = f"http://{found[1]}"
        self.client = Client(self.url)
        return self

    def __exit__(self, *unused: object) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            assert self.process.stdout
            self.process.stdout.close()
        self.directory.cleanup()

    def now(self) -> datetime.datetime:
        """The time of the server."""
        value_ms: int = self.client.call("GET", "/clock")["server_time_ms"]
        return datetime.datetime.fromtimestamp(value_ms / 1000, datetime.timezone.utc)

    def advance(self, by: datetime.timedelta) -> None:
        """Moves the time of the server. Before that it waits until no message is leased, because the step would end the leases."""
        self.wait_until("no message is leased", lambda: self.client.call("GET", "/stats")["leased"])
        self.client.advance(by)

    def run_until_idle(self, queue: Optional[str] = None) -> None:
        """Waits until the workers of the test have handled all messages that are due, of one queue or of all."""
        def unhandled() -> int:
            try:
                state = self.client.get_queue(queue).raw if queue else self.client.call("GET", "/stats")
            except NotFound:  # without messages and settings there is no queue
                return 0
            return int(state["ready"] + state["leased"])
        self.wait_until("no message is ready or leased", unhandled)

    def wait_until(self, what: str, count: Callable[[], int], timeout_s: float = 30) -> None:
        """Until the count is 0. What a schedule creates may come a moment after an advance, so it must be 0 several times."""
        deadline, quiet = time.monotonic() + timeout_s, 0
        while quiet < QUIET_POLLS:
            left = count()
            quiet = 0 if left else quiet + 1
            if left and time.monotonic() > deadline:
                raise AssertionError(f"after {timeout_s:g} s it does not hold that {what}: there are {left}. Does a worker handle each queue, and "
                                     "do its handlers return?")
            time.sleep(POLL_S)

    def messages(self, queue: str, state: Optional[str] = None) -> List[Message]:
        """The unfinished messages of a queue by due time, with their content; with state="dead" its dead letters."""
        return [self.client.get(each.id) for each in self.client.list(queue, state=state)]

    def assert_put(self, queue: str, data: Any = ANYTHING, **members: Any) -> Message:
        """The first unfinished message of the queue with this data and these properties, such as `priority` or `key`. Fails if there is none."""
        found = self.messages(queue)
        for message in found:
            if data in (ANYTHING, message.data) and all(getattr(message, name) == value for name, value in members.items()):
                return message
        listed = "".join(f"\n  {message.data!r}, due {message.due}" for message in found) or " none"
        raise AssertionError(f"no such message is in the queue {queue}; there is:{listed}")
