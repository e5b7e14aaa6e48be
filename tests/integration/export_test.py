"""Everything pending in the real daemon as lines of JSON: exported while it runs, imported into a second server, and
exported again. The exports are equal except for ids and times, even if the import was killed in the middle and started
again."""

import base64
import datetime
import fcntl
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

from daemon import Daemon
from exports import BIN, NOT_CARRIED, SEGMENTS, Exports, duewheel, lines_of


def there_start(lines):
    """The first time of the schedule `beat`, which an import sets."""
    return next(line["settings"]["start"] for line in lines if line.get("schedule") == "beat" and line["kind"] == "schedule")


class Export(Exports):
    def carried(self, lines):
        """What an import carries of each line, whatever their order; keys that it adds are left out."""
        kept = []
        for line in lines:
            if line["kind"] in ("export", "end"):
                continue
            line = {name: value for name, value in line.items() if name not in NOT_CARRIED}
            if len(line.get("key", "")) > 32 and line["key"][32] == ":":
                del line["key"]
            kept.append(json.dumps(line, sort_keys=True))
        return sorted(kept)

    @staticmethod
    def bodies_by_key(lines):
        by_key = {}
        for line in lines:
            if line["kind"] == "message":
                due = datetime.datetime.fromisoformat(line["due"]).timestamp() * 1000
                place = (line.get("nominal_due_ms", round(due)), int(line["id"]))
                by_key.setdefault(line["order_key"], []).append((*place, line["body"]))
        for key, bodies in by_key.items():
            assert bodies == sorted(bodies), f"the lines of {key} do not stand in their order"
        return {key: [body for _, _, body in bodies] for key, bodies in by_key.items()}

    def export_with_attempt(self, *options):
        """An attempt that lasts is in the log after 0.2 s."""
        deadline = time.monotonic() + 30
        while True:
            lines = self.export(self.source, *options)
            if any(line.get("body") == "with a consumer" and line.get("attempts") for line in lines):
                return lines
            self.assertLess(time.monotonic(), deadline, "the attempt is not written")

    def test_everything_pending_comes_through_a_second_server(self):
        self.set_all_kinds()
        self.put_all_kinds()
        lines = self.export_with_attempt()
        states = {line["state"] for line in lines if line["kind"] == "message"}
        self.assertEqual(states, {"scheduled", "ready", "retrying", "held", "prepared"})
        target = self.started()
        report = self.do_import(target, self.file)
        messages = [line for line in lines if line["kind"] == "message"]
        self.assertEqual((report["put"], report["refused"], report["set"]), (len(messages), 0, 6))
        there = self.export(target)
        for line in lines:
            if line["kind"] == "schedule" and line["schedule"] == "beat":
                line["settings"]["start"] = there_start(there)
        self.assertEqual(self.carried(lines), self.carried(there))
        # And once more it makes nothing.
        report = self.do_import(target, self.file)
        self.assertEqual((report["put"], report["put_before"], report["set"], report["set_before"]), (0, len(messages), 0, 6))
        self.assertEqual(self.carried(self.export(target)), self.carried(there))

    def test_the_order_of_each_order_key_is_kept(self):
        rng = random.Random(9)
        for number in range(300):
            self.ask("POST", "/v1/queues/orders/messages", {"body": str(number), "order_key": f"k{rng.randrange(5)}",
                                                            "due": f"2001-01-01T00:00:00.{rng.randrange(50):03}Z"})
        for message in self.client.take("orders", 5):  # the first of each rest, and hold up the others
            self.ask("POST", f"/v1/leases/{message['lease']}:fail", {"retry_in": "1h"})
        wanted = self.bodies_by_key(self.export(self.source))
        lines = self.file.read_text()
        target = self.started()
        self.do_import(target, self.file)
        client, delivered = target.client(), {}
        keys = {line["body"]: line["order_key"] for line in lines_of(lines) if line["kind"] == "message"}
        for _ in range(300):
            message = client.take("orders", 1)[0]
            delivered.setdefault(keys[message["body"]], []).append(message["body"])
            client.ack(message["lease"])
        self.assertEqual(delivered, wanted)

    def test_an_export_is_of_one_instant_however_busy_the_server_is(self):
        stop, counts = threading.Event(), []

        def load(number):
            client = self.source.client()
            while not stop.is_set():
                batch = "".join(json.dumps({"body": f"{number} " + "x" * 500, "delay": "1h"}) + "\n" for _ in range(50))
                _, text = client.request_text("POST", "/v1/queues/work/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
                ids = [json.loads(line)["id"] for line in text.splitlines()]
                for message in ids[:20]:
                    client.cancel(message)
                counts.append(len(ids))

        threads = [threading.Thread(target=load, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        while sum(counts) < 3000:
            stop.wait(0.05)
        try:
            for _ in range(4):
                lines = self.export(self.source)
                self.assertEqual(lines[0]["pending"], lines[-1]["messages"])
                ids = [line["id"] for line in lines if line["kind"] == "message"]
                self.assertEqual((len(ids), len(set(ids))), (lines[0]["pending"], lines[0]["pending"]))
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        # What was answered before the call is in it.
        known = self.ask("POST", "/v1/queues/last/messages", {"body": "answered", "delay": "1h"})["id"]
        self.assertIn(known, [line["id"] for line in self.messages(self.source)])

    def test_dead_letters_are_exported_and_may_be_held(self):
        self.put_all_kinds()
        dead = [line for line in self.messages(self.source, "--dead") if line["state"] == "dead"]
        self.assertEqual([(line["body"], line["reason"], line["attempts"]) for line in dead], [("dead", "dropped", 1)])
        target = self.started()
        self.assertEqual(self.do_import(target, self.file)["dead"], 1)
        report = self.do_import(target, self.file, "--dead-as-held")
        self.assertEqual((report["dead"], report["put"], report["held"]), (0, 1, 3))
        held = [line for line in self.messages(target) if line["state"] == "held"]
        self.assertEqual(sorted(line["body"] for line in held), ["dead", "held, due", "held, later"])

    # Limits that were set late, or that loops and retries go beyond: a message behind the limit was refused, and everything
    # behind that line with it.
    def test_what_is_beyond_its_limits_is_carried_and_then_limited(self):
        due = self.source.client().request("GET", "/v1/stats")[1]["server_time_ms"] + 86_400_000
        for number in range(3):
            self.ask("POST", "/v1/queues/a/messages", {"body": str(number), "due_ms": due})
        self.ask("POST", "/v1/queues/b/messages", {"body": "behind", "due_ms": due})
        limits = {"pending": 2}
        self.ask("PUT", "/v1/queues/a", {"limits": limits})
        self.ask("PUT", "/v1/namespaces/default", {"limits": {"pending": 1}})
        self.export(self.source)
        target = self.started()
        report = self.do_import(target, self.file)
        self.assertEqual((report["put"], report["refused"]), (4, 0))
        client = target.client()
        queue = client.request("GET", "/v1/queues/a")[1]
        self.assertEqual((queue["pending"], queue["settings"]["limits"]), (3, limits))
        self.assertEqual(client.request("GET", "/v1/namespaces/default")[1]["settings"], {"limits": {"pending": 1}})
        again = self.do_import(target, self.file)
        self.assertEqual((again["put"], again["put_before"], again["set_before"]), (0, 4, 2))

    # The run that waits was dropped without a word where its schedule had no other time; one that was paused when its end
    # passed was refused.
    def test_what_schedules_without_a_time_left_cannot_bring_is_counted(self):
        source, target = self.started("--test-clock"), self.started("--test-clock")
        client = source.client()
        self.ask("PUT", "/v1/schedules/last", {"queue": "q", "every": "10m", "times": 2, "overlap": "queue_one", "misfire": "all"}, client)
        end = client.server_time_ms() + 45 * 60_000
        self.ask("PUT", "/v1/schedules/paused", {"queue": "q", "every": "30m", "end_ms": end, "paused": True}, client)
        for each in (source, target):
            each.client().advance(by="1h")
        while "waiting_run" not in self.ask("GET", "/v1/schedules/last", client=client):
            pass
        self.export(source)
        report = self.do_import(target, source.directory / "pending.ndjson")
        self.assertEqual({name: report[name] for name in ("ended", "overdue", "refused", "set")},
                         {"ended": 2, "overdue": 1, "refused": 0, "set": 0})

    # It made the occurrences that had come by then before it could be set aside.
    def test_a_held_loop_makes_nothing_on_its_way(self):
        self.ask("POST", "/v1/queues/rounds/messages", {"body": "round", "repeat": {"every": "1ms", "times": 5}, "held": True})
        self.export(self.source)
        target = self.started()
        self.assertEqual(self.do_import(target, self.file)["held"], 1)
        client = target.client()
        (loop,) = self.messages(target)
        self.assertEqual((loop["state"], loop["repeat"]["times"]), ("held", 5))
        self.assertEqual(client.lease("rounds", 10, "0s"), [])
        self.ask("POST", f"/v1/messages/{loop['id']}:kick", client=client)
        self.assertEqual([message["occurrence"] for message in client.take("rounds", 5)], [1, 2, 3, 4, 5])

    # It removed whatever had the names of what it makes meanwhile, and replaced a device, a pipe or a link by a file.
    def test_an_export_touches_nothing_that_it_did_not_make(self):
        self.ask("POST", "/v1/queues/q/messages", {"body": "x", "delay": "1h"})
        data, place = self.source.data, pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("my.scratch", "scratch/duewheel-export"):
            (place / name).mkdir(parents=True)
            (place / name / "precious").write_text("precious")
        (place / "my.partial").write_text("precious")
        for options in ([], ["--scratch", place / "scratch"]):
            done = duewheel("export", data, place / "my", *options)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(path.name for path in place.iterdir()), ["my", "my.partial", "my.scratch", "scratch"])
        self.assertEqual(sorted(path.name for path in (place / "scratch").iterdir()), ["duewheel-export"])
        self.assertEqual((place / "my").stat().st_mode & 0o777, 0o600)
        for name in ("my.scratch/precious", "scratch/duewheel-export/precious", "my.partial"):
            self.assertEqual((place / name).read_text(), "precious")
        (place / "link").symlink_to(place / "led to")
        self.assertEqual(duewheel("export", data, place / "link").returncode, 0)
        self.assertTrue((place / "link").is_symlink())
        self.assertEqual((place / "led to").read_text(), (place / "my").read_text())
        piped = duewheel("export", data, "/dev/stdout")
        self.assertEqual((piped.returncode, piped.stdout.splitlines()[0]), (0, (place / "my").read_text().splitlines()[0]))
        self.assertTrue(pathlib.Path("/dev/stdout").is_symlink())
        full = duewheel("export", data, "/dev/full")
        self.assertIn("(no_space", full.stderr)
        self.assertTrue(pathlib.Path("/dev/full").is_char_device())
        self.assertIn("Is a directory", duewheel("export", data, place).stderr)

    # A held dead letter blocked all messages with its order key, and one that had an expiry was not imported.
    def test_held_dead_letters_block_no_messages_and_do_not_expire(self):
        for queue, more in (("pay", {"order_key": "ann"}), ("brief", {"expires_in": "1h"})):
            self.ask("POST", f"/v1/queues/{queue}/messages", {"body": "dies", "retry": {"attempts": 1}, **more})
            self.client.request("POST", f"/v1/leases/{self.client.take(queue, 1)[0]['lease']}:fail", {"reason": "no"})
        self.ask("POST", "/v1/queues/pay/messages", {"body": "next", "order_key": "ann"})
        self.export(self.source, "--dead")
        target = self.started()
        report = self.do_import(target, self.file, "--dead-as-held")
        self.assertEqual((report["put"], report["held"], report["changed"]["order"]), (3, 2, 1))
        self.assertEqual(target.client().take("pay", 1)[0]["body"], "next")
        (brief,) = [line for line in self.messages(target) if line["queue"] == "brief"]
        self.assertNotIn("expires_ms", brief)

    def test_what_was_due_and_not_made_yet_is_counted(self):
        self.ask("PUT", "/v1/queues/f", {"limits": {"pending": 1}})
        self.ask("POST", "/v1/queues/f/messages", {"body": "in the way", "delay": "1h"})
        self.ask("PUT", "/v1/watchdogs/w", {"queue": "f", "timeout": "1ms"})
        self.ask("PUT", "/v1/schedules/s", {"queue": "f", "every": "1s", "misfire": "all"})
        while not all(self.ask("GET", f"/v1/{name}").get("blocked_by") == "queue_full" for name in ("watchdogs/w", "schedules/s")):
            pass
        self.ask("POST", "/v1/queues/later/messages", {"body": "so that the log knows how late it is", "delay": "1h"})
        self.export(self.source)
        self.assertEqual(self.do_import(self.started(), self.file)["overdue"], 2)

    def test_what_has_expired_meanwhile_is_counted(self):
        self.ask("POST", "/v1/queues/mail/messages", {"body": "brief", "expires_in": "1h"})
        self.ask("POST", "/v1/queues/mail/messages", {"body": "lasting", "delay": "1h"})
        self.export(self.source)
        target = self.started("--test-clock")
        target.client().advance(by="2h")
        report = self.do_import(target, self.file)
        self.assertEqual((report["put"], report["expired"], report["refused"]), (1, 1, 0))

    def test_a_purge_under_way_is_over_in_an_export(self):
        for at in range(5):
            batch = "".join(json.dumps({"body": str(number), "delay": "1h"}) + "\n" for number in range(1000))
            self.client.request_text("POST", "/v1/queues/work/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
        self.ask("POST", "/v1/queues/work:purge")
        self.ask("POST", "/v1/queues/work/messages", {"body": "after", "delay": "1h"})
        lines = self.export(self.source)
        self.assertEqual([line["body"] for line in lines if line["kind"] == "message"], ["after"])
        self.assertEqual(lines[-1]["purged"] + 1, lines[0]["pending"])

    def test_secrets_of_webhooks_are_named_on_request_and_else_nothing_goes_out_unsigned(self):
        def started():
            daemon = Daemon(arguments=[*SEGMENTS, "--webhooks-secrets=ours=ours"])
            self.addCleanup(daemon.__exit__, None, None, None)
            (daemon.directory / "ours").write_text("whsec_" + base64.b64encode(b"s" * 24).decode() + "\n")
            (daemon.directory / "ours").chmod(0o600)
            daemon.start()
            return daemon

        source, target, other = started(), started(), started()
        webhook = {"url": "https://receiver.example/in", "secrets": ["ours"]}
        self.ask("PUT", "/v1/queues/calls", {"target": {"webhook": webhook}}, source.client())
        for options, daemon, kept in (([], target, {"paused": True, "target": {"webhook": {"url": webhook["url"]}}}),
                                      (["--with-secrets"], other, {"paused": False, "target": {"webhook": webhook}})):
            made = duewheel("export", source.data, self.file, *options)
            self.assertEqual((made.returncode, "--with-secrets" in made.stderr), (0, not options), made.stderr)
            self.assertEqual("ours" in self.file.read_text(), bool(options))
            done = duewheel("import", self.file, server=daemon)
            self.assertEqual((done.returncode, "calls" in done.stderr), (0, not options), done.stderr)
            self.assertEqual(daemon.client().request("GET", "/v1/queues/calls")[1]["settings"], kept)

    def test_without_a_server_and_from_a_backup_it_is_the_same(self):
        self.put_all_kinds()
        running = self.carried(self.export_with_attempt("--dead"))
        made = duewheel("backup", self.source.data, self.source.directory / "backup")
        self.assertEqual(made.returncode, 0, made.stderr)
        for directory in (self.source.data, self.source.directory / "backup"):
            self.source.kill()
            done = duewheel("export", directory, "-", "--dead")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("the export is complete", done.stderr)
            self.assertEqual(self.carried(lines_of(done.stdout)), running)
        piped = duewheel("--json", "import", "-", "--dry-run", input=done.stdout)
        self.assertEqual(piped.returncode, 0, piped.stderr)

    def test_how_far_it_is_stands_on_a_terminal_alone(self):
        self.put_all_kinds()
        target = self.started()
        for arguments, word, columns in ((("export", self.source.data, self.file), "exported", 80),
                                         (("import", self.file), "imported", 80),
                                         (("import", self.file), "imported", 30), (("import", self.file), "imported", 12)):
            controller, terminal = os.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            server = ["--server", f"http://127.0.0.1:{target.port}"]
            run = subprocess.run([BIN / "duewheel", *server, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=terminal, timeout=60)
            os.close(terminal)
            shown = b""
            try:
                while piece := os.read(controller, 65536):
                    shown += piece
            except OSError:  # the end of what a terminal has
                pass
            os.close(controller)
            self.assertEqual(run.returncode, 0, shown)
            drawn = shown.decode().split("\r\x1b[K")
            self.assertEqual(drawn[-1], "", "the line is gone at the end")
            # It was 52 letters wide however narrow the terminal, and broken over two lines that nobody took away.
            self.assertLess(max(map(len, drawn)), columns)
            bar = r"\[#+\.*\] +" if columns > 20 else ""
            self.assertRegex(drawn[-2], rf"^{bar} *100.0 % {word[:columns - 10]}")

    def test_an_export_that_is_told_to_stop_or_loses_its_reader_leaves_nothing(self):
        for at in range(30):
            batch = "".join(json.dumps({"body": f"{at} " + "z" * 900, "delay": "1h"}) + "\n" for _ in range(1000))
            self.client.request_text("POST", "/v1/queues/work/messages:batch", batch, {"Content-Type": "application/x-ndjson"})
        temporary = self.source.directory / "temporary"
        temporary.mkdir()
        command = [BIN / "duewheel", "export", self.source.data]
        process = subprocess.Popen([*command, "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=dict(os.environ, TMPDIR=str(temporary)))
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(60), 1)
        self.assertIn(b"(io_error)", process.stderr.read())
        process.stderr.close()
        self.assertEqual(list(temporary.iterdir()), [])
        for _ in range(20):
            process = subprocess.Popen([*command, self.file], stderr=subprocess.PIPE)
            while not list(self.source.directory.glob("pending*")) and process.poll() is None:
                pass
            process.send_signal(signal.SIGTERM)
            _, error = process.communicate(timeout=60)
            if process.returncode != 0:
                break
            self.file.unlink()  # it was over before it was told
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"(stopped)", error)
        self.assertEqual(list(self.source.directory.glob("pending*")), [])

    def test_what_cannot_be_exported_is_refused(self):
        self.put_all_kinds()
        nowhere = duewheel("export", self.source.directory / "nowhere", self.file)
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("(not_found", nowhere.stderr)
        unwritable = duewheel("export", self.source.data, self.source.directory / "no" / "file")
        self.assertEqual(unwritable.returncode, 1)
        self.assertEqual(len(unwritable.stderr.splitlines()), 1, unwritable.stderr)
        self.assertFalse(self.file.exists())
        self.source.kill()
        segment = sorted((self.source.data / "journal").glob("seg-*"))[0]
        with open(segment, "r+b") as file:
            file.seek(4096 + 40)
            file.write(b"\xff\xff\xff")
        damaged = duewheel("export", self.source.data, self.file)
        self.assertEqual(damaged.returncode, 1)
        self.assertIn("(damaged_log", damaged.stderr)
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
