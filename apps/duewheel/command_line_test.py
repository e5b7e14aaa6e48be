"""The command line against the real daemon: every verb, every exit code, both kinds of output, time zones, and every
example of the help and of docs/command_line.md as pasted. What a real server never answers is in request_test.py.

Programs are found in the directory that DUEWHEEL_BIN names.
"""

import base64
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import zoneinfo

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
from daemon import BIN, Daemon  # noqa: E402

DONE, REFUSED, USAGE, UNREACHABLE = 0, 1, 2, 3
PROGRAM = BIN / "duewheel"
WHEN = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d, "
VERBS = ["put", "get", "cancel", "move", "fire", "lease", "ack", "fail", "extend", "release", "stats", "check"]


class CommandLine(unittest.TestCase):
    """One daemon a test, so that each sees only its own messages."""

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.url = f"http://127.0.0.1:{self.daemon.port}"

    def environment(self, **changes):
        return {"DUEWHEEL_SERVER": self.url, "TZ": "UTC", "PATH": f"{BIN}:{os.environ['PATH']}", **changes}

    def run_program(self, *arguments, stdin=b"", **environment):
        """(exit code, standard output, standard error)."""
        done = subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, timeout=60,
                              env=self.environment(**environment))
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def output(self, *arguments, **more):
        """The standard output of what must succeed."""
        code, output, error = self.run_program(*arguments, **more)
        self.assertEqual((code, error), (DONE, ""), arguments)
        return output

    def answer(self, *arguments, **more):
        """The JSON object of what must succeed; it stands on one line."""
        output = self.output("--json", *arguments, **more)
        self.assertEqual(output.count("\n"), 1)
        return json.loads(output)

    def refusal(self, *arguments, code=REFUSED, **more):
        """The standard error of what must fail: one or two lines and nothing on standard output."""
        got, output, error = self.run_program(*arguments, **more)
        self.assertEqual((got, output), (code, ""), error)
        self.assertTrue(error.startswith("duewheel: "), error)
        self.assertIn(error.count("\n"), (1, 2), error)
        return error

    def put(self, *arguments, **more):
        return self.answer("put", *arguments, **more)["id"]

    def lease_one(self, queue, *arguments):
        messages = self.answer("lease", queue, "--wait", "20s", *arguments)["messages"]
        self.assertEqual(len(messages), 1)
        return messages[0]


