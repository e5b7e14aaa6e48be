#!/usr/bin/env python3
"""`./dev bench regress`: the order of its runs, its ratios, when a row counts as slower, and the comparison of instructions."""

import contextlib
import io
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

import instructions
import regress
from peer_tables_test import line_of


def row(new, old=(100,) * 5, unit="1/s"):
    return regress.Row("row", unit, list(old), list(new))


class Ratios(unittest.TestCase):
    def test_better_is_above_1_in_every_unit(self):
        self.assertEqual(regress.ratio("1/s", 100, 110), 1.1)
        self.assertEqual(regress.ratio("us", 11, 10), 1.1)
        self.assertEqual(regress.ratio("s", 5, 10), 0.5)

    def test_whole_milliseconds_are_rounded_up(self):
        self.assertEqual(regress.ratio("ms", 0, 0), 1)
        self.assertEqual(regress.ratio("ms", 1, 3), 0.5)
        self.assertEqual(regress.ratio("ms", 1.0, 2.0), 0.5)

    def test_rounds_are_compared_one_by_one(self):
        # The machine became half as fast from round to round, for both.
        drifting = row(new=[99, 50, 25, 12.6, 6.2], old=[100, 50, 25, 12.5, 6.25])
        self.assertEqual(drifting.cells()[4], "1.000 (0.990 to 1.008)")

    def test_the_interval_leaves_out_extremes_of_many_rounds(self):
        self.assertEqual(regress.interval([3, 1, 5, 2, 4]), (1, 5))
        self.assertEqual(regress.interval([*range(10)]), (1, 8))
        self.assertEqual(regress.interval([*range(20)]), (5, 14))

    def test_a_line_has_medians_extremes_and_the_verdict(self):
        page = regress.page([row([90, 91, 92, 93, 80]), regress.Row("lost", "messages", [0, 0], [0, 0])])
        self.assertEqual(line_of(page, "row"), ["row", "1/s", "100 (100 to 100)", "91 (80 to 93)", "0.910 (0.800 to 0.930)", "**slower**"])
        self.assertEqual(line_of(page, "lost")[4], "-")


class Verdicts(unittest.TestCase):
    def test_a_row_below_the_bound_in_all_rounds_is_slower(self):
        self.assertTrue(row([90, 91, 92, 93, 80]).is_slower)
        self.assertTrue(row([110, 111, 112, 113, 114], unit="us").is_slower)

    def test_a_row_with_a_round_as_good_as_before_is_not(self):
        self.assertFalse(row([90, 91, 92, 100, 80]).is_slower)

    def test_a_row_a_little_below_1_is_not(self):
        self.assertFalse(row([96, 97, 96, 97, 96]).is_slower)

    def test_a_few_rounds_say_nothing(self):
        self.assertFalse(row([50] * 4, [100] * 4).is_slower)

    def test_a_message_lost_in_one_round_counts(self):
        lost = row([0, 1, 0, 0, 0], [0] * 5, "messages")
        self.assertTrue(lost.is_slower)
        self.assertEqual(lost.cells()[5], "**not 0**")

    def test_equal_versions_with_much_noise_are_hardly_ever_slower(self):
        # Latencies of single rounds differ by a third. The seed decides all.
        noise = random.Random(1)

        def run(folder, seed):
            return {"row": ("us", noise.lognormvariate(0, 0.3))}

        with contextlib.redirect_stderr(io.StringIO()):
            slower = sum(regress.measure(run, {"old": "o", "new": "n"}, 5)[0].is_slower for _ in range(2000))
        self.assertLess(slower, 20)

    def test_a_tenth_slower_beside_some_noise_is_found(self):
        noise = random.Random(1)

        def run(folder, seed):
            return {"row": ("us", folder * noise.lognormvariate(0, 0.02))}

        with contextlib.redirect_stderr(io.StringIO()):
            slower = sum(regress.measure(run, {"old": 1, "new": 1.1}, 5)[0].is_slower for _ in range(500))
        self.assertGreater(slower, 470)


