"""Server time with the real daemon, while the wall clock of its machine is set (wall.py). No test waits longer than the
server needs to notice it."""

import subprocess
import time
import unittest

from daemon import BIN, Daemon
from wall import Wall

HOUR, DAY = 3600, 86400


class ClockTest(unittest.TestCase):
    def clock(self, client, verb=None, body=None):
        status, answer = client.request("POST" if verb else "GET", "/v1/clock" + (f":{verb}" if verb else ""), body)
        return (answer["state"], answer) if status == 200 else (answer["code"], answer)

    def until(self, client, state):
        """The clocks when they are in this state; what is asked makes the server look."""
        give_up = time.monotonic() + 30
        while True:
            found, answer = self.clock(client)
            if found == state:
                return answer
            self.assertLess(time.monotonic(), give_up, answer)

    def test_a_wall_clock_set_ahead_is_watched_first_and_believed_when_somebody_says_so(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            client = daemon.client()
            self.assertEqual(self.clock(client, "accept")[0], "clock_not_held")
            later = client.put("q", "x", delay="59m")[1]
            self.assertEqual(client.lease("q", 1), [])
            wall.set_ahead(HOUR)
            watched = self.until(client, "quarantine")
            self.assertAlmostEqual(watched["wall_clock_ahead_ms"], HOUR * 1000, delta=1000)
            self.assertEqual(client.lease("q", 1), [], "it is not due by the time that counts")
            state, accepted = self.clock(client, "accept")
            self.assertEqual(state, "steady")
            self.assertAlmostEqual(accepted["wall_clock_ahead_ms"], 0, delta=1000)
            self.assertEqual([each["id"] for each in client.lease("q", 1, wait="20s")], [later["id"]])
            self.assertIn("clock_ahead", daemon.log_text())
            self.assertIn("clock_jumped", daemon.log_text())
            metrics = client.request("GET", "/metrics")[1]
            self.assertIn("duewheel_clock_jumps_total 1", metrics)
            self.assertIn('duewheel_clock_state{state="steady"} 1', metrics)

    def test_one_that_comes_back_has_changed_nothing(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            client = daemon.client()
            wall.set_ahead(30 * DAY)
            self.until(client, "quarantine")
            wall.set_ahead(0)
            self.assertEqual(self.until(client, "steady")["jumps"], 0)

    def test_a_wall_clock_set_back_is_waited_for_and_nothing_is_early_or_stands_still(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            client = daemon.client()
            before = self.clock(client)[1]["server_time_ms"]
            wall.set_ahead(-HOUR)
            slow = self.until(client, "slow")
            self.assertGreaterEqual(slow["server_time_ms"], before)
            self.assertAlmostEqual(slow["wall_clock_ahead_ms"], -HOUR * 1000, delta=10_000)
            soon = client.put("q", "x", delay="100ms")[1]
            (got,) = client.lease("q", 1, wait="20s")
            self.assertEqual(got["id"], soon["id"])
            self.assertGreaterEqual(self.clock(client)[1]["server_time_ms"], soon["due_ms"])
            self.assertIn("clock_behind", daemon.log_text())

    def test_a_restart_with_a_wrong_clock_goes_on_from_what_the_log_has_seen(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            due = daemon.client().put("q", "x", delay="0s")[1]["due_ms"]
            daemon.kill()
            wall.set_ahead(-2 * HOUR)
            daemon.start()
            state, clock = self.clock(daemon.client())
            self.assertEqual(state, "slow")
            self.assertGreaterEqual(clock["server_time_ms"], due)
            self.assertEqual(len(daemon.client().lease("q", 1, wait="20s")), 1, "what was due is due")

    def test_a_clock_that_is_set_back_while_nothing_runs_is_believed_and_told(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            client = daemon.client()
            client.put("q", "x", delay="30m")
            wall.set_ahead(HOUR)
            self.until(client, "quarantine")
            self.assertEqual(self.clock(client, "accept")[0], "steady")
            hour_later = self.clock(client)[1]["server_time_ms"] - time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
            give_up = time.monotonic() + 30
            while True:
                left = dict(line.split(" ") for line in (daemon.data / "clock").read_text().splitlines())
                if left["doubted"] == "0" and abs(int(left["ahead_of_boot_ms"]) - hour_later) < 60_000:
                    break
                self.assertLess(time.monotonic(), give_up, left)
            daemon.kill()  # before anything else is written
            wall.set_ahead(0)
            daemon.start()
            self.assertEqual(self.clock(daemon.client())[0], "steady")
            self.assertIn("clock_set_back", daemon.log_text())
            self.assertEqual(daemon.client().lease("q", 1), [])

    def test_a_restart_long_after_is_held_until_somebody_says_that_it_is_so(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            daemon.client().put("q", "x", delay="450d")
            daemon.kill()
            wall.set_ahead_in_another_run(daemon, 500 * DAY)
            daemon.start()
            client = daemon.client()
            state, clock = self.clock(client)
            self.assertEqual(state, "held")
            self.assertAlmostEqual(clock["wall_clock_ahead_ms"], 500 * DAY * 1000, delta=60_000)
            status, ready = client.request("GET", "/readyz")
            self.assertEqual(status, 200)
            self.assertIn("wall clock", ready["reason"])
            self.assertEqual(client.lease("q", 1), [])
            done = subprocess.run([BIN / "duewheel", "--server", f"http://127.0.0.1:{daemon.port}", "clock", "accept"],
                                  capture_output=True, text=True, check=True)
            self.assertIn("steady", done.stdout)
            self.assertEqual(len(client.lease("q", 1, wait="20s")), 1)
            self.assertNotIn("reason", client.request("GET", "/readyz")[1])

    def test_a_restart_long_after_is_believed_where_the_setting_says_so(self):
        with Wall() as wall, Daemon(arguments=["--clock-on-jump=accept"], environment=wall.environment) as daemon:
            daemon.start()
            daemon.client().put("q", "x", delay="450d")
            daemon.kill()
            wall.set_ahead_in_another_run(daemon, 500 * DAY)
            daemon.start()
            self.assertEqual(self.clock(daemon.client())[0], "steady")
            self.assertEqual(len(daemon.client().lease("q", 1, wait="20s")), 1)

    # A server that was started again believed what it had not believed before, or had had no time to see: what was due
    # in the month went out.
    def test_a_restart_believes_no_clock_that_was_set_while_the_machine_ran(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            client = daemon.client()
            client.put("q", "x", delay="20d")
            give_up = time.monotonic() + 30
            while "machine_run \n" in (daemon.data / "clock").read_text():  # nothing is left yet
                self.clock(client)
                self.assertLess(time.monotonic(), give_up)
            wall.set_ahead(30 * DAY)
            for stop in (daemon.terminate, daemon.kill):  # at once
                stop()
                daemon.start()
                client = daemon.client()
                state, clock = self.clock(client)
                self.assertEqual(state, "held")
                self.assertAlmostEqual(clock["wall_clock_ahead_ms"], 30 * DAY * 1000, delta=10_000)
                self.assertEqual(client.lease("q", 1), [])
                self.assertIn("wall clock", client.request("GET", "/readyz")[1]["reason"])
            self.assertNotIn("clock_gap_at_start", daemon.log_text())
            # A copy knows it, too.
            self.assertEqual(subprocess.run([BIN / "duewheel", "backup", daemon.data, daemon.directory / "b"]).returncode, 0)
            restoring = subprocess.run([BIN / "duewheel", "restore", daemon.directory / "b", daemon.directory / "r" / "data"],
                                       capture_output=True, text=True, check=True)
            self.assertIn("did not trust its wall clock", restoring.stderr)
            with Daemon(directory=daemon.directory / "r", environment=wall.environment) as restored:
                restored.start()
                self.assertEqual(self.clock(restored.client())[0], "held")
            # What somebody accepts is believed by the next start, however soon that is.
            self.assertEqual(self.clock(client, "accept")[0], "steady")
            self.assertEqual(daemon.terminate(), 0)
            daemon.start()
            client = daemon.client()
            self.assertEqual(self.clock(client)[0], "steady")
            self.assertEqual(len(client.lease("q", 1, wait="20s")), 1)
            wall.set_ahead(0)
            self.until(client, "slow")
            self.assertIn("a tenth slower", client.request("GET", "/readyz")[1]["reason"])

    def test_a_start_in_another_run_of_the_machine_may_have_been_away_for_a_month(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            daemon.client().put("q", "x", delay="20d")
            self.assertEqual(daemon.terminate(), 0)
            wall.set_ahead_in_another_run(daemon, 30 * DAY)
            daemon.start()
            client = daemon.client()
            self.assertEqual(self.clock(client)[0], "steady")
            self.assertEqual(len(client.lease("q", 1, wait="20s")), 1)
            self.assertIn("clock_gap_at_start", daemon.log_text())

    def test_a_tests_clock_goes_where_it_is_told_over_restarts_too(self):
        with Daemon(arguments=["--test-clock"]) as daemon:
            daemon.start()
            client = daemon.client()
            message = client.put("q", "x", delay="30d")[1]
            loop = client.put("beat", "x", delay="1h", repeat={"every": "1h", "times": 3})[1]
            self.assertEqual(client.request("PUT", "/v1/schedules/daily", {"queue": "daily", "every": "1d", "misfire": "all"})[0], 201)
            state, clock = self.clock(client, "advance", {"by": "90m"})
            self.assertEqual(state, "test")
            self.assertEqual([each["parent"] for each in client.lease("beat", 3, wait="20s")], [loop["id"]])
            self.assertEqual(client.lease("q", 1), [])
            self.assertEqual(self.clock(client, "advance", {"to_ms": clock["server_time_ms"] - 3600_000})[0], "out_of_range")
            self.clock(client, "advance", {"by": "30d"})
            (got,) = client.lease("q", 1, wait="20s")
            self.assertEqual(got["id"], message["id"])
            daily = []
            while len(daily) < 30:
                daily += client.lease("daily", 100, wait="20s")
            self.assertEqual(len(daily), 30)
            before = self.clock(client)[1]["server_time_ms"]
            daemon.kill()
            daemon.start()
            self.assertGreaterEqual(self.clock(daemon.client())[1]["server_time_ms"], before - 1000, "about what the log has seen")

    # Time was written with messages alone: a server without any began its idle hours again.
    def test_a_stop_writes_how_late_it_is(self):
        with Daemon(arguments=["--test-clock"]) as daemon:
            daemon.start()
            self.clock(daemon.client(), "advance", {"by": "30d"})
            before = self.clock(daemon.client())[1]["server_time_ms"]
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())
            daemon.start()
            after = self.clock(daemon.client())[1]["server_time_ms"]
            self.assertGreaterEqual(after, before)
            self.assertLess(after, before + HOUR * 1000)

    def test_a_wall_clock_set_back_over_a_stop_repeats_no_time(self):
        with Wall() as wall, Daemon(environment=wall.environment) as daemon:
            daemon.start()
            client = daemon.client()
            started = last = self.clock(client)[1]["server_time_ms"]
            while last < started + 500:
                last = self.clock(client)[1]["server_time_ms"]
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())
            wall.set_ahead(-2 * HOUR)
            daemon.start()
            state, clock = self.clock(daemon.client())
            self.assertEqual(state, "slow")
            self.assertGreaterEqual(clock["server_time_ms"], last)

    def test_another_clock_is_not_moved_by_command(self):
        with Daemon() as daemon:
            daemon.start()
            done = subprocess.run([BIN / "duewheel", "--server", f"http://127.0.0.1:{daemon.port}", "clock", "advance", "--by", "1h"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("--test-clock", done.stderr)
            self.assertEqual(self.clock(daemon.client())[1]["state"], "steady")


if __name__ == "__main__":
    unittest.main()
