"""Client and workers of Duewheel, a durable server for delayed and recurring messages."""

from .client import Client
from .errors import Conflict, DuewheelError, InvalidRequest, NotFound, Throttled, Unauthorized, Unavailable
from .messages import Lease, Message, Put, Receipt
from .wire import Json
from .worker import Dead, Job, Retry, Snooze, Worker

__all__ = ["Client", "Conflict", "Dead", "DuewheelError", "InvalidRequest", "Job", "Json", "Lease", "Message", "NotFound", "Put", "Receipt",
           "Retry", "Snooze", "Throttled", "Unauthorized", "Unavailable", "Worker"]