class Verbs(CommandLine):
    def test_put_and_get_show_a_message_that_waits(self):
        output = self.output("put", "mail", "two\nlines", "--in", "10m", "--priority", "-7", "--header", "lang=nb",
                             "--header", "k=a=b", "--content-type", "text/plain")
        self.assertRegex(output, rf"^\d+  scheduled, due {WHEN}in (10m|9m 5\ds)\n$")
        number = output.split()[0]
        shown = self.output("get", number)
        for line in (rf"id +{number}", "queue +mail", "state +scheduled", f"due +{WHEN}in (10m|9m 5\\ds)", "priority +-7",
                     "attempts +0", f"put +{WHEN}.* ago", "header +lang=nb", "header +k=a=b", "content type +text/plain"):
            self.assertRegex(shown, rf"(?m)^{line}$")
        self.assertTrue(shown.endswith("\n\ntwo\nlines\n"), shown)
        self.assertEqual(self.answer("get", number)["body"], "two\nlines")

    def test_without_a_time_a_message_is_due_at_once(self):
        self.assertRegex(self.output("put", "q", "now"), rf"^\d+  ready, due {WHEN}.*\n$")
        self.assertEqual(self.lease_one("q")["body"], "now")

    def test_smaller_priorities_come_first(self):
        for body, priority in (("middle", "0"), ("last", "9"), ("first", "-9")):
            self.put("q", body, "--priority", priority)
        messages = self.answer("lease", "q", "--max", "3")["messages"]
        self.assertEqual([message["body"] for message in messages], ["first", "middle", "last"])

    def test_cancel_exits_0_only_when_nothing_will_be_delivered(self):
        waiting = self.put("q", "x", "--in", "1h")
        self.assertEqual(self.output("cancel", waiting), "cancelled\n")
        self.assertEqual(self.output("cancel", waiting), "cancelled\n")
        self.assertEqual(self.answer("get", waiting)["state"], "cancelled")
        taken = self.put("q", "x")
        lease = self.lease_one("q")["lease"]
        self.assertEqual(self.run_program("cancel", taken), (REFUSED, "too late: in_flight, 1 attempt\n", ""))
        code, output, _ = self.run_program("cancel", taken, "--json")
        self.assertEqual((code, json.loads(output)["outcome"]), (REFUSED, "in_flight"))
        self.output("ack", lease)
        code, output, _ = self.run_program("cancel", taken)
        self.assertEqual((code, output), (REFUSED, "too late: delivered, 1 attempt\n"))
        self.assertIn("(unknown_id", self.refusal("cancel", "99999999"))

    def test_move_gives_another_time_unless_it_is_too_late(self):
        number = self.put("q", "x", "--in", "1h")
        self.assertRegex(self.output("move", number, "--in", "3h"), rf"^rescheduled, due {WHEN}in (3h|2h 59m)\n$")
        self.assertEqual(self.answer("move", number, "--at", "2030-07-01T06:00", "--tz", "Europe/Oslo")["due"],
                         "2030-07-01T04:00:00.000Z")
        self.assertEqual(self.answer("get", number)["due"], "2030-07-01T04:00:00.000Z")
        self.output("fire", number)
        self.lease_one("q")
        self.assertEqual(self.run_program("move", number, "--in", "1h"), (REFUSED, "too late: in_flight, 1 attempt\n", ""))
        self.assertIn("--in", self.refusal("move", number, code=USAGE))

    def test_fire_makes_it_due_now(self):
        number = self.put("q", "x", "--in", "1h")
        self.assertRegex(self.output("fire", number), rf"^fired, due {WHEN}(\d+ms ago|now)\n$")
        self.assertEqual(self.lease_one("q")["id"], number)
        self.assertEqual(self.run_program("fire", number)[:2], (REFUSED, "too late: in_flight, 1 attempt\n"))

    def test_lease_prints_messages_with_their_tokens(self):
        self.assertEqual(self.output("lease", "q"), "no message is due\n")
        first = self.put("q", "one\nmessage  9", "--header", "k=v")
        second = self.put("q", "-", stdin=b"\xff")
        output = self.output("lease", "q", "--max", "10", "--lease", "1m")
        for line in (f"message +{first}", f"due +{WHEN}\\d+ms late, attempt 1", f"yours until +{WHEN}in (1m|59s)",
                     "header +k=v", r"body +one\\nmessage  9"):
            self.assertRegex(output, rf"(?m)^{line}$")
        self.assertRegex(output, rf"(?m)^message +{second}$")
        self.assertRegex(output, r"(?m)^body \(base64\) +/w==$")
        tokens = re.findall(r"(?m)^lease +(\S+)$", output)
        self.assertEqual(len(tokens), 2)
        for token in tokens:
            self.assertEqual(self.output("ack", token), "done\n")
        self.assertEqual(self.output("lease", "q"), "no message is due\n")

    def test_lease_waits_for_what_becomes_due(self):
        number = self.put("q", "x", "--in", "300ms")
        message = self.lease_one("q")
        self.assertEqual(message["id"], number)
        self.assertGreaterEqual(message["lateness_ms"], 0)

    def test_ack_ends_a_lease_once(self):
        number = self.put("q", "x")
        token = self.lease_one("q")["lease"]
        self.assertEqual(self.answer("ack", token), {"outcome": "done"})
        self.assertEqual(self.answer("get", number)["state"], "done")
        # Told again, a server may still know that this very lease ended it; it never says that for another's lease.
        code, output, _ = self.run_program("ack", token)
        self.assertIn((code, output.split(":")[0].strip()), ((DONE, "done"), (REFUSED, "expired")))

    def test_fail_tries_again_at_the_time_that_was_said(self):
        number = self.put("q", "x")
        output = self.output("fail", self.lease_one("q")["lease"], "--reason", "no route", "--retry-in", "1h")
        self.assertRegex(output, rf"^retrying, due {WHEN}in (1h|59m 5\ds)\n$")
        self.assertEqual(self.answer("get", number)["state"], "retrying")
        self.output("fire", number)
        self.assertEqual(self.lease_one("q")["attempt"], 2)

    def test_extend_keeps_a_lease(self):
        self.put("q", "x")
        message = self.lease_one("q", "--lease", "30s")
        self.assertRegex(self.output("extend", message["lease"], "--lease", "5m"),
                         rf"^extended, leased until {WHEN}in (5m|4m 5\ds)\n$")
        self.assertGreater(self.answer("extend", message["lease"], "--lease", "5m")["lease_until_ms"],
                           message["lease_until_ms"] + 200_000)

    def test_release_gives_a_message_to_the_next(self):
        number = self.put("q", "x")
        self.assertRegex(self.output("release", self.lease_one("q")["lease"]), r"^released\b.*\n$")
        self.output("release", self.lease_one("q")["lease"], "--in", "1h")
        self.assertEqual(self.answer("lease", "q")["messages"], [])
        self.assertNotEqual(self.answer("get", number)["state"], "done")

    def test_a_lease_that_ran_out_is_refused(self):
        self.put("q", "x")
        token = self.lease_one("q", "--lease", "1s")["lease"]
        second = self.lease_one("q")  # waits until the first holder's lease is over
        self.assertEqual(second["attempt"], 2)
        for verb in ("ack", "fail", "extend", "release"):
            code, output, error = self.run_program(verb, token)
            self.assertEqual((code, error), (REFUSED, ""), verb)
            self.assertTrue(output.startswith("expired: "), output)
        self.assertEqual(self.output("ack", second["lease"]), "done\n")

    def test_stats_shows_levels_and_queues(self):
        self.put("mail", "x", "--in", "1h")
        self.put("work", "x")
        self.put("work", "y")
        self.lease_one("work")
        output = self.output("stats")
        self.assertRegex(output, r"(?m)^server time +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+00:00$")
        self.assertRegex(output, r"(?m)^pending +3$")
        self.assertRegex(output, r"(?m)^queue +ready +leased +waiters .*\n(.*\n)*work +1 +1 +0 ")
        self.assertNotRegex(output, r"(?m) $")
        self.assertEqual(self.answer("stats")["pending"], 3)
        self.put("work", "z", "--namespace", "other")
        self.assertRegex(self.output("stats"), r"(?m)^namespace +queue .*\n(.*\n)*other +work +1 +0")

    def test_check_reads_a_directory_that_no_server_uses(self):
        self.put("q", "x", "--in", "1h")
        directory = str(self.daemon.data)
        self.assertIn("(in_use)", self.refusal("check", directory))
        for number in range(9):
            self.put("q", f"message {number}", "--in", "1h")
        self.assertEqual(self.daemon.terminate(), 0)
        output = self.output("check", directory)
        self.assertRegex(output, r"(?m)^pending +10$")
        self.assertTrue(output.endswith("\nthe directory is whole\n"))
        self.assertEqual(self.answer("check", directory)["pending"], 10)
        segment = sorted(self.daemon.data.glob("journal/seg-*.log"))[-1]
        data = bytearray(segment.read_bytes())
        data[data.find(b"message 4")] ^= 0x40
        segment.write_bytes(data)
        error = self.refusal("check", directory)
        self.assertIn(segment.name, error)
        self.assertIn("(damaged_log)", error)
        with tempfile.TemporaryDirectory() as empty:
            self.assertIn("(not_found)", self.refusal("check", empty))
            self.assertEqual(os.listdir(empty), [])


