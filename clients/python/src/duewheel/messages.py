"""What calls take and return. Each value keeps the object that the server sent as `raw`, where newer members are found too."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from typing import Any, Mapping, Optional

from .wire import content, data_of, members

ENDED = {"done", "cancelled", "expired", "dead"}


def instant_of(value_ms: Optional[int]) -> Optional[datetime.datetime]:
    return None if value_ms is None else datetime.datetime.fromtimestamp(value_ms / 1000, datetime.timezone.utc)


@dataclasses.dataclass(frozen=True)
class Put:
    """One message of a batch: its data, and the options of Client.put()."""
    data: Any
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The members of the put. Each call makes another key, if the options have none: call it once for all attempts."""
        body = members(self.options)
        body.setdefault("key", uuid.uuid4().hex)
        return {**body, **content(self.data)}


@dataclasses.dataclass(frozen=True)
class Receipt:
    """The response to a put."""
    raw: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.raw["id"])

    @property
    def state(self) -> str:
        return str(self.raw["state"])

    @property
    def due(self) -> Optional[datetime.datetime]:
        return instant_of(self.raw.get("due_ms"))


@dataclasses.dataclass(frozen=True)
class Message:
    """A message as it is shown."""
    raw: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.raw["id"])

    @property
    def queue(self) -> str:
        return str(self.raw["queue"])

    @property
    def state(self) -> str:
        return str(self.raw["state"])

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def due(self) -> Optional[datetime.datetime]:
        return instant_of(self.raw.get("due_ms"))

    @property
    def headers(self) -> Mapping[str, str]:
        return dict(self.raw.get("headers", {}))

    @property
    def data(self) -> Any:
        """Its content: parsed JSON, text or bytes; None after its end."""
        return data_of(self.raw)

    @property
    def result(self) -> Any:
        return self.raw.get("result")


class Lease(Message):
    """A message that this consumer has until its lease ends."""

    @property
    def token(self) -> str:
        return str(self.raw["lease"])

    @property
    def attempt(self) -> int:
        return int(self.raw["attempt"])

    @property
    def until(self) -> Optional[datetime.datetime]:
        return instant_of(self.raw.get("lease_until_ms"))

    @property
    def checkpoint(self) -> Any:
        """What an earlier attempt said last with an extension."""
        return self.raw.get("checkpoint")
