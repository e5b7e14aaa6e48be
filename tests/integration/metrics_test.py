"""/metrics of the real server, read by Prometheus' own parser: each family is in docs/metrics.md with its type and
help, `promtool check metrics` finds no fault, and the values are correct."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import unittest

from contract import with_packages

with_packages()

from daemon import BIN, Daemon  # noqa: E402
from prometheus_client.parser import text_string_to_metric_families  # noqa: E402
from webhook_daemon import LOOPBACK, wait_until  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
QUEUES_SHOWN = 100
# Series that a server without TLS and input topics lacks: tls_test.py and the tests in tests/kafka read them.
WITHOUT_SERIES = {"duewheel_kafka_in_lag_records", "duewheel_kafka_in_reading", "duewheel_kafka_log_standby_lag_records",
                  "duewheel_last_backup_timestamp_seconds", "duewheel_tls_certificate_expiry_seconds"}
OTHER = {"namespace": "*", "queue": "*"}
GROUP = {"namespace": "default", "queue": "calls", "group": "ann"}


def of_queue(name, space="default"):
    return {"namespace": space, "queue": name}


class Scrape:
    """One answer of /metrics."""

    def __init__(self, client):
        client.connection.request("GET", "/metrics")
        answer = client.connection.getresponse()
        self.content_type = answer.getheader("Content-Type")
        self.text = answer.read().decode()
        self.families = list(text_string_to_metric_families(self.text))
        self.samples = {}
        for family in self.families:
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in self.samples, f"twice: {sample}"
                self.samples[key] = sample.value

    def value(self, name, labels=None):
        return self.samples[name, frozenset((labels or {}).items())]

    def all_of(self, name):
        return {labels: value for (of, labels), value in self.samples.items() if of == name}


class Metrics(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.daemon = self.enterContext(Daemon())
        self.daemon.start()
        self.client = self.daemon.client()

    def wait_for(self, condition, what):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            scrape = Scrape(self.client)
            if condition(scrape):
                return scrape
            time.sleep(0.05)
        self.fail(f"not within a minute: {what}\n{scrape.text}")

    def fill(self):
        """Something of everything that has series of its own."""
        self.assertEqual(self.client.request("PUT", "/v1/namespaces/shop", {"limits": {"pending": 9, "queues": 2}})[0] // 100, 2)
        self.client.request("POST", "/v1/namespaces/shop/queues/mail/messages", {"body": "x", "delay": "1h"})
        self.client.request("PUT", "/v1/schedules/nightly", {"queue": "work", "every": "1h", "body": "x"})
        self.client.put("mail", "x")
        self.client.ack(self.client.take("mail", 1)[0]["lease"])
        self.client.request("PUT", "/v1/queues/calls", {"groups": {"leased": 1}})
        for group in ("ann", "ann", "ann", "bob"):
            self.client.put("calls", "x", group=group)
        self.client.take("calls", 2)
        self.wait_for(lambda scrape: scrape.value("duewheel_group_ready", GROUP) == 2, "its messages are due")

    def test_the_documentation_names_each_family_and_no_other(self):
        self.fill()
        rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([\w, ]*?) ?\| (.+) \|$", PAGE.read_text(), re.MULTILINE)
        told = {name: (kind, help) for name, kind, _, help in rows}
        self.assertEqual(len(told), len(rows))
        found = {}
        for family in Scrape(self.client).families:
            name = family.name + ("_total" if family.type == "counter" else "")
            found[name] = (family.type, family.documentation)
            self.assertTrue(family.samples or name in WITHOUT_SERIES, f"{name} has no series")
        self.assertEqual(found, told)
        labels = {name: set(filter(None, listed.split(", "))) for name, _, listed, _ in rows}
        for family in Scrape(self.client).families:
            name = family.name + ("_total" if family.type == "counter" else "")
            for sample in family.samples:
                self.assertEqual(set(sample.labels) - {"le"}, labels[name], sample)

    def test_it_is_what_prometheus_expects(self):
        self.fill()
        scrape = Scrape(self.client)
        self.assertEqual(scrape.content_type, "text/plain; version=0.0.4; charset=utf-8")
        for family in scrape.families:
            self.assertIn(family.type, ("counter", "gauge", "histogram"), family.name)
            self.assertRegex(family.name, "^(duewheel|process)_[a-z_]+[a-z]$")
            self.assertTrue(family.documentation, family.name)
            if family.type != "gauge":
                self.assertTrue(all(sample.value >= 0 for sample in family.samples), family)
            if family.type == "histogram":
                self.assertRegex(family.name, "_seconds$")
                buckets = [sample for sample in family.samples if sample.name.endswith("_bucket")]
                bounds = [float(sample.labels["le"]) for sample in buckets]
                self.assertEqual(bounds, sorted(set(bounds)))
                self.assertEqual(bounds[-1], float("inf"))
                counts = [sample.value for sample in buckets]
                self.assertEqual(counts, sorted(counts))
                self.assertEqual(counts[-1], scrape.value(family.name + "_count"))

    def test_the_busiest_groups_have_their_figures(self):
        self.fill()
        scrape = Scrape(self.client)
        self.assertEqual(scrape.value("duewheel_group_leased", GROUP), 1)
        self.assertEqual(scrape.all_of("duewheel_group_limited"), {frozenset((GROUP | {"by": "leased"}).items()): 1})
        self.assertEqual(scrape.value("duewheel_queue_groups", of_queue("calls")), 2)
        self.assertEqual(scrape.value("duewheel_queue_groups_limited", of_queue("calls")), 1)

    def test_each_queue_has_its_figures(self):
        self.fill()
        for name, members in (("q", {}), ("q", {}), ("q", {"retry": {"attempts": 1}, "priority": -1}), ("q", {"delay": "1h"})):
            self.client.put(name, "x", **members)
        fragile, first = (message["lease"] for message in self.client.take("q", 2))
        self.client.request("POST", f"/v1/leases/{fragile}:fail", {})
        self.client.ack(first)
        time.sleep(0.1)
        scrape = Scrape(self.client)
        for name, value in (("pending", 2), ("ready", 1), ("leased", 0), ("dead_letters", 1), ("consumers_waiting", 0), ("paused", 0),
                            ("messages_received_total", 4), ("messages_delivered_total", 2),
                            ("messages_acknowledged_total", 1), ("deliveries_failed_total", 1),
                            ("messages_dead_lettered_total", 1), ("leases_expired_total", 0),
                            ("messages_expired_total", 0), ("messages_cancelled_total", 0)):
            self.assertEqual(scrape.value("duewheel_queue_" + name, of_queue("q")), value, name)
        self.assertGreaterEqual(scrape.value("duewheel_queue_oldest_due_age_seconds", of_queue("q")), 0.1)
        self.assertLess(scrape.value("duewheel_queue_oldest_due_age_seconds", of_queue("q")), 60)
        self.assertEqual(scrape.value("duewheel_queue_oldest_due_age_seconds", of_queue("mail", "shop")), 0)
        self.assertEqual(scrape.value("duewheel_queue_pending", of_queue("mail", "shop")), 1)
        self.assertNotIn(frozenset(OTHER.items()), scrape.all_of("duewheel_queue_pending"))
        self.client.request("POST", "/v1/queues/q:pause")
        self.assertEqual(Scrape(self.client).value("duewheel_queue_paused", of_queue("q")), 1)

    def test_of_many_queues_the_busiest_have_series_and_the_rest_is_one(self):
        for number in range(QUEUES_SHOWN + 3):
            self.client.put(f"q{number:03}", "x", delay="0s" if number == 101 else "1h")
            if number < QUEUES_SHOWN:
                self.client.put(f"q{number:03}", "x", delay="1h")
        scrape = self.wait_for(lambda scrape: scrape.value("duewheel_messages_ready") == 1, "one is due")
        shown = scrape.all_of("duewheel_queue_pending")
        self.assertEqual(len(shown), QUEUES_SHOWN + 1)
        self.assertEqual(scrape.value("duewheel_queue_pending", OTHER), 3)
        self.assertEqual(scrape.value("duewheel_queue_ready", OTHER), 1)
        # In the millisecond in which it falls due its age is 0.
        self.wait_for(lambda scrape: scrape.value("duewheel_queue_oldest_due_age_seconds", OTHER) > 0, "its age counts")
        self.assertEqual(scrape.value("duewheel_queue_messages_received_total", OTHER), 3)
        self.assertEqual(sum(scrape.all_of("duewheel_queue_messages_received_total").values()),
                         scrape.value("duewheel_messages_accepted_total"))
        for _ in range(2):  # it overtakes another one, and the count of the others does not go down
            self.client.put("q102", "x", delay="1h")
        scrape = Scrape(self.client)
        self.assertEqual(scrape.value("duewheel_queue_pending", of_queue("q102")), 3)
        self.assertGreaterEqual(scrape.value("duewheel_queue_messages_received_total", OTHER), 3)
        self.assertEqual(len(scrape.all_of("duewheel_queue_pending")), QUEUES_SHOWN + 1)
        # One of the others is paused: no alert could tell while the sum was always 0.
        self.assertEqual(scrape.value("duewheel_queue_paused", OTHER), 0)
        self.client.request("POST", "/v1/queues/q101:pause")
        self.assertEqual(Scrape(self.client).value("duewheel_queue_paused", OTHER), 1)

    def test_the_disk_and_the_newest_backup_are_told_also_after_a_restart(self):
        scrape = self.wait_for(lambda scrape: scrape.value("duewheel_disk_size_bytes") > 0, "the size is measured")
        volume = os.statvfs(self.daemon.data)
        self.assertEqual(scrape.value("duewheel_disk_size_bytes"), volume.f_blocks * volume.f_frsize)
        self.assertEqual(scrape.value("duewheel_disk_free_floor_bytes"), min(volume.f_blocks * volume.f_frsize // 16, 256 << 20))
        self.assertEqual(scrape.all_of("duewheel_last_backup_timestamp_seconds"), {})
        self.client.put("mail", "x")
        before = time.time()
        subprocess.run([BIN / "duewheel", "backup", self.daemon.data, self.daemon.directory / "backup"], check=True, capture_output=True)
        self.daemon.terminate()
        self.daemon.start()
        self.client = self.daemon.client()
        scrape = Scrape(self.client)  # the first one: it used to be told only after some seconds
        self.assertLess(abs(scrape.value("duewheel_last_backup_timestamp_seconds") - before), 5)

    # systemd started a server again after a crash, and nothing told.
    def test_how_the_last_run_ended_is_told(self):
        def ended(labels=("stopped", "killed", "fatal")):
            scrape = Scrape(self.client)
            return [how for how in labels if scrape.value("duewheel_last_run_ended", {"how": how})]

        def start_again():
            self.daemon.start()
            self.client = self.daemon.client()

        self.assertEqual(ended(), ["stopped"], "there was none")
        self.daemon.kill()
        start_again()
        self.assertEqual(ended(), ["killed"])
        self.assertEqual(self.daemon.log_text().count("warning last_run_not_stopped:"), 1)
        self.assertEqual(self.daemon.terminate(), 0)
        start_again()
        self.assertEqual(ended(), ["stopped"])
        self.assertEqual(self.daemon.log_text().count("warning last_run_not_stopped:"), 1)

    # Its p99 and the sum were those of half a century, until the server was started anew.
    def test_a_message_of_1970_does_not_rule_the_lateness(self):
        began = time.monotonic()
        self.assertEqual(self.client.put("q", "x", due="1970-01-01T00:00:01Z")[0], 201)
        message = self.client.take("q", 1)[0]
        self.assertEqual(message["due_ms"], 1000)
        took = time.monotonic() - began
        scrape = Scrape(self.client)
        self.assertEqual(scrape.value("duewheel_lateness_seconds_count"), 1)
        for part in ("lateness", "wait"):
            self.assertLess(scrape.value(f"duewheel_{part}_seconds_sum"), took + 0.1)
        self.assertLess(self.client.request("GET", "/v1/stats")[1]["lateness_max_ms"], took * 1000 + 100)

    # It is the server's as far as a consumer waited: all of it was, and a queue without a consumer made p99 minutes.
    def test_waiting_for_a_consumer_is_not_the_servers_lateness(self):
        self.client.put("late", "x")
        time.sleep(0.2)
        message = self.client.take("late", 1)[0]
        self.assertGreaterEqual(message["wait_ms"], 190)
        self.assertLess(message["lateness_ms"], 100)
        self.assertGreaterEqual(message["wait_ms"] + message["lateness_ms"], message["delivered_ms"] - message["due_ms"])
        scrape = Scrape(self.client)
        self.assertGreater(scrape.value("duewheel_wait_seconds_sum"), 0.19)
        self.assertEqual(scrape.value("duewheel_lateness_seconds_bucket", {"le": "0.1"}), 1)
        self.assertGreater(scrape.value("duewheel_queue_wait_seconds_total", of_queue("late")), 0.19)
        self.assertLess(scrape.value("duewheel_queue_lateness_seconds_total", of_queue("late")), 0.1)
        stats = self.client.request("GET", "/v1/stats")[1]
        self.assertGreaterEqual(stats["wait_p99_ms"], 190)
        self.assertLess(stats["lateness_p99_ms"], 100)
        self.client.request("POST", f"/v1/leases/{message['lease']}:ack")
        ended = self.client.request("GET", "/v1/history?queue=late")[1]["ended"][0]
        self.assertEqual((ended["lateness_ms"], ended["wait_ms"]), (message["lateness_ms"], message["wait_ms"]))

    # The tile, the metric and the alert for a slow server said minutes as soon as one target was dead.
    def test_a_dead_target_makes_its_messages_wait_and_not_the_server_late(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            dead = closed.getsockname()[1]
        daemon = self.enterContext(Daemon(arguments=["--test-clock", LOOPBACK]))
        daemon.start()
        client = daemon.client()
        settings = {"target": {"webhook": {"url": f"http://127.0.0.1:{dead}/"}}, "retry": {"attempts": 100}}
        self.assertEqual(client.request("PUT", "/v1/queues/dead", settings)[0], 200)
        for number in range(20):
            client.put("dead", f"message {number}")
        failures = 0
        for _ in range(4):  # the breaker opens, and lets one message try after each minute
            wait_until(lambda: Scrape(client).value("duewheel_webhook_connection_failures_total") > failures)
            failures = Scrape(client).value("duewheel_webhook_connection_failures_total")
            client.advance(by="2m")
        wait_until(lambda: Scrape(client).value("duewheel_webhook_connection_failures_total") > failures)
        scrape = Scrape(client)
        deliveries = scrape.value("duewheel_lateness_seconds_count")
        self.assertGreater(deliveries, 5)
        self.assertEqual(scrape.value("duewheel_lateness_seconds_bucket", {"le": "0.1"}), deliveries)
        self.assertLess(scrape.value("duewheel_wait_seconds_bucket", {"le": "60"}), deliveries)
        self.assertGreater(scrape.value("duewheel_queue_wait_seconds_total", of_queue("dead")), 120)
        stats = client.request("GET", "/v1/stats")[1]
        self.assertLess(stats["lateness_p99_ms"], 100)
        self.assertGreaterEqual(stats["wait_max_ms"], 60_000)

    def test_lateness_is_told_from_half_a_millisecond_on(self):
        bounds = [float(dict(labels)["le"]) for labels in Scrape(self.client).all_of("duewheel_lateness_seconds_bucket")]
        self.assertEqual(min(bounds), 0.0005)
        self.assertGreaterEqual(sum(bound < 0.063 for bound in bounds), 6)
        self.client.put("q", "x")
        time.sleep(0.2)
        self.client.take("q", 1)
        scrape = Scrape(self.client)
        self.assertEqual(scrape.value("duewheel_wait_seconds_bucket", {"le": "0.1"}), 0)
        self.assertGreater(scrape.value("duewheel_wait_seconds_sum"), 0.19)
        self.assertEqual(scrape.value("duewheel_wait_seconds_bucket", {"le": "3600"}), 1)

    def test_the_process_and_its_build_are_told(self):
        scrape = Scrape(self.client)
        told = subprocess.run([BIN / "duewheeld", "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
        self.assertEqual(scrape.value("duewheel_build_info", {"version": told}), 1)
        self.assertLess(abs(scrape.value("process_start_time_seconds") - time.time()), 60)
        status = pathlib.Path(f"/proc/{self.daemon.process.pid}/status").read_text()
        resident = int(re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)[1]) * 1024
        self.assertLess(abs(scrape.value("process_resident_memory_bytes") - resident), 64 << 20)
        self.assertGreater(scrape.value("process_cpu_seconds_total"), 0)
        before = scrape.value("process_open_fds")
        others = [self.daemon.client() for _ in range(50)]
        for client in others:
            client.request("GET", "/healthz")
        self.assertAlmostEqual(Scrape(self.client).value("process_open_fds"), before + 50, delta=10)  # and spare segments
        self.assertGreater(scrape.value("process_max_fds"), before)


if __name__ == "__main__":
    sys.exit(unittest.main())
