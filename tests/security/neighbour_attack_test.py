"""Attacks of another user of the same machine: it reads and changes what the modes of files allow."""

import errno
import grp
import os
import stat
import subprocess
import unittest

from attacks import main
from beanstalk_client import BeanstalkDaemon, Connection
from daemon import BIN, Daemon

GROUP_WRITES = 0o020
OTHERS = 0o007
OTHER_USER = 65534


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


class UnixSocketAttack(unittest.TestCase):
    """Other users of the machine at the Unix socket of clients of beanstalkd. Only root can become others."""

    def setUp(self):
        self.daemon = self.enterContext(BeanstalkDaemon("unix:/"))
        self.daemon.directory.chmod(0o711)
        self.socket = self.daemon.directory / "socket"
        self.daemon.arguments[1] = f"unix:{self.socket}"

    def start(self, *arguments):
        self.daemon.arguments += arguments
        before = os.umask(0)
        try:
            self.daemon.start()
        finally:
            os.umask(before)

    def connect_as(self, user, group):
        """The errno of the connection of such a process, 0 if it may connect and kick."""
        child = os.fork()
        if child == 0:
            code = 255
            try:
                os.setgroups([])
                os.setgid(group)
                os.setuid(user)
                if Connection(str(self.socket)).ask("kick 1\r\n") == b"KICKED 0\r\n":
                    code = 0
            except OSError as error:
                code = error.errno
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    # The mode of the socket was that of the umask, and a kick of a client left no line.
    def test_only_the_user_of_the_server_may_connect_and_is_named_in_the_audit_log(self):
        self.start()
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o600)
        connection = self.daemon.connect()
        self.assertEqual(connection.ask("kick 1\r\n"), b"KICKED 0\r\n")
        self.assertEqual(connection.ask("pause-tube default 0\r\n"), b"PAUSED\r\n")
        self.assertEqual(connection.ask("pause-tube unknown 0\r\n"), b"NOT_FOUND\r\n")
        if os.geteuid() == 0:
            self.assertEqual(self.connect_as(OTHER_USER, OTHER_USER), errno.EACCES)
        self.assertEqual(self.daemon.terminate(), 0)
        self.assertEqual([(line["verb"], line["actor"], line["address"], line["object"], line["outcome"])
                          for line in self.daemon.audit_lines() if line["verb"].startswith("tube.")],
                         [("tube.kick", f"uid:{os.geteuid()}", "unix", "default", "ok"),
                          ("tube.pause", f"uid:{os.geteuid()}", "unix", "default", "ok"),
                          ("tube.pause", f"uid:{os.geteuid()}", "unix", "unknown", "unknown_queue")])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_the_members_of_a_group_may_connect_and_no_others(self):
        group = next(each for each in grp.getgrall() if each.gr_gid not in (os.getegid(), OTHER_USER))
        self.start("--beanstalk-socket-group", group.gr_name)
        about = self.socket.stat()
        self.assertEqual((stat.S_IMODE(about.st_mode), about.st_gid), (0o660, group.gr_gid))
        self.assertEqual(self.connect_as(OTHER_USER, OTHER_USER), errno.EACCES)
        self.assertEqual(self.connect_as(OTHER_USER, group.gr_gid), 0)
        self.assertEqual(self.daemon.terminate(), 0)
        self.assertEqual([line["actor"] for line in self.daemon.audit_lines() if line["verb"] == "tube.kick"], [f"uid:{OTHER_USER}"])

    def test_a_group_that_cannot_have_the_socket_is_refused(self):
        def refusal(*arguments, **how):
            done = subprocess.run([BIN / "duewheeld", "--data", self.daemon.data, "--http", "127.0.0.1:0", *arguments],
                                  capture_output=True, text=True, timeout=60, env=self.daemon.environment, **how)
            self.assertNotEqual(done.returncode, 0)
            self.assertFalse(self.socket.exists())
            return done.stderr

        at_socket = ["--beanstalk", f"unix:{self.socket}"]
        self.assertIn("bad_beanstalk_group", refusal(*at_socket, "--beanstalk-socket-group", "no such group"))
        self.assertIn("bad_beanstalk_group", refusal("--beanstalk", "127.0.0.1:0", "--beanstalk-socket-group", "root"))
        if os.geteuid() != 0:
            return
        os.chown(self.daemon.directory, OTHER_USER, OTHER_USER)
        try:
            said = refusal(*at_socket, "--beanstalk-socket-group", grp.getgrgid(0).gr_name, user=OTHER_USER, group=OTHER_USER,
                           extra_groups=[])
        except PermissionError:
            self.skipTest("another user cannot run the server from its folder")
        self.assertIn("bad_beanstalk_group", said)
        self.assertIn("member of this group", said)

    # A socket that could not be connected to counted as left over, and was removed.
    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_server_of_another_user_does_not_replace_the_socket(self):
        self.start()
        os.chown(self.daemon.directory, OTHER_USER, OTHER_USER)
        try:
            done = subprocess.run([BIN / "duewheeld", "--data", self.daemon.directory / "other", "--http", "127.0.0.1:0", "--beanstalk",
                                   f"unix:{self.socket}"], capture_output=True, text=True, timeout=60, env=self.daemon.environment,
                                  user=OTHER_USER, group=OTHER_USER, extra_groups=[])
        except PermissionError:
            self.skipTest("another user cannot run the server from its folder")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("port_in_use", done.stderr)
        self.assertEqual(self.daemon.connect().ask("kick 1\r\n"), b"KICKED 0\r\n")

    def test_clients_over_tcp_are_named_by_their_address(self):
        self.daemon.arguments[1] = "127.0.0.1:0"
        self.start()
        self.assertEqual(self.daemon.connect().ask("kick 1\r\n"), b"KICKED 0\r\n")
        self.assertEqual(self.daemon.terminate(), 0)
        self.assertEqual([(line["actor"], line["address"]) for line in self.daemon.audit_lines() if line["verb"] == "tube.kick"],
                         [("anonymous", "127.0.0.1")])


if __name__ == "__main__":
    main(tries=8)
