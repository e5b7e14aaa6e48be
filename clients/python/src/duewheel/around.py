"""What a program does around each put of a client, such as a span of a trace."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable, ContextManager, Iterator, Sequence


@dataclasses.dataclass
class Outgoing:
    """One put, or one batch of them. Before the put, a context may add `fields` of HTTP, such as `traceparent`; after it, `answer` is the
    receipt, or for a batch the list of receipts and errors."""
    queue: str
    fields: dict[str, str] = dataclasses.field(default_factory=dict)
    answer: Any = None


AroundPut = Callable[[Outgoing], ContextManager[Any]]


@contextlib.contextmanager
def surrounded(queue: str, contexts: Sequence[AroundPut]) -> Iterator[Outgoing]:
    """A put within all contexts, the first one outermost."""
    outgoing = Outgoing(queue)
    with contextlib.ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context(outgoing))
        yield outgoing
