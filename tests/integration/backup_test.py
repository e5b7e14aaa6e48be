"""Backups of the real daemon: made while it takes puts and cancels, restored, and served; and what is refused."""

import json
import os
import pathlib
import subprocess
import threading
import unittest

from daemon import Daemon

BIN = pathlib.Path(os.environ["DUEWHEEL_BIN"])
SEGMENTS = ["--store-segment-size=1MiB"]


def duewheel(*arguments):
    return subprocess.run([BIN / "duewheel", *map(str, arguments)], capture_output=True, text=True, timeout=120)


class Backups(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(arguments=SEGMENTS)
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()
        self.backup = self.daemon.directory / "backup"

    def back_up(self):
        made = duewheel("--json", "backup", self.daemon.data, self.backup)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        return json.loads(made.stdout)

    def restore(self):
        restored = Daemon(arguments=SEGMENTS)
        self.addCleanup(restored.__exit__, None, None, None)
        made = duewheel("--json", "restore", self.backup, restored.data)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("Leases of before are void", made.stderr)
        return restored, json.loads(made.stdout)

    def test_all_that_was_answered_before_is_in_it_however_busy_the_server_was(self):
        stop, put, cancelled = threading.Event(), [], []

        def load(number):
            client = self.daemon.client()
            while not stop.is_set():
                lines = "".join(json.dumps({"body": f"{number}" + "x" * 500, "delay": "1h"}) + "\n" for _ in range(50))
                _, text = client.request_text("POST", "/v1/queues/work/messages:batch", lines, {"Content-Type": "application/x-ndjson"})
                ids = [json.loads(line)["id"] for line in text.splitlines()]
                put.extend(ids)
                for message in ids[:20]:
                    self.assertEqual(client.cancel(message)[1]["outcome"], "cancelled")
                    cancelled.append(message)

        threads = [threading.Thread(target=load, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        while len(put) < 3000:
            stop.wait(0.05)
        known, ended = set(put), set(cancelled)
        report = self.back_up()
        stop.set()
        for thread in threads:
            thread.join()
        self.assertGreater(report["segments"], 1)
        restored, again = self.restore()
        self.assertEqual((again["pending"], again["sequence"]), (report["pending"], report["sequence"]))
        restored.start()
        client = restored.client()
        self.assertEqual(client.request("GET", "/v1/stats")[1]["pending"], report["pending"])
        waiting = known - set(cancelled)
        self.assertGreaterEqual(report["pending"], len(waiting))
        for message in sorted(waiting)[::7]:
            self.assertEqual(client.get(message)[1]["state"], "scheduled")
        for message in sorted(ended)[::7]:
            self.assertEqual(client.cancel(message)[1]["outcome"], "cancelled")
        self.assertEqual(duewheel("check", self.backup).returncode, 0)

    def test_leases_of_before_are_void_and_what_may_have_been_delivered_says_so(self):
        self.client.put("work", "one")
        before = self.client.lease("work")[0]
        self.back_up()
        restored, _ = self.restore()
        restored.start()
        client = restored.client()
        status, refusal = client.ack(before["lease"])
        self.assertEqual((status, refusal["code"]), (400, "bad_lease_token"))
        after = client.take("work", 1)[0]
        self.assertEqual((after["id"], after["maybe_delivered"]), (before["id"], True))
        self.assertEqual(client.ack(after["lease"])[1]["outcome"], "done")
        self.assertEqual(self.client.ack(before["lease"])[1]["outcome"], "done", "the original knows nothing of it")

    def test_what_is_no_data_directory_is_refused_and_says_what_to_do(self):
        self.client.put("work", "one")
        self.back_up()
        started = subprocess.run([BIN / "duewheeld", "--data", self.backup, "--http", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
        self.assertNotEqual(started.returncode, 0)
        self.assertIn("duewheel restore", started.stderr)
        for arguments, code in [(("backup", self.daemon.data, self.backup), "not_empty"),
                                (("backup", self.daemon.directory / "nothing", self.daemon.directory / "b"), "not_found"),
                                (("restore", self.daemon.data, self.daemon.directory / "r"), "not_a_backup"),
                                (("restore", self.backup, self.daemon.data), "not_empty")]:
            refused = duewheel(*arguments)
            self.assertEqual(refused.returncode, 1, arguments)
            self.assertIn(f"({code}", refused.stderr)
            self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)


if __name__ == "__main__":
    unittest.main()