class Bodies(CommandLine):
    def test_standard_input_and_files_arrive_as_they_are(self):
        contents = ["", "plain", "two\nlines\n", "å\u2028\U0001f600", '"\\\t\r', "\x00\x01\x1b\x7f"]
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "body with space"
            for content in [text.encode() for text in contents] + [b"\xff\xfe", bytes(range(256)), b"\xc3", b"\xed\xa0\x80"]:
                file.write_bytes(content)
                for number in (self.put("q", "-", stdin=content), self.put("q", f"@{file}")):
                    message = self.answer("get", number)
                    got = message["body"].encode() if "body" in message else base64.b64decode(message["body_base64"])
                    self.assertEqual(got, content)

    def test_get_shows_other_bytes_as_base64(self):
        shown = self.output("get", self.put("q", "-", stdin=b"\xff\xfe"))
        self.assertRegex(shown, r"(?m)^body +no text, therefore in base64:\n\n//4=\n\Z")

    def test_a_body_of_one_mebibyte_is_the_largest(self):
        self.put("q", "-", stdin=b"x" * (1 << 20))
        error = self.refusal("put", "q", "-", stdin=b"x" * ((1 << 20) + 1))
        self.assertIn("(body_too_large", error)

    def test_a_file_that_is_not_there_is_named(self):
        error = self.refusal("put", "q", "@no/such/file", code=USAGE)
        self.assertIn("no/such/file", error)
        self.assertIn("(unreadable_body)", error)
        self.refusal("put", "q", "@/", code=USAGE)

    def test_a_body_with_a_dash_or_an_at_sign_goes_in_too(self):
        self.assertEqual(self.answer("get", self.put("q", "--", "--in"))["body"], "--in")
        self.assertEqual(self.answer("get", self.put("q", "-", stdin=b"@home"))["body"], "@home")


