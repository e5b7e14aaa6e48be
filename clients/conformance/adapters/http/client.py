"""A client of Duewheel's HTTP API with Python's standard library: what each client does so that no message is lost or repeated.

Every put has a key, so that all calls may be sent again when a response is lost. A call has one deadline for all its attempts,
redirects and waits. The class is what the conformance scenarios are proved with; it is no library for users.
"""

import contextlib
import http.client
import json
import random
import ssl
import threading
import time
import urllib.parse
import uuid

FAMILIES = {400: "invalid", 401: "unauthorized", 403: "unauthorized", 404: "not_found", 409: "conflict", 410: "not_found",
            413: "invalid", 414: "invalid", 415: "invalid", 429: "throttled", 503: "unavailable", 507: "unavailable"}
BACKOFF_FIRST_S, BACKOFF_MAX_S = 0.05, 2
REDIRECTS_MAX = 5
OLDEST, BEFORE = (0, 1), (0, 2)  # the versions of servers that it understands


def quoted(name):
    return urllib.parse.quote(name, safe="")


class CallFailed(Exception):
    """A call that had no success, with `family`, `code`, `field` and `detail`."""

    def __init__(self, family, code, detail, field=None, outcome=None):
        super().__init__(f"{code}: {detail}")
        self.family, self.code, self.detail, self.field, self.outcome = family, code, detail, field, outcome


