#!/usr/bin/env python3
"""River's load program: which Go builds it, what is said if that fails, and its ledger, which passes the cases of the load program for Node."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

from durable import river_load


class Program(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(river_load, "OUT", self.place))
        self.commands = []
        self.installed = "go version go1.26.8 linux/amd64"
        self.enterContext(mock.patch.object(river_load, "run", self.called))
        self.enterContext(mock.patch("shutil.which", lambda name: "/usr/bin/go" if self.installed else None))
        river_load.why_unavailable.cache_clear()
        self.addCleanup(river_load.why_unavailable.cache_clear)

    def called(self, *words, **how):
        self.commands.append(" ".join(map(str, words)))
        if words[1] == "build" and how["cwd"] != river_load.SOURCES:
            raise AssertionError("it is built elsewhere")
        (self.place / "go").mkdir(exist_ok=True)
        return self.installed

    def test_a_go_that_is_new_enough_builds_it(self):
        self.assertIsNone(river_load.why_unavailable())
        self.assertEqual(self.commands, ["/usr/bin/go version", f"/usr/bin/go build -o {river_load.PROGRAM} ."])

    def test_without_one_the_pinned_go_is_fetched_once(self):
        for self.installed in (None, "go version go1.19.8 linux/amd64"):
            self.assertEqual(river_load.go(), self.place / "go" / "bin" / "go")
        self.assertEqual(len([words for words in self.commands if "pip install" in words]), 1)

    def test_what_cannot_be_built_is_reported(self):
        with mock.patch.object(river_load, "run", side_effect=OSError("there is no network")):
            self.assertIn("there is no network", river_load.why_unavailable())


class Ledger(unittest.TestCase):
    def test_it_passes_the_cases_of_both_ledgers(self):
        if river_load.installed_go() is None:
            self.skipTest("there is no Go that is new enough for River")
        river_load.run("go", "test", "-count=1", "-vet=all", "./ledger", cwd=river_load.SOURCES,
                       env={**os.environ, **river_load.CACHES, "GOTOOLCHAIN": "local", "GOPROXY": "off"})


if __name__ == "__main__":
    unittest.main()
