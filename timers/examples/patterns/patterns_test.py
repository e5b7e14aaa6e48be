#!/usr/bin/env python3
"""Each example of a pattern prints what its opening comment says it prints, and the page of patterns names each.

    patterns_test.py PROGRAMS PAGE
"""
import pathlib
import re
import subprocess
import sys
import unittest

PROGRAMS = pathlib.Path(sys.argv[1])
PAGE = pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Patterns(unittest.TestCase):
    def test_each_example_prints_what_it_says(self):
        sources = sorted(HERE.glob("*.cc"))
        self.assertGreaterEqual(len(sources), 10)
        for source in sources:
            with self.subTest(example=source.name):
                said = re.search(r"^// Prints:\n((?://     .*\n)+)", source.read_text(), re.MULTILINE)[1]
                run = subprocess.run([PROGRAMS / f"{source.stem}_example"], capture_output=True, text=True, timeout=30)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertEqual(run.stdout, re.sub(r"^//     ", "", said, flags=re.MULTILINE))

    def test_the_page_names_each_header_example_and_test(self):
        page = PAGE.read_text()
        linked = {(PAGE.parent / target).resolve() for target in re.findall(r"\]\(([^)#]+)", page)
                  if not target.startswith("http")}
        for path in linked:
            self.assertTrue(path.exists(), path)
        for pattern in ("examples/patterns/*.cc", "include/duewheel/patterns/*.h", "patterns/*_test.cc"):
            for path in ROOT.glob(pattern):
                self.assertIn(path.resolve(), linked)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
