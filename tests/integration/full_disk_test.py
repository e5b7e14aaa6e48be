"""The real server on a full disk: full of its own messages, or of a file of another program.

Puts are refused; when only the reserve is left, so is every other call that ends no message. Ends of messages free
space, every request is answered, puts are accepted again without a restart, a start needs no additional space, and no
accepted message is lost. The disk is a small file system in memory.
"""

import concurrent.futures
import http.client
import itertools
import re
import subprocess
import time
import unittest

from daemon import BIN, Daemon
from small_disk import Refused, SmallDisk

DISK_MEGABYTES = 48
SMALLEST_MEGABYTES = 32  # that docs/configuration.md promises to serve
FLOOR_MEGABYTES = 8
# With a floor: puts are refused for want of free space. Without: when the spare segments are used up but the reserve.
WITH_FLOOR = ["--store-segment-size", "1MiB", "--store-free-floor", f"{FLOOR_MEGABYTES}MiB"]
WITHOUT_FLOOR = ["--store-segment-size", "1MiB", "--store-free-floor", "0B"]
BODY = "x" * 3000
RESERVE = 3  # segments, beside which one more is kept ready
AT_ONCE = 8
SOON_S = 60  # a few seconds, on a machine that has other things to do


def metric(client, name):
    client.connection.request("GET", "/metrics")
    page = client.connection.getresponse().read().decode()
    return int(re.search(rf"^{name} (\d+)$", page, re.MULTILINE).group(1))


