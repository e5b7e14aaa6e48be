"""A node of a replicated log whose brokers cannot be reached: what the service manager, signals and wrong settings do to a
standby node. tests/kafka has what it does with brokers.
"""

import select
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from certificates import Authority
from daemon import BIN, Daemon

ARGUMENTS = ["--kafka-bootstrap", "127.0.0.1:1", "--kafka-log-replicate"]
WITHIN_S = 60


class StandbyNode(Daemon):
    def start(self):
        self.process = subprocess.Popen([BIN / "duewheeld", "--data", self.data, "--http", self.listen, *ARGUMENTS, *self.arguments],
                                        stdout=subprocess.PIPE, stderr=self.log, env=self.environment, cwd=self.directory)
        readable, _, _ = select.select([self.process.stdout], [], [], WITHIN_S)
        line = self.process.stdout.readline().decode() if readable else ""
        assert line.startswith("standby http="), f"{line!r}\n{self.log_text()}"
        self.port = int(line.rpartition(":")[2])


class Standby(unittest.TestCase):
    # systemd, which had received READY=1, ended each standby node after WatchdogSec=.
    def test_the_service_manager_hears_from_it(self):
        with StandbyNode() as node, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            path = str(node.directory / "notify")
            manager.bind(path)
            manager.settimeout(WITHIN_S)
            node.environment.update(NOTIFY_SOCKET=path, WATCHDOG_USEC="400000")
            node.start()
            heard = []
            while heard.count(b"WATCHDOG=1") < 5:
                heard.append(manager.recv(200))
            self.assertIn(b"READY=1\nSTATUS=Follows the log of another node.", heard)

    # SIGHUP, which asks the owner for its new certificate, ended a standby node.
    def test_a_new_certificate_is_used_after_sighup(self):
        with tempfile.TemporaryDirectory() as directory:
            authority = Authority(directory)
            certificate, key = authority.issue("node")
            with StandbyNode(arguments=["--tls-certificate", certificate, "--tls-key", key]) as node:
                node.start()

                def shown():
                    with socket.create_connection(("127.0.0.1", node.port), WITHIN_S) as plain:
                        with authority.client_context().wrap_socket(plain, server_hostname="localhost") as secure:
                            return secure.getpeercert()["serialNumber"]

                before = shown()
                authority.issue("node")
                node.process.send_signal(signal.SIGHUP)
                deadline = time.monotonic() + WITHIN_S
                while shown() == before:
                    self.assertLess(time.monotonic(), deadline, node.log_text())
                    time.sleep(0.05)

    def test_signals_end_it_only_if_they_should(self):
        with StandbyNode() as node:
            node.start()
            for each in (signal.SIGHUP, signal.SIGUSR1):
                node.process.send_signal(each)
                self.assertEqual(node.client().request("GET", "/livez")[0], 200)
            self.assertEqual(node.terminate(), 0, node.log_text())

    # They were found when the node had taken the log over, which then had no owner.
    def test_settings_with_which_it_could_not_serve_are_refused_at_the_start(self):
        for arguments, text in [(["--http", "0.0.0.0:0", "--unsafe-plain-listen"], "kafka.log.url"),
                                (["--http", "192.0.2.1:7420"], "unsafe_listen"),
                                (["--http-hosts", "a/b"], "http.hosts"),
                                (["--tls-certificate", "/nonexistent", "--tls-key", "/nonexistent"], "/nonexistent")]:
            with tempfile.TemporaryDirectory() as directory:
                done = subprocess.run([BIN / "duewheeld", "--data", f"{directory}/data", *ARGUMENTS, *arguments], capture_output=True,
                                      text=True, timeout=WITHIN_S)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stdout, "")

    # A server that wrote to the log of a node alone parted it from the other nodes, and so did a token.
    def test_the_directory_of_a_node_is_not_written_alone(self):
        with Daemon() as server:
            server.start()
            server.client().put("q", "x")
            self.assertEqual(server.terminate(), 0)
            (server.data / "topic").touch()
            done = subprocess.run([BIN / "duewheeld", "--data", server.data, "--http", "127.0.0.1:0"], capture_output=True, text=True,
                                  timeout=WITHIN_S)
            self.assertEqual(done.returncode, 65, done.stderr)
            self.assertIn("log_is_replicated", done.stderr)
            self.assertIn("Set kafka.log.replicate", done.stderr)
            done = subprocess.run([BIN / "duewheel", "token", "add", "admin", "--admin", "--data", server.data], capture_output=True,
                                  text=True, timeout=WITHIN_S)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("duewheel token add ID --scope admin", done.stderr)
            (server.data / "topic").unlink()
            server.start()
            self.assertEqual(server.terminate(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
