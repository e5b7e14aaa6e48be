"""What calls take and return, beyond the members that models.py has from the server's own description."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from .models import LeaseFields, MessageFields, PutOptions, ReceiptFields
from .wire import content, data_of, members

if TYPE_CHECKING:
    from typing_extensions import Unpack

ENDED = {"done", "cancelled", "expired", "dead"}


class Put:
    """One message of a batch: its data, and the options of Client.put(). Without a key it gets a random one."""

    def __init__(self, data: Any, **options: Unpack[PutOptions]) -> None:
        self.data, self.options = data, options

    def body(self) -> dict[str, Any]:
        """The members of the put. Each call makes another key, if the options have none: call it once for all attempts."""
        return {"key": uuid.uuid4().hex, **members(self.options), **content(self.data)}


class Receipt(ReceiptFields):
    """The response to a put."""


class Message(MessageFields):
    """A message as it is shown."""

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def data(self) -> Any:
        """Its content: parsed JSON, text or bytes; None after its end."""
        return data_of(self.raw)


class Lease(LeaseFields):
    """A message that this consumer has until its lease ends."""

    @property
    def token(self) -> str:
        return self.lease

    @property
    def data(self) -> Any:
        """Its content: parsed JSON, text or bytes."""
        return data_of(self.raw)