class Times(CommandLine):
    def test_random_times_agree_with_another_implementation(self):
        """Python's zone arithmetic is the judge: a time is accepted exactly when it names one instant."""
        seed = random.SystemRandom().randrange(1 << 32)
        print(f"seed {seed}")
        generator = random.Random(seed)
        # Near the clock changes of 2027, where mistakes live, and half an hour at Lord Howe Island.
        changes = {"Europe/Oslo": ["2027-03-28T02:00", "2027-10-31T02:00"], "America/New_York": ["2027-03-14T02:00",
                   "2027-11-07T01:00"], "Australia/Lord_Howe": ["2027-04-04T01:45", "2027-10-03T02:15"],
                   "Asia/Kathmandu": ["2027-05-05T12:00"]}
        refused = 0
        for _ in range(120):
            name = generator.choice(list(changes))
            near = datetime.datetime.fromisoformat(generator.choice(changes[name]))
            local = near + datetime.timedelta(minutes=generator.randrange(-150, 150))
            zone = zoneinfo.ZoneInfo(name)
            instants = {local.replace(tzinfo=zone, fold=fold).astimezone(datetime.timezone.utc) for fold in (0, 1)}
            valid = [one for one in instants if one.astimezone(zone).replace(tzinfo=None) == local]
            text = local.strftime("%Y-%m-%dT%H:%M")
            with self.subTest(text=text, zone=name, seed=seed):
                if len(valid) == 1:
                    due = self.answer("put", "q", "x", "--at", text, "--tz", name)["due"]
                    self.assertEqual(due, valid[0].strftime("%Y-%m-%dT%H:%M:%S.000Z"))
                else:
                    refused += 1
                    error = self.refusal("put", "q", "x", "--at", text, "--tz", name, code=USAGE)
                    self.assertIn("comes twice" if valid else "does not exist", error)
                    # Both instants are named, earlier first, and each is what the program takes and the judge means.
                    named = re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", error)
                    self.assertEqual([datetime.datetime.fromisoformat(one) for one in named], sorted(instants))
                    for one in named:
                        self.put("q", "x", "--at", one)
        self.assertGreater(refused, 0)

    def test_a_time_without_a_zone_is_local(self):
        for zone, due in (("Europe/Oslo", "2027-01-01T05:00:00.000Z"), ("America/New_York", "2027-01-01T11:00:00.000Z")):
            self.assertEqual(self.answer("put", "q", "x", "--at", "2027-01-01T06:00", TZ=zone)["due"], due)
        output = self.output("put", "q", "x", "--at", "2027-07-01T06:00:30", TZ="Europe/Oslo")
        self.assertRegex(output, r"due 2027-07-01 06:00:30 \+02:00, in \d+d")
        error = self.refusal("put", "q", "x", "--at", "2027-03-28T02:30", code=USAGE, TZ="Europe/Oslo")
        self.assertIn("does not exist in this machine's time zone", error)
        self.assertIn("2027-03-28T01:30:00+01:00 or 2027-03-28T03:30:00+02:00.", error)

    def test_an_offset_says_all(self):
        for text, due in (("2027-01-01T06:00Z", "2027-01-01T06:00:00.000Z"), ("2027-01-01T06:00+01:00", "2027-01-01T05:00:00.000Z"),
                          ("2027-01-01T06:00:00.25-03:30", "2027-01-01T09:30:00.250Z")):
            self.assertEqual(self.answer("put", "q", "x", "--at", text, TZ="Asia/Tokyo")["due"], due)
        self.assertIn("leave --tz out", self.refusal("put", "q", "x", "--at", "2027-01-01T06:00Z", "--tz", "UTC", code=USAGE))

    def test_what_is_no_zone_is_refused(self):
        for zone in ("Europe/Olso", "../passwd", "/etc/localtime", "zone.tab", "Europe", "", "oslo"):
            with self.subTest(zone=zone):
                error = self.refusal("put", "q", "x", "--at", "2027-01-01T06:00", "--tz", zone, code=USAGE)
                self.assertNotIn("terminate", error)

    def test_an_unset_variable_is_no_time(self):
        for arguments in (["--at", ""], ["--in", ""], ["--at="], ["--in="], ["--at", "2027-01-01T06:00", "--tz="]):
            self.refusal("put", "q", "x", *arguments, code=USAGE)
            self.refusal("move", "1", *arguments, code=USAGE)
        for arguments in (["get", ""], ["cancel", ""], ["put", "", "x"], ["ack", ""], ["stats", "--server", ""],
                          ["put", "q", "x", "--namespace", ""]):
            with self.subTest(arguments=arguments):
                self.assertIn(self.run_program(*arguments)[0], (REFUSED, USAGE))
        self.assertEqual(self.answer("stats")["accepted"], 0)

    def test_what_is_no_time_is_answered_with_what_is(self):
        for text in ("tomorrow", "06:00", "2027-01-01", "2027-02-30T06:00", "2027-01-01T24:00", "2027-01-01T06:00+1"):
            error = self.refusal("put", "q", "x", "--at", text, code=USAGE)
            self.assertRegex(error, r"column \d+: .*such as 2027-.*\(bad_instant, --at\)\n$")

    def test_a_time_in_the_past_is_due_now(self):
        self.assertEqual(self.answer("put", "q", "x", "--at", "2020-01-01T06:00")["state"], "ready")