class Turns(unittest.TestCase):
    def measure(self, figure, rounds=5):
        self.calls = []

        def run(folder, seed):
            self.calls.append((folder, seed))
            return {"row": ("us", figure[folder]), **({"only old": ("us", 1)} if folder == "o" else {})}

        with contextlib.redirect_stderr(io.StringIO()):
            return regress.measure(run, {"old": "o", "new": "n"}, rounds)

    def test_the_sides_take_turns_with_the_same_seed(self):
        self.measure({"o": 1, "n": 1}, rounds=3)
        self.assertEqual([seed for _, seed in self.calls], [1, 1, 2, 2, 3, 3])
        first, second = self.calls[0][0], self.calls[1][0]
        self.assertEqual("".join(folder for folder, _ in self.calls), f"{first}{second}{second}{first}{first}{second}")
        self.assertNotEqual(first, second)

    def test_what_seems_slower_is_measured_again_and_judged_by_both(self):
        rows = self.measure({"o": 1, "n": 2})
        self.assertEqual(len(self.calls), 20)
        self.assertEqual([seed for _, seed in self.calls[10:]], [6, 6, 7, 7, 8, 8, 9, 9, 10, 10])
        self.assertEqual(len(rows[0].ratios), 10)

    def test_what_is_not_slower_is_measured_once(self):
        self.measure({"o": 2, "n": 1})
        self.assertEqual(len(self.calls), 10)

    def test_a_row_that_one_side_lacks_is_left_out(self):
        self.assertEqual([row.name for row in self.measure({"o": 1, "n": 1})], ["row"])

    def test_a_workload_that_fails_is_named_and_the_others_are_measured(self):
        def fails(folder, seed):
            raise RuntimeError("no ready line")

        kept = []
        options = mock.Mock(old="o", new="n", only=["W1", "A1"], rounds=1)
        with (contextlib.redirect_stderr(io.StringIO()), mock.patch.object(regress, "programs", lambda version, targets: version),
              mock.patch.object(regress, "runs_of", lambda name, *unused: [fails] if name == "W1" else [lambda folder, seed: {"A1": ("ns", 1)}])):
            rows, excluded = regress.regress(options, pathlib.Path("unused"), kept.append)
        self.assertEqual(excluded, ["W1"])
        self.assertEqual([row.name for row in rows], ["A1"])
        self.assertEqual([row["subject"] for row in kept[-1]], ["old", "new", "new relative to old, better above 1"])


class Versions(unittest.TestCase):
    def test_a_folder_with_the_daemon_is_a_version(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "duewheeld").touch()
            self.assertEqual(regress.programs(folder, ()), pathlib.Path(folder).resolve())

    def test_what_is_neither_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "no-such-version is neither a folder with the program duewheeld nor a revision"):
            regress.programs("no-such-version", ())

    def test_the_command_needs_two_versions_or_quick(self):
        for arguments in (["HEAD"], ["HEAD", "HEAD", "--quick"], []):
            done = subprocess.run([sys.executable, TREE / "bench/run.py", "regress", *arguments], stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("name two versions, or --quick", done.stderr)


class Instructions(unittest.TestCase):
    def test_more_than_the_tolerance_fails(self):
        self.assertEqual(instructions.compare({"put": 1000}, {"put": 1029})[1], False)
        lines, is_slower = instructions.compare({"put": 1000}, {"put": 1040})
        self.assertTrue(is_slower)
        self.assertIn("+4.0%, more than recorded", lines[0])

    def test_fewer_are_to_be_recorded(self):
        lines, is_slower = instructions.compare({"put": 1000}, {"put": 900})
        self.assertFalse(is_slower)
        self.assertIn("-10.0%, fewer: record it", lines[0])

    def test_an_operation_that_is_new_or_gone_is_to_be_recorded(self):
        lines, is_slower = instructions.compare({"gone": 5}, {"new": 7})
        self.assertFalse(is_slower)
        self.assertEqual([line.split() for line in lines], [["gone", "5", "-", "record", "it"], ["new", "-", "7", "record", "it"]])

    def test_another_compiler_compares_nothing(self):
        output = io.StringIO()
        with (contextlib.redirect_stdout(output), mock.patch.object(instructions, "compiler", lambda programs: "other 1"),
              mock.patch("shutil.which", lambda name: name)):
            self.assertEqual(instructions.check(pathlib.Path("unused"), records=False), 77)
        self.assertIn("the compiler is other 1", output.getvalue())


if __name__ == "__main__":
    unittest.main()
