"""Options and answers of calls. Written by generate.py from the OpenAPI document of the server: do not change it by hand."""

from __future__ import annotations

import datetime
from typing import Any, List, Literal, Mapping, Optional, TypedDict, Union


def instant_of(value_ms: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(value_ms / 1000, datetime.timezone.utc)


class Fields:
    """What the server sent, as `raw`: members that are newer than this client are found there."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self.raw)!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Fields) and other.raw == self.raw

    __hash__ = None  # type: ignore[assignment]


class Retry(TypedDict, total=False):
    attempts: int
    first: datetime.timedelta
    factor: float
    max: datetime.timedelta
    jitter: float


class Repeat(TypedDict, total=False):
    every: datetime.timedelta
    times: int
    factor: float
    max: datetime.timedelta
    until: datetime.datetime


class Transaction(TypedDict, total=False):
    check_back: Any
    otherwise: Literal["rollback", "commit"]


class PutOptions(TypedDict, total=False):
    delay: datetime.timedelta
    due: datetime.datetime
    expires_in: datetime.timedelta
    expires: datetime.datetime
    order_key: str
    group: str
    priority: int
    repeat: Repeat
    retry: Retry
    transaction: Transaction
    held: bool
    headers: Mapping[str, str]
    kafka: Mapping[str, Any]
    content_type: str
    key: str
    on_key: Literal["once", "keep", "replace"]
    within: datetime.timedelta
    imported: Mapping[str, Any]


class Changes(TypedDict, total=False):
    delay: datetime.timedelta
    due: datetime.datetime
    expires_in: Union[datetime.timedelta, None]
    expires: Union[datetime.datetime, None]
    priority: Union[int, None]
    retry: Union[Mapping[str, Any], None]
    content_type: Union[str, None]
    headers: Union[Mapping[str, Any], None]
    kafka: Union[Mapping[str, Any], None]


class QueueSettings(TypedDict, total=False):
    target: Union[str, Mapping[str, Any]]
    paused: bool
    lease: datetime.timedelta
    retry: Retry
    rate: Mapping[str, Any]
    limits: Mapping[str, Any]
    groups: Mapping[str, Any]


class ScheduleSettings(TypedDict, total=False):
    queue: str
    cron: str
    every: datetime.timedelta
    iso: str
    at: str
    zone: str
    dst: Literal["shift", "skip"]
    dst_repeat: Literal["first", "both"]
    closed: str
    start: datetime.datetime
    end: datetime.datetime
    times: int
    jitter: datetime.timedelta
    misfire: Literal["once", "all", "skip"]
    misfire_window: datetime.timedelta
    overlap: Literal["allow", "skip", "queue_one"]
    paused: bool
    headers: Mapping[str, str]
    kafka: Mapping[str, Any]
    content_type: str
    priority: int
    order_key: str
    group: str
    expires_in: datetime.timedelta
    retry: Retry


class WatchdogSettings(TypedDict, total=False):
    queue: str
    timeout: datetime.timedelta
    max: datetime.timedelta
    repeat_every: datetime.timedelta
    feed: bool
    headers: Mapping[str, str]
    kafka: Mapping[str, Any]
    content_type: str
    priority: int
    order_key: str
    group: str
    expires_in: datetime.timedelta
    retry: Retry


class Attempt(Fields):

    @property
    def attempt(self) -> int:
        return int(self.raw["attempt"])

    @property
    def started(self) -> datetime.datetime:
        return instant_of(self.raw["started_ms"])

    @property
    def ended(self) -> Optional[datetime.datetime]:
        value = self.raw.get("ended_ms")
        return None if value is None else instant_of(value)

    @property
    def outcome(self) -> Optional[Literal["done", "failed", "released", "held", "lease_lost", "expired", "cancelled"]]:
        value: Optional[Literal["done", "failed", "released", "held", "lease_lost", "expired", "cancelled"]] = self.raw.get("outcome")
        return value

    @property
    def reason(self) -> Optional[str]:
        """The reason of a failure, shortened to 256 bytes."""
        value = self.raw.get("reason")
        return None if value is None else str(value)

    @property
    def worker(self) -> Optional[str]:
        value = self.raw.get("worker")
        return None if value is None else str(value)


class Check(Fields):

    @property
    def message(self) -> str:
        return str(self.raw["message"])

    @property
    def number(self) -> int:
        return int(self.raw["number"])

    @property
    def times(self) -> int:
        return int(self.raw["times"])

    @property
    def otherwise(self) -> Literal["rollback", "commit"]:
        value: Literal["rollback", "commit"] = self.raw["otherwise"]
        return value


class ReceiptFields(Fields):

    @property
    def id(self) -> str:
        return str(self.raw["id"])

    @property
    def state(self) -> Literal["prepared", "scheduled", "ready", "leased", "retrying", "held", "done", "cancelled", "expired", "dead"]:
        value: Literal["prepared", "scheduled", "ready", "leased", "retrying", "held", "done", "cancelled", "expired", "dead"] = self.raw["state"]
        return value

    @property
    def due(self) -> datetime.datetime:
        return instant_of(self.raw["due_ms"])

    @property
    def kept(self) -> bool:
        """The message of the key was there, and is as it was."""
        return bool(self.raw.get("kept"))

    @property
    def replaced(self) -> bool:
        """The message of the key was there, and is that of this put now."""
        return bool(self.raw.get("replaced"))

    @property
    def ended(self) -> bool:
        """The message of the key has ended, and nothing was put."""
        return bool(self.raw.get("ended"))

    @property
    def hint(self) -> Optional[str]:
        value = self.raw.get("hint")
        return None if value is None else str(value)


class MessageFields(Fields):

    @property
    def id(self) -> str:
        return str(self.raw["id"])

    @property
    def namespace(self) -> Optional[str]:
        value = self.raw.get("namespace")
        return None if value is None else str(value)

    @property
    def queue(self) -> str:
        return str(self.raw["queue"])

    @property
    def state(self) -> Literal["prepared", "scheduled", "ready", "leased", "retrying", "held", "done", "cancelled", "expired", "dead"]:
        value: Literal["prepared", "scheduled", "ready", "leased", "retrying", "held", "done", "cancelled", "expired", "dead"] = self.raw["state"]
        return value

    @property
    def due(self) -> datetime.datetime:
        return instant_of(self.raw["due_ms"])

    @property
    def answer_by(self) -> Optional[datetime.datetime]:
        value = self.raw.get("answer_by_ms")
        return None if value is None else instant_of(value)

    @property
    def checks(self) -> Optional[int]:
        value = self.raw.get("checks")
        return None if value is None else int(value)

    @property
    def nominal_due(self) -> Optional[datetime.datetime]:
        value = self.raw.get("nominal_due_ms")
        return None if value is None else instant_of(value)

    @property
    def expires(self) -> Optional[datetime.datetime]:
        value = self.raw.get("expires_ms")
        return None if value is None else instant_of(value)

    @property
    def order_key(self) -> Optional[str]:
        value = self.raw.get("order_key")
        return None if value is None else str(value)

    @property
    def group(self) -> Optional[str]:
        value = self.raw.get("group")
        return None if value is None else str(value)

    @property
    def key(self) -> Optional[str]:
        value = self.raw.get("key")
        return None if value is None else str(value)

    @property
    def priority(self) -> int:
        return int(self.raw["priority"])

    @property
    def attempts(self) -> int:
        return int(self.raw["attempts"])

    @property
    def maybe_delivered(self) -> bool:
        return bool(self.raw["maybe_delivered"])

    @property
    def next_occurrence(self) -> Optional[int]:
        """For a recurring message: the number of the occurrence that is due at `due`."""
        value = self.raw.get("next_occurrence")
        return None if value is None else int(value)

    @property
    def blocked_by(self) -> Optional[Literal["queue_full", "namespace_full", "queue_limit", "too_many_puts", "catching_up", "store_full", "queue_leased", "queue_rate", "group_leased", "group_rate", "group_backoff"]]:
        value: Optional[Literal["queue_full", "namespace_full", "queue_limit", "too_many_puts", "catching_up", "store_full", "queue_leased", "queue_rate", "group_leased", "group_rate", "group_backoff"]] = self.raw.get("blocked_by")
        return value

    @property
    def retry(self) -> Optional[Mapping[str, Any]]:
        """Absent members are inherited from the queue, or else from the server's configuration. `factor` and `jitter` have up to three
        decimals."""
        value: Optional[Mapping[str, Any]] = self.raw.get("retry")
        return value

    @property
    def repeat(self) -> Optional[Mapping[str, Any]]:
        """Makes a recurring message. Its first occurrence is due at the due time of the put, each later one after an interval. The
        interval is `every`; with `factor` it grows, up to `max`. The message ends after `times` occurrences, or with the last
        occurrence due by `until`. Without both it recurs until it is cancelled."""
        value: Optional[Mapping[str, Any]] = self.raw.get("repeat")
        return value

    @property
    def expires_in(self) -> Optional[datetime.timedelta]:
        """For a recurring message: how long after its due time each occurrence expires, in milliseconds."""
        value = self.raw.get("expires_in_ms")
        return None if value is None else datetime.timedelta(milliseconds=value)

    @property
    def transaction(self) -> Optional[Mapping[str, Any]]:
        """The message is prepared, and is delivered only after a commit. If its producer neither commits nor rolls back within `after`,
        a check message is put into `queue`, and another one after each further `after`, up to `times`. Then `otherwise` applies.
        Without `queue` there are no check messages."""
        value: Optional[Mapping[str, Any]] = self.raw.get("transaction")
        return value

    @property
    def check(self) -> Optional[Check]:
        value = self.raw.get("check")
        return None if value is None else Check(value)

    @property
    def parent(self) -> Optional[str]:
        value = self.raw.get("parent")
        return None if value is None else str(value)

    @property
    def schedule(self) -> Optional[str]:
        value = self.raw.get("schedule")
        return None if value is None else str(value)

    @property
    def watchdog(self) -> Optional[str]:
        value = self.raw.get("watchdog")
        return None if value is None else str(value)

    @property
    def last_fed(self) -> Optional[datetime.datetime]:
        value = self.raw.get("last_fed_ms")
        return None if value is None else instant_of(value)

    @property
    def occurrence(self) -> Optional[int]:
        """For an occurrence: its number in the recurring message `parent`. Of a run: its number in `schedule`, or 0 if a request fired
        it. Of a message of a `watchdog`: how often the watchdog had fired by then."""
        value = self.raw.get("occurrence")
        return None if value is None else int(value)

    @property
    def put(self) -> Optional[datetime.datetime]:
        value = self.raw.get("put_ms")
        return None if value is None else instant_of(value)

    @property
    def lease_until(self) -> Optional[datetime.datetime]:
        value = self.raw.get("lease_until_ms")
        return None if value is None else instant_of(value)

    @property
    def cancel_requested(self) -> bool:
        return bool(self.raw.get("cancel_requested"))

    @property
    def delivered(self) -> Optional[datetime.datetime]:
        value = self.raw.get("delivered_ms")
        return None if value is None else instant_of(value)

    @property
    def worker(self) -> Optional[str]:
        value = self.raw.get("worker")
        return None if value is None else str(value)

    @property
    def progress(self) -> Any:
        value: Any = self.raw.get("progress")
        return value

    @property
    def checkpoint(self) -> Any:
        value: Any = self.raw.get("checkpoint")
        return value

    @property
    def timeline(self) -> Optional[List[Attempt]]:
        value = self.raw.get("timeline")
        return None if value is None else [Attempt(each) for each in value]

    @property
    def ended(self) -> Optional[datetime.datetime]:
        value = self.raw.get("ended_ms")
        return None if value is None else instant_of(value)

    @property
    def reason(self) -> Optional[str]:
        """Why it is a dead letter."""
        value = self.raw.get("reason")
        return None if value is None else str(value)

    @property
    def result(self) -> Any:
        """The result that its acknowledgement gave, as it was sent."""
        value: Any = self.raw.get("result")
        return value

    @property
    def content_type(self) -> Optional[str]:
        value = self.raw.get("content_type")
        return None if value is None else str(value)

    @property
    def headers(self) -> Optional[Mapping[str, str]]:
        value: Optional[Mapping[str, str]] = self.raw.get("headers")
        return value

    @property
    def kafka(self) -> Optional[Mapping[str, Any]]:
        value: Optional[Mapping[str, Any]] = self.raw.get("kafka")
        return value

    @property
    def traceparent(self) -> Optional[str]:
        value = self.raw.get("traceparent")
        return None if value is None else str(value)


class LeaseFields(Fields):

    @property
    def id(self) -> str:
        return str(self.raw["id"])

    @property
    def queue(self) -> str:
        return str(self.raw["queue"])

    @property
    def lease(self) -> str:
        return str(self.raw["lease"])

    @property
    def lease_until(self) -> datetime.datetime:
        return instant_of(self.raw["lease_until_ms"])

    @property
    def group(self) -> Optional[str]:
        value = self.raw.get("group")
        return None if value is None else str(value)

    @property
    def key(self) -> Optional[str]:
        value = self.raw.get("key")
        return None if value is None else str(value)

    @property
    def checkpoint(self) -> Any:
        value: Any = self.raw.get("checkpoint")
        return value

    @property
    def content_type(self) -> Optional[str]:
        value = self.raw.get("content_type")
        return None if value is None else str(value)

    @property
    def headers(self) -> Optional[Mapping[str, str]]:
        value: Optional[Mapping[str, str]] = self.raw.get("headers")
        return value

    @property
    def kafka(self) -> Optional[Mapping[str, Any]]:
        value: Optional[Mapping[str, Any]] = self.raw.get("kafka")
        return value

    @property
    def traceparent(self) -> Optional[str]:
        value = self.raw.get("traceparent")
        return None if value is None else str(value)

    @property
    def check(self) -> Optional[Check]:
        value = self.raw.get("check")
        return None if value is None else Check(value)

    @property
    def parent(self) -> Optional[str]:
        value = self.raw.get("parent")
        return None if value is None else str(value)

    @property
    def schedule(self) -> Optional[str]:
        value = self.raw.get("schedule")
        return None if value is None else str(value)

    @property
    def watchdog(self) -> Optional[str]:
        value = self.raw.get("watchdog")
        return None if value is None else str(value)

    @property
    def last_fed(self) -> Optional[datetime.datetime]:
        value = self.raw.get("last_fed_ms")
        return None if value is None else instant_of(value)

    @property
    def occurrence(self) -> int:
        return int(self.raw["occurrence"])

    @property
    def due(self) -> datetime.datetime:
        return instant_of(self.raw["due_ms"])

    @property
    def delivered(self) -> datetime.datetime:
        return instant_of(self.raw["delivered_ms"])

    @property
    def lateness(self) -> datetime.timedelta:
        return datetime.timedelta(milliseconds=self.raw["lateness_ms"])

    @property
    def wait(self) -> datetime.timedelta:
        return datetime.timedelta(milliseconds=self.raw["wait_ms"])

    @property
    def attempt(self) -> int:
        return int(self.raw["attempt"])

    @property
    def maybe_delivered(self) -> bool:
        return bool(self.raw["maybe_delivered"])


class QueueFields(Fields):

    @property
    def namespace(self) -> Optional[str]:
        value = self.raw.get("namespace")
        return None if value is None else str(value)

    @property
    def queue(self) -> str:
        return str(self.raw["queue"])

    @property
    def paused(self) -> bool:
        return bool(self.raw["paused"])

    @property
    def paused_by(self) -> Optional[str]:
        """Present if the target of its webhook answered 410 Gone."""
        value = self.raw.get("paused_by")
        return None if value is None else str(value)

    @property
    def pending(self) -> int:
        return int(self.raw["pending"])

    @property
    def scheduled(self) -> int:
        return int(self.raw["scheduled"])

    @property
    def prepared(self) -> int:
        return int(self.raw["prepared"])

    @property
    def ready(self) -> int:
        return int(self.raw["ready"])

    @property
    def leased(self) -> int:
        return int(self.raw["leased"])

    @property
    def held(self) -> int:
        return int(self.raw["held"])

    @property
    def dead(self) -> int:
        return int(self.raw["dead"])

    @property
    def waiters(self) -> int:
        return int(self.raw["waiters"])

    @property
    def backlog_on_disk(self) -> bool:
        return bool(self.raw["backlog_on_disk"])

    @property
    def purge(self) -> Optional[Mapping[str, Any]]:
        """Present while one is in progress."""
        value: Optional[Mapping[str, Any]] = self.raw.get("purge")
        return value

    @property
    def discard(self) -> Optional[Mapping[str, Any]]:
        """Present while one is in progress."""
        value: Optional[Mapping[str, Any]] = self.raw.get("discard")
        return value

    @property
    def webhook(self) -> Optional[Mapping[str, Any]]:
        """State of the webhook target, if the queue has one."""
        value: Optional[Mapping[str, Any]] = self.raw.get("webhook")
        return value

    @property
    def kafka(self) -> Optional[Mapping[str, Any]]:
        """State of the Kafka target, if the queue has one."""
        value: Optional[Mapping[str, Any]] = self.raw.get("kafka")
        return value

    @property
    def settings(self) -> Mapping[str, Any]:
        value: Mapping[str, Any] = self.raw["settings"]
        return value

    @property
    def in_force(self) -> Optional[Mapping[str, Any]]:
        """Only in the state of one queue: what applies to it, from its settings and, where they lack a member, from those of the
        server."""
        value: Optional[Mapping[str, Any]] = self.raw.get("in_force")
        return value
