"""The attacks as a whole: how many there are, and that the page of the threats names what tests each defence."""

import pathlib
import re
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TRIES = 60


class Suite(unittest.TestCase):
    def test_there_are_enough_tries(self):
        tries = {path.name: int(re.search(r"^    main\(tries=(\d+)\)$", path.read_text(), re.MULTILINE)[1]) for path in HERE.glob("*_attack_test.py")}
        print(f"{sum(tries.values())} tries in {len(tries)} files")
        self.assertGreaterEqual(sum(tries.values()), TRIES)

    def test_the_page_names_each_file_and_each_file_is_run(self):
        page = (ROOT / "docs" / "threats.md").read_text()
        named = set(re.findall(r"\[`[^`]*`\]\(\.\./(tests/[^)#]*)\)", page))
        self.assertEqual([path for path in named if not (ROOT / path).is_file()], [])
        attacks = {str(path.relative_to(ROOT)) for path in (*HERE.glob("*_attack_test.py"), *HERE.glob("*.test.mjs"))}
        self.assertEqual(attacks - named, set())
        listed = (HERE / "CMakeLists.txt").read_text()
        self.assertEqual([path.name for path in HERE.glob("*_attack_test.py") if f"({path.name.removesuffix('_attack_test.py')} " not in listed], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
