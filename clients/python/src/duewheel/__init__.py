"""Client and workers of Duewheel, a durable server for delayed and recurring messages."""

from .client import AsyncClient, Client
from .codec import Codec
from .errors import Conflict, DuewheelError, InvalidRequest, NotFound, Throttled, Unauthorized, Unavailable
from .handling import Dead, Job, Retry, Snooze
from .messages import Lease, Message, Put, Receipt
from .wire import Json
from .worker import AsyncWorker, Worker

__all__ = ["AsyncClient", "AsyncWorker", "Client", "Codec", "Conflict", "Dead", "DuewheelError", "InvalidRequest", "Job", "Json", "Lease", "Message",
           "NotFound", "Put", "Receipt", "Retry", "Snooze", "Throttled", "Unauthorized", "Unavailable", "Worker"]
