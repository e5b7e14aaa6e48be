"""Files of the data directory that were damaged or removed: the behaviour of a start, of a running server, of
`duewheel check`, and of the commands on the page for operators."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import time
import unittest

from daemon import BIN, Daemon

EXIT_BROKEN_WORLD = 74
EXIT_DATA = 65
SMALL_SEGMENTS = ["--store-segment-size", "1MiB"]
MESSAGES = 1500
SOURCE = pathlib.Path(__file__).resolve().parents[2]


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


def recorded_sequence(daemon):
    """How far the log has reached, according to the file `end`."""
    return int(next(line for line in (daemon.data / "end").read_text().splitlines() if line.startswith("sequence")).split()[1])


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
            # Each further start was ready, acknowledged puts for a second, and ended with 74 again.
            self.assert_refused(daemon, oldest.name)
            self.assert_refused(daemon, "The log is damaged")
            overwrite(oldest, offset, b"x")
            daemon.start()
            self.assertIn("log_whole_again", daemon.log_text())
            self.assertRegex(daemon.log_text(), "warning last_run_not_stopped: .* ended=fatal")
            deadline = time.monotonic() + 60
            while "log_verified" not in daemon.log_text() and time.monotonic() < deadline:
                self.assertEqual(daemon.client().request("GET", "/readyz")[0], 200)
            self.assertIn("log_verified", daemon.log_text())


    # A running server did not find it yet, but the operator did.
    def test_what_check_finds_is_remembered_until_it_is_gone(self):
        with Daemon(arguments=SMALL_SEGMENTS) as daemon:
            fill(daemon)
            oldest = segments(daemon)[0]
            offset = oldest.read_bytes().find(b"x" * 1000)
            overwrite(oldest, offset, b"y")
            self.assertEqual(check(daemon).returncode, 1)
            self.assertIn(f"file {oldest.name}\n", (daemon.data / "damage").read_text())
            self.assert_refused(daemon, oldest.name)
            overwrite(oldest, offset, b"x")
            self.assertEqual(check(daemon).returncode, 0)
            self.assertFalse((daemon.data / "damage").exists())
            daemon.start()

    def assert_refused(self, daemon, why):
        before = len(daemon.log_text())
        with self.assertRaises(AssertionError):
            daemon.start()
        self.assertEqual(daemon.wait(), EXIT_DATA)
        text = daemon.log_text()[before:]
        self.assertIn("cannot_start", text)
        self.assertIn(why, text)
        self.assertNotIn(" ready ", text)


class Salvage(unittest.TestCase):
    # One flipped byte in an old segment, and what remained was a backup, which lacks everything since.
    def test_the_page_brings_the_other_messages_back(self):
        with Daemon(arguments=SMALL_SEGMENTS) as daemon:
            daemon.start()
            client = daemon.client()
            lost = client.put("mail", "mark me " + "m" * 500, delay="1h")[1]["id"]
            stale = client.put("mail", "stale", delay="1h")[1]["id"]
            client.request("PUT", "/v1/queues/mail", {"lease": "2m"})
            client.request("PUT", "/v1/schedules/daily", {"cron": "0 5 * * *", "queue": "mail", "body": "good morning"})
            kept = {"stale": "scheduled"}
            for number in range(MESSAGES):
                client.put("mail", f"{number} " + "x" * 3000, delay="2h")
                kept[f"{number} " + "x" * 3000] = "scheduled"
            gone = client.put("mail", "cancelled", delay="1h")[1]["id"]
            client.cancel(gone)
            client.cancel(stale)
            client.put("mail", "with a key", delay="1h", key="k")
            client.request("PATCH", "/v1/messages/" + client.put("mail", "moved", delay="1h")[1]["id"], {"delay": "5h"})
            client.put("mail", "held", held=True)
            kept.update({"with a key": "scheduled", "moved": "scheduled", "held": "held"})
            bad = client.put("work", "bad", retry={"attempts": 1})[1]["id"]
            lease = client.take("work", 1)[0]["lease"]
            client.request("POST", f"/v1/leases/{lease}:fail", {"reason": "it is broken"})
            self.assertEqual(client.get(bad)[1]["state"], "dead")
            for number in range(600):
                client.put("late", f"late {number} " + "y" * 3000, delay="3h")
                kept[f"late {number} " + "y" * 3000] = "scheduled"
            while len(segments(daemon)) < 5:
                client.put("late", "more " + "y" * 3000, delay="3h")
            daemon.kill()
            for path in segments(daemon):  # the message that is lost, and the record of a cancel
                data = path.read_bytes()
                if b"mark me " in data:
                    overwrite(path, data.find(b"mark me "), b"M")
            damaged = segments(daemon)[0].name
            out = self.carry_out(daemon, "save the other messages")
            self.assertIn(damaged, out)
            client = daemon.client()
            found = {}
            dead = []
            for queue in ("mail", "late", "work"):
                for message in self.all_of(client, queue):
                    whole = client.get(message["id"])[1]
                    if whole["state"] == "held" and queue == "work":
                        dead.append(whole["body"])
                    elif not whole["body"].startswith("more "):
                        found[whole["body"]] = whole["state"]
            del kept["stale"]  # its cancel is whole
            self.assertEqual(found, kept)
            self.assertEqual(dead, ["bad"])
            self.assertEqual(client.request("GET", "/v1/queues/mail")[1]["settings"]["lease_ms"], 120000)
            self.assertEqual(client.request("GET", "/v1/schedules/daily")[0], 200)
            self.assertNotIn(lost, out.replace(damaged, ""))

    # A segment of a backup is as good as the one in the data directory: nothing is lost, not even what came later.
    def test_the_page_puts_a_copy_of_the_segment_back(self):
        with Daemon(arguments=SMALL_SEGMENTS) as daemon:
            numbers = fill(daemon)
            subprocess.run([BIN / "duewheel", "backup", daemon.data, daemon.directory / "backups" / "duewheel-monday"],
                           check=True, capture_output=True)
            oldest = segments(daemon)[0]
            overwrite(oldest, oldest.read_bytes().find(b"x" * 1000), b"y")
            self.carry_out(daemon, "put a copy of the file back", {"seg-00000000000000183220.log": oldest.name})
            self.assertEqual(daemon.client().request("GET", "/v1/stats")[1]["pending"], len(numbers))

    def all_of(self, client, queue):
        cursor = ""
        while True:
            page = client.request("GET", f"/v1/queues/{queue}/messages?limit=500{cursor}")[1]
            yield from page["messages"]
            if "cursor" not in page:
                return
            cursor = "&cursor=" + page["cursor"]

    def carry_out(self, daemon, step, names=None):
        """Runs the commands of the step of the page, as they stand there; what they print."""
        page = (SOURCE / "docs" / "operating.md").read_text()
        section = page[page.index("## The log is damaged"):]
        block = section[section.index(step):]
        block = block[block.index("```\n") + 4:]
        out = ""
        for line in block[:block.index("```")].splitlines():
            line = line.strip()
            for name, here in {"/var/lib/private/duewheel": daemon.data, "/var/lib/duewheel": daemon.data,
                               "/var/backups": daemon.directory / "backups", **(names or {})}.items():
                line = line.replace(name, str(here))
            (daemon.directory / "backups").mkdir(exist_ok=True)
            if line == "systemctl stop duewheel":
                daemon.kill()
            elif line == "systemctl start duewheel":
                daemon.start()
            else:
                environment = dict(os.environ, DUEWHEEL_SERVER=f"http://127.0.0.1:{daemon.port}",
                                   PATH=f"{BIN}:{os.environ['PATH']}")
                done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120, env=environment)
                out += done.stdout + done.stderr
                self.assertEqual(done.returncode, 0, line + "\n" + out + daemon.log_text())
        return out


class LostEnd(unittest.TestCase):
    # Zeros over the tail of the newest segment: 293 of 400 acknowledged messages were gone, and `check` said undamaged.
    def test_after_a_clean_stop_a_shorter_log_is_refused_until_it_is_accepted(self):
        for whole_segment in (False, True):
            with Daemon(arguments=SMALL_SEGMENTS) as daemon:
                daemon.start()
                client = daemon.client()
                numbers = [client.put("q", f"{number} " + "x" * 3000, delay="1h")[1]["id"] for number in range(400)]
                self.assertEqual(daemon.terminate(), 0)
                self.assertEqual(check(daemon).stdout.splitlines()[-1], "the directory is undamaged")
                self.assertNotIn("not known", check(daemon).stdout)
                newest = segments(daemon)[-1]
                if whole_segment:
                    newest.unlink()
                    mark = next(daemon.data.glob("journal/newest-*"))
                    mark.unlink()
                else:
                    size = newest.stat().st_size
                    overwrite(newest, 8192, bytes(size - 8192))
                refused = check(daemon)
                self.assertEqual(refused.returncode, 1)
                self.assertRegex(refused.stderr, r"at least \d+ acknowledged records are missing")
                self.assertIn("--accept-lost-end", refused.stderr)
                with self.assertRaises(AssertionError):
                    daemon.start()
                self.assertEqual(daemon.wait(), EXIT_DATA)
                self.assertIn("acknowledged records are missing", daemon.log_text())
                backup = subprocess.run([BIN / "duewheel", "backup", daemon.data, daemon.directory / "backup"],
                                        capture_output=True, text=True, timeout=60)
                self.assertEqual(backup.returncode, 1)
                # The export took the log for whole, and counted no message as possibly stale.
                saved = subprocess.run([BIN / "duewheel", "--json", "export", "--skip-damaged", daemon.data,
                                        daemon.directory / "saved.ndjson"], capture_output=True, text=True, timeout=60)
                self.assertEqual(saved.returncode, 0, saved.stderr)
                saved = json.loads(saved.stdout)
                part = saved["damage"]["omitted"][-1]
                self.assertEqual(part["why"], "the end of the log is missing")
                self.assertEqual(part["last_sequence"], recorded_sequence(daemon))
                self.assertGreaterEqual(part["records"], 400 - saved["messages"])
                self.assertEqual(saved["damage"]["maybe_stale"], saved["messages"])
                accepted = subprocess.run([BIN / "duewheel", "check", "--accept-lost-end", daemon.data],
                                          capture_output=True, text=True, timeout=60)
                self.assertEqual(accepted.returncode, 0, accepted.stderr)
                daemon.start()
                client = daemon.client()
                self.assertEqual(client.get(numbers[0])[1]["state"], "scheduled")
                self.assertEqual(client.get(numbers[-1])[0], 404)
                # The lost messages had ids, which are not assigned again.
                self.assertGreater(int(client.put("q", "new")[1]["id"]), int(numbers[-1]))
                self.assertEqual(daemon.terminate(), 0)
                self.assertEqual(check(daemon).returncode, 0)


    # Without any segment `check` said undamaged, and without the index the server began an empty log.
    def test_a_log_without_segments_is_refused_until_it_is_accepted(self):
        with Daemon() as daemon:
            daemon.start()
            last = [daemon.client().put("q", "lost", delay="1h")[1]["id"] for _ in range(20)][-1]
            self.assertEqual(daemon.terminate(), 0)
            missing = f"at least {recorded_sequence(daemon)} acknowledged records are missing"
            for path in [*segments(daemon), *daemon.data.glob("journal/newest-*")]:
                path.unlink()
            for with_index in (True, False):
                if not with_index:
                    shutil.rmtree(daemon.data / "index", ignore_errors=True)
                refused = check(daemon)
                self.assertEqual(refused.returncode, 1, refused.stdout)
                self.assertIn(missing, refused.stderr)
                before = len(daemon.log_text())
                with self.assertRaises(AssertionError):
                    daemon.start()
                self.assertEqual(daemon.wait(), EXIT_DATA)
                self.assertIn(missing, daemon.log_text()[before:])
                self.assertEqual(segments(daemon), [])
            # The export said that there was no log, and not what to do.
            saved = subprocess.run([BIN / "duewheel", "export", "--skip-damaged", daemon.data, daemon.directory / "saved.ndjson"],
                                   capture_output=True, text=True, timeout=60)
            self.assertEqual(saved.returncode, 1)
            self.assertRegex(saved.stderr, r"contains no segment .* restore a backup \(damaged_log\)")
            accepted = subprocess.run([BIN / "duewheel", "check", "--accept-lost-end", daemon.data],
                                      capture_output=True, text=True, timeout=60)
            self.assertEqual(accepted.returncode, 0, accepted.stderr)
            daemon.start()
            client = daemon.client()
            self.assertEqual(client.get(last)[0], 404)
            self.assertGreater(int(client.put("q", "new")[1]["id"]), int(last))
            self.assertEqual(daemon.terminate(), 0)
            self.assertEqual(check(daemon).returncode, 0, check(daemon).stderr)


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
                    self.assertEqual(daemon.wait(), EXIT_DATA)
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
