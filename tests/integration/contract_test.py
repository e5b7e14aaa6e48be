"""The real server compared with its own OpenAPI document, /openapi.json: the document is valid OpenAPI 3.1, each
problem code of each call occurs, and no other response does. contract_generated_test.py sends generated requests."""

import json
import re
import socket
import time
import unittest

from contract import METHODS, Answer, Contract, ask, with_packages
from daemon import Daemon
from webhook_daemon import wait_until

JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
TOKEN = "A" * 38
ISSUED_NEVER = "9007199254740991"
LIMITS = ["--http-body-max=72KiB", "--limits-body-max=1KiB", "--limits-queues-max=5",
          "--limits-waiters-per-queue-max=1", "--limits-message-waits-max=1", "--limits-schedules-max=2", "--limits-watchdogs-max=2", "--limits-namespaces-max=2"]

# Brokers that do not run: queues can have topics, and their messages wait.
KAFKA = ["--kafka-bootstrap=127.0.0.1:1", "--kafka-in-topics=letters.later=letters"]

LATER = (int(time.time()) + 7200) * 1000

# What no request can bring about at will, and which test holds it.
ELSEWHERE = {
    "audit_unavailable": "tests/integration/audit_test.py",
    "internal": "a bug of the server",
    "stream_limit": "tests/integration/limits_test.py",
    "no_owner": "src/http_api/calls/shard_placement_test.cc",
    "other_node": "tests/integration/shards_test.py",
    "namespace_full": "tests/integration/namespaces_test.py",
    "too_many_puts": "tests/integration/namespaces_test.py",
    "gone": "src/http_api/answers/answer_text_test.cc",
    "kafka_loop": "src/server/limits/kafka_options_test.cc",
    "overloaded": "src/net/http/http_server_defence_test.cc",
    "request_timeout": "tests/integration/limits_test.py",
    "store_full": "tests/integration/full_disk_test.py",
    "tls_required": "src/net/http/http_server_tls_test.cc",
    "token_required": "tests/integration/access_tokens_test.py",
    "token_expired": "tests/integration/access_tokens_test.py",
    "forbidden": "tests/integration/access_tokens_test.py",
    "too_many_failed_tokens": "tests/integration/access_tokens_test.py",
    "too_many_requests": "tests/integration/access_tokens_test.py",
    "last_admin": "tests/integration/access_tokens_test.py",
    "log_unavailable": "src/http_api/http_api_test.cc",
    "group_limit": "a million groups with settings of their own",
    "token_limit": "src/engine/settings/engine_tokens_test.cc",
    "too_busy": "src/engine/settings/engine_limits_test.cc",
}
ELSEWHERE_OF = {
    ("dashboard", "unknown_path"): "src/http_api/calls/dashboard_file_test.cc",
    ("fire", "expires_too_soon"): "a message that expires at the very moment",
    ("put", "in_flight"): "src/engine/puts/engine_on_key_test.cc",
    ("put", "not_waiting"): "src/engine/puts/engine_on_key_test.cc",
    ("put", "repeats"): "src/engine/puts/engine_on_key_test.cc",
}

# A member of each call that takes it once, and one that is a duration.
MEMBERS = {"put": "key", "lease": "max", "move": "delay", "ack": "result", "fail": "reason", "extend": "lease", "release": "delay",
           "ackMany": "leases", "failMany": "reason", "extendMany": "lease", "releaseMany": "delay", "setQueue": "paused", "setGroup": "leased", "backOffGroup": "for", "redrive": "max", "discard": "died_before",
           "setSchedule": "paused", "previewSettings": "paused", "advanceClock": "by", "setWatchdog": "feed", "setNamespace": "limits",
           "setToken": "scopes", "rotateToken": "keep_old", "beginSession": "token"}
DURATIONS = {"put": "delay", "lease": "wait", "move": "delay", "fail": "retry_in", "extend": "lease", "release": "delay",
             "failMany": "retry_in", "extendMany": "lease", "releaseMany": "delay", "setQueue": "lease", "setGroup": "per", "backOffGroup": "for", "setSchedule": "every",
             "previewSettings": "every", "advanceClock": "by",
             "setWatchdog": "timeout", "setToken": "expires_in", "rotateToken": "keep_old"}

# Calls with the settings of a schedule.
SCHEDULE = ("setSchedule", "previewSettings")


