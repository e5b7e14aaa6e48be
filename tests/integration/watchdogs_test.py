"""Watchdogs of the real daemon: the interfaces, and that after kill -9 no watchdog fires although it was fed, and each
silence creates exactly one message.

A message states when it was due and when its watchdog was last fed before, so each is compared with the feeds that were
answered.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import threading
import time
import unittest

from daemon import Daemon

KILLS = 12  # at least
SEED = 20261123
BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])


def set_watchdog(client, name, **members):
    return client.request("PUT", f"/v1/watchdogs/{name}", {"queue": "q", **members})


def feed(client, name):
    return client.request("POST", f"/v1/watchdogs/{name}:feed")


def look(client, name):
    return client.request("GET", f"/v1/watchdogs/{name}")[1]


def now_ms():
    return int(time.time() * 1000)


class Interface(unittest.TestCase):
    """On a clock that goes on when it is told: a watchdog of a tenth of a second once fired before a busy machine got to
    delete it."""

    def setUp(self):
        self.daemon = Daemon(arguments=["--test-clock"])
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()

    def later(self, by):
        status, answer = self.client.request("POST", "/v1/clock:advance", {"by": by})
        self.assertEqual(status, 200, answer)

    def test_one_that_is_not_fed_says_so_once_and_when_it_was_fed_again_once_more(self):
        status, watchdog = set_watchdog(self.client, "backup", timeout="1h", body="no backup", headers={"a": "b"})
        self.assertEqual((status, watchdog["state"], watchdog["feeds"], watchdog["fired"]), (201, "armed", 1, 0))
        self.assertEqual(watchdog["due_ms"], watchdog["last_fed_ms"] + 3600_000)
        self.later("61m")
        message = self.client.take("q", 1)[0]
        self.assertEqual((message["watchdog"], message["body"], message["headers"]), ("backup", "no backup", {"a": "b"}))
        self.assertEqual((message["occurrence"], message["due_ms"], message["last_fed_ms"]),
                         (1, watchdog["due_ms"], watchdog["last_fed_ms"]))
        seen = self.client.get(message["id"])[1]
        self.assertEqual((seen["watchdog"], seen["last_fed_ms"]), ("backup", watchdog["last_fed_ms"]))
        asleep = look(self.client, "backup")
        self.assertEqual((asleep["state"], asleep["fired"], asleep["last_fired"]["id"]), ("asleep", 1, message["id"]))
        self.assertNotIn("due", asleep)
        status, fed = feed(self.client, "backup")
        self.assertEqual((status, fed["late"], fed["fired"]), (200, True, 1))
        self.client.ack(message["lease"])
        self.later("61m")
        second = self.client.take("q", 1)[0]
        self.assertEqual((second["occurrence"], second["due_ms"]), (2, fed["due_ms"]))

    def test_one_that_is_fed_in_time_stays_silent(self):
        set_watchdog(self.client, "w", timeout="1h")
        for _ in range(5):
            before = look(self.client, "w")["due_ms"]
            self.later("59m")
            status, fed = feed(self.client, "w")
            self.assertEqual((status, fed["late"], fed["fired"]), (200, False, 0))
            self.assertGreater(fed["due_ms"], before)
        self.assertEqual(self.client.lease("q"), [])
        self.assertEqual(look(self.client, "w")["feeds"], 6)

    def test_changes_are_told_of_when_they_have_come_to_rest_and_one_request_is_enough_for_each(self):
        for change in range(20):
            status, watchdog = set_watchdog(self.client, "page-7", timeout="10m", max="10h", feed=True, body=str(change))
            self.assertEqual(status, 201 if change == 0 else 200)
            self.assertFalse(watchdog.get("late", False))
            self.later("5m")
        self.later("5m")
        message = self.client.take("q", 1)[0]
        self.assertEqual((message["body"], message["due_ms"]), ("19", watchdog["due_ms"]))
        self.client.ack(message["lease"])
        first_due_ms = set_watchdog(self.client, "busy", timeout="1h", max="90m", feed=True)[1]["due_ms"]
        for _ in range(2):
            self.later("40m")
            self.assertFalse(feed(self.client, "busy")[1]["late"])
            self.assertEqual(self.client.lease("q"), [])
        self.later("11m")
        self.assertTrue(feed(self.client, "busy")[1]["late"])
        message = self.client.take("q", 1)[0]
        self.assertEqual(message["due_ms"], first_due_ms + 30 * 60_000, "the first feed and its bound, however often it is fed")

    def test_with_repeat_every_it_fires_until_it_is_fed(self):
        set_watchdog(self.client, "w", timeout="59m", repeat_every="1h")
        taken = []
        for _ in range(3):
            self.later("1h")
            taken += self.client.take("q", 1)
            self.client.ack(taken[-1]["lease"])
        first, second, third = taken
        self.assertEqual((second["due_ms"] - first["due_ms"], third["due_ms"] - second["due_ms"]), (3600_000, 3600_000))
        self.assertEqual([each["occurrence"] for each in (first, second, third)], [1, 2, 3])
        self.assertTrue(feed(self.client, "w")[1]["late"])

    def test_the_settings_that_are_shown_can_be_sent_back_and_change_nothing(self):
        set_watchdog(self.client, "w", timeout="1h", max="2h", repeat_every="3h", priority=4, order_key="o", expires_in="1h",
                     retry={"attempts": 3, "jitter": 0}, body="x", headers={"a": "b"}, content_type="text/plain")
        seen = look(self.client, "w")
        status, again = self.client.request("PUT", "/v1/watchdogs/w", seen["settings"])
        self.assertEqual((status, again["revision"], again["due_ms"]), (200, 1, seen["due_ms"]))
        status, other = self.client.request("PUT", "/v1/watchdogs/w", {**seen["settings"], "body": "y"})
        self.assertEqual((status, other["revision"], other["due_ms"]), (200, 2, seen["due_ms"]), "which feeds nobody")
        self.assertEqual(look(self.client, "w")["settings"]["body"], "y")

    def test_deleted_ones_and_unknown_ones_are_told_apart_by_their_answers(self):
        set_watchdog(self.client, "backup", timeout="1h")
        self.assertEqual(self.client.request("DELETE", "/v1/watchdogs/backup"), (200, {"watchdog": "backup", "removed": True}))
        self.assertEqual(self.client.request("DELETE", "/v1/watchdogs/backup"), (200, {"watchdog": "backup", "removed": False}))
        for method, call in (("GET", ""), ("POST", ":feed")):
            status, problem = self.client.request(method, "/v1/watchdogs/backup" + call)
            self.assertEqual((status, problem["code"]), (404, "unknown_watchdog"))
        self.later("2h")
        self.assertEqual(self.client.lease("q"), [])
        set_watchdog(self.client, "backup", timeout="1h")
        self.assertIn("`backup`", feed(self.client, "bakup")[1]["detail"])

    def test_lists_go_by_name_in_pages_and_metrics_count(self):
        for name in ("c", "a/b", "b"):
            set_watchdog(self.client, name.replace("/", "%2F"), timeout="1h", body="x")
        names, cursor = [], ""
        while True:
            page = self.client.request("GET", f"/v1/watchdogs?limit=2{cursor}")[1]
            names += [watchdog["watchdog"] for watchdog in page["watchdogs"]]
            self.assertTrue(all("body" not in watchdog["settings"] for watchdog in page["watchdogs"]))
            if "cursor" not in page:
                break
            cursor = "&cursor=" + page["cursor"]
        self.assertEqual(names, ["a/b", "b", "c"])
        self.assertEqual(self.client.request("GET", "/v1/namespaces/other/watchdogs")[1], {"watchdogs": []})
        feed(self.client, "b")
        page = self.client.request("GET", "/metrics")[1]
        self.assertIn("duewheel_watchdogs 3\n", page)
        self.assertIn("duewheel_watchdog_feeds_total 4\n", page)

    def test_a_full_queue_is_waited_for_and_nothing_is_lost(self):
        self.client.request("PUT", "/v1/queues/q", {"limits": {"pending": 1}})
        self.client.put("q", "in the way")
        set_watchdog(self.client, "w", timeout="1h")
        self.later("61m")
        self.assertTrue(feed(self.client, "w")[1]["late"])
        owed = look(self.client, "w")
        self.assertEqual((owed["fired"], "overdue" in owed), (0, True))
        way = self.client.take("q", 1)[0]
        self.client.ack(way["lease"])
        message = self.client.take("q", 1)[0]
        self.assertEqual((message["due_ms"], message["last_fed_ms"], message["occurrence"]),
                         (owed["overdue"]["due_ms"], owed["overdue"]["last_fed_ms"], 1))

    def test_the_command_line_does_all_of_it(self):
        def run(*arguments, code=0):
            done = subprocess.run([BIN / "duewheel", "--server", f"http://127.0.0.1:{self.daemon.port}", "watchdog", *arguments],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            return done.stdout + done.stderr

        self.assertIn("25h after its last feed", run("set", "backup", "alarms", "No backup", "--timeout", "25h", "--header", "a=b").replace("1d 1h", "25h"))
        self.assertTrue(run("feed", "backup").startswith("fed; due "))
        self.assertIn("No backup", run("get", "backup"))
        self.assertIn("armed", run("list"))
        self.assertEqual(json.loads(run("list", "--json"))["feeds"], 2)
        run("set", "page", "q", "changed", "--timeout", "10ms", "--max", "20ms", "--feed")
        self.assertEqual(self.client.take("q", 1)[0]["watchdog"], "page")
        self.assertIn("too late", run("feed", "page"))
        self.assertIn("removed", run("rm", "page"))
        self.assertIn("no watchdog has this name", run("rm", "page"))
        self.assertIn("`backup`", run("feed", "bakup", code=1))
        self.assertIn("`max`", run("set", "x", "q", "b", "--timeout", "2h", "--max", "1h", code=1))
        self.assertIn("to create it with this call, `timeout` is missing", run("set", "x", "q", "b", code=1))


class Cleaning(unittest.TestCase):
    """A watchdog's content is carried along when the log's front goes, its newest feed outlives the segment that it was
    written to, and an index that is thrown away is built from what is left."""

    def test_a_watchdog_outlives_the_segments_it_was_written_to(self):
        with Daemon(arguments=["--store-segment-size=1MiB"]) as daemon:
            daemon.start()
            client = daemon.client()
            set_watchdog(client, "far", timeout="1d", body="far" + "y" * 50_000, headers={"a": "b"})
            set_watchdog(client, "gone", timeout="1d", body="gone")
            self.assertTrue(client.request("DELETE", "/v1/watchdogs/gone")[1]["removed"])
            for round_ in range(3):
                fed = feed(client, "far")[1]
                self.assertFalse(fed["late"])
                dropped = 0
                deadline = time.monotonic() + 60
                while dropped < 6:
                    self.assertLess(time.monotonic(), deadline, "nothing is cleaned away")
                    made = client.put("filler", "x" * 900_000, delay="1d")[1]["id"]
                    self.assertEqual(client.cancel(made)[1]["outcome"], "cancelled")
                    page = client.request("GET", "/metrics")[1]
                    dropped = int(re.search(r"^duewheel_log_deleted_segments_total (\d+)", page, re.MULTILINE)[1])
                if round_ == 1:
                    daemon.kill()
                else:
                    self.assertEqual(daemon.terminate(), 0, daemon.log_text())
                checked = subprocess.run([BIN / "duewheel", "check", daemon.data], capture_output=True, text=True, timeout=60)
                self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
                if round_ == 2:
                    shutil.rmtree(daemon.data / "index")
                daemon.start()
                client = daemon.client()
                far = look(client, "far")
                self.assertEqual((far["settings"]["body"], far["settings"]["headers"]), ("far" + "y" * 50_000, {"a": "b"}))
                self.assertEqual((far["due_ms"], far["feeds"]), (fed["due_ms"], round_ + 2))
            self.assertEqual([each["watchdog"] for each in client.request("GET", "/v1/watchdogs")[1]["watchdogs"]], ["far"])
            set_watchdog(client, "far", timeout="1ms", body="far", feed=True)
            self.assertEqual(client.take("q", 1)[0]["body"], "far")
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())


class Kills(unittest.TestCase):
    """Watchdogs are fed, most of them in time, while the process is killed again and again, with files of the log so small
    that they are sealed and cleaned away meanwhile.

    A feed that was on disk when its process was killed once failed this test: its client had no answer, and the watchdog
    rightly did not fire."""

    def test_none_fires_that_was_fed_and_none_twice_or_never(self):
        random_ = random.Random(SEED)
        timeouts = {f"w{number}": random_.choice([40, 150, 600]) for number in range(16)}
        with Daemon(arguments=["--store-segment-size=1MiB"]) as daemon:
            daemon.start()
            client = daemon.client()
            fed_at = {name: [] for name in timeouts}  # instants of feeds that were answered
            unanswered = {name: [] for name in timeouts}  # from when to when: a killed process may have written it
            for name, timeout in timeouts.items():
                status, answer = set_watchdog(client, name, timeout_ms=timeout, body=name + "x" * random_.choice([1, 3000]))
                self.assertEqual(status, 201)
                fed_at[name].append(answer["last_fed_ms"])
            stop = threading.Event()
            self.addCleanup(stop.set)
            seen = {}  # (watchdog, number): (message, due, last fed)
            failures = []

            def take(message):
                place = (message["watchdog"], message["occurrence"])
                what = (message["id"], message["due_ms"], message["last_fed_ms"])
                assert seen.setdefault(place, what) == what, f"{place}: two messages"
                assert message["body"].startswith(message["watchdog"] + "x")

            def until_stopped(step):
                client = daemon.client()
                while not stop.is_set():
                    try:
                        step(client)
                    except AssertionError as error:
                        failures.append(error)
                        return
                    except Exception:  # the process is gone
                        time.sleep(0.02)
                        if daemon.process is not None and not stop.is_set():
                            client = daemon.client()

            def work(client):
                for message in client.lease("q", 500, "100ms", "2s"):
                    take(message)
                    client.ack(message["lease"])

            feeder_random = random.Random(SEED + 1)

            def feed_some(client):
                name = feeder_random.choice(list(timeouts))
                began = now_ms()
                try:
                    status, answer = feed(client, name)
                except Exception:
                    unanswered[name].append((began, now_ms()))
                    raise
                assert status == 200, answer
                fed_at[name].append(answer["due_ms"] - timeouts[name])
                if feeder_random.random() < 0.02:
                    time.sleep(0.1)  # and some are late

            threads = [threading.Thread(target=until_stopped, args=(step,)) for step in (work, feed_some)]
            for thread in threads:
                thread.start()
            kills = 0
            while kills < KILLS or sum(len(each) for each in fed_at.values()) <= 200:
                self.assertLess(kills, 20 * KILLS, "too few are fed between the kills")
                time.sleep(random_.uniform(0.1, 0.6))
                daemon.kill()
                daemon.start()
                kills += 1
            stop.set()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
            client = daemon.client()

            def is_over():
                seen_now = [look(client, name) for name in timeouts]
                return (all(each["state"] == "asleep" and "overdue" not in each for each in seen_now)
                        and client.request("GET", "/v1/stats")[1]["pending"] == 0)

            give_up = time.monotonic() + 120
            while not is_over():
                self.assertLess(time.monotonic(), give_up, "something never comes")
                messages = client.lease("q", 1000, "100ms", "30s")
                for message in messages:
                    take(message)
                client.ack_all(messages)
            silent = 0
            unanswered_lapses = 0
            for name, timeout in timeouts.items():
                watchdog = look(client, name)
                self.assertEqual((watchdog["state"], "overdue" in watchdog), ("asleep", False))
                fired = {number: what for (of, number), what in seen.items() if of == name}
                self.assertEqual(sorted(fired), list(range(1, watchdog["fired"] + 1)), f"{name}: one never came")
                for _, due, last in fired.values():
                    self.assertEqual(due, last + timeout)
                    between = [at for at in fed_at[name] if last < at < due]
                    self.assertEqual(between, [], f"{name} fired at {due} for want of a feed after {last}, and was fed")
                merged = watchdog["merged"]
                lapses = sorted(fed_at[name])
                for at, after in zip(lapses, lapses[1:] + [max(due for _, due, _ in fired.values()) + 1]):
                    if after < at + timeout:
                        continue
                    silent += 1
                    if any(at <= last and due <= after for _, due, last in fired.values()):
                        continue
                    if any(began <= after and at <= ended for began, ended in unanswered[name]):
                        unanswered_lapses += 1  # it was fed in time, or its lapse was another one
                        continue
                    merged -= 1  # one message stands for two lapses if the first one's was not written yet
                    self.assertGreaterEqual(merged, 0, f"{name} was not fed from {at} to {after}, and did not fire")
            self.assertEqual(len({message for message, _, _ in seen.values()}), len(seen))
            fed = sum(len(each) for each in fed_at.values())
            print(f"{fed} feeds answered, {len(seen)} messages, each once, {silent} lapses, "
                  f"{unanswered_lapses} of them beside a feed without an answer, over {kills} kills")
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())
            checked = subprocess.run([BIN / "duewheel", "check", daemon.data], capture_output=True, text=True, timeout=60)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
