#!/usr/bin/env python3
"""The groups that have targets: how their rows are measured, and the pages made of them."""

import contextlib
import io
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

from durable import beanstalkd_groups, target_tables
from durable.subject import BY_BEANSTALK, Rows
from durable.targets import Target
from peer_tables_test import line_of, result_of

F50 = "beanstalkd -f50"


def example():
    rows = Rows()
    rows.add("beanstalkd: fdatasync alone", 0, "disk", "1/s", [9000, 10_000, 11_000])
    rows.add("beanstalkd: W4 drain", 0, "duewheel", "s", [2, 3, 6])
    rows.add("beanstalkd: W4 drain", 0, BY_BEANSTALK, "s", [1, 1, 1])
    rows.add("beanstalkd: W4 drain", 0, F50, "s", [20, 10, 30])
    rows.add("beanstalkd: W3 early", 0, "duewheel", "messages", [0, 2, 0])
    rows.add("beanstalkd: W3 early", 0, BY_BEANSTALK, "messages", [0, 0, 0])
    rows.add("beanstalkd: W5 puts and cancels", 0, "duewheel", "1/s", [90, 100, 110])
    rows.add("beanstalkd: W5 puts and cancels", 0, F50, "1/s", [100, 100, 100])
    rows.add("W4 drain of 1 M due at one instant, acks durable", 0, "duewheel", "s", [7])
    return rows


class Pages(unittest.TestCase):
    def setUp(self):
        self.page = target_tables.pages(result_of(example()))["beanstalkd"]

    def test_a_target_beside_a_server_is_compared_round_by_round(self):
        drain = "W4, drain of 1 M due at one instant, until all are acknowledged"
        # 0.1, 0.3, 0.2
        self.assertEqual(line_of(self.page, drain + ": Duewheel, HTTP"),
                         [drain + ": Duewheel, HTTP", "<= 0.1 x `beanstalkd -f50`", "0.2 (0.1 to 0.3): **missed**"])
        self.assertEqual(line_of(self.page, drain + ": Duewheel, beanstalkd's protocol")[2], "0.05 (0.0333 to 0.1): met")

    def test_a_target_from_below_is_met_by_equality(self):
        self.assertEqual(line_of(self.page, "W5, puts and cancels/s: Duewheel, HTTP")[2], "1 (0.9 to 1.1): met")

    def test_what_must_not_happen_counts_if_it_happens_in_one_round(self):
        self.assertEqual(line_of(self.page, "the same, early messages: Duewheel, HTTP")[2], "2 (0 to 2): **missed**")
        self.assertEqual(line_of(self.page, "the same, early messages: Duewheel, beanstalkd's protocol")[2], "0: met")

    def test_what_was_not_measured_is_a_dash(self):
        self.assertEqual(line_of(self.page, "W8, resident set with 1 M pending")[2], "-")

    def test_the_figures_of_all_servers_follow(self):
        self.assertEqual(line_of(self.page, "W4: 1 M due at one instant, until all are acknowledged, s")[1:],
                         ["3.0 (2.0 to 6.0)", "1.0", "20.0 (10.0 to 30.0)"])

    def test_the_page_names_its_command_and_the_disk(self):
        self.assertIn("`./dev bench durable --only peers --record`: 3 rounds in turns", self.page)
        self.assertIn("10,000 (9,000 to 11,000) syncs/s", self.page)

    def test_a_figure_of_0_beside_it_has_no_ratio(self):
        rows = Rows()
        rows.add("x", 0, "a", "ms", [1])
        rows.add("x", 0, "b", "ms", [0])
        self.assertEqual(Target("words", "x", "a", "<=", 1, "b").measured({(row["workload"], row["subject"]): row for row in rows.rows}), "-")

    def test_a_run_of_other_groups_has_no_pages(self):
        self.assertEqual(target_tables.pages(result_of(Rows())), {})

    def test_every_row_of_a_target_is_one_of_the_figures(self):
        for _, targets, figures, subjects in target_tables.GROUPS.values():
            shown = {row for row, *_ in figures}
            for target in targets:
                self.assertIn(target.row.removesuffix(", relative to alone"), shown)
                self.assertIn(target.of, subjects)

    def test_the_marks_are_in_the_page_of_benchmarks(self):
        text = (TREE / "bench/README.md").read_text()
        for name in target_tables.GROUPS:
            self.assertRegex(text, re.compile(rf"<!-- durable: {name} -->\n.*?<!-- end -->", re.DOTALL))


