"""The network between client and server: an HTTP proxy that can lose, delay and cut what passes, and writes down what it saw.

Rules are applied to the requests of one call ("put", "lease" ...) in the order in which they were added; a rule ends after its
`times`. The proxy forwards bytes as they came and knows only where a request and a response end. It keeps its port while the
server behind it stops and starts.
"""

import dataclasses
import json
import re
import select
import socket
import threading
import time

# The call that a request belongs to, by method and path; the first that fits.
CALLS = [(name, re.compile(pattern)) for name, pattern in (
    ("put_many", r"POST .*/messages:batch$"),
    ("put", r"POST .*/queues/[^/]+/messages$"),
    ("lease", r"POST .*/queues/[^/]+:lease$"),
    ("ack", r"POST .*/leases(/[^/]+)?:ack$"),
    ("fail", r"POST .*/leases(/[^/]+)?:fail$"),
    ("extend", r"POST .*/leases(/[^/]+)?:extend$"),
    ("release", r"POST .*/leases(/[^/]+)?:release$"),
    ("list", r"GET .*/queues/[^/]+/messages(\?.*)?$"),
    ("get", r"GET .*/messages[/?].*$"),
    ("cancel", r"DELETE .*/messages[/?].*$"),
    ("move", r"PATCH .*/messages[/?].*$"),
    ("fire", r"POST .*/messages/[^/]+:fire$"),
    ("set_schedule", r"PUT .*/schedules/[^/]+$"),
    ("ready", r"GET /readyz$"),
)]
FAULTS = {"cut_request", "hold_request", "drop_response", "cut_head", "cut_body", "delay", "answer", "redirect"}
CONNECT_WITHIN_S = 10


@dataclasses.dataclass
class Rule:
    fault: str        # one of FAULTS
    call: str         # of CALLS, or "any"
    times: int = 1
    delay_s: float = 0
    status: int = 503
    code: str = "too_busy"
    retry_after: str = ""
    kind: str = "application/problem+json"  # the media type of an answer; if it is another one, the answer is a page of HTML
    body: object = None  # JSON that the answer has instead of an error
    location: str = ""  # where a redirect leads, such as "http://127.0.0.1:7420"; the path is added


@dataclasses.dataclass
class Seen:
    """One request that reached the proxy."""
    call: str
    line: str
    fields: dict
    body: bytes
    at_s: float

    def values(self, member):
        """The member in each JSON object of the body, or the idempotency key of a raw put."""
        if member == "key" and "idempotency-key" in self.fields:
            return [self.fields["idempotency-key"]]
        lines = self.body.splitlines() if self.call == "put_many" else [self.body or b"{}"]
        return [json.loads(line).get(member) for line in lines if line.strip()]


class Closed(Exception):
    """One of the two sides has closed its connection."""


class Pipe:
    """A socket whose messages of HTTP are read one by one."""

    def __init__(self, connection):
        self.connection, self.buffer = connection, b""

    def fill(self):
        try:
            data = self.connection.recv(65536)
        except OSError as error:
            raise Closed from error
        if not data:
            raise Closed
        self.buffer += data

    def cut(self, count):
        while len(self.buffer) < count:
            self.fill()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def until(self, end):
        while end not in self.buffer:
            self.fill()
        return self.cut(self.buffer.index(end) + len(end))

    def message(self, has_body):
        """(first line, fields, the bytes of head and body, the body). has_body: false for responses that have a length and no body."""
        head = self.until(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest) if name}
        body = raw = b""
        if not has_body(first):
            pass
        elif "chunked" in fields.get("transfer-encoding", "").lower():
            while True:
                line = self.until(b"\r\n")
                size = int(line.split(b";")[0], 16)
                data = self.cut(size + 2)
                raw, body = raw + line + data, body + data[:-2]
                if size == 0:
                    break
        else:
            raw = body = self.cut(int(fields.get("content-length", 0)))
        return first, fields, head + raw, body

    def stall(self, time_s):
        """For this time, or until the other side closes the connection."""
        select.select([self.connection], [], [], time_s)

    def close(self):
        self.connection.close()