class Refusals(CommandLine):
    def test_the_servers_refusals_say_what_to_do(self):
        for arguments, code in ((["put", "two words", "x"], "bad_queue_name"), (["get", "99999999"], "unknown_id"),
                                (["get", "abc"], "bad_id"), (["ack", "nonsense"], "bad_lease_token"),
                                (["put", "q", "x", "--in", "99999d"], "delay_too_long"),
                                (["lease", "q", "--lease", "99999d"], "lease_too_long"),
                                (["lease", "q", "--lease", "0ms"], "lease_too_short"),
                                (["lease", "q", "--wait", "99999d"], "wait_too_long"),
                                (["lease", "q", "--max", "100000"], "bad_max"),
                                (["put", "q", "x", "--header", "k=" + "v" * 9000], "headers_too_large")):
            with self.subTest(arguments=arguments[:2]):
                error = self.refusal(*arguments)
                self.assertRegex(error, rf"^duewheel: .{{20,}} \({code}\b.*\)\n$")
                self.assertEqual(self.refusal(*arguments, "--json"), error)

    def test_a_wrong_command_line_changes_nothing(self):
        for arguments in (["put"], ["put", "q"], ["put", "q", "b", "surplus"], ["put", "q", "b", "--in", "soon"],
                          ["put", "q", "b", "--in", "1h", "--at", "2027-01-01T06:00"], ["put", "q", "b", "--tz", "UTC"],
                          ["put", "q", "b", "--at", "2027-02-30T06:00"], ["put", "q", "b", "--at", "2027-01-01T24:00"],
                          ["put", "q", "b", "--priority", "x"], ["put", "q", "b", "--header", "x"], ["nonsense"], [],
                          ["--server", "ftp://x", "stats"], ["stats", "--server", ""]):
            with self.subTest(arguments=arguments):
                self.refusal(*arguments, code=USAGE)
        self.assertEqual(self.answer("stats")["accepted"], 0)

    def test_a_server_that_is_not_there_is_exit_3(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
            address = f"http://127.0.0.1:{taken.getsockname()[1]}"
            for arguments in (["stats"], ["put", "q", "b"], ["lease", "q"], ["cancel", "1"]):
                error = self.refusal("--server", address, *arguments, code=UNREACHABLE)
                self.assertIn(address, error)
                self.assertIn("--server or DUEWHEEL_SERVER", error)


class GlobalOptions(CommandLine):
    def test_they_stand_before_or_behind_the_verb(self):
        number = self.put("q", "x", "--in", "1h", "--namespace", "team")
        for arguments in (["--namespace", "team", "--json", "get", number], ["get", number, "--json", "--namespace", "team"],
                          ["get", "--namespace=team", number, "--json"]):
            answer = json.loads(self.output(*arguments))
            self.assertEqual((answer["id"], answer["namespace"]), (number, "team"))
        self.assertIn("(unknown_id", self.refusal("get", number))

    def test_the_option_wins_over_the_environment(self):
        self.output("stats", "--server", self.url, DUEWHEEL_SERVER="http://127.0.0.1:1")
        self.output("--server", self.url, "stats", DUEWHEEL_SERVER="nonsense")
        self.refusal("stats", code=UNREACHABLE, DUEWHEEL_SERVER="http://127.0.0.1:1")

    def test_the_output_is_the_same_on_a_terminal(self):
        number = self.put("q", "x", "--at", "2027-01-01T06:00")
        self.daemon.client()
        controller, terminal = os.openpty()
        try:
            run = subprocess.run([PROGRAM, "cancel", number], stdout=terminal, env=self.environment(TERM="xterm-256color"),
                                 timeout=60)
            self.assertEqual((run.returncode, os.read(controller, 4096)), (DONE, b"cancelled\r\n"))
        finally:
            os.close(controller)
            os.close(terminal)

    def test_version_and_help_need_no_server(self):
        for arguments in (["--version"], ["--help"], ["put", "--help"]):
            self.assertTrue(self.output(*arguments, DUEWHEEL_SERVER="http://127.0.0.1:1"))


class Examples(CommandLine):
    """Each runs as pasted, in a shell that stops at the first failure, in a directory of its own."""

    def paste(self, lines):
        with tempfile.TemporaryDirectory() as directory:
            shutil.copytree(self.whole, pathlib.Path(directory) / "duewheel-data")
            done = subprocess.run(["sh", "-eu"], input="\n".join(lines).encode(), cwd=directory, capture_output=True,
                                  timeout=60, env=self.environment())
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), lines)
        return done.stdout.decode()

    def setUp(self):
        """Besides the server that runs, ./duewheel-data of one that was stopped, for `check`."""
        with Daemon() as stopped:
            stopped.start()
            stopped.client().put("q", "x", delay="1h")
            stopped.terminate()
            self.copies = tempfile.TemporaryDirectory()
            self.addCleanup(self.copies.cleanup)
            self.whole = pathlib.Path(self.copies.name) / "data"
            shutil.copytree(stopped.data, self.whole)
        super().setUp()

    def help_example(self, *verb):
        lines = self.output(*verb, "--help").split("Example:\n")[1].splitlines()
        self.assertTrue(all(line.startswith("  ") for line in lines), lines)
        return [line[2:] for line in lines]

    def test_every_example_of_the_help_runs(self):
        self.assertTrue(self.paste(self.help_example()))
        for verb in VERBS:
            with self.subTest(verb=verb):
                lines = self.help_example(verb)
                self.assertTrue(any(line.startswith(f"duewheel {verb} ") or line == f"duewheel {verb}" for line in lines))
                self.assertTrue(self.paste(lines))

    def test_every_example_of_the_page_runs(self):
        page = (ROOT / "docs" / "command_line.md").read_text()
        examples = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        for verb in VERBS:
            self.assertTrue(any(re.search(rf"\bduewheel {verb}\b", example) for example in examples), verb)
        for example in examples:
            with self.subTest(example=example):
                self.paste(example.splitlines())


if __name__ == "__main__":
    unittest.main(verbosity=2)
