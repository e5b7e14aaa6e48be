"""The lines that the simulator prints of a violation, pasted: each of them has to show the violation again.

The replay line named neither the planted bug nor the program, and the run was made smaller without the bug, so that
nothing was ever left out.
"""

import re
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


def pasted(line):
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300)


def number(name, line):
    return int(re.search(rf"--{name} (\d+)", line).group(1))


class Replay(unittest.TestCase):
    def test_the_printed_lines_show_the_violation_again(self):
        found = pasted(f"{PROGRAM} --bug 33 --seed 1 --runs 200 --steps 400")
        self.assertEqual(found.returncode, 1, found.stdout[-2000:])
        clause, seed = re.search(r"VIOLATION of (\S+) in seed (\d+)", found.stdout).groups()
        replay, smaller = (re.search(rf"(?m)^{name}: (.*)$", found.stdout).group(1) for name in ("replay", "smaller"))
        self.assertEqual((number("seed", replay), number("seed", smaller)), (int(seed), int(seed)))
        self.assertTrue(number("steps", smaller) < 400 or "--without" in smaller, smaller)
        for line in (replay, smaller):
            again = pasted(line + " --no-shrink")
            self.assertEqual(again.returncode, 1, f"{line}\n{again.stdout[-2000:]}")
            self.assertIn("VIOLATION of ", again.stdout)
        self.assertIn(f"VIOLATION of {clause} in seed {seed}", pasted(replay + " --no-shrink").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