class Client:
    """Thread-safe. timeout_s bounds each call, beside the time that the call itself asks the server to wait."""

    def __init__(self, url, token=None, timeout_s=30, ca=None, namespace=None):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CallFailed("invalid", "bad_url", f"`{url}` is no URL of a server: write it as http://127.0.0.1:7420", "url")
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.token, self.timeout_s = token, timeout_s
        self.base = f"/v1/namespaces/{quoted(namespace)}" if namespace else "/v1"
        self.context = self.trust(ca) if parts.scheme == "https" else None
        self.lock = threading.Lock()
        self.is_checked = False  # whether the version of the server is in the range
        self.idle = {}  # kept connections by origin; guarded by lock

    def call(self, method, path, value=None, wait_s=0):
        return self.send(method, self.base + path, None if value is None else json.dumps(value, ensure_ascii=False), "application/json", wait_s)

    def put(self, queue, members):
        return self.call("POST", f"/queues/{self.quoted(queue)}/messages", self.keyed(members))

    def put_many(self, queue, messages):
        """A result for each message, in order: what a put returns, or CallFailed."""
        lines = "".join(json.dumps(self.keyed(members), ensure_ascii=False) + "\n" for members in messages)
        text = self.send("POST", f"{self.base}/queues/{self.quoted(queue)}/messages:batch", lines, "application/x-ndjson", 0)
        return [self.result_of(self.decode(line)) for line in text.splitlines()]

    def result_of(self, answer):
        """One item of the answer to a batch: what a single call returns, or CallFailed."""
        return self.refusal_of(answer) if "code" in answer else answer

    def keyed(self, members):
        """The members of a put, with a key."""
        return {"key": self.new_key(), **members}

    def new_key(self):
        return uuid.uuid4().hex

    def send(self, method, path, text, kind, wait_s):
        """Sends a request until it has an answer that another attempt does not improve, or its time is over."""
        deadline = time.monotonic() + self.timeout_s + wait_s
        origin, backoff_s, redirects, last = self.origin, BACKOFF_FIRST_S, 0, "no server answered"
        while True:
            try:
                if not self.is_checked:
                    self.check_version(self.once(self.origin, "GET", "/readyz", None, "", self.remaining_s(deadline))[2])
                status, fields, body = self.once(origin, method, path, text, kind, self.remaining_s(deadline))
            except ssl.SSLCertVerificationError as error:
                raise CallFailed("unavailable", "bad_certificate", f"{origin}: {error.verify_message}") from None
            except (OSError, http.client.HTTPException) as error:
                origin, wait, refusal = self.origin, 0, None
                last = f"{origin}: {error or type(error).__name__}"
            else:
                if status == 307 and "location" in fields and self.follows_redirects:
                    redirects += 1
                    if redirects > REDIRECTS_MAX:
                        raise CallFailed("unavailable", "too_many_redirects", f"{origin} redirects in a circle")
                    target = urllib.parse.urlsplit(fields["location"])
                    origin, path = f"{target.scheme}://{target.netloc}", urllib.parse.urlunsplit(("", "", target.path, target.query, ""))
                    continue
                if status < 300:
                    return self.answer_of(fields, body, origin)
                refusal = self.refusal_of_body(status, body)
                if not self.may_repeat(status, fields):
                    raise refusal
                wait, last = float(fields.get("retry-after", 0)), str(refusal)
            pause_s = max(self.retry_after_s(wait), backoff_s * random.uniform(0.5, 1))
            if self.is_over(time.monotonic() + pause_s, deadline):
                raise refusal or CallFailed("unavailable", "deadline", f"no answer within {self.timeout_s + wait_s:g} s; last: {last}")
            time.sleep(pause_s)
            backoff_s = min(backoff_s * 2, BACKOFF_MAX_S)

    def check_version(self, page):
        """An answer without a version is no obstacle."""
        try:
            version = json.loads(page)["version"]
            number = tuple(int(part) for part in version.split(".")[:2])
        except (ValueError, KeyError, TypeError, AttributeError):
            number = OLDEST
        if not OLDEST <= number < BEFORE:
            raise CallFailed("unavailable", "unsupported_server", f"{self.origin} is a Duewheel server of version {version}, and this client is for "
                             f"those from {OLDEST[0]}.{OLDEST[1]} and before {BEFORE[0]}.{BEFORE[1]}: install the client of the server's version")
        self.is_checked = True

    def once(self, origin, method, path, text, kind, timeout_s):
        """(status, fields, body)."""
        sent = {"Content-Type": kind} if text is not None else {}
        if self.token and self.may_show_token(origin):
            sent["Authorization"] = f"Bearer {self.token}"
        with self.connection(origin, timeout_s) as connection:
            connection.request(method, path, None if text is None else self.encode(text), sent)
            response = connection.getresponse()
            fields = {name.lower(): value for name, value in response.getheaders()}
            if "content-length" not in fields and "transfer-encoding" not in fields and response.status != 204:
                raise http.client.IncompleteRead(b"")  # the head was cut off, which http.client does not notice
            return response.status, fields, self.read(response)

    @contextlib.contextmanager
    def connection(self, origin, timeout_s):
        """A kept connection or a new one. It is kept afterwards, unless the call failed."""
        with self.lock:
            kept = self.idle.setdefault(origin, [])
            connection = kept.pop() if kept else None
        if not connection:
            parts = urllib.parse.urlsplit(origin)
            connection = (http.client.HTTPSConnection(parts.netloc, context=self.context) if parts.scheme == "https"
                          else http.client.HTTPConnection(parts.netloc))
        connection.timeout = timeout_s
        if connection.sock:
            connection.sock.settimeout(timeout_s)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self.lock:
            kept.append(connection)

    def answer_of(self, fields, body, origin):
        kind = fields.get("content-type", "")
        if kind.startswith("application/json"):
            return self.decode(body)
        if kind.startswith("application/x-ndjson"):
            return body.decode()
        raise CallFailed("unavailable", "not_duewheel", f"{origin} answered with `{kind}`: check the URL, it is no Duewheel server")

    def refusal_of_body(self, status, body):
        try:
            return self.refusal_of(json.loads(body))
        except (ValueError, KeyError, TypeError):
            return CallFailed("unavailable", "not_duewheel", f"the answer {status} is none of Duewheel's: check the URL and proxies in between")

    # The rest is small so that the self-test of the scenarios can break one rule at a time (broken.py).

    follows_redirects = True
    quoted = staticmethod(quoted)

    def refusal_of(self, problem):
        return CallFailed(FAMILIES.get(problem["status"], "unavailable"), problem["code"], problem["detail"], problem.get("field"),
                          problem.get("outcome"))

    def remaining_s(self, deadline):
        return max(0.001, deadline - time.monotonic())

    def is_over(self, instant, deadline):
        return instant >= deadline

    def retry_after_s(self, wanted_s):
        return wanted_s

    def may_repeat(self, status, fields):
        return status in (429, 503, 507)

    def may_show_token(self, origin):
        return True

    def encode(self, text):
        return text.encode()

    def decode(self, text):
        return json.loads(text)

    def read(self, response):
        return response.read()

    def trust(self, ca):
        return ssl.create_default_context(cafile=ca)
