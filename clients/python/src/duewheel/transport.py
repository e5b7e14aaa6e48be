"""Sends the attempts of an Exchange with httpx: Transport waits in its thread, AsyncTransport in its task."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from typing import TypeVar, cast

import httpx

from .around import AroundPut, surrounded
from .calls import Call
from .exchange import Exchange, Request, Response, Settings

T = TypeVar("T")
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=100)
SLOW = httpx.ReadTimeout("the response came too slowly")  # httpx bounds each read, so the whole is bounded between the reads


class Transport:
    """Thread-safe: connections are kept, and each thread that sends uses one of its own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.contexts: list[AroundPut] = []
        self.checked = False  # whether the server is one that this client understands
        # A queue on the same network is not reached through the web proxy of the environment.
        self.http = httpx.Client(verify=settings.trust(), trust_env=False, limits=LIMITS)

    def send(self, call: Call[T]) -> T:
        if not call.puts or not self.contexts:
            return self.carry_out(call)
        with surrounded(call.puts, self.contexts) as put:
            put.answer = answer = self.carry_out(dataclasses.replace(call, fields=put.fields))
        return answer

    def carry_out(self, call: Call[T]) -> T:
        exchange = Exchange(call, self.settings, time.monotonic())
        while not exchange.done:
            try:
                if not self.checked:
                    exchange.check_version(self.once(exchange.version_request(time.monotonic()), exchange.deadline_s))
                    self.checked = True
                response = self.once(exchange.request(time.monotonic()), exchange.deadline_s)
            except httpx.HTTPError as error:
                pause_s = exchange.lost(error, time.monotonic())
            else:
                pause_s = exchange.answered(response, time.monotonic())
            if pause_s:
                time.sleep(pause_s)
        return cast(T, exchange.result)

    def once(self, request: Request, deadline_s: float) -> Response:
        chunks = []
        with self.http.stream(request.method, request.url, content=request.content, headers=request.headers,
                              timeout=request.timeout_s) as response:
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                if time.monotonic() > deadline_s:
                    raise SLOW
        return Response(response.status_code, response.headers, b"".join(chunks))

    def close(self) -> None:
        self.http.close()


class AsyncTransport:
    """For the tasks of one event loop. A task that is cancelled gives up its call."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.contexts: list[AroundPut] = []
        self.checked = False  # whether the server is one that this client understands
        self.http = httpx.AsyncClient(verify=settings.trust(), trust_env=False, limits=LIMITS)

    async def send(self, call: Call[T]) -> T:
        if not call.puts or not self.contexts:
            return await self.carry_out(call)
        with surrounded(call.puts, self.contexts) as put:
            put.answer = answer = await self.carry_out(dataclasses.replace(call, fields=put.fields))
        return answer

    async def carry_out(self, call: Call[T]) -> T:
        exchange = Exchange(call, self.settings, time.monotonic())
        while not exchange.done:
            try:
                if not self.checked:
                    exchange.check_version(await self.once(exchange.version_request(time.monotonic()), exchange.deadline_s))
                    self.checked = True
                response = await self.once(exchange.request(time.monotonic()), exchange.deadline_s)
            except httpx.HTTPError as error:
                pause_s = exchange.lost(error, time.monotonic())
            else:
                pause_s = exchange.answered(response, time.monotonic())
            if pause_s:
                await asyncio.sleep(pause_s)
        return cast(T, exchange.result)

    async def once(self, request: Request, deadline_s: float) -> Response:
        chunks = []
        async with self.http.stream(request.method, request.url, content=request.content, headers=request.headers,
                                    timeout=request.timeout_s) as response:
            async for chunk in response.aiter_bytes():
                chunks.append(chunk)
                if time.monotonic() > deadline_s:
                    raise SLOW
        return Response(response.status_code, response.headers, b"".join(chunks))

    async def close(self) -> None:
        await self.http.aclose()
