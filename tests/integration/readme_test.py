"""The lines of the README, pasted: what is put comes out, on time, also when the server is killed in between."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from daemon import BIN, Daemon

README = pathlib.Path(__file__).resolve().parent.parent.parent / "README.md"


def blocks():
    """The shell lines of each fenced block."""
    found = re.findall(r"^```sh\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    return [[line for line in block.splitlines() if line] for block in found]


class Readme(unittest.TestCase):
    def run_line(self, daemon, line):
        line = line.replace("127.0.0.1:7420", f"127.0.0.1:{daemon.port}").replace("build/release/bin", str(BIN))
        environment = dict(os.environ, DUEWHEEL_SERVER=f"http://127.0.0.1:{daemon.port}")
        run = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, timeout=60)
        self.assertEqual(run.returncode, 0, f"{line}\n{run.stdout}{run.stderr}")
        return run.stdout

    def test_the_two_commands_are_at_the_top(self):
        commands, *_ = blocks()
        self.assertTrue(commands[0].startswith("./dev run"))
        self.assertTrue(commands[1].startswith("./dev test"))

    def test_the_curl_lines_deliver_on_time_across_kill_9(self):
        put, lease = next(block for block in blocks() if block[0].startswith("curl"))
        with Daemon() as daemon:
            daemon.start()
            due_ms = json.loads(self.run_line(daemon, put))["due_ms"]
            daemon.kill()
            daemon.start()
            (message,) = json.loads(self.run_line(daemon, lease))["messages"]
            self.assertEqual(message["body"], "hello")
            self.assertEqual(message["due_ms"], due_ms)
            self.assertGreaterEqual(message["delivered_ms"], due_ms)
            self.assertLess(message["lateness_ms"], 1000)

    def test_the_lines_of_the_command_line_deliver(self):
        put, lease = next(block for block in blocks() if "duewheel put" in block[0])
        with Daemon() as daemon:
            daemon.start()
            self.run_line(daemon, put)
            self.assertIn("hello", self.run_line(daemon, lease))


if __name__ == "__main__":
    unittest.main(verbosity=2)