def body_of(value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


class Provocation:
    """A request that brings a code about, or as near to an ordinary one of its call as can be."""

    def __init__(self, path, method, operation):
        self.name = operation["operationId"].removesuffix("InNamespace")
        self.by_key = self.name.endswith("ByKey")
        self.name = self.name.removesuffix("ByKey")
        self.patches = self.name.startswith("patch")  # what is wrong with one that sets all is wrong here too
        self.name = re.sub("^patch", "set", self.name)
        self.method = method.upper()
        self.path = path
        self.names = {"namespace": "default", "queue": "q", "group": "g", "id": ISSUED_NEVER, "token": TOKEN, "file": "none.js", "page": "none", "schedule": "s", "watchdog": "w", "token_id": "t"}
        self.query = "queue=q&key=taken" if self.by_key else "queue=q" if self.name == "history" else ""
        self.headers = dict(LINES) if self.name == "putMany" else {}
        self.body = None
        if self.name == "put":
            self.with_body({"body": ""})

    def target(self):
        path = re.sub(r"{(\w+)}", lambda match: self.names[match[1]], self.path)
        return path + ("?" + self.query if self.query else "")

    def send(self, port):
        return ask(port, self.method, self.target(), self.headers, self.body)

    def with_body(self, value, headers=None):
        self.body = body_of(value)
        self.headers.update(headers or JSON)

    def with_query(self, text):
        self.query = text

    def with_headers(self, **fields):
        self.headers.update({name.replace("_", "-"): value for name, value in fields.items()})

    def with_name(self, name, value):
        self.names[name] = value

    def with_message(self, number):
        """One of those that the test has put with keys."""
        self.with_name("id", number)
        if self.by_key:
            self.query = "queue={}&key={}".format(*self.keys[number])

    def waiting(self, wait):
        """The parameters of a GET that waits for the end of the message."""
        return (self.query + "&" if self.by_key else "") + "wait=" + wait

    keys = {}  # of each message: its queue and its key

    @classmethod
    def put(cls, client, queue, **members):
        key = f"key-{len(cls.keys)}"
        status, answer = client.put(queue, "x", key=key, **members)
        assert status == 201, answer
        cls.keys[answer["id"]] = (queue, key)
        return answer["id"]

    def of_this_call(self, value):
        """The members with those that the call cannot do without."""
        if self.name in SCHEDULE:
            return {"queue": "q", **({} if "every_ms" in value or "at" in value else {"every": "1h"}), **value}
        if self.name == "setWatchdog":
            return {"queue": "q", **({} if "timeout_ms" in value else {"timeout": "1h"}), **value}
        if self.name == "setToken":
            return {"scopes": ["put"], **value}
        if self.name == "setGroup" and ("per" in value or "per_ms" in value):
            return {"rate": {"count": 1, **value}}
        if self.name == "beginSession":
            return {"token": "", **value}
        if self.name == "put":
            return {**({} if "body_base64" in value else {"body": ""}), **value}
        return {"leases": [], **value} if self.name.endswith("Many") else value


# code: how a request comes by it. What is not said of a call holds for all.
HOW = {
    **{code: lambda p: p.with_body({"delay_ms": 1}) if p.name == "move" else None
       for code in ("already_cancelled", "already_dead", "already_delivered", "already_expired", "already_waiting", "in_flight")},
    "already_committed": lambda p: None,
    "already_rolled_back": lambda p: None,
    "bad_base64": lambda p: p.with_body(p.of_this_call({"body_base64": "*"})),
    "bad_content_type": lambda p: p.with_body(p.of_this_call({"content_type": "text"})),
    "bad_certificate_name": lambda p: p.with_body(p.of_this_call({"certificate_names": ["a b"]})),
    "bad_scope": lambda p: p.with_body({"scopes": ["write"]}),
    "bad_token": lambda p: p.with_body({"token": "dw_unheard-of_" + "x" * 43}) if p.name == "beginSession" else p.with_headers(Authorization="Bearer dw_unheard-of_" + "x" * 43),
    "bad_token_id": lambda p: p.with_name("token_id", "A"),
    "certificate_name_taken": lambda p: p.with_body(p.of_this_call({"certificate_names": ["taken.example"]})),
    "unknown_token": lambda p: (p.with_name("token_id", "unheard-of"), p.with_body({"description": "x"} if p.name == "setToken" else {})),
    "bad_cron": lambda p: p.with_body({"queue": "q", "cron": "0 24 * * *"}),
    "bad_exclusion": lambda p: p.with_body(p.of_this_call({"closed": "NEVER"})),
    "bad_group": lambda p: p.with_name("group", "a%0A") if "{group}" in p.path else p.with_body(p.of_this_call({"group": ""})),
    "bad_interval": lambda p: p.with_body({"queue": "q", "iso": "R5/PT1H"}),
    "bad_policy": lambda p: p.with_body({"transaction": {"check_back": {"after_ms": 1}, "otherwise": "some"}} if p.name == "put" else
                                        p.of_this_call({"misfire": "some"})),
    "bad_schedule_name": lambda p: p.with_name("schedule", "-s"),
    "bad_watchdog_name": lambda p: p.with_name("watchdog", "-w"),
    "bad_kafka_target": lambda p: p.with_body({"target": {"kafka": {"topic": "a/b"}}}),
    "kafka_not_configured": lambda p: p.with_body({"target": {"kafka": {"topic": "payments"}}}),
    "bad_webhook_header": lambda p: p.with_body({"target": {"webhook": {"url": "https://receiver.example", "headers": {"Host": "x"}}}}),
    "bad_webhook_secret": lambda p: p.with_body({"target": {"webhook": {"url": "https://receiver.example", "secrets": ["none"]}}}),
    "bad_webhook_url": lambda p: p.with_body({"target": {"webhook": {"url": "example.com"}}}),
    "bad_zone": lambda p: p.with_body(p.of_this_call({"zone": "Europe/Olso"})),
    "bad_cursor": lambda p: p.with_query(p.query + "&cursor=x" if p.query else "cursor=x"),
    "bad_duration": lambda p: p.with_query(p.waiting("soon")) if p.name == "get" else p.with_query("window=soon") if p.name == "lateness" else p.with_query("step=soon") if p.name == "forecast" else p.with_body(p.of_this_call({DURATIONS[p.name]: "soon"})),
    "bad_id": lambda p: p.with_query("queue=q&id=x") if p.name == "history" else p.with_name("id", "x"),
    "bad_instant": lambda p: p.with_body({"due": "x"}) if p.name in ("put", "move") else
                   p.with_body({"died_before": "x"}) if p.name == "discard" else
                   p.with_body({"to": "x"}) if p.name == "advanceClock" else
                   p.with_body(p.of_this_call({"expires": "x"})) if p.name == "setToken" else
                   p.with_body(p.of_this_call({"at": "x"})) if p.name in SCHEDULE else
                   p.with_query({"list": "due_after=x", "history": "queue=q&from=x", "previewSchedule": "from=x"}[p.name]),
    "bad_json": lambda p: p.with_body(b"{"),
    "bad_key": lambda p: p.with_query("queue=q&key=%07") if p.by_key else p.with_body({"key": ""}),
    "bad_lease_token": lambda p: p.with_name("token", "nonsense"),
    "bad_max": lambda p: p.with_body({"max": 0}),
    "bad_min": lambda p: p.with_body({"min": 2}),
    "bad_progress": lambda p: p.with_body(p.of_this_call({"progress": 1.5})),
    "bad_worker": lambda p: p.with_body({"worker": "a\nb"}),
    "checkpoint_too_large": lambda p: p.with_body(p.of_this_call({"checkpoint": "x" * (16 << 10)})),
    "bad_message_header": lambda p: p.with_body(p.of_this_call({"headers": {"a b": "c"}})),
    "bad_namespace": lambda p: p.with_body(p.of_this_call({"namespaces": ["-n"]})) if p.name == "setToken" else
                     p.with_query("namespace=-n") if p.name == "lateness" else p.with_name("namespace", "-n"),
    "bad_order_key": lambda p: p.with_body(p.of_this_call({"order_key": ""})),
    "bad_parameter": lambda p: p.with_query("x=%zz"),
    "bad_path": lambda p: p.with_name("namespace" if "{namespace}" in p.path else "queue" if "{queue}" in p.path else
                                        "schedule" if "{schedule}" in p.path else "watchdog" if "{watchdog}" in p.path else "id", "%zz"),
    "bad_queue_name": lambda p: p.with_query("queue=-q&key=a") if p.by_key else
                      p.with_query("queue=-q") if p.name in ("history", "forecast", "lateness") else
                      p.with_body(p.of_this_call({"queues": "-q"})) if p.name == "setToken" else
                      p.with_body(p.of_this_call({"queue": "-q"})) if p.name in (*SCHEDULE, "setWatchdog") else
                      p.with_name("queue", "-q"),
    "bad_request": lambda p: p.with_headers(Host=["localhost", "localhost"]),
    "bad_state": lambda p: p.with_query({"list": "state=x", "history": "queue=q&outcome=x"}[p.name]),
    "bad_utf8": lambda p: p.with_body(b'{"body":"\xff"}'),
    "batch_too_large": lambda p: p.with_body(b"{}\n" * 1001, LINES) if p.name == "putMany" else p.with_body({"leases": [TOKEN] * 1001}),
    "body_too_large": lambda p: p.with_body(b" " * ((72 << 10) + 1)),
    "clock_not_held": lambda p: None,
    "conflicting_members": lambda p: p.with_body({"by_ms": 1, "to_ms": LATER} if p.name == "advanceClock" else {"queue": "q", "cron": "* * * * *", "every_ms": 1} if p.name in SCHEDULE else
                                                 p.of_this_call({"body": "", "body_base64": ""}) if p.name == "setWatchdog" else
                                                 {"due_ms": LATER, "delay_ms": 1} if p.name in ("put", "move") else
                                                 {"died_before": "2027-01-01T06:00:00Z", "died_before_ms": LATER} if p.name == "discard" else
                                                 p.of_this_call({DURATIONS[p.name]: "1s", DURATIONS[p.name] + "_ms": 1000})),
    "delay_too_long": lambda p: p.with_body(p.of_this_call({DURATIONS[p.name]: "50000d"})),
    "duplicate_member": lambda p: p.with_body('{{"{0}":1,"{0}":1}}'.format(MEMBERS[p.name]).encode()),
    "duplicate_parameter": lambda p: p.with_query("queue=q&key=a&key=a" if p.by_key else "wait=1s&wait=1s" if p.name == "get" else "queues=1&queues=1" if p.name == "stats" else "queue=a&queue=a" if p.name == "lateness" else "only=log&only=log" if p.name == "events" else
                                                  "count=1&count=1" if p.name in ("previewSchedule", "previewSettings") else
                                                  "minutes=1&minutes=1" if p.name == "forecast" else "running=true&running=true" if p.name == "cancel" else "limit=1&limit=1"),
    "expectation_failed": lambda p: p.with_headers(Expect="magic"),
    "expires_too_soon": lambda p: p.with_body(p.of_this_call({"expires_in_ms": 0}) if p.name == "put" else {"delay": "2h"}),
    "forbidden_address": lambda p: p.with_body({"target": {"webhook": {"url": "http://127.0.0.1/"}}}),
    "foreign_host": lambda p: p.with_headers(Host="foreign.example"),
    "foreign_origin": lambda p: p.with_headers(**{"Origin": "http://foreign.example", "Sec-Fetch-Site": "cross-site"}),
    "header_too_large": lambda p: p.with_headers(A="b" * 9000),
    "headers_too_large": lambda p: p.with_body(p.of_this_call({"headers": {"a": "b" * 9000}})),
    "http_version": None,
    "repeats": lambda p: p.with_body({"delay_ms": 1}) if p.name == "move" else None,
    "key_conflict": lambda p: p.with_body(p.of_this_call({"key": "taken", "priority": 1})),
    "lease_ended": lambda p: None,
    "lease_too_long": lambda p: p.with_body({"lease": "2d"}),
    "lease_too_short": lambda p: p.with_body({"lease_ms": 1}),
    "missing_member": lambda p: p.with_body({"scopes": None} if p.patches else {}) if p.name == "setToken" else (p.with_name("schedule", "full"), p.with_name("watchdog", "first"), p.with_body({"queue": None}))
                      if p.patches and p.name not in ("setQueue", "setGroup") else p.with_body({"transaction": {}} if p.name == "put" else
                                            {"target": {"webhook": {}}} if p.name == "setQueue" else
                                            {"rate": {}} if p.name == "setGroup" else {}),
    "missing_parameter": lambda p: p.with_query(""),
    "namespace_limit": lambda p: p.with_name("namespace", "third"),
    "negative_duration": lambda p: p.with_query(p.waiting("-1s")) if p.name == "get" else p.with_body(p.of_this_call({DURATIONS[p.name] + "_ms": -1})),
    "never_due": lambda p: p.with_body({"queue": "q", "cron": "0 0 30 2 *"}),
    "not_a_test_clock": lambda p: p.with_body({"by": "1h"}),
    "not_implemented": lambda p: p.with_headers(Transfer_Encoding="gzip"),
    "not_transactional": lambda p: None,
    "not_waiting": lambda p: p.with_body({"delay_ms": 1}) if p.name == "move" else None,
    "out_of_range": lambda p: p.with_query("queues=1001") if p.name == "stats" else p.with_query("window=2h") if p.name == "lateness" else p.with_body(b'{"a":1e99999999999}'),
    "queue_full": lambda p: p.with_name("schedule" if p.name == "fireSchedule" else "queue", "full"),
    "queue_limit": lambda p: p.with_name("schedule", "one-too-many") if p.name == "fireSchedule" else (
        p.with_name("queue", "one-too-many"), p.with_body({"wait": "1s"} if p.name == "lease" else {"leased": 1} if p.name == "setGroup" else
                                                       {"for": "1s"} if p.name == "backOffGroup" else p.of_this_call({}))),
    "queue_not_empty": lambda p: p.with_name("queue", "q"),
    "schedule_limit": lambda p: (p.with_name("schedule", "third"), p.with_body(p.of_this_call({}))),
    "target_too_long": lambda p: p.with_query("x=" + "y" * 5000),
    "too_deep": lambda p: p.with_body(b"[" * 100),
    "too_many_members": lambda p: p.with_body({str(number): 1 for number in range(1101)}),
    "unknown_id": lambda p: p.with_body({"delay_ms": 1}) if p.name == "move" else None,
    "unknown_key": lambda p: (p.with_query("queue=q&key=unheard-of"), p.with_body({"delay_ms": 1} if p.name == "move" else {})),
    "unknown_member": lambda p: p.with_headers(Duewheel_Delay="1s", **{"Content-Type": LINES["Content-Type"]})
                      if p.name == "putMany" else p.with_body({"nonsense": 1}),
    "unknown_path": lambda p: None,
    "unknown_parameter": lambda p: p.with_query("nonsense=1"),
    "unknown_schedule": lambda p: p.with_name("schedule", "unheard-of"),
    "unknown_watchdog": lambda p: p.with_name("watchdog", "unheard-of"),
    "unknown_namespace": lambda p: p.with_name("namespace", "unheard-of"),
    "unknown_queue": lambda p: p.with_name("queue", "unheard-of"),
    "unsupported_content_coding": lambda p: p.with_headers(Content_Encoding="gzip"),
    "unsupported_media_type": lambda p: p.with_body(b"x", {"Content-Type": "application/x-www-form-urlencoded"}),
    "unsupported_target": lambda p: p.with_body({"target": "push"}),
    "wait_too_long": lambda p: p.with_query(p.waiting("1d")) if p.name == "get" else p.with_body({"wait": "1d"}),
    "waiter_limit": lambda p: p.with_query(p.waiting("1s")) if p.name == "get" else (p.with_name("queue", "waited-for"), p.with_body({"wait": "1s"})),
    "watchdog_limit": lambda p: (p.with_name("watchdog", "third"), p.with_body(p.of_this_call({}))),
    "wrong_type": lambda p: p.with_body(b"[]"),
}


def raw(daemon, text):
    """As ask(), for what a client library would not send."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
        connection.sendall(text)
        head, _, body = b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    return Answer(int(lines[0].split()[1]), {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])},
                  body.decode())


class Document(unittest.TestCase):
    def test_it_is_one_of_openapi_3_1(self):
        from openapi_spec_validator import OpenAPIV31SpecValidator, validate
        with Daemon() as daemon:
            daemon.start()
            document = Contract(daemon.client()).document
        validate(document, cls=OpenAPIV31SpecValidator)
        self.assertTrue(document["openapi"].startswith("3.1."))


class Codes(unittest.TestCase):
    def test_each_code_of_each_call_is_met_and_what_is_answered_keeps_to_the_contract(self):
        with Daemon(arguments=LIMITS) as daemon:
            daemon.start()
            client = daemon.client()
            contract = Contract(client)
            self.assertEqual(client.put("q", "x", key="taken")[0], 201)
            expiring = Provocation.put(client, "q", delay="30m", expires_in="1h")
            held = Provocation.put(client, "q", delay="1h")
            self.assertEqual(client.request("POST", f"/v1/messages/{held}:hold")[0], 200)
            loop = Provocation.put(client, "q", delay="1h", repeat={"every": "1h"})
            half = {"check_back": {"after": "1h"}}
            open_half = Provocation.put(client, "q", transaction=half)
            settled = {end: client.put("q", "x", transaction=half)[1]["id"] for end in ("commit", "rollback")}
            for end, each in settled.items():
                self.assertEqual(client.request("POST", f"/v1/messages/{each}:{end}")[0], 200)
            waiter = daemon.client()
            waiter.connection.request("POST", "/v1/queues/waited-for:lease", '{"wait":"60s"}', JSON)
            while client.request("GET", "/v1/stats")[1]["waiters"] == 0:
                pass
            waiting = daemon.client()  # as many requests as may wait for the end of a message
            waiting.connection.request("GET", f"/v1/messages/{held}?wait=60s")
            while not re.search(r"\nduewheel_message_waits 1\n", client.request("GET", "/metrics")[1]):
                pass
            self.assertEqual(client.request("PUT", "/v1/queues/full", {"limits": {"pending": 1}})[0], 200)
            elsewhere = Provocation.put(client, "q", delay="1h")
            dying = Provocation.put(client, "full", retry={"attempts": 1})  # for the redrive that finds no room
            released_lease = client.lease("full", 1, wait="20s")[0]["lease"]  # for a fail: one of the other has its outcome again
            self.assertEqual(client.request("POST", f"/v1/leases/{released_lease}:release", {})[1]["outcome"], "released")
            ended_lease = client.lease("full", 1, wait="20s")[0]["lease"]
            self.assertEqual(client.request("POST", f"/v1/leases/{ended_lease}:fail", {})[1]["outcome"], "dead")
            taken = Provocation.put(client, "q", priority=-5)
            self.assertEqual(client.lease("q", 1, wait="20s", lease="12h")[0]["id"], taken)
            done = Provocation.put(client, "q", priority=-5)
            self.assertEqual(client.ack(client.lease("q", 1, wait="20s")[0]["lease"])[0], 200)
            cancelled = Provocation.put(client, "q", delay="1h")
            self.assertEqual(client.cancel(cancelled)[0], 200)
            expired = Provocation.put(client, "q", expires_in="1ms", priority=100)
            while client.get(expired)[1]["state"] != "expired":
                pass
            too_late = {"already_cancelled": cancelled, "already_dead": dying, "already_delivered": done,
                        "already_expired": expired, "already_waiting": elsewhere, "in_flight": taken}
            for name in ("full", "fourth"):  # as many queues as there may be
                self.assertEqual(client.put(name, "x")[0], 201)
            for name in ("full", "one-too-many"):  # as many schedules as there may be, fired into those queues
                status, answer = client.request("PUT", f"/v1/schedules/{name}", {"queue": name, "every": "1h", "paused": True})
                self.assertEqual(status, 201, answer)
            for name in ("first", "second"):  # as many watchdogs as there may be
                self.assertEqual(client.request("PUT", f"/v1/watchdogs/{name}", {"queue": "q", "timeout": "1h"})[0], 201)
            for name in ("first", "second"):  # as many namespaces with settings as there may be
                self.assertEqual(client.request("PUT", f"/v1/namespaces/{name}", {})[0], 200)
            for name, names in (("t", []), ("other", ["taken.example"])):
                self.assertEqual(client.request("PUT", f"/v1/tokens/{name}", {"scopes": ["put"], "certificate_names": names})[0], 201)
            met = 0
            for path, method, operation in contract.operations():
                if method == "head":
                    continue
                for code, status in contract.codes(operation).items():
                    if code in ELSEWHERE or (operation["operationId"].removesuffix("InNamespace"), code) in ELSEWHERE_OF:
                        continue
                    with self.subTest(call=f"{method} {path}", code=code):
                        provocation = Provocation(path, method, operation)
                        if code == "expires_too_soon" and provocation.name == "move":
                            provocation.with_message(expiring)
                        if code in ("already_committed", "already_rolled_back"):
                            provocation.with_name("id", settled["commit" if code == "already_committed" else "rollback"])
                        if code in ("not_waiting", "not_transactional"):
                            provocation.with_message(open_half if provocation.name == "hold" else held)
                        if code == "waiter_limit" and provocation.name == "get":
                            provocation.with_message(held)
                        if code in too_late:
                            provocation.with_message(too_late[code])
                        if code == "lease_ended":
                            provocation.with_name("token", released_lease if provocation.name == "fail" else ended_lease)
                        if code == "queue_full" and provocation.name == "kick":
                            provocation.with_name("id", dying)
                        if code == "repeats":
                            provocation.with_message(loop)
                        if code == "http_version":
                            line = f"{provocation.method} {provocation.target()} HTTP/3.0\r\nHost: localhost\r\n\r\n"
                            answer = raw(daemon, line.encode())
                        else:
                            HOW[code](provocation)
                            answer = provocation.send(daemon.port)
                        self.assertEqual((answer.code, answer.status), (code, status), answer.text)
                        contract.check(path, method, answer)
                        met += 1
            self.assertGreater(met, 500)


class Answers(unittest.TestCase):
    """Every answer that is no refusal, at least once."""

    def test_each_success_of_each_call_is_met_and_keeps_to_the_contract(self):
        for name_space in ("", "/namespaces/other"):
            with self.subTest(name_space=name_space), Daemon(arguments=["--test-clock", *KAFKA]) as daemon:
                daemon.start()
                contract = Contract(daemon.client())
                met = self.walk(daemon, contract, "/v1" + name_space)
                for path, method, operation in contract.operations():
                    if ("/namespaces/" in path) != bool(name_space) and path.startswith("/v1/") and not path.startswith(("/v1/stats", "/v1/events", "/v1/lateness", "/v1/wheel", "/v1/clock", "/v1/tokens", "/v1/session")):
                        continue
                    if path == "/v1/clock:accept":  # a wall clock that is set: tests/integration/clock_test.py
                        continue
                    for status in operation["responses"]:
                        if int(status) < 300:
                            self.assertIn((method, path, int(status)), met)

    def walk(self, daemon, contract, root):
        met = set()

        def say(method, shape, value=None, headers=None, body=None, query="", **names):
            path = (root + shape if shape.startswith("/") else "/" + shape).replace("/v1/namespaces/other", "/v1/namespaces/{namespace}")
            target = re.sub(r"{(\w+)}", lambda match: {"namespace": "other", "queue": "q", **names}[match[1]], path) + query
            if value is not None:
                headers, body = JSON, json.dumps(value).encode()
            answer = ask(daemon.port, method, target, headers, body)
            contract.check(path, method.lower(), answer)
            met.add((method.lower(), path, answer.status))
            return json.loads(answer.text) if answer.headers["content-type"] == "application/json" and answer.text else None

        whole = {"body": "x", "retry": {"attempts": 3, "first": "1s", "factor": 1.5, "max": "1m", "jitter": 0.25}, "priority": 3, "order_key": "o", "group": "g", "headers": {"a": "b"}, "content_type": "text/plain", "key": "k",
                 "expires_in": "1d"}
        traced = {**JSON, "traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01"}
        put = "/queues/{queue}/messages"
        first = say("POST", put, headers=traced, body=json.dumps(whole).encode())["id"]
        say("POST", put, headers=traced, body=json.dumps(whole).encode())
        raw_body = say("POST", put, headers={"Content-Type": "image/png", "Duewheel-Delay": "1ms"}, body=b"\xff\x00")["id"]
        far = say("POST", put, {"body": "far", "delay": "1h"})["id"]
        recurring = {"every": "1d", "factor": 1.5, "max": "2d", "times": 5, "until": "2100-01-01T00:00:00Z"}
        rounds = say("POST", put, {"body": "", "delay": "1h", "repeat": recurring})["id"]
        say("POST", put + ":batch", headers=LINES, body=b'{"body":"one"}\n{"body":1}\n')
        for method in ("GET", "HEAD"):
            say(method, put)
            for each in (first, raw_body, far, rounds):
                say(method, "/messages/{id}", id=each)
        say("PATCH", "/messages/{id}", {"delay": "2h"}, id=far)
        say("PATCH", "/messages/{id}", {"priority": 3, "body": "other"}, id=far)
        say("POST", "/messages/{id}:fire", id=far)
        taken = []
        while len(taken) < 4:
            taken += say("POST", "/queues/{queue}:lease", {"max": 10, "wait": "20s"})["messages"]
        tokens = [message["lease"] for message in taken]
        say("GET", put, query="?state=leased")
        say("GET", "/messages/{id}", id=first)
        say("DELETE", "/messages/{id}", id=first)  # too late
        say("POST", "/leases/{token}:extend", {"lease": "1m"}, token=tokens[0])
        say("POST", "/leases/{token}:fail", {"retry_in": "1h", "reason": "no"}, token=tokens[0])
        say("POST", "/leases/{token}:release", {"delay": "1h"}, token=tokens[1])
        say("POST", "/leases/{token}:ack", {"result": {"pages": [3, None]}}, token=tokens[2])
        self.assertEqual(say("GET", "/messages/{id}", id=taken[2]["id"], query="?wait=1s")["result"], {"pages": [3, None]})
        for end in ("ack", "extend", "fail", "release"):
            say("POST", "/leases/{token}:" + end, token=tokens[2])  # again, or too late
            say("POST", "/leases:" + end, {"leases": [tokens[2], tokens[3], "nonsense"]})
        for each in (first, taken[0]["id"], taken[2]["id"]):
            say("DELETE", "/messages/{id}", id=each)
            say("GET", "/messages/{id}", id=each)
        last = say("POST", put, {"body": "y", "retry": {"attempts": 1}})["id"]
        for outcome in ("dead", "held"):
            token = say("POST", "/queues/{queue}:lease", {"wait": "20s"})["messages"][0]["lease"]
            answer = say("POST", "/leases/{token}:" + {"dead": "fail", "held": "hold"}[outcome], {} if outcome == "held" else {"reason": "no"},
                         token=token)
            self.assertEqual(answer["outcome"], outcome)
            say("GET", "/messages/{id}", id=last)
            say("POST", "/queues/{queue}:redrive", {"max": 1})
        for end in ("message", "queue"):
            lost = say("POST", put, {"body": "z", "retry": {"attempts": 1}})["id"]
            token = say("POST", "/queues/{queue}:lease", {"wait": "20s"})["messages"][0]["lease"]
            self.assertEqual(say("POST", "/leases/{token}:fail", {"reason": "no"}, token=token)["outcome"], "dead")
            if end == "message":
                self.assertEqual(say("POST", "/messages/{id}:discard", id=lost)["outcome"], "cancelled")
            else:
                say("POST", "/queues/{queue}:discard", {"died_before": "1970-01-01T00:00:00.001Z"})
                self.assertEqual(say("POST", "/queues/{queue}:discard")["dead"], 1)
        say("POST", "/messages/{id}:discard", id=last)  # it waits
        say("POST", "/messages/{id}:kick", id=last)
        say("POST", "/messages/{id}:kick", id=last)
        say("POST", "/messages/{id}:hold", id=last)
        for by in ("id", "key"):
            working = say("POST", put, {"body": "w", "key": by}, queue="stops")["id"]
            token = say("POST", "/queues/{queue}:lease", {"wait": "20s"}, queue="stops")["messages"][0]["lease"]
            named = ("/messages/{id}", "?running=true") if by == "id" else ("/messages", "?queue=stops&key=key&running=true")
            self.assertEqual(say("DELETE", named[0], query=named[1], id=working)["outcome"], "cancelling")
            self.assertEqual(say("GET", "/messages/{id}", id=working)["cancel_requested"], True)
            self.assertEqual(say("POST", "/leases/{token}:extend", token=token)["cancel_requested"], True)
            say("POST", "/leases:extend", {"leases": [token]})
            end = {"id": "fail", "key": "release"}[by]
            self.assertEqual(say("POST", "/leases/{token}:" + end, token=token)["outcome"], "cancelled")
            self.assertEqual(say("DELETE", named[0], query=named[1], id=working)["outcome"], "cancelled")
        asked = {"check_back": {"queue": "checks", "after": "200ms", "times": 1000}, "otherwise": "commit"}
        half = say("POST", put, {"body": "half", "transaction": asked})["id"]
        other_half = say("POST", put, {"body": "h", "transaction": {"check_back": {"after": "1h"}}})["id"]
        aside = say("POST", put, {"body": "aside", "held": True})
        self.assertEqual(aside["state"], "held")
        for method in ("GET", "HEAD"):
            say(method, "/messages/{id}", id=half)
        check = say("POST", "/queues/{queue}:lease", {"wait": "20s"}, queue="checks")["messages"][0]
        self.assertEqual(check["check"]["message"], half)
        self.assertEqual(say("GET", "/messages/{id}", id=check["id"])["check"]["number"], check["check"]["number"])
        self.assertEqual(say("POST", "/leases/{token}:ack", token=check["lease"])["outcome"], "done")
        for _ in range(2):
            say("POST", "/messages/{id}:commit", id=half)
            say("POST", "/messages/{id}:rollback", id=other_half)
        say("GET", put, query="?state=prepared,scheduled")
        by_key = "?queue=q&key=order+7"
        say("POST", put, {"body": "z", "key": "order 7", "delay": "1h"})
        for method in ("GET", "HEAD"):
            say(method, "/messages", query=by_key)
        say("PATCH", "/messages", {"delay": "2h"}, query=by_key)
        say("DELETE", "/messages", query=by_key)
        record = {"key_base64": "/w==", "null_value": True, "headers": [{"name": "a"}, {"name": "a", "value": "1"}], "source": "t/0/1"}
        for kafka in (record, {"key": "k"}):
            of_kafka = say("POST", put, {"body": "", "delay": "1h", "kafka": kafka})["id"]
            self.assertEqual(say("GET", "/messages/{id}", id=of_kafka)["kafka"], kafka)
            say("DELETE", "/messages/{id}", id=of_kafka)
        topic = {"topic": "letters", "key": "k", "partition": 0, "delivery": "at_least_once"}
        for method, kafka in (("PUT", {"topic": "letters"}), ("PATCH", topic)):
            self.assertLessEqual(kafka.items(), say(method, "/queues/{queue}", {"target": {"kafka": kafka}}, queue="letters")["settings"]["target"]["kafka"].items())
            say("POST", put, {"body": "x"}, queue="letters")
            self.assertIn("state", say("GET", "/queues/{queue}", queue="letters")["kafka"])
        say("PATCH", "/queues/{queue}", {"target": None}, queue="letters")
        say("POST", "/queues/{queue}:purge", queue="letters")
        say("POST", "/queues/{queue}:pause")
        say("PATCH", "/queues/{queue}", {"lease": "1m", "retry": {"attempts": 2}, "limits": {"pending": None}})
        say("PUT", "/queues/{queue}", {"target": {"webhook": {"url": "https://receiver.example/in", "headers": {"Authorization": "Bearer x"}, "timeout": "5s", "concurrency": 8, "rate": 5}}})
        say("PATCH", "/queues/{queue}", {"target": {"webhook": {"headers": {"Authorization": None, "X-Team": "letters"}}}})
        say("PUT", "/queues/{queue}", {"target": "pull", "lease": "1m", "retry": {"jitter": 0.5}, "limits": {"pending": 1000}})
        group = "/queues/{queue}/groups/{group}"
        say("PUT", "/queues/{queue}", {"limits": {"leased": 3}, "rate": {"count": 5, "per": "1s", "burst": 2},
                                       "groups": {"leased": 1, "rate": {"count": 1}}}, queue="grouped")
        say("PATCH", "/queues/{queue}", {"rate": {"burst": None}, "groups": {"rate": None}}, queue="grouped")
        say("POST", put, {"body": "x", "group": "a/b"}, queue="grouped")
        self.assertEqual(say("POST", "/queues/{queue}:lease", {"wait": "20s"}, queue="grouped")["messages"][0]["group"], "a/b")
        say("PUT", group, {"leased": 2, "rate": {"count": 3, "per": "1m", "burst": 3}, "weight": 7}, queue="grouped", group="a%2Fb")
        say("PATCH", group, {"rate": {"per": None}, "weight": None}, queue="grouped", group="a%2Fb")
        say("POST", group + ":backoff", {"for": "1h"}, queue="grouped", group="a%2Fb")
        self.assertNotIn("limited_by", say("GET", group, queue="grouped", group="a%2Fb"), "nothing is ready")
        say("POST", put, {"body": "y", "group": "a/b"}, queue="grouped")
        wait_until(lambda: say("GET", group, queue="grouped", group="a%2Fb").get("limited_by") == "backoff")
        self.assertEqual(say("GET", put, queue="grouped")["messages"][-1]["blocked_by"], "group_backoff")
        for shape in (group, "/queues/{queue}/groups"):
            say("HEAD", shape, queue="grouped", group="a%2Fb")
        self.assertEqual(len(say("GET", "/queues/{queue}/groups", queue="grouped", query="?order=name&after=a&limited=true")["groups"]), 1)
        say("DELETE", group, queue="grouped", group="a%2Fb")
        say("POST", "/queues/{queue}:resume")
        say("POST", "/queues/{queue}:purge")
        say("DELETE", "/queues/{queue}", queue="unheard-of")
        setting = {"queue": "r", "cron": "30 2 * * *", "zone": "Europe/Oslo", "dst": "skip", "closed": "SAT SUN", "jitter": "1m",
                   "overlap": "queue_one", "misfire": "all", "misfire_window": "1h", "expires_in": "1h", "times": 900,
                   "end": "2150-01-01T00:00:00Z", "retry": {"attempts": 2}, "headers": {"a": "b"}, "body": "x", "priority": 1}
        name = {"schedule": "nightly"}
        for _ in range(2):
            say("PUT", "/schedules/{schedule}", setting, **name)
        say("PUT", "/schedules/{schedule}", {"queue": "r", "every": "1h", "body_base64": "/wA="}, schedule="other")
        say("PATCH", "/schedules/{schedule}", {"jitter": None, "headers": {"a": None, "b": "c"}}, **name)
        say("PATCH", "/schedules/{schedule}", {"queue": "r", "every": "1h"}, schedule="patched")
        run = say("POST", "/schedules/{schedule}:fire", **name)["id"]
        say("GET", "/messages/{id}", id=run)
        self.assertEqual(say("POST", "/queues/{queue}:lease", {"wait": "20s"}, queue="r")["messages"][0]["schedule"], "nightly")
        for method in ("GET", "HEAD"):
            say(method, "/schedules/{schedule}", **name)
            say(method, "/schedules/{schedule}", schedule="other")
            say(method, "/schedules/{schedule}:preview", query="?count=3&from=2030-03-29T00:00:00Z", **name)
            say(method, "/schedules", query="?limit=1")
        say("POST", "/schedules/{schedule}:preview", {"queue": "r", "cron": "30 2 * * *", "zone": "Europe/Oslo"},
            query="?count=3&from=2030-03-29T00:00:00Z", **name)
        for verb in ("pause", "resume"):
            say("POST", "/schedules/{schedule}:" + verb, **name)
        for _ in range(2):
            say("DELETE", "/schedules/{schedule}", **name)
        setting = {"queue": "s", "timeout": "40m", "max": "1h", "repeat_every": "1d", "expires_in": "1h", "retry": {"attempts": 2},
                   "headers": {"a": "b"}, "body": "x", "priority": 1, "feed": True}
        name = {"watchdog": "backup"}
        for _ in range(2):
            say("PUT", "/watchdogs/{watchdog}", setting, **name)
        say("PUT", "/watchdogs/{watchdog}", {"queue": "s", "timeout": "1h", "body_base64": "/wA="}, watchdog="other")
        say("PATCH", "/watchdogs/{watchdog}", {"priority": None}, **name)
        say("PATCH", "/watchdogs/{watchdog}", {"queue": "s", "timeout": "2h"}, watchdog="patched")
        say("POST", "v1/clock:advance", {"by": "41m"})
        alarm = say("POST", "/queues/{queue}:lease", {"wait": "20s"}, queue="s")["messages"][0]
        self.assertEqual(alarm["watchdog"], "backup")
        say("GET", "/messages/{id}", id=alarm["id"])
        for method in ("GET", "HEAD"):
            say(method, "/watchdogs/{watchdog}", **name)
            say(method, "/watchdogs/{watchdog}", watchdog="other")
            say(method, "/watchdogs", query="?limit=1")
        self.assertEqual(say("POST", "/watchdogs/{watchdog}:feed", **name)["late"], True)
        for _ in range(2):
            say("DELETE", "/watchdogs/{watchdog}", **name)
        if "/namespaces/" in root:
            say("PUT", "v1/namespaces/{namespace}", {"limits": {"pending": 1000, "queues": 9, "schedules": 9, "watchdogs": 9, "put_rate": 1000}, "weight": 2})
            say("PATCH", "v1/namespaces/{namespace}", {"limits": {"queues": None}, "weight": 3})
            for method in ("GET", "HEAD"):
                say(method, "v1/namespaces/{namespace}")
            for _ in range(2):
                say("DELETE", "v1/namespaces/{namespace}")
        token = {"token_id": "billing"}
        members = {"scopes": ["put", "read"], "namespaces": ["default"], "queues": "orders-", "expires": "2150-01-01T00:00:00Z",
                   "description": "for orders", "limits": {"requests_per_second": 5, "bytes_per_second": 1000},
                   "certificate_names": ["billing.example"]}
        for _ in range(2):
            say("PUT", "v1/tokens/{token_id}", members, **token)
        say("PUT", "v1/tokens/{token_id}", {"scopes": ["admin"]}, token_id="other")
        say("PATCH", "v1/tokens/{token_id}", {"limits": None, "expires_in": "1d"}, **token)
        secret = say("POST", "v1/tokens/{token_id}:rotate", {"keep_old": "1h"}, **token)["token"]
        self.assertEqual(say("POST", "v1/session", {"token": secret})["token"]["id"], "billing")
        for cookie in ({}, {"Cookie": "duewheel_session=" + secret}):
            for method in ("GET", "HEAD"):
                say(method, "v1/session", headers=cookie)
        say("DELETE", "v1/session")
        for method in ("GET", "HEAD"):
            say(method, "v1/tokens/{token_id}", **token)
            say(method, "v1/tokens", query="?limit=1")
        for _ in range(2):
            say("DELETE", "v1/tokens/{token_id}", **token)
        for method in ("GET", "HEAD"):
            say(method, "v1/namespaces", query="?limit=1")
            say(method, "/queues", query="?limit=1")
            say(method, "/queues/{queue}")
            say(method, "/history", query="?queue=q")
            say(method, "/forecast", query="?queue=q&minutes=2")
            say(method, "/forecast", query="?step=1h&minutes=43200")
            for page in ("v1/stats", "v1/lateness", "v1/wheel", "v1/clock", "healthz", "readyz", "metrics", "openapi.json", ""):
                say(method, page)
        say("HEAD", "v1/events")
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as stream:
            stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head = b""
            while b"event: queues\n" not in head:
                head += stream.recv(65536)
        contract.check("/v1/events", "get", Answer(200, {"content-type": "text/event-stream"}, ""))
        self.assertIn(b"\r\nContent-Type: text/event-stream\r\n", head)
        stats = json.loads(re.search(b"event: stats\nid: [0-9]+\ndata: (.*)\n\n", head)[1])
        contract.check_value(stats, {"$ref": "#/components/schemas/Stats"})
        met.add(("get", "/v1/events", 200))
        asset = re.search('"/assets/([^"]+)"', ask(daemon.port, "GET", "/").text)[1]
        for method in ("GET", "HEAD"):
            say(method, "assets/{file}", file=asset)
            say(method, "docs/{page}", page="errors")
        say("POST", "v1/clock:advance", {"by": "1s"})
        return met


if __name__ == "__main__":
    with_packages()
    unittest.main(verbosity=2)
