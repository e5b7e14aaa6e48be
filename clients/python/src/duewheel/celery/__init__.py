"""Celery on Duewheel: `import duewheel.celery` registers the broker `duewheel://` and the result backend of the same name.

    app = Celery("shop", broker="duewheel://127.0.0.1:7420", backend="duewheel://127.0.0.1:7420")

A task with an ETA waits in the server, and not in the memory of a worker.
"""

import logging

import celery.app.backends
import kombu.transport

from .backend import Backend
from .transport import Transport

__all__ = ["Backend", "Transport"]

kombu.transport.TRANSPORT_ALIASES["duewheel"] = "duewheel.celery.transport:Transport"
celery.app.backends.BACKEND_ALIASES["duewheel"] = "duewheel.celery.backend:Backend"

# Celery shows what is logged as information by all libraries, and httpx logs each request so.
if logging.getLogger("httpx").level == logging.NOTSET:
    logging.getLogger("httpx").setLevel(logging.WARNING)
