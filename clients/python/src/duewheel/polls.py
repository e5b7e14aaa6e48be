"""The lease calls of a worker, which wait at the server for messages. They are tasks of an event loop in a thread of their own, because a
task can be cancelled, and a thread that waits cannot: a worker that stops must not get back the messages that it gives back."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import Any

from .client import AsyncClient
from .exchange import Settings
from .leases import spawn
from .messages import Lease


class Polls:
    """Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self.client = AsyncClient(**settings.options())
        self.loop = asyncio.new_event_loop()
        self.lock = threading.Lock()
        self.ended = False  # guarded by lock
        spawn(self.run)

    def lease(self, queue: str, **options: Any) -> Future[list[Lease]]:
        """Cancelled after the end."""
        with self.lock:
            if self.ended:
                ended: Future[list[Lease]] = Future()
                ended.cancel()
                return ended
            return asyncio.run_coroutine_threadsafe(self.client.lease(queue, **options), self.loop)

    def run(self) -> None:
        self.loop.run_forever()
        self.loop.close()

    async def cancel(self) -> None:
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await self.client.close()

    def end(self) -> None:
        """Cancels all calls, and returns when their connections are closed. To be called once."""
        with self.lock:
            self.ended = True
        asyncio.run_coroutine_threadsafe(self.cancel(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
