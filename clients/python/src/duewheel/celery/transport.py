"""The transport of kombu: queues of Celery are queues of Duewheel.

Each consumed queue has a thread that waits for its messages and leases as many as the prefetch count allows. One thread extends all
leases, so a task may take as long as it likes, and one reports acknowledgements, many with one request: a worker that is killed loses
nothing, and a task that was acknowledged in the milliseconds before may run again. A message with an ETA is due then. Exchanges and
their bindings are messages that are held, in queues named `celery.bindings/...`.
"""

from __future__ import annotations

import base64
import datetime
import json
import logging
import socket
import threading
import time
from queue import Empty, SimpleQueue
from typing import Any, Optional

from kombu.transport import virtual

from ..errors import Conflict, DuewheelError, NotFound
from ..handling import Job, Outcome
from ..leases import Leases
from ..messages import Lease
from ..wire import Json
from .connection import Connection, queue_name

LOG = logging.getLogger("duewheel.celery")
BINDINGS = "celery.bindings/"
LEASE = datetime.timedelta(seconds=30)
POLL = datetime.timedelta(seconds=20)
ERROR_PAUSE_S = 1.0
CLOSE_WITHIN_S = 10.0
UNLIMITED = 100  # what one lease call takes for a consumer without a prefetch count
BROADCAST_FOR = datetime.timedelta(minutes=5)      # after which a worker that does not read does not get a control message
REPLIES_FOR = datetime.timedelta(hours=1)          # after which the binding of a queue for replies to one process is forgotten
ETA = "duewheel_eta"  # the header of a delivered message that had an ETA, which a worker must not wait for again


class QoS(virtual.QoS):
    """What is unacknowledged. A delivery tag is a lease token."""

    def ack(self, delivery_tag: str) -> None:
        self.channel.end(delivery_tag, Outcome("ack"))
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        self.channel.end(delivery_tag, Outcome("release") if requeue else Outcome("fail", {"dead": True, "reason": "rejected by its consumer"}))
        self._quick_ack(delivery_tag)

    def restore_unacked(self) -> list[Any]:
        """They return to their queues at once, and their attempts do not count."""
        self._flush()
        for delivery_tag in list(self._delivered):
            self.channel.end(delivery_tag, Outcome("release"))
        self._delivered.clear()
        return []


