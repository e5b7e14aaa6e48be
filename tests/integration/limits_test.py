"""Every limit of docs/http_api.md with the real server: one below it, at it, and one above it, where the client must
receive the code that the table names. The table is generated from the one in the code (src/server/*_limit_rows.cc), so a limit
without a probe here fails, and so does a probe without a limit.

Each probe gets a server whose limit is small, and a number; it uses that much of the limit and returns the code that it
received, or None. Limits that no client can reach reliably (a slow disk, short memory) are tested by the tests that
ELSEWHERE names.
"""

import contextlib
import json
import pathlib
import re
import select
import socket
import time
import unittest

from daemon import Daemon

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "http_api.md"
TOKEN = "A" * 38
PUT = "/v1/queues/q/messages"


def table():
    """{limit: {codes that are met beyond it}}"""
    rows = re.findall(r"^\| `((?:http|limits|webhooks|retry|store|memory)\.\w+)` \|.*\| ([^|]*) \|$", PAGE.read_text(), re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", beyond)) for name, beyond in rows}


def code_of(answer, *fine):
    """None where it was taken, or refused for another reason that a probe expects; the code where it was refused."""
    status, value = answer
    if status < 300 or value["code"] in fine:
        return None
    return value["code"]


def put(daemon, **members):
    return code_of(daemon.client().request("POST", PUT, {"body": "", **members}))


def lease(daemon, **members):
    return code_of(daemon.client().request("POST", "/v1/queues/q:lease", members))


def webhook(daemon, **members):
    return code_of(daemon.client().request("PUT", "/v1/queues/q", {
        "target": {"webhook": {"url": "https://receiver.example/", **members}}}))


def redrive(daemon, most):
    put(daemon)  # so that there is such a queue
    return code_of(daemon.client().request("POST", "/v1/queues/q:redrive", {"max": most}))


def metric(client, name):
    client.connection.request("GET", "/metrics")
    page = client.connection.getresponse().read().decode()
    return float(re.search(rf"^{re.escape(name)} (.*)$", page, re.MULTILINE)[1])


def wait_until(condition):
    """Polls what the server says of itself."""
    deadline = time.monotonic() + 120
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("the server did not get there")


def connect(daemon):
    return socket.create_connection(("127.0.0.1", daemon.port), timeout=60)


def read_answer(connection):
    """(status, decoded body), or None where the server closes without a word."""
    got = b""
    while b"\r\n\r\n" not in got:
        part = connection.recv(65536)
        if not part:
            return None
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
    while len(body) < length:
        body += connection.recv(65536)
    return int(head.split()[1]), json.loads(body) if body.startswith(b"{") else None


def raw(daemon, text):
    with connect(daemon) as connection:
        connection.sendall(text.encode())
        return read_answer(connection)


# ---- what a request is

def request_body(daemon, size):
    return code_of(daemon.client().request_text("POST", PUT, '{"body":""}' + " " * (size - 11)))


def header_bytes(daemon, size):
    fields = "Host: localhost\r\n"
    fields += "A: " + "b" * (size - len(fields) - len("A: \r\n") - len("\r\n")) + "\r\n"
    return code_of(raw(daemon, f"GET /v1/stats HTTP/1.1\r\n{fields}\r\n"))


def header_fields(daemon, count):
    return code_of(raw(daemon, "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n" + "A: b\r\n" * (count - 1) + "\r\n"))


def target(daemon, size):
    beginning = PUT + "?cursor="
    return code_of(daemon.client().request("GET", beginning + "a" * (size - len(beginning))), "bad_cursor")


def json_depth(daemon, levels):
    text = '{"a":' * levels + "1" + "}" * levels
    return code_of(daemon.client().request_text("POST", PUT, text), "unknown_member")


def json_members(daemon, count):
    members = ",".join(f'"a{number}":1' for number in range(count))
    return code_of(daemon.client().request_text("POST", PUT, "{" + members + "}"), "unknown_member")


# ---- what a message is

def queue_name(daemon, size):
    client = daemon.client()
    of_queue = code_of(client.request("POST", f"/v1/queues/{'q' * size}/messages", {"body": ""}))
    of_namespace = code_of(client.request("POST", f"/v1/namespaces/{'n' * size}/queues/q/messages", {"body": ""}))
    in_parameter = code_of(client.request("GET", f"/v1/history?queue={'q' * size}"))
    of_schedule = code_of(client.request("GET", f"/v1/schedules/{'s' * size}"), "unknown_schedule")
    of_watchdog = code_of(client.request("GET", f"/v1/watchdogs/{'w' * size}"), "unknown_watchdog")
    assert of_queue == in_parameter
    assert (of_queue is None) == (of_namespace is None) == (of_schedule is None) == (of_watchdog is None)
    return of_queue and {of_queue, of_namespace, of_schedule, of_watchdog}


def schedule(daemon, **members):
    return code_of(daemon.client().request("PUT", "/v1/schedules/s", {"queue": "q", **members}))


def watchdog(daemon, **members):
    return code_of(daemon.client().request("PUT", "/v1/watchdogs/w", {"queue": "q", **members}))


def watchdogs(daemon, count):
    codes = [code_of(daemon.client().request("PUT", f"/v1/watchdogs/w{number}", {"queue": "q", "timeout": "1h"}))
             for number in range(count)]
    assert codes[:-1] == [None] * (count - 1)
    return codes[-1]


def schedules(daemon, count):
    codes = [code_of(daemon.client().request("PUT", f"/v1/schedules/s{number}", {"queue": "q", "every": "1h"}))
             for number in range(count)]
    assert codes[:-1] == [None] * (count - 1)
    return codes[-1]


def interval_text(daemon, size):
    """Leading zeros make a count as long as one likes."""
    return schedule(daemon, iso=f"R{'0' * (size - 27)}5/2030-01-01T00:00:00Z/P1D")


def key(daemon, size):
    as_member = put(daemon, key="k" * (size - 1) + "l")
    as_field = code_of(daemon.client().request_text("POST", PUT, '{"body":""}', {"Idempotency-Key": "k" * size}))
    assert as_member == as_field
    return as_member


def content_type(daemon, size):
    media_type = "text/" + "x" * (size - 5)
    in_json = put(daemon, content_type=media_type)
    of_body = code_of(daemon.client().request_text("POST", PUT, "x", {"Content-Type": media_type}))
    return in_json and {in_json, of_body}


def batch(daemon, count):
    client = daemon.client()
    puts = code_of(client.request_text("POST", PUT + ":batch", '{"body":""}\n' * count, {"Content-Type": "application/x-ndjson"}))
    acks = code_of(client.request("POST", "/v1/leases:ack", {"leases": [TOKEN] * count}))
    assert puts == acks
    return puts


def waiting_content(daemon, size):
    """A put of so many bytes of content, of body and media type together."""
    media_type = "text/" + "x" * 95
    body = "x" * (size - len(media_type))
    return code_of(daemon.client().request_text("POST", PUT, body, {"Content-Type": media_type}))


def queues(daemon, count):
    client = daemon.client()
    met = [code_of(client.request("POST", f"/v1/queues/q{number}/messages", {"body": ""})) for number in range(count)]
    assert metric(client, 'duewheel_limit_use{limit="limits.queues_max"}') == met.count(None)
    return met[-1]


def namespaces(daemon, count):
    codes = [code_of(daemon.client().request("PUT", f"/v1/namespaces/n{number}", {})) for number in range(count)]
    assert codes[:-1] == [None] * (count - 1)
    return codes[-1]


def waiters(daemon, count):
    """So many consumers; the last one is refused, or all wait."""
    with contextlib.ExitStack() as open_connections:
        connections = [open_connections.enter_context(connect(daemon)) for _ in range(count)]
        client = daemon.client()
        for number, connection in enumerate(connections):
            connection.sendall(b"POST /v1/queues/q:lease HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                               b'Content-Length: 14\r\n\r\n{"wait":"60s"}')
            wait_until(lambda: client.request("GET", "/v1/stats")[1]["waiters"] > number or readable(connection))
        return code_of(read_answer(connections[-1])) if readable(connections[-1]) else None


def message_waits(daemon, count):
    """So many requests wait for one message; the last one is refused, or all wait."""
    client = daemon.client()
    id = client.put("q", "x", delay="1h")[1]["id"]
    with contextlib.ExitStack() as open_connections:
        connections = [open_connections.enter_context(connect(daemon)) for _ in range(count)]
        for number, connection in enumerate(connections):
            connection.sendall(f"GET /v1/messages/{id}?wait=60s HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            wait_until(lambda: metric(client, "duewheel_message_waits") > number or readable(connection))
        return code_of(read_answer(connections[-1])) if readable(connections[-1]) else None


def unfinished(daemon, size):
    """Two clients hold so many bytes of requests whose ends do not come; the second one is refused, or nobody."""
    def begin(connection, bytes_in_all):
        head = f"POST {PUT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {2 << 20}\r\n\r\n".encode()
        connection.sendall(head + b"x" * (bytes_in_all - len(head)))

    with connect(daemon) as first, connect(daemon) as second:
        client = daemon.client()
        begin(first, 1000)
        begin(second, size - 1000)
        wait_until(lambda: readable(second) or metric(client, 'duewheel_limit_use{limit="http.unfinished_max"}') == size)
        return code_of(read_answer(second)) if readable(second) else None


def readable(connection):
    return bool(select.select([connection], [], [], 0)[0])


# ---- limits that hold something up instead of refusing it: each returns whether it was held up

def event_streams(daemon, count):
    """Opens a number of event streams; whether the last one is refused."""
    with contextlib.ExitStack() as open_connections:
        streams = [open_connections.enter_context(connect(daemon)) for _ in range(count)]
        for number, stream in enumerate(streams):
            stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with stream.makefile("rb") as lines:
                head = b"".join(iter(lines.readline, b"\r\n"))
                if head.split()[1] == b"200":
                    continue
                assert number == count - 1, head
                return json.loads(lines.read(int(re.search(rb"(?i)content-length: (\d+)", head)[1])))["code"]
        client = daemon.client()
        wait_until(lambda: metric(client, 'duewheel_limit_use{limit="http.event_streams_max"}') == count)
        return None


def connections(daemon, count):
    """Opens a number of connections; whether an idle one is closed for the last."""
    for _ in range(count):
        client = daemon.client()
        assert client.request("GET", "/v1/stats")[0] == 200
    return metric(client, "duewheel_http_connections_evicted_total") > 0


def leased(daemon, count):
    client = daemon.client()
    for _ in range(count):
        client.put("q", "x")
    taken = client.lease("q", maximum=count)
    held_up = len(taken) < count
    client.ack(taken[0]["lease"])
    if held_up:
        assert len(client.lease("q", wait="20s")) == 1, "the next comes when a lease ends"
    return held_up


def reason(daemon, size):
    """A failure's reason: whether less than all of it is kept, its beginning and its end."""
    client = daemon.client()
    number = client.put("q", "x", retry={"attempts": 1})[1]["id"]
    assert client.request("POST", f"/v1/leases/{client.lease('q')[0]['lease']}:fail", {"reason": "r" * size})[0] == 200
    kept = client.get(number)[1]["reason"]
    assert kept == ("r" * size if size <= 4096 else "r" * 1022 + " … " + "r" * 3069), kept
    return len(kept) < size


def put_lines(client, path, lines):
    status, _ = client.request_text("POST", path + ":batch", lines, {"Content-Type": "application/x-ndjson"})
    assert status == 200


def seal(client):
    """Fills the open file of the log, of 1 MiB, so that what was put before gets into the index."""
    for _ in range(2):
        client.put("filler", "x" * 900_000, delay="1d")
    wait_until(lambda: client.request("GET", "/v1/stats")[1]["unsealed_segments"] == 0)


REFUSES = {
    "limits.message_waits_max": (["--limits-message-waits-max=3"], 3, message_waits),
    # limit: (settings, the limit there, probe)
    "http.body_max": (["--http-body-max=64KiB", "--limits-body-max=1KiB"], 64 << 10, request_body),
    "http.unfinished_max": (["--http-unfinished-max=1MiB", "--http-body-max=4MiB"], 1 << 20, unfinished),
    "http.header_max": ([], 8 << 10, header_bytes),
    "http.header_fields_max": ([], 100, header_fields),
    "http.target_max": ([], 4 << 10, target),
    "limits.queue_name_max": ([], 200, queue_name),
    "limits.body_max": (["--limits-body-max=1KiB"], 1 << 10, lambda daemon, size: put(daemon, body="x" * size)),
    "limits.headers_max": ([], 32,
                           lambda daemon, count: put(daemon, headers={f"a{number}": "" for number in range(count)})),
    "limits.headers_size_max": ([], 8 << 10,
                                lambda daemon, size: put(daemon, headers={"a": "b" * 9, "c": "d" * (size - 11)})),
    "limits.key_max": ([], 256, key),
    "limits.order_key_max": ([], 256, lambda daemon, size: put(daemon, order_key="k" * size)),
    "limits.group_max": ([], 256, lambda daemon, size: put(daemon, group="g" * size)),
    "limits.content_type_max": ([], 256, content_type),
    "limits.batch_max": ([], 1000, batch),
    "limits.json_depth_max": ([], 32, json_depth),
    "limits.json_members_max": ([], 1100, json_members),
    "limits.delay_max": ([], (2 ** 32 - 1) * 1000, lambda daemon, delay: put(daemon, delay_ms=delay)),
    "limits.lease_max": (["--limits-lease-max=1m"], 60_000, lambda daemon, length: lease(daemon, lease_ms=length)),
    "limits.wait_max": ([], 60_000, lambda daemon, wait: (put(daemon), lease(daemon, wait_ms=wait))[1]),
    "limits.lease_batch_max": ([], 1000, lambda daemon, most: lease(daemon, max=most)),
    "limits.attempts_max": ([], 1_000_000, lambda daemon, count: put(daemon, retry={"attempts": count})),
    "limits.backoff_max": ([], 3660 * 24 * 3600 * 1000, lambda daemon, rest: put(daemon, retry={"max_ms": rest})),
    "limits.repeat_times_max": ([], 10 ** 9,
                                lambda daemon, times: put(daemon, repeat={"every": "1h", "times": times})),
    "limits.check_times_max": ([], 1000,
                               lambda daemon, times: put(daemon, transaction={"check_back": {"queue": "c", "after": "1h", "times": times}})),
    "limits.repeat_every_max": ([], 3660 * 24 * 3600 * 1000, lambda daemon, rest: put(daemon, repeat={"every_ms": rest})),
    "limits.schedules_max": (["--limits-schedules-max=3"], 3, schedules),
    "limits.watchdogs_max": (["--limits-watchdogs-max=3"], 3, watchdogs),
    "limits.watchdog_timeout_max": ([], 36600 * 24 * 3600 * 1000, lambda daemon, time: watchdog(daemon, timeout_ms=time)),
    "limits.cron_max": ([], 1000, lambda daemon, size: schedule(daemon, cron="0" * (size - 8) + " 9 * * *")),
    "limits.interval_text_max": ([], 200, interval_text),
    "limits.closed_days_max": ([], 4096, lambda daemon, size: schedule(daemon, every="1h", closed="SAT" + " " * (size - 3))),
    "limits.preview_max": ([], 1000, lambda daemon, count: (
        schedule(daemon, every="1h"), code_of(daemon.client().request("GET", f"/v1/schedules/s:preview?count={count}")))[1]),
    "webhooks.url_max": ([], 2048, lambda daemon, size: webhook(
        daemon, url="https://receiver.example/" + "a" * (size - len("https://receiver.example/")))),
    "webhooks.secrets_max": ([f"--webhooks-secrets={','.join(f's{number}=secret' for number in range(5))}"], 4,
                             lambda daemon, count: webhook(daemon, secrets=[f"s{number}" for number in range(count)])),
    "webhooks.secret_name_max": ([f"--webhooks-secrets={'n' * 63}=secret,{'n' * 64}=secret"], 64,
                                 lambda daemon, size: webhook(daemon, secrets=["n" * size])),
    "webhooks.headers_max": ([], 16, lambda daemon, count: webhook(daemon, headers={f"X-{number}": "" for number in range(count)})),
    "webhooks.headers_size_max": ([], 4096, lambda daemon, size: webhook(daemon, headers={"X": "v" * (size - 1)})),
    "webhooks.rate_max": ([], 1_000_000, lambda daemon, count: webhook(daemon, rate=count)),
    "webhooks.timeout_max": ([], 300_000, lambda daemon, time: webhook(daemon, timeout_ms=time)),
    "webhooks.concurrency_max": ([], 1000,
                                 lambda daemon, count: webhook(daemon, concurrency=count)),
    "retry.redrive_max": ([], 100_000, redrive),
    "limits.page_max": ([], 1000, lambda daemon, count: code_of(daemon.client().request("GET", f"{PUT}?limit={count}"))),
    "limits.forecast_minutes_max": ([], 1440, lambda daemon, count: code_of(
        daemon.client().request("GET", f"/v1/forecast?minutes={count}"))),
    "limits.pending_max": ([], 10 ** 12, lambda daemon, count: code_of(
        daemon.client().request("PUT", "/v1/queues/q", {"limits": {"pending": count}}))),
    "limits.queues_max": (["--limits-queues-max=3"], 3, queues),
    "limits.namespaces_max": (["--limits-namespaces-max=3"], 3, namespaces),
    "http.event_streams_max": ([], 64, event_streams),
    "limits.waiters_per_queue_max": (["--limits-waiters-per-queue-max=3"], 3, waiters),
    "limits.waiting_max": (["--limits-waiting-max=1MiB", "--limits-body-max=1MiB", "--http-body-max=1MiB"], 1 << 20,
                           waiting_content),
}
# limit: (the limit, the call on a lease, its members). The probes of what a worker says share one daemon.
OF_WORKERS = {
    "limits.worker_max": (64, None, lambda size: {"worker": "w" * size}),
    "limits.progress_max": (1 << 10, "extend", lambda size: {"progress": "p" * (size - 2)}),
    "limits.checkpoint_max": (16 << 10, "extend", lambda size: {"checkpoint": "c" * (size - 2)}),
    "limits.result_max": (64 << 10, "ack", lambda size: {"result": "r" * (size - 2)}),
}
HOLDS_UP = {
    "http.connections_max": (["--http-connections-max=3"], 3, connections),
    "limits.leased_max": (["--limits-leased-max=3"], 3, leased),
    "limits.reason_max": ([], 4096, reason),
}
ELSEWHERE = {
    "http.body_timeout": ("src/net/http/http_server_defence_test.cc", "a_slow_body_gets_408"),
    "memory.ready_max": ("src/engine/messages/ready_list_test.cc", "of_a_queue_reserves_memory_for_messages_due_now"),
    "webhooks.connections_max": ("src/webhooks/webhook_sharing_test.cc", "shares_what_connections_there_are_among_many_targets"),
    "webhooks.in_flight_max": ("src/webhooks/webhook_sharing_test.cc", "leases_up_to_its_limit_of_memory"),
    "webhooks.response_max": ("src/webhooks/webhook_client_test.cc", "reads_a_response_up_to_its_limit"),
    "http.pipeline_max": ("src/net/http/http_server_test.cc", "pauses_reading_at_the_pipeline_limit_and_loses_nothing"),
    "http.reads_max": ("src/net/http/http_server_defence_test.cc", "works_on_few_reads_of_one_connection_at_a_time"),
    "http.unsent_max": ("src/net/http/http_server_defence_test.cc",
                        "cuts_the_clients_with_the_most_unread_bytes_before_memory_is_exhausted"),
    "http.output_max": ("src/net/http/http_server_defence_test.cc", "stops_reading_from_a_client_that_does_not_read"),
    "http.write_timeout": ("src/net/http/http_server_defence_test.cc", "stops_reading_from_a_client_that_does_not_read"),
    "limits.lease_response_max": ("src/engine/settings/engine_limits_test.cc", "a_lease_reply_has_up_to_the_limit_of_bytes_or_one_larger_message"),
    "limits.forecast_rows_max": ("src/engine/views/engine_forecast_test.cc",
                                 "one_that_reached_its_limit_of_counts_reports_from_where_on_it_is_incomplete"),
    "limits.listings_max": ("src/engine/commands/queue_views_test.cc", "limits_are_kept"),
    "limits.redrives_max": ("src/engine/settings/engine_limits_test.cc", "the_number_of_concurrent_redrives_is_limited"),
    "limits.commands_waiting_max": ("src/engine/settings/engine_limits_test.cc",
                                    "commands_that_wait_for_the_disk_are_refused_beyond_the_limit"),
    "limits.catch_up_max": ("src/engine/rules/schedule_plan_test.cc", "all_creates_each_up_to_its_limit_and_skips_the_rest"),
    "limits.catch_up_rate": ("src/engine/settings/engine_namespaces_test.cc", "rules_that_are_behind_catch_up_at_a_pace"),
    "limits.reading_max": ("src/engine/views/message_reader_test.cc", "contents_that_are_being_read_are_bounded"),
    "store.unsealed_segments_max": ("src/engine/core/engine_log_test.cc", "puts_wait_while_too_many_segments_are_unsealed_and_acks_do_not"),
    "memory.bodies_max": ("src/engine/messages/record_cache_test.cc", "is_limited_in_bytes_and_drops_the_oldest"),
}


class Limits(unittest.TestCase):
    def test_each_limit_is_checked_and_nothing_else(self):
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            client.connection.request("GET", "/metrics")
            page = client.connection.getresponse().read().decode()
        told = set(re.findall(r'^duewheel_limit\{limit="([^"]+)"\}', page, re.MULTILINE))
        probed = [*REFUSES, *OF_WORKERS, *HOLDS_UP, *ENDS, *ELSEWHERE, "limits.lease_min", "memory.entries_max"]
        self.assertEqual(told, set(table()))
        self.assertEqual(sorted(probed), sorted(told))
        used = set(re.findall(r'^duewheel_limit_use\{limit="([^"]+)"\}', page, re.MULTILINE))
        self.assertTrue(used < told)

    def test_what_is_held_elsewhere_is_there(self):
        for name, (path, test) in ELSEWHERE.items():
            self.assertIn(f", {test})", (ROOT / path).read_text(), name)

    def test_one_below_at_and_one_beyond(self):
        codes = table()
        for name, (settings, limit, probe) in REFUSES.items():
            for number in (limit - 1, limit, limit + 1):
                with self.subTest(limit=name, number=number), Daemon(arguments=settings) as daemon:
                    secret = daemon.directory / "secret"
                    secret.write_text("whsec_" + "A" * 32)
                    secret.chmod(0o600)
                    daemon.start()
                    met = probe(daemon, number)
                    met = met if isinstance(met, set) else {met} - {None}
                    self.assertEqual(met, codes[name] if number > limit else set())
                    self.assertEqual(daemon.client().request("GET", "/healthz_")[0], 404, "the next client is served")

    def test_what_is_held_up_is_held_up_beyond_the_limit_only(self):
        for name, (settings, limit, probe) in HOLDS_UP.items():
            for number in (limit - 1, limit, limit + 1):
                with self.subTest(limit=name, number=number), Daemon(arguments=settings) as daemon:
                    daemon.start()
                    self.assertEqual(probe(daemon, number), number > limit)

    def test_what_a_worker_says_is_refused_beyond_its_limit(self):
        codes = table()
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            for name, (limit, call, members) in OF_WORKERS.items():
                for size in (limit - 1, limit, limit + 1):
                    with self.subTest(limit=name, size=size):
                        client.put("q", "x")
                        token = None if call is None else client.lease("q")[0]["lease"]
                        path = "/v1/queues/q:lease" if call is None else f"/v1/leases/{token}:{call}"
                        met = code_of(client.request("POST", path, members(size)))
                        self.assertEqual({met} - {None}, codes[name] if size > limit else set())

    def test_the_shortest_lease(self):
        with Daemon() as daemon:
            daemon.start()
            self.assertEqual([lease(daemon, lease_ms=length) for length in (999, 1000, 1001)],
                             ["lease_too_short", None, None])


class Memory(unittest.TestCase):
    LIMIT = 10_000
    CHUNK = 4_096  # what is read at once

    def test_no_more_entries_are_read_ahead_and_nothing_is_lost(self):
        with Daemon(arguments=[f"--memory-entries-max={self.LIMIT}", "--store-segment-size=1MiB",
                               "--test-clock"]) as daemon:
            daemon.start()
            client = daemon.client()
            due = client.server_time_ms() + 3_600_000
            for _ in range(30):
                put_lines(client, PUT, f'{{"body":"","due_ms":{due}}}\n' * 1000)
            seal(client)
            daemon.kill()
            daemon.start()  # with all of it in the index
            client = daemon.client()
            client.advance(to_ms=due - 20_000)  # they are read ahead now, and none is due before all samples are taken
            held = []

            def sample():
                held.append(metric(client, 'duewheel_limit_use{limit="memory.entries_max"}'))
                return held[-1]

            wait_until(lambda: sample() >= self.LIMIT)
            for _ in range(300):
                sample()
            self.assertLess(max(held), self.LIMIT + self.CHUNK)
            self.assertLess(client.server_time_ms(), due)
            client.advance(to_ms=due)
            ids = set()
            while len(ids) < 30_000:
                taken = client.lease("q", maximum=1000, wait="20s")
                ids.update(message["id"] for message in taken)
                client.request("POST", "/v1/leases:ack", {"leases": [message["lease"] for message in taken]})
            self.assertEqual(len(ids), 30_000)


# Deadlines: the settings, the time in seconds, and what a client sends and then stops at.
ENDS = {
    "http.header_timeout": ([], 10, b"GET /healthz HTTP/1.1\r\n", "request_timeout"),
    "http.idle_timeout": (["--http-idle-timeout=1s"], 1, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", None),
}


class Deadlines(unittest.TestCase):
    def test_none_strikes_early_and_each_strikes(self):
        for name, (settings, limit_s, sent, code) in ENDS.items():
            with self.subTest(limit=name), Daemon(arguments=settings) as daemon:
                daemon.start()
                with connect(daemon) as connection:
                    began = time.monotonic()
                    connection.sendall(sent)
                    if code is None:
                        self.assertEqual(read_answer(connection)[0], 200)
                        self.assertIsNone(read_answer(connection), "closed without a word")
                    else:
                        self.assertEqual(read_answer(connection)[1]["code"], code)
                    self.assertGreaterEqual(time.monotonic() - began, limit_s)
                self.assertEqual({code} - {None}, table()[name])


if __name__ == "__main__":
    unittest.main(verbosity=2)
