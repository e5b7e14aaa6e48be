"""`./dev proof` in small: a log of a clean run, and a violation that ends it and stands in the log with its replay line."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PLANTED = sys.argv.pop()
SIMULATOR = sys.argv.pop()
PROOF = pathlib.Path(__file__).resolve().parent / "proof.py"


def prove(*words):
    with tempfile.TemporaryDirectory(prefix="duewheel-proof-") as folder:
        log = pathlib.Path(folder) / "log.md"
        ended = subprocess.run([sys.executable, str(PROOF), "--log", str(log), *words], capture_output=True, text=True,
                               timeout=300)
        return ended, log.read_text()


def number(what, log):
    return int(re.search(rf"(?m)^\| \**{what}\** \| \**([\d,]+)\** \|$", log).group(1).replace(",", ""))


class Proof(unittest.TestCase):
    def test_a_clean_run_is_reported_with_its_counts(self):
        ended, log = prove("--sim", SIMULATOR, "--occurrences", "20000", "--any-rare", "--jobs", "2")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertGreaterEqual(number("occurrences", log), 20000)
        self.assertEqual(number("violations", log), 0)
        for what in ("deliveries", "events", "crash-recoveries"):
            self.assertGreater(number(what, log), 0)
        self.assertGreater(number("delivered_again_after_crash", log), 0)

    def test_a_violation_ends_the_run_and_can_be_replayed(self):
        ended, log = prove("--sim", PLANTED, "--bug", "33", "--occurrences", "1000000000", "--any-rare")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual(number("violations", log), 1)
        self.assertRegex(log, r"VIOLATION of \S+ in seed \d+")
        self.assertRegex(log, r"(?m)^replay: .* --bug 33 .*--seed \d+")

    # A part of ten million that took all memory was killed without a word, and the log said of it: no violation.
    def test_a_simulator_that_is_killed_is_a_violation_though_it_says_nothing(self):
        with tempfile.TemporaryDirectory(prefix="duewheel-proof-") as folder:
            killed = pathlib.Path(folder) / "killed"
            killed.write_text("#!/bin/sh\nkill -9 $$\n")
            killed.chmod(0o755)
            ended, log = prove("--sim", str(killed), "--occurrences", "1", "--any-rare")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual(number("violations", log), 1)
        self.assertRegex(log, r"ended with -9: .* --seed 1 ")

    # A run that went through a schedule's very many times, one by one, took hours: the proof hung at its end, without a word of
    # which seed it was.
    def test_a_part_that_does_not_end_names_its_seed(self):
        ended, log = prove("--sim", SIMULATOR, "--occurrences", "1000000000", "--part-seconds", "1", "--any-rare")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual(number("violations", log), 1)
        self.assertRegex(log, r"(?m)^replay: .* --seed \d+")
        self.assertRegex(log, r"no end in 1 s\nended with -6: ")

    def test_states_that_were_never_met_are_a_failure(self):
        ended, log = prove("--sim", SIMULATOR, "--occurrences", "1")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertIn("; never: ", log)


if __name__ == "__main__":
    unittest.main(verbosity=2)
