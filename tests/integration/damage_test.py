"""Files of the data directory that were damaged or removed: the behaviour of a start, of a running server and of
`duewheel check`."""

import http.client
import subprocess
import time
import unittest

from daemon import BIN, Daemon

EXIT_BROKEN_WORLD = 74
SMALL_SEGMENTS = ["--store-segment-size", "1MiB"]
MESSAGES = 1500


def segments(daemon):
    return sorted(daemon.data.glob("journal/seg-*.log"))


def tables(daemon):
    return sorted(daemon.data.glob("index/*.sst"))


def check(daemon):
    return subprocess.run([BIN / "duewheel", "check", daemon.data], capture_output=True, text=True, timeout=60)


def overwrite(path, offset, what):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(what)


def fill(daemon):
    """Messages over several segments of the log; their ids. The server was killed."""
    daemon.start()
    client = daemon.client()
    numbers = [client.put("q", f"{number} " + "x" * 3000, delay="1h")[1]["id"] for number in range(MESSAGES)]
    while client.request("GET", "/v1/stats")[1]["in_memory"] == MESSAGES:
        pass  # until the index has taken over some of them
    daemon.kill()
    return numbers


class DamagedIndex(unittest.TestCase):
    # A server that met damage in the index ended with 74, and so did every one after it, for ever.
    def test_the_next_start_builds_it_again_and_nothing_is_lost(self):
        with Daemon(arguments=SMALL_SEGMENTS) as daemon:
            numbers = fill(daemon)
            self.assertTrue(tables(daemon))
            for table in tables(daemon):
                overwrite(table, 200, b"damaged")
            starts = 0
            found = 0
            while found < len(numbers):
                starts += 1
                self.assertLessEqual(starts, 2, daemon.log_text())
                try:
                    daemon.start()
                except AssertionError:  # the damage was met before it was ready
                    self.assertEqual(daemon.wait(), EXIT_BROKEN_WORLD, daemon.log_text())
                    continue
                client = daemon.client()
                try:
                    for found, number in enumerate(numbers, 1):
                        self.assertEqual(client.get(number)[1]["state"], "scheduled")
                except (OSError, http.client.HTTPException):
                    found = 0
                    self.assertEqual(daemon.wait(), EXIT_BROKEN_WORLD, daemon.log_text())
                    self.assertIn("damaged_index", daemon.log_text())
            self.assertIn("index_rebuild", daemon.log_text())
            self.assertEqual(client.cancel(numbers[0])[1]["outcome"], "cancelled")
            self.assertEqual(daemon.terminate(), 0)
            self.assertEqual(check(daemon).returncode, 0)

    # `duewheel check` read the rows by id alone, and called such an index whole.
    def test_the_offline_check_finds_it(self):
        with Daemon(arguments=SMALL_SEGMENTS) as daemon:
            fill(daemon)
            self.assertEqual(check(daemon).returncode, 0, check(daemon).stderr)
            for table in tables(daemon):
                saved = table.read_bytes()
                overwrite(table, len(saved) // 2, bytes(byte ^ 0x55 for byte in saved[len(saved) // 2:][:7]))
                self.assertEqual(check(daemon).returncode, 1, table)
                overwrite(table, 0, saved)
            self.assertEqual(check(daemon).returncode, 0)


class DamagedOldSegment(unittest.TestCase):
    # A start reads the newest segment alone: damage in an older one was met only when somebody asked for what stood there.
    def test_it_is_found_soon_after_the_start_and_named(self):
        with Daemon(arguments=SMALL_SEGMENTS) as daemon:
            fill(daemon)
            oldest = segments(daemon)[0]
            saved = oldest.read_bytes()
            offset = saved.find(b"x" * 1000)
            overwrite(oldest, offset, b"y")
            try:
                daemon.start()
            except AssertionError:
                pass  # found before the line that says ready was read
            self.assertEqual(daemon.wait(), EXIT_BROKEN_WORLD, daemon.log_text())
            self.assertIn("damaged_log", daemon.log_text())
            self.assertIn(oldest.name, daemon.log_text())
            self.assertIn(oldest.name, check(daemon).stderr)
            overwrite(oldest, offset, b"x")
            daemon.start()
            deadline = time.monotonic() + 60
            while "log_verified" not in daemon.log_text() and time.monotonic() < deadline:
                self.assertEqual(daemon.client().request("GET", "/readyz")[0], 200)
            self.assertIn("log_verified", daemon.log_text())


class LostSegments(unittest.TestCase):
    # Without its newest segment the log began where it ended before, and what had been acknowledged was gone without a
    # word. Without any segment a new log was begun, and the old one could not be put back.
    def test_a_start_refuses_and_makes_nothing_and_putting_them_back_heals(self):
        with Daemon(arguments=SMALL_SEGMENTS) as daemon:
            numbers = fill(daemon)
            away = daemon.directory / "away"
            away.mkdir()
            for lost in (segments(daemon)[-1:], segments(daemon)):
                mark = next(daemon.data.glob("journal/newest-*"))
                for with_mark in (True, False):
                    if not with_mark and len(lost) == 1:
                        continue  # nothing is left to tell
                    for path in [*lost, *([] if with_mark else [mark])]:
                        path.rename(away / path.name)
                    before = sorted(daemon.data.glob("journal/*"))
                    with self.assertRaises(AssertionError):
                        daemon.start()
                    self.assertEqual(daemon.wait(), 1)
                    self.assertIn("damaged_log", daemon.log_text())
                    self.assertEqual(sorted(daemon.data.glob("journal/*")), before)
                    self.assertEqual(check(daemon).returncode, 1)
                    for path in away.iterdir():
                        path.rename(daemon.data / "journal" / path.name)
            daemon.start()
            client = daemon.client()
            self.assertEqual(client.request("GET", "/v1/stats")[1]["pending"], len(numbers))
            self.assertEqual(client.get(numbers[-1])[1]["state"], "scheduled")


if __name__ == "__main__":
    unittest.main(verbosity=2)
