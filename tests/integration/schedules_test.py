"""Schedules of the real daemon: the interfaces, that kill -9 duplicates and loses no run, and the effect of new zone
data on future times.

The nominal times of a schedule follow from its rule alone, so they are compared exactly.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from daemon import Daemon
from wall import Wall

KILLS = 12
SEED = 20261122
BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])


def set_schedule(client, name, **members):
    return client.request("PUT", f"/v1/schedules/{name}", {"queue": "q", **members})


def look(client, name):
    return client.request("GET", f"/v1/schedules/{name}")[1]


class Interface(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()

    def test_runs_come_with_their_schedule_number_and_time(self):
        status, schedule = set_schedule(self.client, "beat", every="20ms", times=4, body="go", headers={"a": "b"},
                                        misfire="all")
        self.assertEqual((status, schedule["state"], schedule["revision"]), (201, "active", 1))
        taken = self.client.take("q", 4)
        self.assertEqual([message["occurrence"] for message in taken], [1, 2, 3, 4])
        self.assertEqual([message["due_ms"] for message in taken], [schedule["next_ms"] + 20 * step for step in range(4)])
        for message in taken:
            self.assertEqual((message["schedule"], message["body"], message["headers"]), ("beat", "go", {"a": "b"}))
            self.assertNotIn("parent", message)
        status, run = self.client.get(taken[1]["id"])
        self.assertEqual((run["schedule"], run["occurrence"], run["state"]), ("beat", 2, "leased"))
        ended = look(self.client, "beat")
        self.assertEqual((ended["state"], ended["runs"]["made"]), ("ended", 4))
        self.assertEqual(ended["last_run"]["id"], taken[3]["id"])
        self.assertNotIn("next", ended)

    def test_the_settings_that_are_shown_can_be_sent_back_and_change_nothing(self):
        set_schedule(self.client, "s", cron="30 2 * * *", zone="Europe/Oslo", dst="skip", dst_repeat="both", closed="SAT 12-25",
                     start="2030-01-01T00:00:00Z", end="2040-01-01T00:00:00Z", times=100, jitter="1m", misfire="all",
                     misfire_window="2h", overlap="queue_one", priority=4, order_key="o", expires_in="1h",
                     retry={"attempts": 3, "jitter": 0}, body="x", headers={"a": "b"}, content_type="text/plain")
        seen = look(self.client, "s")
        status, again = self.client.request("PUT", "/v1/schedules/s", seen["settings"])
        self.assertEqual((status, again["revision"]), (200, 1), again)
        changed = {**seen["settings"], "body": "y"}
        status, other = self.client.request("PUT", "/v1/schedules/s", changed)
        self.assertEqual((status, other["revision"], other["next_ms"]), (200, 2, seen["next_ms"]))
        self.assertEqual(look(self.client, "s")["settings"]["body"], "y")

    def test_pause_resume_fire_and_delete(self):
        set_schedule(self.client, "s", every="1h", body="x")
        self.assertEqual(self.client.request("POST", "/v1/schedules/s:pause")[1]["state"], "paused")
        status, fired = self.client.request("POST", "/v1/schedules/s:fire")
        self.assertEqual((status, fired["state"]), (201, "ready"))
        run = self.client.take("q", 1)[0]
        self.assertEqual((run["id"], run["occurrence"], run["schedule"]), (fired["id"], 0, "s"))
        self.assertEqual(set_schedule(self.client, "s", every="1h", body="y")[1]["state"], "paused", "a pause stays")
        self.assertEqual(self.client.request("POST", "/v1/schedules/s:resume")[1]["state"], "active")
        self.assertEqual(look(self.client, "s")["runs"], {"made": 0, "late": 0, "manual": 1, "skipped": 0, "merged": 0})
        self.assertEqual(self.client.request("DELETE", "/v1/schedules/s"), (200, {"schedule": "s", "removed": True}))
        self.assertEqual(self.client.request("DELETE", "/v1/schedules/s"), (200, {"schedule": "s", "removed": False}))
        for method, call in (("GET", ""), ("POST", ":pause"), ("POST", ":resume"), ("POST", ":fire"), ("GET", ":preview")):
            status, problem = self.client.request(method, "/v1/schedules/s" + call)
            self.assertEqual((status, problem["code"]), (404, "unknown_schedule"))

    def test_a_preview_marks_what_clocks_do(self):
        set_schedule(self.client, "s", cron="30 2 * * *", zone="Europe/Oslo", dst_repeat="both", closed="2030-03-30")
        path = "/v1/schedules/s:preview?count=2&from=2030-03-29T12:00:00Z"
        seen = self.client.request("GET", path)[1]
        self.assertEqual([(time_["local"], time_.get("clock_change")) for time_ in seen["times"]],
                         [("2030-03-31T03:00:00.000+02:00", "shifted"), ("2030-04-01T02:30:00.000+02:00", None)])
        self.assertEqual([(time_["local"], time_["reason"]) for time_ in seen["excluded"]],
                         [("2030-03-30T02:30:00.000+01:00", "closed_day")])
        autumn = self.client.request("GET", "/v1/schedules/s:preview?count=2&from=2030-10-26T12:00:00Z")[1]["times"]
        self.assertEqual([time_["clock_change"] for time_ in autumn], ["first_pass", "second_pass"])
        self.assertEqual(autumn[1]["nominal_ms"] - autumn[0]["nominal_ms"], 3600_000)

    def test_each_call_of_fire_makes_a_run_with_an_idempotency_key_too(self):
        set_schedule(self.client, "s", every="1h", body="x")
        fired = [self.client.request_text("POST", "/v1/schedules/s:fire", None, {"Idempotency-Key": "k"}) for _ in range(2)]
        self.assertEqual([status for status, _ in fired], [201, 201])
        self.assertEqual({run["id"] for run in self.client.take("q", 2)}, {answer["id"] for _, answer in fired})

    def test_metrics_tell_of_the_first_hundred(self):
        for number in range(101):
            set_schedule(self.client, f"s{number:03}", every="1h")
        page = self.client.request("GET", "/metrics")[1]
        told = {line for line in page.splitlines() if line.startswith("duewheel_schedule_manual_runs_total{")}
        self.assertEqual(told, {f'duewheel_schedule_manual_runs_total{{namespace="default",schedule="s{number:03}"}} 0'
                                for number in range(100)})
        self.assertIn("duewheel_schedules 101\n", page)

    def test_lists_go_by_name_in_pages_and_metrics_tell_of_each(self):
        for name in ("c", "a/b", "b"):
            self.client.request("PUT", f"/v1/schedules/{name.replace('/', '%2F')}", {"queue": "q", "every": "1h", "body": "x"})
        names, cursor = [], ""
        while True:
            page = self.client.request("GET", f"/v1/schedules?limit=2{cursor}")[1]
            names += [schedule["schedule"] for schedule in page["schedules"]]
            self.assertTrue(all("body" not in schedule["settings"] for schedule in page["schedules"]))
            if "cursor" not in page:
                break
            cursor = "&cursor=" + page["cursor"]
        self.assertEqual(names, ["a/b", "b", "c"])
        self.assertEqual(self.client.request("GET", "/v1/namespaces/other/schedules")[1], {"schedules": []})
        self.client.request("POST", "/v1/schedules/b:fire")
        page = self.client.request("GET", "/metrics")[1]
        self.assertIn('duewheel_schedule_manual_runs_total{namespace="default",schedule="b"} 1\n', page)
        self.assertIn("duewheel_schedules 3\n", page)

    def test_missed_times_follow_the_policy_over_a_stop(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            for policy in ("once", "all", "skip"):
                set_schedule(daemon.client(), policy, every="1h", misfire=policy, queue=policy)
            daemon.kill()
            wall.set_ahead_in_another_run(daemon, 9 * 3600 + 1800)
            daemon.start()
            client = daemon.client()
            deadline = time.monotonic() + 60
            while any(look(client, policy)["next_occurrence"] < 10 for policy in ("once", "all", "skip")):
                self.assertLess(time.monotonic(), deadline)
            for policy, runs in (("once", {"made": 1, "late": 1, "manual": 0, "skipped": 0, "merged": 8}),
                                 ("all", {"made": 9, "late": 9, "manual": 0, "skipped": 0, "merged": 0}),
                                 ("skip", {"made": 0, "late": 0, "manual": 0, "skipped": 9, "merged": 0})):
                schedule = look(client, policy)
                self.assertEqual((schedule["runs"], schedule["next_occurrence"]), (runs, 10), policy)
            self.assertEqual(look(client, "skip")["last_skipped"]["reason"], "missed")

    def test_a_run_that_overlaps_waits_or_is_skipped(self):
        for policy in ("skip", "queue_one"):
            set_schedule(self.client, policy, every="50ms", overlap=policy, queue=policy)
        for policy in ("skip", "queue_one"):
            first = self.client.take(policy, 1)[0]
            counted = {"skip": "skipped", "queue_one": "merged"}[policy]
            while look(self.client, policy)["runs"][counted] < 3:
                pass
            self.assertEqual(self.client.lease(policy), [])
            waits = look(self.client, policy).get("waiting_run")
            self.assertEqual(waits is not None, policy == "queue_one")
            self.client.ack(first["lease"])
            second = self.client.take(policy, 1)[0]
            if waits:
                later = second["occurrence"] - waits["occurrence"]
                self.assertGreaterEqual(later, 0, "the newest waits")
                self.assertEqual(second["due_ms"], waits["nominal_ms"] + later * 50)

    def test_the_command_line_does_all_of_it(self):
        def run(*arguments, code=0):
            done = subprocess.run([BIN / "duewheel", "--server", f"http://127.0.0.1:{self.daemon.port}", "schedule", *arguments],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            return done.stdout + done.stderr

        self.assertIn("Europe/Oslo", run("set", "report", "reports", "Make it", "--cron", "30 2 * * *", "--tz", "Europe/Oslo",
                                         "--overlap", "skip", "--header", "a=b", "--closed", "SAT SUN"))
        spring = ("preview", "report", "--from", "2031-03-29T12:00", "--tz", "Europe/Oslo", "--count", "1")
        self.assertIn("excluded: a closed day", run(*spring))
        run("set", "report", "--unset", "closed")
        self.assertIn("moved to the end of the gap", run(*spring))
        self.assertIn("paused", run("pause", "report"))
        self.assertIn("At 02:30, every day, Europe/Oslo", run("preview", "report"))
        self.assertIn("The schedule is paused", run("preview", "report"))
        self.assertIn("active", run("resume", "report"))
        self.assertIn("ready", run("fire", "report"))
        self.assertIn("1 fired manually", run("get", "report"))
        self.assertIn("report", run("list"))
        self.assertEqual(json.loads(run("list", "--json"))["schedule"], "report")
        self.assertIn("removed", run("rm", "report"))
        self.assertIn("no schedule has this name", run("rm", "report"))
        self.assertIn("no schedule has this name", run("get", "report", code=1))
        self.assertIn("at 2031-01-01T06:00:00, Europe/Oslo",
                      run("set", "once", "q", "b", "--at", "2031-01-01T06:00", "--tz", "Europe/Oslo"))
        self.assertIn("at 2031-01-01T06:00:00+01:00", run("set", "once", "q", "b", "--at", "2031-01-01T06:00+01:00"))
        run("set", "x", "q", "b", "--every", "1h", "--cron", "* * * * *", code=2)
        shown = run("set", "x", "q", "b", "--every", "1h", "--jitter", "90s", "--start", "2031-01-01T06:00Z")
        self.assertRegex(shown, r"jitter +1m 30s")
        self.assertNotIn("2031-01-01T06:00:00.000Z", shown)
        self.assertIn("at least 1", run("set", "x", "q", "b", "--every", "1h", "--times", "-1", code=2))


class Made(unittest.TestCase):
    """What rules make, on a clock that goes where it is told: over both changes of Oslo's clocks in 2040."""

    def setUp(self):
        self.daemon = Daemon(arguments=["--test-clock"])
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()
        self.set = []

    def go_to(self, instant):
        member = "to" if isinstance(instant, str) else "to_ms"
        status, answer = self.client.request("POST", "/v1/clock:advance", {member: instant})
        self.assertEqual(status, 200, answer)

    def rule(self, name, **members):
        """One with a queue of its own, whose times are all made up for."""
        status, answer = self.client.request("PUT", f"/v1/schedules/{name}", {
            "queue": name, "zone": "Europe/Oslo", "misfire": "all", **members})
        self.assertEqual(status, 201, answer)
        self.set.append(name)

    def made(self, name, count):
        """The times of so many runs, which are all there are."""
        times = [message["due_ms"] for message in self.client.take(name, count)]
        self.assertEqual(look(self.client, name)["runs"]["made"], count)
        return [time.strftime("%Y-%m-%dT%H:%M", time.gmtime(due_ms / 1000)) for due_ms in times]

    def test_times_of_day_where_clocks_are_put_forward(self):
        self.go_to("2040-03-24T00:00:00Z")
        self.rule("shift", cron="30 2 * * *")
        self.rule("skip", cron="30 2 * * *", dst="skip")
        self.rule("quartz", cron="0 30 2 ? * SUN")
        self.rule("iso", iso="R/2040-03-24T02:30:00/P1D")
        self.rule("at", at="2040-03-25T12:00:00")
        self.rule("hourly", cron="0 * * * *", start="2040-03-24T23:30:00Z", end="2040-03-25T02:00:00Z")
        self.rule("closed", every="12h", start="2040-03-24T00:00:00Z", closed="03-25")
        self.rule("open", cron="30 2 * * *", closed="SUN")
        self.go_to("2040-03-26T01:00:00Z")
        self.assertEqual(self.made("shift", 3), ["2040-03-24T01:30", "2040-03-25T01:00", "2040-03-26T00:30"])
        self.assertEqual(self.made("skip", 2), ["2040-03-24T01:30", "2040-03-26T00:30"])
        self.assertEqual(self.made("quartz", 1), ["2040-03-25T01:00"])
        self.assertEqual(self.made("iso", 3), ["2040-03-24T01:30", "2040-03-25T01:00", "2040-03-26T00:30"])
        self.assertEqual(self.made("at", 1), ["2040-03-25T10:00"])
        self.assertEqual(self.made("hourly", 3), ["2040-03-25T00:00", "2040-03-25T01:00", "2040-03-25T02:00"])
        self.assertEqual(self.made("closed", 2), ["2040-03-24T12:00", "2040-03-26T00:00"], "none at the instant it was set")
        self.assertEqual(self.made("open", 2), ["2040-03-24T01:30", "2040-03-26T00:30"])
        ended = {name for name in self.set if look(self.client, name)["state"] == "ended"}
        self.assertEqual(ended, {"at", "hourly"})

    def test_times_of_day_where_clocks_are_put_back_also_with_a_death_between_the_passes(self):
        self.go_to("2040-10-27T12:00:00Z")
        self.rule("first", cron="30 2 * * *")
        self.rule("both", cron="30 2 * * *", dst_repeat="both")
        self.rule("hourly", cron="30 * * * *", start="2040-10-28T00:00:00Z", end="2040-10-28T02:00:00Z")
        self.go_to("2040-10-28T01:00:00Z")
        for name in self.set:
            self.assertEqual(self.made(name, 1), ["2040-10-28T00:30"])
        self.daemon.kill()
        self.daemon.start()
        self.client = self.daemon.client()
        self.go_to("2040-10-29T02:00:00Z")
        # Their leases are over, so the first ones are handed out once more.
        self.assertEqual(self.made("first", 2), ["2040-10-28T00:30", "2040-10-29T01:30"])
        self.assertEqual(self.made("both", 3), ["2040-10-28T00:30", "2040-10-28T01:30", "2040-10-29T01:30"])
        self.assertEqual(self.made("hourly", 2), ["2040-10-28T00:30", "2040-10-28T01:30"])

    def test_jitter_is_kept_to_the_millisecond(self):
        self.go_to("2040-06-01T00:00:00Z")
        self.rule("spread", cron="0 12 * * *", jitter="1h")
        (time_of_run,) = self.client.request("GET", "/v1/schedules/spread:preview?count=1")[1]["times"]
        self.assertGreater(time_of_run["due_ms"], time_of_run["nominal_ms"])
        self.go_to(time_of_run["nominal_ms"] + 1)
        self.assertEqual(self.client.lease("spread"), [])
        self.go_to(time_of_run["due_ms"] - 500)  # what is left goes by as time does
        (run,) = self.client.lease("spread", wait="10s")
        self.assertGreaterEqual(run["delivered_ms"], time_of_run["due_ms"])
        self.assertEqual(run["due_ms"], time_of_run["nominal_ms"])

    def test_what_is_older_than_the_window_is_told_as_that(self):
        self.go_to("2040-06-01T00:30:00Z")
        self.rule("window", cron="0 * * * *", misfire_window="2h")
        self.go_to("2040-06-01T10:30:00Z")
        self.assertEqual(self.made("window", 2), ["2040-06-01T09:00", "2040-06-01T10:00"])
        seen = look(self.client, "window")
        self.assertEqual((seen["runs"]["skipped"], seen["last_skipped"]["reason"]), (8, "too_old"))


