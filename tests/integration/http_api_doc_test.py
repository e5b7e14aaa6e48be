"""docs/http_api.md runs as pasted: its `sh` examples, in order and in one shell, against a fresh server; where a `json`
block follows, its lines are what the example prints, down to every value that does not depend on the day.
With DUEWHEEL_RECORD=1, what is printed is written into the page."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from daemon import Daemon

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "http_api.md"
ADDRESS = "127.0.0.1:7420"
END = "-- end of example --"

# Members that depend on the moment, on the run, or on how commands happened to be gathered into commits.
VARYING = {"lease", "cursor", "ended", "due", "now", "commits", "server_time", "server_time_ms", "lateness_ms", "wait_ms",
           "instance", "version", "disk_free_bytes", "timers", "indexed_only", "token", "created", "old_until",
           "started"}


def blocks():
    """[(shell text, expected JSON values or None)] in the order of the page."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    examples = []
    for language, text in found:
        if language == "sh":
            examples.append([text, None])
        elif language == "json":
            examples[-1][1] = values(text)
    return examples


def values(text):
    """The JSON values that follow one another in a text."""
    decoder = json.JSONDecoder()
    found = []
    text = text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def fixed(value, name=""):
    """The value with what varies replaced by its type."""
    if isinstance(value, dict):
        return {key: fixed(member, key) for key, member in value.items()}
    if isinstance(value, list):
        return [fixed(member) for member in value]
    if name in VARYING or name.endswith("_ms"):
        return type(value).__name__
    return value


def with_former(value, former, name=""):
    """The value, with what varies as it was."""
    if isinstance(value, dict):
        of = former if isinstance(former, dict) else {}
        return {key: with_former(member, of.get(key), key) for key, member in value.items()}
    if isinstance(value, list):
        of = former if isinstance(former, list) else []
        return [with_former(member, of[i] if i < len(of) else None) for i, member in enumerate(value)]
    return former if former is not None and fixed(value, name) == fixed(former, name) else value


def wrapped(value, width=118):
    """JSON in lines of at most that width, where it can be broken after a comma."""
    lines = [""]
    for part in re.findall(r'(?:"(?:[^"\\]|\\.)*"|[^",])+(?:, |$)', json.dumps(value, ensure_ascii=False)):
        if len(lines[-1]) + len(part) > width and lines[-1]:
            lines.append(" ")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def record(examples, printed):
    """Writes what differs, in more than what varies, into the page."""
    page = PAGE.read_text()
    for (text, expected), output in zip(examples, printed):
        found = values(output)
        if fixed(found) == fixed(expected):
            continue
        shown = "\n".join(wrapped(value) for value in with_former(found, expected))
        page = re.sub("(" + re.escape(f"```sh\n{text}```\n") + r".*?```json\n).*?(^```$)",
                      lambda block, shown=shown: block[1] + shown + "\n" + block[2],
                      page, count=1, flags=re.MULTILINE | re.DOTALL)
    PAGE.write_text(page)


class Examples(unittest.TestCase):
    maxDiff = None

    @unittest.skipUnless(shutil.which("curl"), "the examples use curl")
    def test_every_example_prints_what_the_page_says(self):
        examples = blocks()
        self.assertGreater(len(examples), 10)
        for text, _ in examples:
            self.assertIn(ADDRESS, text)
        with Daemon() as daemon:
            daemon.start()
            script = "set -eu -o pipefail\n" + "".join(f"{text}\necho '{END}'\n" for text, _ in examples)
            environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
            run = subprocess.run(["bash", "-c", script.replace(ADDRESS, f"127.0.0.1:{daemon.port}")],
                                 capture_output=True, text=True, timeout=120, env=environment)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        printed = run.stdout.split(END)
        self.assertEqual(len(printed), len(examples) + 1)
        if os.environ.get("DUEWHEEL_RECORD"):
            return record(examples, printed)
        for (text, expected), output in zip(examples, printed):
            with self.subTest(example=text):
                self.assertIsNotNone(expected, "an example without its answer")
                self.assertEqual(fixed(values(output)), fixed(expected))


if __name__ == "__main__":
    unittest.main(verbosity=2)
