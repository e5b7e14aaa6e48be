"""Backups of the real daemon: taken while it executes puts and cancels, restored, and served; and refusals."""

import http.server
import json
import os
import pathlib
import subprocess
import threading
import time
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
        self.assertIn("later ones are void", made.stderr)
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

    def test_leases_that_the_backup_holds_continue_and_later_ones_are_refused(self):
        for body in ("one", "two"):
            self.client.put("work", body)
        kept = self.client.lease("work", maximum=1)[0]
        self.daemon.terminate()  # which writes its lease
        self.back_up()
        self.daemon.start()
        later = self.daemon.client().lease("work", maximum=1)[0]
        restored, _ = self.restore()
        restored.start()
        client = restored.client()
        status, refusal = client.ack(later["lease"])
        self.assertEqual((status, refusal["code"]), (400, "bad_lease_token"))
        self.assertEqual(client.ack(kept["lease"])[1]["outcome"], "done")
        after = client.take("work", 1)[0]
        self.assertEqual((after["id"], after["maybe_delivered"]), (later["id"], True))
        self.assertEqual(client.ack(after["lease"])[1]["outcome"], "done")
        self.assertEqual(self.daemon.client().ack(later["lease"])[1]["outcome"], "done", "the original knows nothing of it")

    def test_a_prepared_message_that_the_original_committed_too_may_have_been_delivered(self):
        _, half = self.client.request("POST", "/v1/queues/work/messages", {"body": "half", "transaction": {"check_back": {"after": "1h"}}})
        self.back_up()
        restored, _ = self.restore()
        restored.start()
        for client, maybe in ((self.client, False), (restored.client(), True)):
            self.assertEqual(client.request("POST", f"/v1/messages/{half['id']}:commit")[0], 200)
            taken = client.take("work", 1)[0]
            self.assertEqual((taken["id"], taken["maybe_delivered"]), (half["id"], maybe))

    def test_the_first_start_alone_says_that_it_was_restored(self):
        """Each start that had not got past the time of the restore said it, and none of a backup that was ahead of it."""
        for ahead in ("1ms", "240h"):
            with self.subTest(ahead=ahead), Daemon(arguments=["--test-clock"]) as original, Daemon(arguments=["--test-clock"]) as restored:
                original.start()
                self.assertEqual(original.client().request("POST", "/v1/clock:advance", {"by": ahead})[0], 200)
                original.client().put("work", "one")
                backup = original.directory / "backup"
                self.assertEqual(duewheel("backup", original.data, backup).returncode, 0)
                self.assertEqual(duewheel("restore", backup, restored.data).returncode, 0)
                for _ in range(3):
                    restored.start()
                    self.assertEqual(restored.client().request("GET", "/v1/stats")[1]["pending"], 1)
                    self.assertEqual(restored.log_text().count("warning restored_from_backup:"), 1)
                    restored.kill()

    def test_what_is_no_data_directory_is_refused_and_says_what_to_do(self):
        self.client.put("work", "one")
        self.back_up()
        started = subprocess.run([BIN / "duewheeld", "--data", self.backup, "--http", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
        self.assertNotEqual(started.returncode, 0)
        self.assertIn("duewheel restore", started.stderr)
        for arguments, code in [(("backup", self.daemon.data, self.backup), "not_empty"),
                                (("backup", self.daemon.directory / "nothing", self.daemon.directory / "b"), "not_found"),
                                (("restore", self.daemon.data, self.daemon.directory / "r"), "not_a_backup"),
                                (("restore", self.backup, self.daemon.data), "not_empty"),
                                (("backup", self.daemon.data, self.daemon.data / "b"), "inside_itself"),
                                (("backup", self.daemon.data, f"{self.daemon.data}/../{self.daemon.data.name}/b"), "inside_itself"),
                                (("restore", self.backup, self.backup / "r"), "inside_itself"),
                                (("restore", self.backup, self.backup), "inside_itself")]:
            refused = duewheel(*arguments)
            self.assertEqual(refused.returncode, 2 if code == "inside_itself" else 1, arguments)
            self.assertIn(f"({code}", refused.stderr)
            self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)

    # It named the file in the half-made copy, where nobody could mend anything.
    def test_a_damaged_backup_is_named_and_not_what_was_copied_of_it(self):
        self.client.put("work", "one")
        self.back_up()
        segment = next((self.backup / "journal").glob("seg-*"))
        with open(segment, "r+b") as file:
            file.seek(5000)
            byte = file.read(1)
            file.seek(5000)
            file.write(bytes([byte[0] ^ 1]))
        refused = duewheel("restore", self.backup, self.daemon.directory / "r")
        self.assertEqual(refused.returncode, 1)
        self.assertIn(str(segment), refused.stderr)
        self.assertIn(f"remove {self.daemon.directory / 'r'}", refused.stderr)

    def test_a_restored_server_that_is_not_to_post_leaves_webhooks_waiting(self):
        posted = []

        class Target(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                posted.append(self.headers["webhook-id"])
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *unused):
                pass

        target = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Target)
        self.addCleanup(target.server_close)
        self.addCleanup(target.shutdown)
        threading.Thread(target=target.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{target.server_port}/"
        self.daemon.terminate()
        allowed = "--webhooks-allowed-networks=127.0.0.0/8"
        self.daemon.arguments = [allowed]
        self.daemon.start()
        self.client = self.daemon.client()
        status, answer = self.client.request("PUT", "/v1/queues/posted", {"paused": True, "target": {"webhook": {"url": url}}})
        self.assertIn(status, (200, 201), answer)
        message = self.client.put("posted", "one")[1]["id"]
        self.back_up()
        duewheel("restore", self.backup, self.daemon.directory / "r" / "data")
        with Daemon(directory=self.daemon.directory / "r", arguments=[allowed, "--webhooks-post=false"]) as restored:
            restored.start()
            self.assertIn("warning restored_from_backup:", restored.log_text())
            client = restored.client()
            client.request("POST", "/v1/queues/posted:resume")
            self.assertEqual(client.request("GET", "/v1/queues/posted")[1]["webhook"]["state"], "disabled")
            got = client.take("posted", 1)[0]
            self.assertEqual((got["id"], got["maybe_delivered"]), (message, True), "nobody else has it")
            client.request("POST", f"/v1/leases/{got['lease']}:release")
            self.assertEqual(restored.terminate(), 0)
            self.assertEqual(posted, [])
            restored.arguments = [allowed]
            restored.start()
            give_up = time.monotonic() + 30
            while not posted:
                self.assertLess(time.monotonic(), give_up)
                time.sleep(0.01)
            seen = restored.client().request("GET", "/v1/queues/posted")[1]["webhook"]
            self.assertEqual(seen["state"], "ok")


if __name__ == "__main__":
    unittest.main()