class Short(unittest.TestCase):
    """docs/beanstalk.md had its figures by hand; they stayed when the run was repeated."""

    def recorded(self, path, name):
        return re.search(rf"<!-- durable: {name} -->\n\n?(.*?)\n?<!-- end -->", (TREE / path).read_text(), re.DOTALL)[1]

    def test_the_page_for_users_of_beanstalkd_has_the_recorded_figures(self):
        page = self.recorded("bench/README.md", "beanstalkd")
        self.assertEqual(self.recorded("docs/beanstalk.md", "beanstalkd in short").strip(), target_tables.beanstalkd_in_short(page).strip())

    def test_a_row_of_the_same_workload_is_not_taken_for_another(self):
        rows = target_tables.rows_of(self.recorded("bench/README.md", "beanstalkd"))
        self.assertNotEqual(rows["W3: p99, ms"], rows["W1: latency p99, ms"])


class FakeServer:
    def __init__(self, subject, directory):
        self.subject, self.directory, self.http = subject, directory, ""

    def start(self):
        self.directory.mkdir()

    def stop(self):
        pass


class Measured(unittest.TestCase):
    def run_rows(self, row, subjects):
        rows = Rows()
        self.errors = io.StringIO()
        with (tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stderr(self.errors),
              mock.patch.object(beanstalkd_groups, "ROWS", {row: subjects}), mock.patch.object(beanstalkd_groups, "Server", FakeServer),
              mock.patch.object(beanstalkd_groups, "sync_rate", lambda *unused: 1000), mock.patch("shutil.which", lambda name: name)):
            beanstalkd_groups.beanstalkd(rows, pathlib.Path(scratch), quick=False)
            self.assertEqual(list(pathlib.Path(scratch).iterdir()), [])
        return {(row["workload"].removeprefix("beanstalkd: "), row["subject"]): row["values"] for row in rows.rows}

    def test_each_round_begins_with_another_server(self):
        order = []

        def w(server, quick, seed):
            order.append(server.subject)
            return {"W": ("s", seed)}

        rows = self.run_rows(w, ("a", "b", "c"))
        self.assertEqual("".join(order), "abc" "bca" "cab")
        self.assertEqual(rows["W", "b"], [1, 2, 3])

    def test_a_server_that_fails_is_excluded_from_that_row_and_named(self):
        def w(server, quick, seed):
            if server.subject == "b":
                raise RuntimeError("the puts took too long")
            return {"W": ("s", seed)}

        rows = self.run_rows(w, ("a", "b"))
        self.assertEqual(rows["W", "a"], [1, 2, 3])
        self.assertNotIn(("W", "b"), rows)
        self.assertEqual(self.errors.getvalue().count("excluded: w of b (the puts took too long)"), 1)

    def test_a_figure_over_http_of_a_server_with_both_protocols_is_that_of_http(self):
        rows = self.run_rows(lambda server, quick, seed: {"W": ("s", 1), "HTTP: W": ("s", 2)}, (BY_BEANSTALK,))
        self.assertEqual(rows["W", "duewheel"], [2, 2, 2])
        self.assertEqual(rows["W", BY_BEANSTALK], [1, 1, 1])

    def test_messages_that_are_missing_doubled_or_early_are_wrong(self):
        result = {"accepted": 10, "acknowledged": 8, "early": 1, "twice": 1}
        self.assertEqual(beanstalkd_groups.wrong(result), 4)
        self.assertEqual(beanstalkd_groups.wrong({"accepted": 0, "acknowledged": 10, "early": 0}, put=10), 0)


if __name__ == "__main__":
    unittest.main()
