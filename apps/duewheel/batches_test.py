"""Many messages and many leases on the command line: put --ndjson, and ack, fail, extend and release of several leases,
against the real daemon; and --traceparent, and what the hint of a wrong command line names.

Programs are found in the directory that DUEWHEEL_BIN names.
"""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from command_line_test import REFUSED, UNREACHABLE, USAGE, WHEN, CommandLine  # noqa: E402

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def lines_of(*messages):
    return "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in messages).encode()


class Puts(CommandLine):
    def bodies(self, queue, count):
        messages = self.answer("lease", queue, "--max", "1000", "--wait", "20s")["messages"]
        self.assertEqual(len(messages), count)
        return [message["body"] for message in messages]

    def test_each_line_is_a_message_and_is_answered_with_a_line(self):
        output = self.output("put", "q", "--ndjson", "-", stdin=lines_of({"body": "one"}, {"body": "two", "delay": "1h"}))
        self.assertRegex(output, rf"^\d+  ready, due {WHEN}.*\n\d+  scheduled, due {WHEN}in (1h|59m 5\ds)\n$")
        first, second = (line.split()[0] for line in output.splitlines())
        self.assertEqual(self.answer("get", first)["body"], "one")
        self.assertEqual(self.answer("get", second)["state"], "scheduled")

    def test_a_line_that_is_refused_is_named_and_the_others_are_put(self):
        sent = lines_of({"body": "a"}, "{nonsense", {"body": "b", "delay": "soon"}, "", {"body": "c"})
        code, output, error = self.run_program("put", "q", "--ndjson", "-", stdin=sent)
        self.assertEqual((code, error), (REFUSED, ""))
        lines = output.splitlines()
        self.assertEqual(len(lines), 5)
        self.assertRegex(lines[1], r"^line 2: refused: .* at line 2, column 2 \(bad_json\)$")
        self.assertRegex(lines[2], r"^line 3: refused: .* \(bad_duration\)$")
        self.assertRegex(lines[3], r"^line 4: refused: line 4 is empty: .* \(bad_json\)$")
        self.assertEqual(self.bodies("q", 2), ["a", "c"])

    def test_json_shows_the_servers_lines(self):
        code, output, _ = self.run_program("--json", "put", "q", "--ndjson", "-", stdin=lines_of({"body": "", "key": "k"}, {"x": 1}))
        self.assertEqual(code, REFUSED)
        self.assertEqual([json.loads(line)["status"] for line in output.splitlines()], [201, 400])
        again = self.output("--json", "put", "q", "--ndjson", "-", stdin=lines_of({"body": "", "key": "k"}))
        self.assertEqual(json.loads(again)["status"], 200)

    def test_a_long_file_goes_in_several_requests_and_loses_nothing(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(lines_of(*({"body": str(number)} for number in range(2_345)))[:-1])  # the last without its end
            file.flush()
            self.assertEqual(len(self.output("put", "q", "--ndjson", file.name).splitlines()), 2_345)
            self.assertEqual(self.answer("queue", "get", "q")["pending"], 2_345)
            self.assertEqual(len(self.output("put", "q", "--ndjson", file.name, "--batch", "7").splitlines()), 2_345)
        self.assertEqual(self.answer("queue", "get", "q")["pending"], 4_690)
        large = [{"body": f"{number}" + "x" * 900_000} for number in range(10)]  # more than a request may hold
        self.assertEqual(len(self.output("put", "big", "--ndjson", "-", stdin=lines_of(*large)).splitlines()), 10)
        self.assertEqual(self.output("put", "q", "--ndjson", "-", stdin=b""), "")

    def test_a_request_that_is_refused_as_a_whole_ends_it_and_says_where(self):
        sent = lines_of(*({"body": "x"} for _ in range(1_500)))
        code, output, error = self.run_program("put", "q", "--ndjson", "-", "--batch", "1200", stdin=sent)
        self.assertEqual((code, output), (REFUSED, ""))
        self.assertIn("(batch_too_large)", error)
        self.assertIn("lines 1 to 1200: none of them was put. No later line was sent.", error)
        self.assertEqual(self.run_program("queue", "get", "q")[0], REFUSED, "nothing is in it")

    def test_a_server_that_is_not_there_is_exit_3(self):
        code, output, error = self.run_program("put", "q", "--ndjson", "-", stdin=lines_of({"body": ""}),
                                               DUEWHEEL_SERVER="http://127.0.0.1:1")
        self.assertEqual((code, output), (UNREACHABLE, ""))
        self.assertIn("lines 1 to 1: it is unknown whether they were put", error)

    def test_what_it_cannot_go_with_is_a_usage_error(self):
        for arguments in (["body", "--ndjson", "-"], ["--ndjson", "-", "--in", "1h"], ["--ndjson", "-", "--key", "k"],
                          ["--ndjson", "-", "--every", "1h"], ["body", "--batch", "5"], ["--ndjson", "-", "--batch", "0"]):
            self.refusal("put", "q", *arguments, code=USAGE)
        self.assertIn("BODY, or --ndjson FILE", self.refusal("put", "q", code=USAGE))
        self.assertEqual(self.answer("get", self.put("other", "", "--in", "1h"))["body"], "", "an empty one is one too")
        self.assertIn("(unreadable_file)", self.refusal("put", "q", "--ndjson", "/no/such/file", code=USAGE))
        self.assertIn("No such file or directory", self.refusal("import", "/no/such/file"))
        self.assertEqual(self.answer("stats")["pending"], 1)

    def test_a_trace_goes_with_one_message_and_with_many(self):
        self.put("q", "x", "--traceparent", TRACE)
        self.output("put", "q", "--ndjson", "-", "--traceparent", TRACE, stdin=lines_of({"body": "y"}))
        messages = self.answer("lease", "q", "--max", "2")["messages"]
        self.assertEqual([message["traceparent"] for message in messages], [TRACE, TRACE])
        for wrong in ("", "x", TRACE.upper(), TRACE[:-1], TRACE.replace("b7ad6b7169203331", "0" * 16), "ff" + TRACE[2:]):
            self.assertIn("traceparent", self.refusal("put", "q", "x", "--traceparent", wrong, code=USAGE))


class Leases(CommandLine):
    def leases(self, count):
        self.output("put", "q", "--ndjson", "-", stdin=lines_of(*({"body": str(number)} for number in range(count))))
        return [message["lease"] for message in self.answer("lease", "q", "--max", "1000", "--wait", "20s")["messages"]]

    def test_several_are_ended_in_one_request_with_a_line_each(self):
        before = self.answer("stats")["commits"]
        self.assertEqual(self.output("ack", *self.leases(300)), "done\n" * 300)
        self.assertLess(self.answer("stats")["commits"] - before, 50, "one by one there would be 300")
        self.assertRegex(self.output("extend", *self.leases(2), "--lease", "5m"),
                         rf"^(extended, leased until {WHEN}in (5m|4m 5\ds)\n){{2}}$")
        self.assertRegex(self.output("fail", *self.leases(2), "--reason", "no route", "--retry-in", "1h"),
                         rf"^(retrying, due {WHEN}in (1h|59m 5\ds)\n){{2}}$")
        self.assertEqual({each["reason"] for each in map(json.loads, self.output(
            "list", "q", "--state", "retrying", "--json").splitlines())}, {"no route"})
        self.assertRegex(self.output("release", *self.leases(2), "--in", "1h"),
                         rf"^(released, due {WHEN}in (1h|59m 5\ds)\n){{2}}$")

    def test_one_that_had_ended_or_is_none_is_told_in_its_line_and_the_others_are_ended(self):
        first, second, third = self.leases(3)
        self.output("release", first, "--in", "1h")
        code, output, error = self.run_program("ack", second, first, "nonsense", third)
        self.assertEqual((code, error), (REFUSED, ""))
        lines = output.splitlines()
        self.assertEqual((lines[0], lines[3]), ("done", "done"))
        self.assertTrue(lines[1].startswith("expired: "), lines[1])
        self.assertRegex(lines[2], r"^refused: .* \(bad_lease_token\)$")
        self.assertEqual(self.answer("stats")["done"], 2)

    def test_json_is_the_servers_answer_with_the_same_exit_code(self):
        first, second = self.leases(2)
        code, output, _ = self.run_program("--json", "ack", first, "nonsense", second)
        self.assertEqual(code, REFUSED)
        self.assertEqual([(result.get("outcome"), result["status"]) for result in json.loads(output)["results"]],
                         [("done", 200), (None, 400), ("done", 200)])

    def test_more_than_a_request_takes_is_refused_and_none_is_ended(self):
        lease = self.leases(1)[0]
        error = self.refusal("ack", *[lease] * 1_001)
        self.assertIn("(batch_too_large)", error)
        self.assertEqual(self.answer("stats")["done"], 0)


class Hints(CommandLine):
    # Whatever was wrong, the hint was to run `duewheel VERB --help`.
    def test_the_hint_names_the_verb(self):
        for arguments, command in ((["put", "q", "x", "--jsno"], "duewheel put --help"), (["lease"], "duewheel lease --help"),
                                   (["queue", "set", "--x"], "duewheel queue set --help"), (["pt"], "duewheel --help"),
                                   ([], "duewheel --help"), (["bench"], "duewheel bench --help")):
            self.assertIn(f"Run `{command}` for usage.", self.refusal(*arguments, code=USAGE))


if __name__ == "__main__":
    unittest.main(verbosity=2)
