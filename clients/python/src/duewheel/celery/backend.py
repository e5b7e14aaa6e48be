"""The result backend: a result is a message that is held, in the queue `celery.results`, until it expires.

A program that waits for a result puts a signal, which the worker cancels after it has stored the result, and waits for the end of the
signal at the server: nobody polls.
"""

from __future__ import annotations

import contextlib
import datetime
import time
from typing import Any, Iterable, Iterator, Optional
from urllib.parse import unquote, urlsplit

from celery import states
from celery.backends.base import KeyValueStoreBackend
from celery.exceptions import TimeoutError as ResultTimeout

from ..errors import Conflict, NotFound
from .connection import Connection

RESULTS, SIGNALS = "celery.results", "celery.signals"
WAIT = datetime.timedelta(seconds=30)
DAY = datetime.timedelta(days=1)


class Backend(KeyValueStoreBackend):
    supports_autoexpire = True

    def __init__(self, app: Any, url: Optional[str] = None, **options: Any) -> None:
        super().__init__(app, url=url, **options)
        parts = urlsplit(url or "")
        self.server = Connection(parts.hostname, parts.port, unquote(parts.password or ""), parts.path,
                                 self.app.conf.get("broker_use_ssl") if parts.hostname else None)

    def get(self, key: Any) -> Any:
        for name in (text_of(key), unfinished(key)):
            with contextlib.suppress(NotFound):
                return self.server.client.get(queue=RESULTS, key=name).data
        return None

    def mget(self, keys: Iterable[Any]) -> list[Any]:
        return [self.get(key) for key in keys]

    def _set_with_state(self, key: Any, value: Any, state: str) -> None:
        """A state such as RETRY has a message of its own: it may be stored after the result of the next attempt, and must not replace it."""
        if state in states.READY_STATES:
            self.set(key, value)
            with contextlib.suppress(NotFound, Conflict):  # no program waits
                self.server.client.cancel(queue=SIGNALS, key=text_of(key))
        else:
            self.set(unfinished(key), value)

    def set(self, key: Any, value: Any) -> None:
        expires: Any = {"expires_in": datetime.timedelta(seconds=self.expires)} if self.expires else {}
        self.server.client.put(RESULTS, value, key=text_of(key), on_key="replace", held=True, **expires)

    def delete(self, key: Any) -> None:
        for name in (text_of(key), unfinished(key)):
            with contextlib.suppress(NotFound, Conflict):
                self.server.client.cancel(queue=RESULTS, key=name)

    def wait_for(self, task_id: str, timeout: Optional[float] = None, interval: float = 0.5, no_ack: bool = True,
                 on_interval: Any = None) -> Any:
        """The task's result, when there is one. Raises celery's TimeoutError."""
        self._ensure_not_eager()
        deadline = None if timeout is None else time.monotonic() + timeout
        for signal in self.signals(text_of(self.get_key_for_task(task_id))):
            meta = self.get_task_meta(task_id)
            if meta["status"] in states.READY_STATES:
                return meta
            left = WAIT if deadline is None else min(WAIT, datetime.timedelta(seconds=deadline - time.monotonic()))
            if left <= datetime.timedelta():
                raise ResultTimeout("The operation timed out.")
            if on_interval:
                on_interval()
            self.server.client.get(signal, wait=left)

    def signals(self, key: str) -> Iterator[str]:
        """The id of the signal that the stored result ends, again and again. It is put before the result is read, so that none is missed."""
        while True:
            yield self.server.client.put(SIGNALS, "", key=key, on_key="keep", held=True, expires_in=DAY).id


def text_of(key: Any) -> str:
    return key.decode() if isinstance(key, bytes) else str(key)


def unfinished(key: Any) -> str:
    return text_of(key) + " unfinished"
