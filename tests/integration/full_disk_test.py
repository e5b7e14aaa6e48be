"""The real process on a disk that is full: by its own messages, and by somebody else's file.

Puts are refused, and nothing else is; what ends makes space; puts come back by themselves; a start needs no space that is
not there; and what was accepted is never lost. The disk is a small one in memory.
"""

import concurrent.futures
import http.client
import re
import subprocess
import time
import unittest

from daemon import BIN, Daemon
from small_disk import Refused, SmallDisk

DISK_MEGABYTES = 48
FLOOR_MEGABYTES = 8
# With a floor: puts are refused for want of free space. Without: when the spare segments are used up but the reserve.
WITH_FLOOR = ["--store-segment-size", "1MiB", "--store-free-floor", f"{FLOOR_MEGABYTES}MiB"]
WITHOUT_FLOOR = ["--store-segment-size", "1MiB", "--store-free-floor", "0B"]
BODY = "x" * 3000
AT_ONCE = 8
SOON_S = 60  # a few seconds, on a machine that has other things to do


def metric(client, name):
    client.connection.request("GET", "/metrics")
    page = client.connection.getresponse().read().decode()
    return int(re.search(rf"^{name} (\d+)$", page, re.MULTILINE).group(1))


class FullDisk(unittest.TestCase):
    def small(self, daemon):
        try:
            return self.enterContext(SmallDisk(daemon.data, DISK_MEGABYTES))
        except Refused as why:
            self.skipTest(f"no small disk can be made here, so a full disk is not tested: {why}")

    def started(self, arguments):
        daemon = self.enterContext(Daemon(arguments=arguments))
        disk = self.small(daemon)
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

    def take_near(self, client, count):
        """Leases so many; after a start they may come in parts, as they are read from the index."""
        messages = []
        while len(messages) < count:
            more = client.lease("near", maximum=count - len(messages), wait="20s")
            self.assertNotEqual(more, [], f"only {len(messages)} of {count} came")
            messages += more
        return messages

    def keep_full(self, daemon, disk, accepted):
        """Takes again what the daemon gave back: a table that was merged or a segment that was sealed a moment after the
        disk was filled may be enough for it to take puts, and on a slow machine that moment is long."""
        client = daemon.client()
        for _ in range(20):
            status, answer = client.put("far", BODY, delay="10h")
            if status == 507:
                return
            accepted.append(answer["id"])
            disk.fill()
            self.put_until_full(client, accepted)
        self.fail("the daemon finds more and more space on a full disk")

    def check_that_all_but_puts_goes_on(self, daemon):
        client = daemon.client()
        self.assertEqual(client.put("far", "no")[1].get("code"), "store_full")
        self.assertEqual(client.request("GET", "/readyz"),
                         (200, {"ready": True, "reason": "puts are refused: the disk is nearly full"}))
        self.assertEqual(metric(client, "duewheel_store_full"), 1)
        messages = self.take_near(client, 4)
        acked, failed, released, extended = (message["lease"] for message in messages)
        self.assertEqual(client.request("POST", f"/v1/leases/{extended}:extend")[1]["outcome"], "extended")
        for token in (acked, extended):
            self.assertEqual(client.ack(token)[1]["outcome"], "done")
        self.assertEqual(client.request("POST", f"/v1/leases/{failed}:fail", {"retry_in": "10h"})[1]["outcome"], "retrying")
        self.assertEqual(client.request("POST", f"/v1/leases/{released}:release")[1]["outcome"], "released")
        number = messages[1]["id"]
        self.assertEqual(client.get(number)[1]["state"], "retrying")
        moved = client.request("PATCH", f"/v1/messages/{number}", {"delay": "11h"})
        self.assertEqual(moved[1]["outcome"], "rescheduled")
        self.assertEqual(client.cancel(number)[1]["outcome"], "cancelled")

    def cancel_all(self, daemon, numbers):
        def work(part):
            client = daemon.client()
            return [client.cancel(number)[1]["outcome"] for number in part]

        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            outcomes = sum(pool.map(work, [numbers[i::AT_ONCE] for i in range(AT_ONCE)]), [])
        self.assertEqual(set(outcomes), {"cancelled"})

    def wait_for_puts(self, daemon):
        """How long it takes until puts are taken again; the one that was."""
        client = daemon.client()
        began = time.monotonic()
        while time.monotonic() - began < SOON_S:
            status, answer = client.put("near", "after it")
            if status == 201:
                self.assertEqual(client.request("GET", "/readyz"), (200, {"ready": True}))
                self.assertEqual(metric(client, "duewheel_store_full"), 0)
                return time.monotonic() - began, answer["id"]
            self.assertEqual(answer["code"], "store_full")
            time.sleep(0.05)
        self.fail(f"there is space, but puts are still refused\n{daemon.log_text()}")

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

    def near(self, daemon, count=40):
        client = daemon.client()
        return [client.put("near", "due now")[1]["id"] for _ in range(count)]

    def test_filled_by_its_own_messages_it_refuses_puts_until_what_ends_has_made_space(self):
        daemon, disk = self.started(WITH_FLOOR)
        self.near(daemon)
        accepted = []
        self.put_until_full(daemon.client(), accepted)
        self.assertGreater(len(accepted) * len(BODY), (DISK_MEGABYTES - FLOOR_MEGABYTES) * 600_000)
        client = daemon.client()
        self.assertGreaterEqual(metric(client, "duewheel_spare_segments"), 2, "the reserve is there")
        self.assertGreater(metric(client, "duewheel_disk_free_bytes"), (FLOOR_MEGABYTES // 2) << 20)
        self.check_that_all_but_puts_goes_on(daemon)
        daemon.kill()
        daemon.start()
        self.check_that_all_but_puts_goes_on(daemon)
        self.assertEqual(daemon.log_text().count("commit_waits"), 0)
        cancelled = accepted[: len(accepted) * 9 // 10]
        self.cancel_all(daemon, cancelled)
        self.wait_for_puts(daemon)
        self.check_ledger(daemon, accepted[len(cancelled):], cancelled[::20])
        self.check_offline(daemon)

    def test_filled_to_the_last_byte_by_somebody_else_it_goes_on_from_its_reserve(self):
        for arguments in (WITH_FLOOR, WITHOUT_FLOOR):
            with self.subTest(arguments=arguments):
                daemon, disk = self.started(arguments)
                self.near(daemon)
                client = daemon.client()
                accepted = [client.put("far", BODY, delay="10h")[1]["id"] for _ in range(3000)]
                disk.fill()
                self.assertEqual(disk.free(), 0)
                self.put_until_full(client, accepted)
                self.keep_full(daemon, disk, accepted)
                self.check_that_all_but_puts_goes_on(daemon)
                for stop in (daemon.kill, daemon.terminate, daemon.kill):
                    stop()
                    daemon.start()
                    self.keep_full(daemon, disk, accepted)
                    self.check_that_all_but_puts_goes_on(daemon)
                disk.make_room()
                took, _ = self.wait_for_puts(daemon)
                print(f"{' '.join(arguments)}: puts were taken {took:.1f} s after there was space")
                self.check_ledger(daemon, accepted, [])
                client = daemon.client()
                self.take_near(client, 40 + 1 - 4 * 3)
                self.assertEqual(client.lease("near", 100), [], "each check ends three")
                self.check_offline(daemon)
                self.doCleanups()

    def test_on_a_disk_without_a_free_byte_it_cleans_its_own_log_until_puts_are_taken(self):
        """What ends is written to the reserve, and sealed in the place of a spare segment; then the front of the log can
        go. The open segment is closed for it before it is full: when all has ended nothing more is written."""
        daemon, disk = self.started(WITHOUT_FLOOR)
        client = daemon.client()
        accepted = [client.put("far", BODY, delay="10h")[1]["id"] for _ in range(6000)]
        disk.fill()
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
                    self.assertEqual(client.cancel(number)[1]["outcome"], "cancelled")
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
