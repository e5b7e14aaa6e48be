"""Attacks of another user of the same machine: it reads and changes what the modes of files allow."""

import os
import stat
import subprocess
import unittest

from daemon import BIN, Daemon

GROUP_WRITES = 0o020
OTHERS = 0o007


class NeighbourAttack(unittest.TestCase):
    def refused(self, daemon, *arguments):
        done = subprocess.run([BIN / "duewheeld", "--data", daemon.data, "--http", "127.0.0.1:0", *arguments], capture_output=True,
                              text=True, timeout=60, env=daemon.environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("ready", done.stdout)
        return done.stderr

    # The index was readable by every user who could reach the directory, whatever the mode of the log.
    def test_no_file_of_the_server_is_for_others(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        daemon = self.enterContext(Daemon(arguments=["--store-segment-size", "1MiB"]))
        daemon.start()
        os.umask(before)
        client = daemon.client()
        for _ in range(30):
            client.put("q", "x" * 100_000, delay="1h")
        client.request("PUT", "/v1/queues/q", {})
        daemon.terminate()
        seen = 0
        for path in [daemon.data, *daemon.data.rglob("*")]:
            mode = stat.S_IMODE(path.lstat().st_mode)
            self.assertEqual(mode & (GROUP_WRITES | OTHERS), 0, f"{path} {mode:o}")
            seen += "index" in path.parts
        self.assertGreater(seen, 3)

    def test_a_data_directory_that_every_user_can_change_is_refused(self):
        daemon = self.enterContext(Daemon())
        daemon.data.mkdir()
        daemon.data.chmod(0o777)
        self.assertIn("chmod o-w", self.refused(daemon))
        self.assertEqual(list(daemon.data.iterdir()), [])
        daemon.data.chmod(0o750)
        daemon.start()

    def test_a_configuration_file_that_others_can_change_is_refused(self):
        daemon = self.enterContext(Daemon())
        file = daemon.directory / "duewheel.toml"
        file.write_text("[auth]\nrequired = true\n")
        for mode in (0o666, 0o660, 0o622):
            file.chmod(mode)
            self.assertIn("chmod go-w", self.refused(daemon, "--config", file))
        file.chmod(0o644)
        daemon.arguments += ["--config", str(file)]
        daemon.start()


if __name__ == "__main__":
    unittest.main(verbosity=2)