class Channel(virtual.Channel):
    QoS = QoS
    supports_fanout = True

    def __init__(self, connection: Any, **options: Any) -> None:
        super().__init__(connection, **options)
        self.server = connection.server
        self.changed = threading.Condition()
        self.held: dict[str, Job] = {}      # by lease token; guarded by changed
        self.leasing = 0                    # how many messages the lease calls on their way may return; guarded by changed
        self.unanswered: set[str] = set()   # queues whose messages are not acknowledged by their consumer
        self.leases: Optional[Leases] = None  # with the first message that is consumed

    # Publish

    def _put(self, queue: str, message: dict[str, Any], **options: Any) -> None:
        headers = message.get("headers") or {}
        members: dict[str, Any] = {"priority": self._get_message_priority(message, reverse=True) - self.max_priority}
        eta = instant_of(headers.get("eta"))
        if eta:
            members["due"] = eta
        if options.get("expires_in"):
            members["expires_in"] = options["expires_in"]
        task = headers.get("id")
        if not task:
            self.server.client.put(queue_name(queue), Json(message), **members)
            return
        try:
            self.server.client.put(queue_name(queue), Json(message), key=key_of(task, headers.get("retries") or 0), **members)
        except Conflict:  # the program publishes this task a second time
            self.server.client.put(queue_name(queue), Json(message), **members)

    def _put_fanout(self, exchange: str, message: dict[str, Any], routing_key: str, **options: Any) -> None:
        self.revoke(message)
        for _, _, bound in self.get_table(exchange):
            self._put(bound, message, expires_in=BROADCAST_FOR)

    def revoke(self, message: dict[str, Any]) -> None:
        """Tasks that wait in the server are cancelled there: workers forget what was revoked when they stop."""
        try:
            command = json.loads(base64.b64decode(message["body"]))
        except (ValueError, KeyError, TypeError):
            return
        if not isinstance(command, dict) or command.get("method") != "revoke":
            return
        tasks = (command.get("arguments") or {}).get("task_id") or []
        client = self.server.client
        names = [each["queue"] for each in client.call("GET", "/queues", query={"limit": 1000})["queues"] if "pidbox" not in each["queue"]]
        for task in [tasks] if isinstance(tasks, str) else tasks:
            for name in names:
                self.cancel(name, task)

    def cancel(self, name: str, task: str) -> None:
        """The task and its retries, as long as there are some."""
        retries = 0
        while True:
            try:
                self.server.client.cancel(queue=name, key=key_of(task, retries))
            except NotFound:
                return
            except Conflict:
                pass  # a worker has it, or it has ended
            retries += 1

    # Bindings

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        forgotten: Any = {"expires_in": REPLIES_FOR} if ".reply." in queue else {}
        self.server.client.put(BINDINGS + queue_name(exchange), Json([routing_key or "", pattern or "", queue]), held=True, on_key="replace",
                               key=queue, **forgotten)

    def get_table(self, exchange: str) -> list[Any]:
        """Those of this process, and for exchanges that several processes bind those of all."""
        known = self.state.exchanges.get(exchange, {})
        table = list(known.get("table", ()))
        if known.get("type", "direct") == "direct" and table:
            return table
        client = self.server.client
        for message in client.list(BINDINGS + queue_name(exchange), state="held"):
            try:
                binding = client.get(message.id).data
            except NotFound:
                continue
            if binding:
                table.append((binding[0], binding[1] or None, binding[2]))
        return list({binding[2]: binding for binding in table}.values())

    def _delete(self, queue: str, exchange: str = "", *meta: Any, **options: Any) -> None:
        try:
            self.server.client.cancel(queue=BINDINGS + queue_name(exchange), key=queue)
        except (NotFound, Conflict):
            pass
        self._purge(queue)

    # State

    def _size(self, queue: str) -> int:
        try:
            return int(self.server.client.get_queue(queue_name(queue)).ready)
        except NotFound:
            return 0

    def _purge(self, queue: str) -> int:
        size = self._size(queue)
        try:
            self.server.client.call("POST", f"/queues/{queue_name(queue)}:purge")
        except NotFound:
            pass
        return size

    # Consume

    def basic_consume(self, queue: str, no_ack: bool, callback: Any, consumer_tag: str, **options: Any) -> None:
        super().basic_consume(queue, no_ack, callback, consumer_tag, **options)
        if no_ack:
            self.unanswered.add(queue)
        self.start_threads()
        threading.Thread(target=self.fetch, args=(queue, consumer_tag), daemon=True, name=f"duewheel-{queue}").start()

    def basic_qos(self, *arguments: Any, **options: Any) -> None:
        super().basic_qos(*arguments, **options)
        with self.changed:
            self.changed.notify_all()

    def _get(self, queue: str, timeout: Optional[float] = None) -> dict[str, Any]:
        """One message, without waiting."""
        self.start_threads()
        leases = self.server.client.lease(queue_name(queue), lease=LEASE)
        if not leases:
            raise Empty()
        return self.delivered(leases[0])

    def delivered(self, lease: Lease) -> dict[str, Any]:
        message: dict[str, Any] = lease.data
        message["properties"]["delivery_tag"] = lease.token
        headers = message.get("headers") or {}
        if headers.get("eta"):
            headers[ETA], headers["eta"] = headers["eta"], None
        job = Job(lease)
        assert self.leases
        with self.changed:
            self.held[lease.token] = job
        with self.leases.changed:
            self.leases.jobs[job] = LEASE
        return message

    def fetch(self, queue: str, consumer_tag: str) -> None:
        """A thread of a consumed queue."""
        while consumer_tag in self._consumers and not self.closed:
            room = self.wait_for_room()
            if not room:
                continue
            leases: list[Lease] = []
            try:
                leases = self.server.client.lease(queue_name(queue), max=room, lease=LEASE, wait=POLL)
            except DuewheelError as error:
                LOG.warning("duewheel: no lease of queue %s: %s", queue, error)
                time.sleep(ERROR_PAUSE_S)
            finally:
                with self.changed:
                    self.leasing -= room
            for lease in leases:
                message = self.delivered(lease)
                if consumer_tag not in self._consumers or self.closed:
                    self.end(lease.token, Outcome("release"))
                else:
                    self.connection.inbox.put((self, queue, message))

    def wait_for_room(self) -> int:
        """How many more messages the prefetch count allows; 0 after a second without any."""
        with self.changed:
            for _ in range(2):
                allowed = self.qos.prefetch_count or UNLIMITED
                room: int = min(max(0, allowed - len(self.held) - self.leasing), UNLIMITED)
                if self.qos.prefetch_count == 0:
                    room = UNLIMITED
                if room:
                    self.leasing += room
                    return room
                self.changed.wait(1)
        return 0

    # Leases

    def end(self, token: str, outcome: Outcome) -> None:
        with self.changed:
            job = self.held.pop(token, None)
            self.changed.notify_all()
        if job and self.leases:
            self.leases.end(job, outcome)

    def start_threads(self) -> None:
        if not self.leases:
            self.leases = Leases(self.server.client)
            self.leases.start([LEASE])

    def close(self) -> None:
        super().close()
        with self.changed:
            left = list(self.held)
        for token in left:
            self.end(token, Outcome("release"))
        if self.leases:
            self.leases.wait_until_empty(CLOSE_WITHIN_S)
            self.leases.close()


class Transport(virtual.Transport):
    Channel = Channel
    default_port = 7420
    driver_type = driver_name = "duewheel"
    connection_errors = virtual.Transport.connection_errors + (DuewheelError, OSError)
    implements = virtual.Transport.implements.extend(exchange_type=frozenset(["direct", "topic", "fanout"]))

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        self.inbox: SimpleQueue[Any] = SimpleQueue()
        self.server = Connection(client.hostname, client.port, client.password, client.virtual_host, client.ssl)

    def establish_connection(self) -> Any:
        self.server.client.call("GET", "/queues", query={"limit": 1})
        return super().establish_connection()

    def drain_events(self, connection: Any, timeout: Optional[float] = None) -> None:
        try:
            channel, name, message = self.inbox.get(timeout=timeout)
        except Empty:
            raise socket.timeout() from None
        token = message["properties"]["delivery_tag"]
        callback = self._callbacks.get(name)
        if callback is None or channel.closed:
            channel.end(token, Outcome("release"))
            return
        if name in channel.unanswered:
            channel.end(token, Outcome("ack"))
        callback(message)

    def driver_version(self) -> str:
        return "0.1"


def key_of(task: str, retries: int) -> str:
    """The key of a task's message. A retry is another message."""
    return f"{task}:{retries}" if retries else task


def instant_of(value: Any) -> Optional[datetime.datetime]:
    """An ETA as Celery writes it; a time without a zone is UTC."""
    if not isinstance(value, (str, datetime.datetime)):
        return None
    instant = datetime.datetime.fromisoformat(value.replace("Z", "+00:00")) if isinstance(value, str) else value
    return instant if instant.tzinfo else instant.replace(tzinfo=datetime.timezone.utc)
