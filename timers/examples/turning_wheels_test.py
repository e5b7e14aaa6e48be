#!/usr/bin/env python3
"""Runs turning_wheels on every scheme and reads its pictures; holds docs/learning to what it prints.

    turning_wheels_test.py PROGRAM PAGES     DUEWHEEL_RECORD=1 writes the program's output into the pages instead

Each timer of the play fires when it should, at the tick where it was drawn to be due, and each one that waits is drawn once.
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(sys.argv[1])
PAGES = pathlib.Path(sys.argv[2])

# A fenced block that begins with a command and goes on with what it prints.
SHOWN = re.compile(r"^```\n\$ build/release/bin/turning_wheels ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=30)


def schemes():
    return run("no_such_scheme").stderr.split("is one of:")[1].split()


def frames(text):
    """(tick, pending, next, fired, timers drawn) of each step."""
    for block in text.split("\n\n")[1:]:
        head, *rows = block.rstrip("\n").split("\n")
        tick, pending, due, fired = re.fullmatch(r"tick (\d+)  pending (\d+)  next (\w+)(?:  fired (.*))?", head).groups()
        drawn = 0
        for row in rows:
            if not row.lstrip().startswith("^"):
                drawn += sum(int(cell) if cell.isdigit() else cell.isalpha() for cell in row[18:])
        yield int(tick), int(pending), due, (fired or "").split(), drawn


class TurningWheels(unittest.TestCase):
    def test_every_scheme_fires_what_its_picture_shows(self):
        self.assertEqual(len(schemes()), 13)
        for scheme in schemes():
            with self.subTest(scheme=scheme):
                shown = run(scheme, "--plain", "--steps", "520")
                self.assertEqual(shown.returncode, 0)
                legend = shown.stdout.split("\n")[0]
                last_tick, due_before, fired_all = 0, None, {}
                for tick, pending, due, fired, drawn in frames(shown.stdout):
                    self.assertEqual(drawn, pending, tick)
                    if due_before not in (None, "never"):
                        self.assertEqual(bool(fired), tick >= int(due_before), tick)
                    for entry in fired:
                        timer, deadline = entry.split("@")
                        fired_all.setdefault(timer, []).append(int(deadline))
                        self.assertLessEqual(int(deadline), tick)
                        late = scheme == "non_cascading_wheel" and timer != "a"
                        self.assertGreater(int(deadline), last_tick - (int(deadline) // 8 if late else 0))
                    last_tick, due_before = tick, due
                for timer, delay, refused in re.findall(r"(\w) (?:in|every) (\d+)( \(refused\))?", legend):
                    if refused:
                        self.assertNotIn(timer, fired_all)
                    elif int(delay) * 9 // 8 <= last_tick:
                        self.assertEqual(fired_all[timer][0], int(delay))
                period = int(re.search(r"a every (\d+)", legend)[1])
                self.assertEqual(fired_all["a"], list(range(period, last_tick + 1, period)))

    def test_only_the_wanted_ticks_are_printed(self):
        ticks = [frame[0] for frame in frames(run("overflow_wheel", "--plain", "--only", "0,9,63").stdout)]
        self.assertEqual(ticks, [0, 9, 63])

    def test_a_pipe_gets_plain_text(self):
        self.assertEqual(run("simple_wheel", "--steps", "3").stdout, run("simple_wheel", "--steps", "3", "--plain").stdout)
        self.assertNotIn("\x1b", run("simple_wheel", "--steps", "3").stdout)

    def test_arguments_that_mean_nothing_are_refused(self):
        for arguments in (["no_such_scheme"], ["--steps"], ["--steps", "x"], ["--only", ""], ["--only", "1,x"]):
            refused = run(*arguments)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), arguments)
            self.assertIn("hashed_rounds_wheel", refused.stderr)

    def test_the_pages_show_what_the_program_prints(self):
        told = set()
        for page in sorted(PAGES.glob("*.md")):
            text = page.read_text()
            for arguments, output in SHOWN.findall(text):
                told.add(arguments.split()[0])
                self.assertEqual(output, run(*arguments.split()).stdout, f"{page}: DUEWHEEL_RECORD=1 {' '.join(sys.argv)}")
        self.assertEqual(told, set(schemes()), "each scheme has a page that shows it")

    def test_every_page_is_linked_from_the_index(self):
        index = (PAGES / "README.md").read_text()
        for page in PAGES.glob("*.md"):
            self.assertIn(f"({page.name})" if page.name != "README.md" else "# ", index)


def record():
    for page in [*PAGES.glob("*.md"), *(PAGES.parent / "zh" / PAGES.name).glob("*.md")]:
        page.write_text(SHOWN.sub(lambda shown: f"```\n$ build/release/bin/turning_wheels {shown[1]}\n"
                                  + run(*shown[1].split()).stdout + "```", page.read_text()))


if __name__ == "__main__":
    if os.environ.get("DUEWHEEL_RECORD"):
        record()
    else:
        unittest.main(argv=sys.argv[:1])