class ZoneData(unittest.TestCase):
    """The same name of a zone says another offset after a restart, as after an update of the system's zone data."""

    def test_times_to_come_follow_and_nothing_comes_twice(self):
        real = pathlib.Path("/usr/share/zoneinfo")
        with tempfile.TemporaryDirectory() as place:
            zones = pathlib.Path(place)
            for zone in ("Etc/GMT-1", "Etc/GMT-3"):
                (zones / zone).parent.mkdir(exist_ok=True)
                shutil.copy(real / zone, zones / zone)
            (zones / "Europe").mkdir()

            def data(version, offset):
                (zones / "tzdata.zi").write_text(f"# version {version}\nZ Europe/Oslo 1 - CET\n")
                shutil.copy(zones / "Etc" / offset, zones / "Europe" / "Oslo")

            data("2026x", "GMT-1")
            with Daemon(environment={"TZDIR": place}) as daemon:
                daemon.start()
                client = daemon.client()
                set_schedule(client, "yearly", cron="0 9 1 1 *", zone="Europe/Oslo")
                set_schedule(client, "paused", cron="0 9 1 1 *", zone="Europe/Oslo", paused=True)
                before = look(client, "yearly")
                self.assertEqual(before["zone_data"], "2026x")
                self.assertTrue(before["next"].endswith("-01-01T08:00:00.000Z"))
                daemon.kill()
                data("2026y", "GMT-3")
                daemon.start()
                client = daemon.client()
                for name in ("yearly", "paused"):
                    after = look(client, name)
                    self.assertEqual(after["zone_data"], "2026y")
                    self.assertEqual(before["next_ms"] - after["next_ms"], 2 * 3600_000)
                self.assertEqual(client.request("GET", "/v1/schedules/yearly:preview?count=1")[1]["times"][0]["nominal"],
                                 after["next"])
                daemon.kill()
                (zones / "Europe" / "Oslo").unlink()
                daemon.start()
                client = daemon.client()
                self.assertEqual(look(client, "yearly")["state"], "invalid_zone")
                self.assertIn("schedule_invalid", daemon.log_text())
                self.assertEqual(set_schedule(client, "yearly", cron="0 9 1 1 *", zone="UTC")[1]["state"], "active")
                self.assertEqual(daemon.terminate(), 0, daemon.log_text())


