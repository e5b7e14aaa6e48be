"""The client of a process. Celery forks its pool, and two processes must not share connections."""

from __future__ import annotations

import os
import re
from typing import Any, Mapping, Optional

from ..client import Client


class Connection:
    """duewheel://:TOKEN@host:port/namespace; with a certificate authority the server is called over TLS."""

    def __init__(self, hostname: Optional[str], port: Optional[int], token: Optional[str], namespace: Optional[str], ssl: Any) -> None:
        ca = ssl.get("ca_certs", True) if isinstance(ssl, Mapping) else True
        namespace = (namespace or "").strip("/") or None
        self.options: dict[str, Any] = {"token": token or None, "namespace": namespace, "verify": ca}
        self.url = f"{'https' if ssl else 'http'}://{hostname or '127.0.0.1'}:{port or 7420}"
        self.process = 0
        self.opened: Optional[Client] = None

    @property
    def client(self) -> Client:
        if self.process != os.getpid():
            self.process, self.opened = os.getpid(), Client(self.url, **self.options)
        assert self.opened
        return self.opened


def queue_name(name: str) -> str:
    """A name of Celery as one of Duewheel: `$` and the bytes in hexadecimal replace what it does not allow, such as the `@` of a host."""
    return re.sub(r"^-|[^\w.+/;()-]", lambda match: "".join(f"${byte:02x}" for byte in match[0].encode()), name)