class FullDisk(unittest.TestCase):
    def small(self, daemon, megabytes=DISK_MEGABYTES):
        try:
            return self.enterContext(SmallDisk(daemon.data, megabytes))
        except Refused as why:
            self.skipTest(f"no small disk can be made here, so a full disk is not tested: {why}")

    def started(self, arguments, megabytes=DISK_MEGABYTES, segments_of_tests=True):
        daemon = self.enterContext(Daemon(arguments=arguments))
        if not segments_of_tests:
            del daemon.environment["DUEWHEEL_STORE_SEGMENT_SIZE"]
        disk = self.small(daemon, megabytes)
        self.addCleanup(daemon.kill)  # before the disk goes
        daemon.start()
        return daemon, disk

    def put_until_full(self, client, accepted, **members):
        """Puts until the store is full, as the refusal says."""
        for _ in range(100_000):
            status, answer = client.put("far", BODY, delay="10h", **members)
            if status != 201:
                self.assertEqual((status, answer["code"]), (507, "store_full"), answer)
                self.assertGreater(len(answer["detail"].split()), 10)
                return
            accepted.append(answer["id"])
        self.fail("the disk never became full")

    def fill_beside(self, client, disk):
        """Somebody else takes what is left on the disk, but not the very space in which the reserve is being made: it is
        promised for a disk that gets full, and not for one that was full before the reserve was there."""
        until = time.monotonic() + SOON_S
        while metric(client, "duewheel_log_spare_segments") <= RESERVE and metric(client, "duewheel_store_full") == 0:
            self.assertLess(time.monotonic(), until, "there is space, but spare segments are not made")
            time.sleep(0.02)
        disk.fill()

    def keep_full(self, daemon, disk, accepted):
        """Takes again what the daemon gave back: a table that was merged or a segment that was sealed a moment after the
        disk was filled may be enough for it to take puts, and on a slow machine that moment is long."""
        client = daemon.client()
        for _ in range(20):
            status, answer = client.put("far", BODY, delay="10h")
            if status == 507:
                return
            accepted.append(answer["id"])
            self.fill_beside(client, disk)
            self.put_until_full(client, accepted)
        self.fail("the daemon finds more and more space on a full disk")

    def change(self, client, method, path, outcome, value=None):
        """Whether a change was done; if not, because only the reserve is left."""
        status, answer = client.request(method, path, value)
        if status == 507:
            self.assertEqual(answer["code"], "store_full")
            self.assertEqual(metric(client, "duewheel_store_reserve_only"), 1)
            return False
        self.assertEqual((status, answer["outcome"]), (200, outcome), answer)
        return True

    def check_that_all_but_puts_goes_on(self, daemon, has_more_than_the_reserve=False):
        """How many of those that are due it ended."""
        client = daemon.client()
        self.assertEqual(client.put("far", "no")[1].get("code"), "store_full")
        status, ready = client.request("GET", "/readyz")
        self.assertEqual((status, ready["ready"]), (503, False))
        self.assertRegex(ready["reason"], r"^puts (and moves )?are refused: the disk is .* \d+ bytes free; puts are accepted again")
        self.assertEqual(client.request("GET", "/healthz")[0], 200)
        self.assertEqual(metric(client, "duewheel_store_full"), 1)
        messages = client.take("near", 4)
        acked, failed, released, extended = (message["lease"] for message in messages)
        self.assertEqual(client.request("POST", f"/v1/leases/{extended}:extend")[1]["outcome"], "extended")
        for token in (acked, extended):
            self.assertEqual(client.ack(token)[1]["outcome"], "done")
        ended = 3
        has_failed = self.change(client, "POST", f"/v1/leases/{failed}:fail", "retrying", {"retry_in": "10h"})
        if not self.change(client, "POST", f"/v1/leases/{released}:release", "released"):
            ended += 1
            self.assertEqual(client.ack(released)[1]["outcome"], "done")
        if has_failed:
            number = messages[1]["id"]
            self.assertEqual(client.get(number)[1]["state"], "retrying")
            has_moved = self.change(client, "PATCH", f"/v1/messages/{number}", "rescheduled", {"delay": "11h"})
            self.assertTrue(has_moved or not has_more_than_the_reserve)
            self.assertEqual(client.cancel(number)[1]["outcome"], "cancelled")
        else:
            self.assertFalse(has_more_than_the_reserve)
            self.assertEqual(client.ack(failed)[1]["outcome"], "done")
        return ended

    def cancel_all(self, daemon, numbers):
        """As the refusal of a log that stands still says: try again. It was one in some thousand, and for less than a
        second: cancels were quicker than the cleaning that makes their space."""
        until = time.monotonic() + SOON_S

        def cancel(client, number):
            while True:
                answer = client.cancel(number)[1]
                if answer.get("code") != "store_full" or time.monotonic() > until:
                    return answer
                time.sleep(0.02)

        def work(part):
            client = daemon.client()
            return [cancel(client, number) for number in part]

        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            answers = sum(pool.map(work, [numbers[i::AT_ONCE] for i in range(AT_ONCE)]), [])
        others = [answer for answer in answers if answer.get("outcome") != "cancelled"]
        self.assertEqual(others, [], f"{len(others)} of {len(answers)}\n{daemon.log_text()}")

    def wait_for_puts(self, daemon):
        """How long it takes until puts are taken again; the one that was."""
        client = daemon.client()
        began = time.monotonic()
        while time.monotonic() - began < SOON_S:
            status, answer = client.put("near", "after it")
            if status == 201:
                self.assertEqual(client.request("GET", "/readyz")[0], 200)
                self.assertEqual(metric(client, "duewheel_store_full"), 0)
                return time.monotonic() - began, answer["id"]
            self.assertEqual(answer["code"], "store_full")
            time.sleep(0.05)
        files = [f"{path.stat().st_size:10} {path.relative_to(daemon.data)}" for path in sorted(daemon.data.rglob("*"))]
        self.fail("\n".join(["there is space, but puts are still refused", *files, daemon.log_text()]))

    def check_ledger(self, daemon, pending, cancelled):
        client = daemon.client()
        for number in pending:
            status, answer = client.get(number)
            self.assertEqual((status, answer.get("state")), (200, "scheduled"), answer)
            self.assertEqual(answer["body"], BODY)
        for number in cancelled:
            status, answer = client.get(number)
            self.assertEqual((status, answer.get("state")), (200, "cancelled"), answer)

    def check_offline(self, daemon):
        self.assertEqual(daemon.terminate(), 0, daemon.log_text())
        check = subprocess.run([BIN / "duewheel", "check", daemon.data], capture_output=True, text=True, timeout=60)
        self.assertEqual(check.returncode, 0, check.stderr)

    def near(self, daemon, count=40, **members):
        client = daemon.client()
        return [client.put("near", "due now", **members)[1]["id"] for _ in range(count)]

    # The defaults left no space on 420 MB: the first put was refused, and /readyz said 200.
    def test_with_the_defaults_a_small_volume_takes_puts_and_when_it_is_full_comes_back(self):
        for megabytes in (SMALLEST_MEGABYTES, 420):
            with self.subTest(megabytes=megabytes):
                daemon, disk = self.started([], megabytes, segments_of_tests=False)
                client = daemon.client()
                body = BODY * (megabytes // SMALLEST_MEGABYTES)
                self.assertEqual(client.request("GET", "/readyz")[0], 200)
                accepted = []
                for _ in range(100_000):
                    status, answer = client.put("far", body, delay="10h")
                    if status != 201:
                        break
                    accepted.append(answer["id"])
                self.assertEqual((status, answer["code"]), (507, "store_full"), answer)
                stored = len(accepted) * len(body)
                print(f"{megabytes} MiB took {stored / (1 << 20):.0f} MiB of messages")
                self.assertGreater(stored, megabytes * (1 << 20) // 2)
                self.assertEqual(client.request("GET", "/readyz")[0], 503)
                daemon.kill()
                daemon.start()
                self.assertEqual(daemon.client().request("GET", "/readyz")[0], 503)
                self.cancel_all(daemon, accepted)
                self.wait_for_puts(daemon)
                self.assertNotIn("small_volume", daemon.log_text())
                self.check_offline(daemon)
                self.doCleanups()

    def test_settings_that_do_not_fit_on_the_volume_are_told(self):
        daemon, _ = self.started(["--store-segment-size", "64MiB", "--store-free-floor", "256MiB"], 420)
        client = daemon.client()
        status, answer = client.put("q", "x")
        until = time.monotonic() + SOON_S
        while status == 201 and time.monotonic() < until:  # until the disk has been looked at
            time.sleep(0.05)
            status, answer = client.put("q", "x")
        self.assertEqual((status, answer["code"]), (507, "store_full"))
        status, ready = client.request("GET", "/readyz")
        self.assertEqual((status, ready["ready"]), (503, False))
        self.assertIn(f"puts are accepted again at {(256 + 128) << 20} bytes", ready["reason"])
        self.assertIn("small_volume", daemon.log_text())

    def test_filled_by_its_own_messages_it_refuses_puts_until_what_ends_has_made_space(self):
        daemon, disk = self.started(WITH_FLOOR)
        self.near(daemon)
        accepted = []
        self.put_until_full(daemon.client(), accepted)
        self.assertGreater(len(accepted) * len(BODY), (DISK_MEGABYTES - FLOOR_MEGABYTES) * 600_000)
        client = daemon.client()
        self.assertGreaterEqual(metric(client, "duewheel_log_spare_segments"), 2, "the reserve is there")
        self.assertGreater(metric(client, "duewheel_disk_free_bytes"), (FLOOR_MEGABYTES // 2) << 20)
        self.check_that_all_but_puts_goes_on(daemon, has_more_than_the_reserve=True)
        daemon.kill()
        daemon.start()
        self.check_that_all_but_puts_goes_on(daemon, has_more_than_the_reserve=True)
        self.assertEqual(daemon.log_text().count("commit_blocked"), 0)
        cancelled = accepted[: len(accepted) * 9 // 10]
        self.cancel_all(daemon, cancelled)
        self.wait_for_puts(daemon)
        self.check_ledger(daemon, accepted[len(cancelled):], cancelled[::20])
        self.check_offline(daemon)

    def test_filled_to_the_last_byte_by_another_program_it_continues_from_its_reserve(self):
        for arguments in (WITH_FLOOR, WITHOUT_FLOOR):
            with self.subTest(arguments=arguments):
                daemon, disk = self.started(arguments)
                self.near(daemon)
                client = daemon.client()
                accepted = [client.put("far", BODY, delay="10h")[1]["id"] for _ in range(3000)]
                self.fill_beside(client, disk)
                self.put_until_full(client, accepted)
                self.keep_full(daemon, disk, accepted)
                ended = self.check_that_all_but_puts_goes_on(daemon)
                for stop in (daemon.kill, daemon.terminate, daemon.kill):
                    stop()
                    daemon.start()
                    self.keep_full(daemon, disk, accepted)
                    ended += self.check_that_all_but_puts_goes_on(daemon)
                disk.make_room()
                took, _ = self.wait_for_puts(daemon)
                print(f"{' '.join(arguments)}: puts were taken {took:.1f} s after there was space")
                self.check_ledger(daemon, accepted, [])
                client = daemon.client()
                client.take("near", 40 + 1 - ended)
                self.assertEqual(client.lease("near", 100), [], f"the checks ended {ended}")
                self.check_offline(daemon)
                self.doCleanups()

    def wait_until_empty(self, client, queue):
        until = time.monotonic() + SOON_S
        while client.request("GET", f"/v1/queues/{queue}")[1].get("pending", 0) > 0:
            self.assertLess(time.monotonic(), until)

    def storm(self, daemon, far, seconds, enough):
        """Everything that makes the log longer and ends nothing, from many clients: each is answered, and soon. So long,
        and until enough were refused. How many were done, and how many refused."""
        until = time.monotonic() + seconds
        done, refused = [0] * AT_ONCE, [0] * AT_ONCE

        def work(worker):
            client = daemon.client(timeout=20)
            for number in itertools.cycle(far[worker::AT_ONCE]):
                late_s = time.monotonic() - until
                if late_s > SOON_S or (late_s > 0 and sum(refused) >= enough):
                    return
                taken = client.lease("near", 1, lease="1s")  # nobody acknowledges it
                calls = [("PATCH", f"/v1/messages/{number}", {"delay": "9h"}), ("POST", f"/v1/messages/{number}:fire", None),
                         ("POST", f"/v1/messages/{number}:hold", None), ("POST", f"/v1/messages/{number}:kick", None),
                         ("PATCH", f"/v1/messages/{number}", {"delay": "10h"}),
                         ("POST", "/v1/queues/far:redrive", {}), ("PUT", "/v1/queues/other", {"lease": "20s"}),
                         ("PUT", "/v1/queues/other", {"lease": "30s"}), ("POST", "/v1/queues/other:pause", None),
                         ("POST", "/v1/queues/other:resume", None)]
                calls += [("POST", f"/v1/leases/{message['lease']}:release", {}) for message in taken]
                for method, path, value in calls:
                    status, answer = client.request(method, path, value)
                    if status != 404 or path != "/v1/queues/other:resume":  # there is none if its pause was refused
                        self.assertIn(status, (200, 409, 507), answer)  # 409: there was nothing to do, or it came too late
                    done[worker] += status == 200
                    refused[worker] += status == 507

        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(work, range(AT_ONCE)))
        return sum(done), sum(refused)

    def test_a_storm_of_moves_and_leases_leaves_the_reserve_to_what_ends(self):
        """Moves went on while puts were refused, and used up the reserve within a second: then nothing but reads was
        answered any more, and a start waited for somebody to make space."""
        for arguments in (WITH_FLOOR, WITHOUT_FLOOR):
            with self.subTest(arguments=arguments):
                # Changes of settings meet the state of the store, not that of the audit log, which shares the full disk.
                daemon, disk = self.started([*arguments, "--audit-enabled=false"])
                self.near(daemon, retry={"attempts": 1000})
                client = daemon.client()
                for number in range(10):
                    client.put(f"junk{number % 2}", BODY, delay="10h")
                accepted = [client.put("far", BODY, delay="10h")[1]["id"] for _ in range(3000)]
                self.fill_beside(client, disk)
                self.put_until_full(client, accepted)
                self.keep_full(daemon, disk, accepted)
                moved = accepted[:200]
                for round in range(2):
                    done, refused = self.storm(daemon, moved, 4, enough=1000)
                    print(f"{' '.join(arguments)}, start {round + 1}: {done} calls done and {refused} refused")
                    self.assertGreaterEqual(refused, 1000)
                    client = daemon.client(timeout=20)
                    status, answer = client.request("PATCH", f"/v1/messages/{moved[0]}", {"delay": "9h"})
                    self.assertEqual((status, answer["code"]), (507, "store_full"))
                    self.assertGreater(len(answer["detail"].split()), 10)
                    self.assertGreater(metric(client, "duewheel_log_spare_segments"), 0, "the reserve is there")
                    lease = client.take("near", 1)[0]["lease"]
                    self.assertEqual(client.ack(lease)[1]["outcome"], "done")
                    self.assertEqual(client.cancel(accepted.pop())[1]["outcome"], "cancelled")
                    self.assertEqual(client.request("POST", f"/v1/queues/junk{round}:purge")[0], 200)
                    self.wait_until_empty(client, f"junk{round}")
                    daemon.kill()
                    self.assertLess(daemon.start(), 20)
                    self.keep_full(daemon, disk, accepted)
                self.assertNotIn("commit_blocked", daemon.log_text())
                self.assertIn("disk_reserve_in_use", daemon.log_text())
                cancelled = accepted[200:]
                self.cancel_all(daemon, cancelled)
                if arguments is WITH_FLOOR:  # which no cleaning of so short a log could leave free
                    disk.make_room()
                self.wait_for_puts(daemon)
                self.check_ledger(daemon, [], cancelled[::20])
                client = daemon.client()
                for number in moved:
                    self.assertIn(client.get(number)[1]["state"], ("scheduled", "held", "ready"))
                client.take("near", 40 + 1 - 2)
                self.check_offline(daemon)
                self.doCleanups()

    def test_on_a_disk_without_a_free_byte_it_cleans_its_own_log_until_puts_are_taken(self):
        """What ends is written to the reserve, and sealed in the place of a spare segment; then the front of the log can
        go. The open segment is closed for it before it is full: when all has ended nothing more is written."""
        daemon, disk = self.started(WITHOUT_FLOOR)
        client = daemon.client()
        accepted = [client.put("far", BODY, delay="10h")[1]["id"] for _ in range(6000)]
        self.fill_beside(client, disk)
        self.put_until_full(client, accepted)
        before = metric(client, "duewheel_log_bytes")
        self.cancel_all(daemon, accepted)
        self.wait_for_puts(daemon)
        self.assertLess(metric(client, "duewheel_log_bytes"), before)
        self.check_ledger(daemon, [], accepted[::20])
        self.check_offline(daemon)

    def test_killed_again_and_again_while_the_disk_fills_and_empties_it_loses_nothing(self):
        daemon, disk = self.started(WITHOUT_FLOOR)
        accepted, cancelled = [], set()
        for round in range(12):
            client = daemon.client()
            try:
                for _ in range(150 * (1 + round % 3)):
                    status, answer = client.put("far", BODY, delay="10h")
                    if status == 507:
                        break
                    accepted.append(answer["id"])
                for number in accepted[round::40]:
                    status, answer = client.cancel(number)
                    self.assertEqual((status, answer.get("outcome")), (200, "cancelled"), f"{answer}\n{daemon.log_text()[-3000:]}")
                    cancelled.add(number)
            except (OSError, http.client.HTTPException) as broken:
                self.fail(f"{broken}\n{daemon.log_text()}")
            if round % 4 == 1:
                disk.fill()
            if round % 4 == 3:
                disk.make_room()
            daemon.kill()
            daemon.start()
        self.wait_for_puts(daemon)
        self.check_ledger(daemon, [number for number in accepted if number not in cancelled], cancelled)
        self.check_offline(daemon)


if __name__ == "__main__":
    unittest.main(verbosity=2)
