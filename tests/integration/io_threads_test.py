"""The real server with none, one and several I/O threads: it must behave the same."""

import pathlib
import subprocess
import tempfile
import threading
import unittest

from beanstalk_client import BeanstalkDaemon
from certificates import Authority
from daemon import BIN, Daemon
from raw_sockets import connect, read_answer, request, wait_until

THREADS = (0, 1, 3)


def started(threads, *arguments):
    daemon = Daemon(arguments=["--io-threads", str(threads), *arguments])
    daemon.start()
    return daemon


def names_of_threads(daemon):
    return [task.read_text().strip() for task in pathlib.Path(f"/proc/{daemon.process.pid}/task").glob("*/comm")]


class IoThreads(unittest.TestCase):
    def test_each_has_a_name(self):
        for threads in THREADS:
            with self.subTest(threads=threads), started(threads) as daemon:
                found = sorted(name for name in names_of_threads(daemon) if name.startswith("dw-io-"))
                self.assertEqual(found, [f"dw-io-{number}" for number in range(threads)])

    def test_requests_of_a_connection_take_effect_in_their_order(self):
        for threads in THREADS:
            with self.subTest(threads=threads), started(threads) as daemon:
                connections = [connect(daemon) for _ in range(30)]
                for number, connection in enumerate(connections):
                    put = request("POST", "/v1/queues/q/messages", {"body": "x", "key": f"k{number}", "delay": "1h"})
                    by_key = f"/v1/messages?queue=q&key=k{number}"
                    connection.sendall(put + request("GET", by_key) + request("DELETE", by_key) + request("GET", by_key) + put)
                for connection in connections:
                    stream = connection.makefile("rb")
                    answers = [read_answer(stream) for _ in range(5)]
                    self.assertEqual([status for status, *_ in answers[:3]], [201, 200, 200], answers)
                    connection.close()

    def test_a_refused_client_sends_no_body(self):
        for threads in THREADS:
            with self.subTest(threads=threads), started(threads, "--auth-required") as daemon:
                connection = connect(daemon)
                connection.sendall(b"POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n"
                                   b"Expect: 100-continue\r\n\r\n")
                status, *_ = read_answer(connection.makefile("rb"))
                self.assertEqual(status, 401)
                connection.close()

    def test_consumers_that_wait_get_their_response_when_the_server_stops(self):
        for threads in THREADS:
            with self.subTest(threads=threads), started(threads) as daemon:
                answers = []

                def wait():
                    answers.append(daemon.client().lease("q", wait="20s"))

                waiting = [threading.Thread(target=wait) for _ in range(40)]
                for thread in waiting:
                    thread.start()
                client = daemon.client()
                wait_until(lambda: client.request("GET", "/v1/stats")[1]["waiters"] == 40, "40 consumers wait")
                self.assertEqual(daemon.terminate(), 0)
                for thread in waiting:
                    thread.join()
                self.assertEqual(answers, [[]] * 40)

    def test_handshakes_that_fail_are_counted_and_logged(self):
        with tempfile.TemporaryDirectory(prefix="duewheel-test-") as directory:
            certificate, key = Authority(directory).issue("server")
            for threads in THREADS:
                tls = ["--tls-certificate", certificate, "--tls-key", key]
                with self.subTest(threads=threads), started(threads, *tls) as daemon:
                    connection = connect(daemon)
                    connection.sendall(request("GET", "/healthz"))
                    status, *_ = read_answer(connection.makefile("rb"))
                    self.assertEqual(status, 400)
                    wait_until(lambda: "plain_http" in daemon.log_text(), "the log tells of the handshake")
                    connection.close()

    def test_clients_of_beanstalkd_have_a_thread_of_their_own(self):
        for threads in THREADS:
            with self.subTest(threads=threads), BeanstalkDaemon(arguments=["--io-threads", str(threads)]) as daemon:
                daemon.start()
                self.assertEqual("dw-beanstalk" in names_of_threads(daemon), threads > 0)
                client = daemon.connect()
                job = client.put(b"x")
                self.assertEqual(client.ask("reserve\r\n"), b"RESERVED %d 1\r\nx\r\n" % job)
                self.assertEqual(client.ask(f"delete {job}\r\n"), b"DELETED\r\n")
                _, metrics = daemon.client().request("GET", "/metrics")
                self.assertIn("\nduewheel_beanstalk_connections 1\n", metrics)
                self.assertIn("\nduewheel_beanstalk_commands_total 3\n", metrics)
                client.send("put 0 0 60 1\r\ny\r\nreserve\r\nreserve\r\n")
                self.assertEqual(client.read()[:9], b"INSERTED ")
                self.assertEqual(client.read()[:9], b"RESERVED ")
                self.assertEqual(daemon.terminate(), 0)
                self.assertEqual(client.read(), b"TIMED_OUT\r\n")
                self.assertEqual(client.read(), b"")

    def test_numbers_out_of_range_are_refused(self):
        for text, error in (("1000", "`io.threads` is 1000; choose auto, or 0 to 64"),
                            ("many", '`io.threads` must be a whole number, or auto, not "many"')):
            run = subprocess.run([BIN / "duewheeld", "--io-threads", text], capture_output=True, text=True)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(error, run.stderr)


if __name__ == "__main__":
    unittest.main()