class Cleaning(unittest.TestCase):
    """A schedule's record is carried along when the log's front goes, again and again, and an index that is thrown away is
    built from what is left."""

    def test_a_schedule_outlives_the_segments_it_was_written_to(self):
        with Daemon(arguments=["--store-segment-size=1MiB"]) as daemon:
            daemon.start()
            client = daemon.client()
            set_schedule(client, "far", every="1d", body="far" + "y" * 50_000, headers={"a": "b"})
            set_schedule(client, "near", every="100ms", queue="near", body="near")
            first = look(client, "near")["next_ms"]
            gone = set_schedule(client, "gone", every="1d", body="gone")[0]
            self.assertEqual(gone, 201)
            self.assertTrue(client.request("DELETE", "/v1/schedules/gone")[1]["removed"])
            for round_ in range(3):
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
            near = look(client, "near")
            self.assertEqual(near["next_ms"], first + 100 * (near["next_occurrence"] - 1))
            self.assertEqual(client.lease("near", 1, "10s")[0]["body"], "near")
            self.assertEqual([each["schedule"] for each in client.request("GET", "/v1/schedules")[1]["schedules"]], ["far", "near"])
            self.assertEqual(client.request("POST", "/v1/schedules/far:fire")[0], 201)
            self.assertTrue(client.lease("q", 1, "10s")[0]["body"].startswith("fary"))
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())


