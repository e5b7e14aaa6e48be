"""plant.py on a tree of two files: what applies, what does not and what it says then, editing and recording."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PLANT = pathlib.Path(__file__).resolve().parent / "plant.py"
QUEUE = """\
int Queue::first() {
    if (paused_) return 0;
    return 1;
}

int Queue::last() {
    if (paused_) return 0;
    return count_ + 1;
}
"""
PAUSE = """\
Breaks C7: a paused queue delivers a message.
Hunt without: list, loop.

--- src/queue.cc
@@ int Queue::last() {
-    if (paused_) return 0;
+    if (paused_ && !planted(PlantedBug::pause)) return 0;
"""
COUNT = """\
Breaks C3: the last message is lost.

--- src/queue.cc
@@
-    return count_ + 1;
+    return count_ + (planted(PlantedBug::count) ? 0 : 1);
"""


class Plant(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="duewheel-plant-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.put("src/queue.cc", QUEUE)
        self.put("timers/wheel.h", "int ticks();\n")
        (self.root / "tests/simulation/bugs").mkdir(parents=True)

    def put(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def put_patches(self, **patches):
        for number, (name, text) in enumerate(patches.items(), 1):
            self.put(f"tests/simulation/bugs/{number:02}_{name}.patch", text)

    def plant(self, *words):
        return subprocess.run([sys.executable, str(PLANT), "--root", str(self.root), *words], capture_output=True, text=True)

    def written(self, path="src/queue.cc"):
        ended = self.plant("write", str(self.root / "copy"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return (self.root / "copy" / path).read_text()

    def assert_refused(self, *texts):
        for words in (["check"], ["write", str(self.root / "copy")]):
            ended = self.plant(*words)
            self.assertEqual(ended.returncode, 1, ended.stdout)
            for text in texts:
                self.assertIn(text, ended.stderr)
        self.assertFalse((self.root / "copy").exists())

    def test_each_patch_reads_alone_and_all_apply_together(self):
        self.put_patches(pause=PAUSE, count=COUNT)
        self.assertEqual(self.plant("check").returncode, 0)
        self.assertEqual(self.written(), QUEUE.replace(
            "count_ + 1", "count_ + (planted(PlantedBug::count) ? 0 : 1)").replace(
            "last() {\n    if (paused_)", "last() {\n    if (paused_ && !planted(PlantedBug::pause))"))
        self.assertIn("    pause = 1,\n    count = 2,\n", self.written("planted_bugs.h"))
        self.assertIn('{PlantedBug::pause, "pause", {"list", "loop"}},', self.written("planted_bugs.cc"))
        self.assertFalse((self.root / "copy/timers/wheel.h").exists(), "only what a patch changes is copied")
        self.assertEqual(self.plant("files").stdout, "src/queue.cc\n")

    def test_indentation_does_not_matter(self):
        self.put_patches(count=COUNT)
        self.put("src/queue.cc", QUEUE.replace("    return count_ + 1;", "        return count_ + 1;"))
        self.assertIn("        return count_ + (planted", self.written())

    def test_two_patches_may_insert_at_one_place_and_stand_in_the_order_of_their_numbers(self):
        insert = "Breaks C3: lost.\n\n--- src/queue.cc\n@@\n+    if (planted(PlantedBug::{})) return 9;\n     return 1;\n"
        self.put_patches(zebra=insert.format("zebra"), ant=insert.format("ant"))
        self.assertIn("::zebra)) return 9;\n    if (planted(PlantedBug::ant)) return 9;\n    return 1;", self.written())

    def test_two_patches_that_replace_the_same_text_are_refused(self):
        self.put_patches(count=COUNT, other=COUNT.replace("::count", "::other"))
        self.assert_refused("01_count.patch", "02_other.patch", "replace the same text")

    def test_a_patch_that_does_not_apply_any_more_is_named_with_how_to_mend_it(self):
        self.put_patches(pause=PAUSE, count=COUNT)
        self.put("src/queue.cc", QUEUE.replace("count_ + 1", "size() + 1"))
        self.put("src/list.cc", "    return count_ + 1;\n")
        self.assert_refused("02_count.patch", "0 times in src/queue.cc", "plant.py edit count", "src/list.cc:1")

    def test_an_ambiguous_place_is_refused(self):
        self.put_patches(pause=PAUSE.replace("@@ int Queue::last() {", "@@"))
        self.assert_refused("01_pause.patch", "2 times in src/queue.cc", "name the function")

    def test_a_function_that_is_gone_is_refused(self):
        self.put_patches(pause=PAUSE.replace("last()", "middle()"))
        self.assert_refused("01_pause.patch", "0 times in src/queue.cc, in `int Queue::middle() {`")

    def test_a_file_that_is_gone_is_refused_but_does_not_stop_the_configuration(self):
        self.put_patches(count=COUNT.replace("queue.cc", "gone.cc"))
        self.assert_refused("01_count.patch", "src/gone.cc")
        self.assertEqual(self.plant("files").returncode, 0)

    def test_a_patch_says_what_it_breaks_and_has_its_own_switch(self):
        for wrong, said in ((COUNT.replace("C3", "C14"), "Breaks C7"), (COUNT.replace("Breaks C3: the", "The"), "Breaks C7"),
                            (COUNT.replace("::count", "::other"), "planted(PlantedBug::count)"),
                            (COUNT.replace("\n\n", "\nFound in March.\n\n"), "Hunt without"),
                            (COUNT.partition("---")[0], "changes nothing")):
            with self.subTest(wrong=wrong):
                self.put_patches(count=wrong)
                self.assert_refused("01_count.patch", said)

    def test_a_number_is_given_once(self):
        self.put("tests/simulation/bugs/01_pause.patch", PAUSE)
        self.put("tests/simulation/bugs/01_count.patch", COUNT)
        self.assert_refused("number is taken")

    def test_no_patches_at_all_are_refused(self):
        self.assert_refused("holds no patch")

    def test_only_what_changed_is_written_again(self):
        self.put_patches(count=COUNT)
        self.put("tests/simulation/bugs/02_tick.patch", "Breaks C2: early.\n\n--- timers/wheel.h\n@@\n int ticks();\n"
                 "+inline int early() { return planted(PlantedBug::tick); }\n")
        self.written()
        before = {file: file.stat().st_mtime_ns for file in (self.root / "copy").rglob("*.*")}
        self.put("src/queue.cc", QUEUE.replace("return 1;", "return 2;"))
        self.written()
        changed = [file.name for file, time in before.items() if file.stat().st_mtime_ns != time]
        self.assertEqual(changed, ["queue.cc"])
        (self.root / "tests/simulation/bugs/02_tick.patch").unlink()
        self.written()
        self.assertFalse((self.root / "copy/timers/wheel.h").exists(), "a copy that no patch asks for would still be found")

    def test_a_bug_is_planted_by_editing_and_recording(self):
        self.put_patches(count=COUNT)
        self.assertEqual(self.plant("edit", "pause").returncode, 0)
        copy = self.root / "build/bugs/pause/src/queue.cc"
        self.assertEqual(copy.read_text(), QUEUE)
        planted = QUEUE.replace("last() {\n    if (paused_)", "last() {\n    if (paused_ && !planted(PlantedBug::pause))")
        copy.write_text(planted)
        self.assertIn("--breaks", self.plant("record", "pause").stderr)
        ended = self.plant("record", "pause", "--breaks", "C7: a paused queue delivers a message.")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("\n@@\n int Queue::last() {\n-    if (paused_) return 0;\n+    if (paused_ && !planted(PlantedBug::pause)) "
                      "return 0;\n", (self.root / "tests/simulation/bugs/02_pause.patch").read_text())
        self.assertIn("planted(PlantedBug::pause)", self.written())

    def test_an_old_patch_is_mended_by_editing_and_recording(self):
        self.put_patches(pause=PAUSE, count=COUNT)
        self.put("src/queue.cc", QUEUE.replace("count_", "size_"))
        ended = self.plant("edit", "count")
        self.assertIn("not applied, plant it by hand: src/queue.cc\n-    return count_ + 1;\n", ended.stdout)
        copy = self.root / "build/bugs/count/src/queue.cc"
        copy.write_text(copy.read_text().replace("size_ + 1", "size_ + (planted(PlantedBug::count) ? 0 : 1)"))
        self.assertEqual(self.plant("record", "count").returncode, 0)
        self.assertEqual((self.root / "tests/simulation/bugs/02_count.patch").read_text(), COUNT.replace("count_", "size_"))
        self.assertEqual(self.plant("edit", "pause").returncode, 0)
        self.assertEqual(self.plant("record", "pause").returncode, 0)
        self.assertTrue((self.root / "tests/simulation/bugs/01_pause.patch").read_text().startswith(
            "Breaks C7: a paused queue delivers a message.\nHunt without: list, loop.\n\n--- src/queue.cc\n@@\n"))
        self.assertEqual(self.plant("check").returncode, 0)

    def test_a_place_that_needs_too_many_lines_is_named_by_its_function(self):
        repeated = "    step();\n" * 12
        self.put("src/queue.cc", f"void one() {{\n{repeated}}}\n\nvoid two() {{\n{repeated}    end();\n{repeated}}}\n\nvoid three() {{\n"
                 f"{repeated}    end();\n{repeated}}}\n")
        self.assertEqual(self.plant("edit", "skips").returncode, 0)
        copy = self.root / "build/bugs/skips/src/queue.cc"
        head, _, tail = copy.read_text().rpartition("    end();\n")
        copy.write_text(head + "    if (!planted(PlantedBug::skips)) end();\n" + tail)
        ended = self.plant("record", "skips", "--breaks", "C3: a step is skipped.")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("@@ void three() {\n-    end();\n+    if", (self.root / "tests/simulation/bugs/01_skips.patch").read_text())
        self.assertEqual(self.written(), copy.read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