class Proxy:
    """Listens on a port of its own until close(). `server_port` may change at any time; 0 while there is no server."""

    def __init__(self):
        self.server_port = 0
        self.lock = threading.Lock()
        self.rules, self.requests, self.open = [], [], set()  # guarded by lock
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def add(self, rule):
        with self.lock:
            self.rules.append(rule)

    def clear(self):
        """Ends all rules and forgets what was seen."""
        with self.lock:
            self.rules.clear()
            self.requests.clear()

    def seen(self, call):
        with self.lock:
            return [seen for seen in self.requests if call in ("any", seen.call)]

    def drop_connections(self):
        """Closes all connections, as a network does that fails."""
        with self.lock:
            for pipe in self.open:
                try:
                    pipe.connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it is closed already

    def close(self):
        self.listener.close()
        self.drop_connections()

    def listen(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(Pipe(connection),), daemon=True).start()

    def serve(self, client):
        pipes = [client]
        with self.lock:
            self.open.add(client)
        try:
            while True:
                line, fields, raw, body = client.message(lambda first: True)
                self.carry_out(pipes, line, fields, raw, body)
        except (Closed, OSError):
            pass
        finally:
            with self.lock:
                self.open.difference_update(pipes)
            for pipe in pipes:
                pipe.close()

    def carry_out(self, pipes, line, fields, raw, body):
        client = pipes[0]
        method, path, _ = line.split(" ")
        rule = self.record(f"{method} {path}", fields, body)
        if rule and rule.fault == "cut_request":
            raise Closed
        if rule and rule.fault == "hold_request":
            client.stall(rule.delay_s)
            raise Closed
        if rule and rule.fault in ("answer", "redirect"):
            client.connection.sendall(own_response(rule, path))
            return
        if len(pipes) == 1:
            pipes.append(self.connect())
        response = self.forward(client, pipes[1], method, raw)
        if rule and rule.fault == "delay":
            time.sleep(rule.delay_s)
        if rule and rule.fault == "drop_response":
            raise Closed
        if rule and rule.fault in ("cut_head", "cut_body"):
            head = response.index(b"\r\n\r\n") + 4
            client.connection.sendall(response[:head // 2 if rule.fault == "cut_head" else (head + len(response)) // 2])
            raise Closed
        client.connection.sendall(response)

    def record(self, line, fields, body):
        """The rule for this request, if there is one."""
        call = next((name for name, pattern in CALLS if pattern.match(line)), "other")
        with self.lock:
            self.requests.append(Seen(call, line, fields, body, time.monotonic()))
            for rule in self.rules:
                if rule.call in ("any", call):
                    rule.times -= 1
                    if rule.times == 0:
                        self.rules.remove(rule)
                    return rule
        return None

    def connect(self):
        if not self.server_port:
            raise Closed
        connection = socket.create_connection(("127.0.0.1", self.server_port), timeout=CONNECT_WITHIN_S)
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pipe = Pipe(connection)
        with self.lock:
            self.open.add(pipe)
        return pipe

    @staticmethod
    def forward(client, server, method, raw):
        """The bytes of the response. A client that closes its connection meanwhile closes the server's, too."""
        server.connection.sendall(raw)
        while not server.buffer:
            readable, _, _ = select.select([client.connection, server.connection], [], [])
            if server.connection in readable:
                server.fill()
            elif not client.connection.recv(1, socket.MSG_PEEK):
                raise Closed
            else:  # a pipelined request: it waits until this one is answered
                select.select([server.connection], [], [])
        return server.message(lambda first: method != "HEAD" and not re.match(r"HTTP/1.1 (1..|204|304)", first))[2]


def own_response(rule, path):
    if rule.fault == "redirect":
        rule.status, rule.code = 307, "other_node"
    problem = json.dumps({"type": f"/docs/errors#{rule.code}", "title": "Made by the proxy", "status": rule.status, "code": rule.code,
                          "detail": "the proxy of the conformance scenarios answers this instead of the server"})
    if rule.kind == "text/html":
        problem = "<html><body>Another program</body></html>"
    if rule.body is not None:
        rule.kind, problem = "application/json", json.dumps(rule.body)
    fields = [f"Content-Type: {rule.kind}", f"Content-Length: {len(problem)}"]
    if rule.retry_after:
        fields.append(f"Retry-After: {rule.retry_after}")
    if rule.fault == "redirect":
        fields.append(f"Location: {rule.location}{path}")
    return "\r\n".join([f"HTTP/1.1 {rule.status} Fault", *fields, "", problem]).encode()
