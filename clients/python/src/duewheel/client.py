"""Client and AsyncClient: a method for each call that a program makes (calls.py), one blocking and one to be awaited."""

from __future__ import annotations

import contextlib
import datetime
import functools
import inspect
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Iterator, Optional, TypeVar, Union

from . import calls
from .around import AroundPut
from .calls import Call
from .codec import Codec
from .errors import DuewheelError
from .exchange import Settings
from .messages import Message, Receipt
from .models import PutOptions
from .transport import AsyncTransport, Transport

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec, Unpack
    P = ParamSpec("P")

T = TypeVar("T")
MINUTE = datetime.timedelta(minutes=1)
ZERO = datetime.timedelta()
DEADLINE = datetime.timedelta(seconds=30)


def blocking(make: Callable[P, Call[T]]) -> Callable[Concatenate[Client, P], T]:
    """The method of a Client that makes a call and sends it."""
    def method(self: Client, /, *arguments: P.args, **options: P.kwargs) -> T:
        return self.transport.send(make(*arguments, **options))
    return described_as(make, method)


def awaited(make: Callable[P, Call[T]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """The same of an AsyncClient."""
    async def method(self: AsyncClient, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self.transport.send(make(*arguments, **options))
    return described_as(make, method)


def described_as(make: Callable[..., Any], method: T) -> T:
    """The method with the name, the description and the arguments of what makes its call."""
    functools.update_wrapper(method, make)  # type: ignore[arg-type]
    taken = inspect.signature(make)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = taken.replace(parameters=[itself, *taken.parameters.values()])  # type: ignore[attr-defined]
    return method


class Steps:
    """How long each of the gets of wait() waits."""

    def __init__(self, timeout: Optional[datetime.timedelta]) -> None:
        self.left = timeout

    def next(self) -> datetime.timedelta:
        step = MINUTE if self.left is None else min(self.left, MINUTE)
        self.left = None if self.left is None else self.left - step
        return step

    def is_last(self, message: Message) -> bool:
        return message.has_ended or self.left == ZERO


def prepared(check_queue: Optional[str], after: datetime.timedelta, commit_by_default: bool) -> Any:
    return {"check_back": {"after": after, **({"queue": check_queue} if check_queue else {})},
            "otherwise": "commit" if commit_by_default else "rollback"}


class Client:
    """Thread-safe. `timeout` is the deadline of each call, with all its attempts; a call that waits at the server has that time in
    addition. Every call is safe to repeat, and is repeated when its response is lost. Methods raise DuewheelError.

    token      an access token, `dw_...`
    namespace  that of all calls, by default `default`
    verify     the file of the certificate authority that signs the server's certificate; by default those of the system
    codec      encodes the payload of what is put, and decodes that of what is read
    """

    def __init__(self, url: str, *, token: Optional[str] = None, namespace: Optional[str] = None, timeout: datetime.timedelta = DEADLINE,
                 verify: Union[bool, str] = True, codec: Optional[Codec] = None) -> None:
        self.settings = Settings(url, token, namespace, timeout.total_seconds(), verify, codec)
        self.transport = Transport(self.settings)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the kept connections."""
        self.transport.close()

    def around_put(self, context: AroundPut) -> AroundPut:
        """Declares what is done around each put and each batch of them: a function that takes an Outgoing and returns a context manager."""
        self.transport.contexts.append(context)
        return context

    call = blocking(calls.call)
    put = blocking(calls.put)
    put_many = blocking(calls.put_many)
    get = blocking(calls.get)
    cancel = blocking(calls.cancel)
    move = blocking(calls.move)
    act = blocking(calls.act)
    fire = blocking(calls.fire)
    hold = blocking(calls.hold)
    kick = blocking(calls.kick)
    commit = blocking(calls.commit)
    rollback = blocking(calls.rollback)
    lease = blocking(calls.lease)
    ack = blocking(calls.ack)
    fail = blocking(calls.fail)
    extend = blocking(calls.extend)
    release = blocking(calls.release)
    hold_leased = blocking(calls.hold_leased)
    many = blocking(calls.many)
    get_queue = blocking(calls.get_queue)
    set_queue = blocking(calls.set_queue)
    back_off_group = blocking(calls.back_off_group)
    set_schedule = blocking(calls.set_schedule)
    set_watchdog = blocking(calls.set_watchdog)
    feed_watchdog = blocking(calls.feed_watchdog)
    advance = blocking(calls.advance)

    def wait(self, message_id: str, timeout: Optional[datetime.timedelta] = None) -> Message:
        """Waits for the end of the message, and returns it with its `result`; after `timeout`, as it is then."""
        steps = Steps(timeout)
        while True:
            message = self.get(message_id, wait=steps.next())
            if steps.is_last(message):
                return message

    def list(self, queue: str, *, page: int = 100, **filters: Any) -> Iterator[Message]:
        """The unfinished messages of a queue by due time, page by page; with state="dead" its dead letters."""
        cursor = None
        while True:
            messages, cursor = self.transport.send(calls.page(queue, page, filters, cursor))
            yield from messages
            if cursor is None:
                return

    @contextlib.contextmanager
    def transaction(self, queue: str, data: Any, *, after: datetime.timedelta, check_queue: Optional[str] = None,
                    commit_by_default: bool = False, **options: Unpack[PutOptions]) -> Iterator[Receipt]:
        """Puts a message that is delivered only if the block of the `with` succeeds. If this process dies in it, the server asks in
        `check_queue` `after` this time what became of it (Worker.checker); without an answer the message is rolled back."""
        receipt = self.put(queue, data, **{**options, "transaction": prepared(check_queue, after, commit_by_default)})
        try:
            yield receipt
        except BaseException:
            with contextlib.suppress(DuewheelError):  # the server decides later
                self.rollback(receipt.id)
            raise
        self.commit(receipt.id)


class AsyncClient:
    """The same as Client for programs with asyncio: each method is awaited, list() is an asynchronous iterator, and transaction() an
    asynchronous context. It belongs to the event loop that uses it first."""

    def __init__(self, url: str, *, token: Optional[str] = None, namespace: Optional[str] = None, timeout: datetime.timedelta = DEADLINE,
                 verify: Union[bool, str] = True, codec: Optional[Codec] = None) -> None:
        self.settings = Settings(url, token, namespace, timeout.total_seconds(), verify, codec)
        self.transport = AsyncTransport(self.settings)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *unused: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the kept connections."""
        await self.transport.close()

    def around_put(self, context: AroundPut) -> AroundPut:
        """See Client.around_put(): the context manager is a usual one, and not asynchronous."""
        self.transport.contexts.append(context)
        return context

    call = awaited(calls.call)
    put = awaited(calls.put)
    put_many = awaited(calls.put_many)
    get = awaited(calls.get)
    cancel = awaited(calls.cancel)
    move = awaited(calls.move)
    act = awaited(calls.act)
    fire = awaited(calls.fire)
    hold = awaited(calls.hold)
    kick = awaited(calls.kick)
    commit = awaited(calls.commit)
    rollback = awaited(calls.rollback)
    lease = awaited(calls.lease)
    ack = awaited(calls.ack)
    fail = awaited(calls.fail)
    extend = awaited(calls.extend)
    release = awaited(calls.release)
    hold_leased = awaited(calls.hold_leased)
    many = awaited(calls.many)
    get_queue = awaited(calls.get_queue)
    set_queue = awaited(calls.set_queue)
    back_off_group = awaited(calls.back_off_group)
    set_schedule = awaited(calls.set_schedule)
    set_watchdog = awaited(calls.set_watchdog)
    feed_watchdog = awaited(calls.feed_watchdog)
    advance = awaited(calls.advance)

    async def wait(self, message_id: str, timeout: Optional[datetime.timedelta] = None) -> Message:
        """Waits for the end of the message, and returns it with its `result`; after `timeout`, as it is then."""
        steps = Steps(timeout)
        while True:
            message = await self.get(message_id, wait=steps.next())
            if steps.is_last(message):
                return message

    async def list(self, queue: str, *, page: int = 100, **filters: Any) -> AsyncIterator[Message]:
        """The unfinished messages of a queue by due time, page by page; with state="dead" its dead letters."""
        cursor = None
        while True:
            messages, cursor = await self.transport.send(calls.page(queue, page, filters, cursor))
            for message in messages:
                yield message
            if cursor is None:
                return

    @contextlib.asynccontextmanager
    async def transaction(self, queue: str, data: Any, *, after: datetime.timedelta, check_queue: Optional[str] = None,
                          commit_by_default: bool = False, **options: Unpack[PutOptions]) -> AsyncIterator[Receipt]:
        """Puts a message that is delivered only if the block of the `async with` succeeds: see Client.transaction()."""
        receipt = await self.put(queue, data, **{**options, "transaction": prepared(check_queue, after, commit_by_default)})
        try:
            yield receipt
        except BaseException:
            with contextlib.suppress(DuewheelError):
                await self.rollback(receipt.id)
            raise
        await self.commit(receipt.id)