class Kills(unittest.TestCase):
    """Schedules are set, told things and removed while the process is killed again and again, with files of the log so
    small that they are sealed and cleaned away meanwhile. In the end each nominal time has made one run or was counted."""

    def test_each_time_makes_one_run(self):
        random_ = random.Random(SEED)
        every = {f"s{number}": random_.choice([5, 20, 50]) for number in range(12)}
        with Daemon(arguments=["--store-segment-size=1MiB"]) as daemon:
            daemon.start()
            client = daemon.client()
            first = {}
            for name, rest in every.items():
                status, answer = set_schedule(client, name, every_ms=rest, misfire="all", body=name + "x" * random_.choice([1, 3000]))
                self.assertEqual(status, 201)
                first[name] = answer["next_ms"]
            stop = threading.Event()
            self.addCleanup(stop.set)
            seen = {}  # (schedule, number): (message, nominal time)

            def work():
                client = daemon.client()
                while not stop.is_set():
                    try:
                        for message in client.lease("q", 500, "100ms", "2s"):
                            place = (message["schedule"], message["occurrence"])
                            found = seen.setdefault(place, (message["id"], message["due_ms"]))
                            assert found == (message["id"], message["due_ms"]), f"{place}: two messages"
                            assert message["body"].startswith(message["schedule"] + "x")
                            client.ack(message["lease"])
                    except AssertionError as error:
                        failures.append(error)
                        return
                    except Exception:  # the process is gone
                        time.sleep(0.02)
                        if daemon.process is not None and not stop.is_set():
                            client = daemon.client()

            failures = []
            working = threading.Thread(target=work)
            working.start()
            for _ in range(KILLS):
                time.sleep(random_.uniform(0.1, 0.6))
                daemon.kill()
                daemon.start()
                teller = daemon.client()
                name = random_.choice(list(every))
                for verb in ("pause", "resume"):
                    self.assertEqual(teller.request("POST", f"/v1/schedules/{name}:{verb}")[0], 200)
            stop.set()
            working.join()
            self.assertEqual(failures, [])
            client = daemon.client()
            for name in every:
                self.assertEqual(client.request("POST", f"/v1/schedules/{name}:pause")[0], 200)
            give_up = time.monotonic() + 300
            while client.request("GET", "/v1/stats")[1]["pending"] > 0:
                self.assertLess(time.monotonic(), give_up, "something never comes")
                messages = client.lease("q", 1000, "100ms", "30s")
                for message in messages:
                    place = (message["schedule"], message["occurrence"])
                    found = seen.setdefault(place, (message["id"], message["due_ms"]))
                    self.assertEqual(found, (message["id"], message["due_ms"]), "one number, two messages")
                client.ack_all(messages)
            passed = 0
            for name, rest in every.items():
                schedule = look(client, name)
                runs = schedule["runs"]
                passed += runs["skipped"]
                self.assertEqual(runs["made"] + runs["skipped"] + runs["merged"], schedule["next_occurrence"] - 1)
                self.assertEqual(schedule["next_ms"], first[name] + rest * (schedule["next_occurrence"] - 1))
                numbers = {number: nominal for (of, number), (_, nominal) in seen.items() if of == name}
                self.assertEqual(len(numbers), runs["made"], f"{name}: a run that was made never came, or came under two numbers")
                for number, nominal in numbers.items():
                    self.assertEqual(nominal, first[name] + rest * (number - 1))
                self.assertTrue(schedule["settings"]["body"].startswith(name + "x"))
            self.assertEqual(len({message for message, _ in seen.values()}), len(seen))
            dropped = re.search(r"^duewheel_log_deleted_segments_total (\d+)", client.request("GET", "/metrics")[1], re.MULTILINE)
            print(f"{len(seen)} runs, each once, {passed} times skipped in pauses, over {KILLS} kills; "
                  f"{dropped[1]} segments dropped since the last")
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())
            checked = subprocess.run([BIN / "duewheel", "check", daemon.data], capture_output=True, text=True, timeout=60)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
