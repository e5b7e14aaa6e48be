"""The commands of the README and of `./dev run`, as pasted: each message is delivered on time, even if the server is
killed in between."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

import doc_pages
from daemon import BIN, Daemon
from doc_pages import CLIENT_PYTHON, ROOT

README = ROOT / "README.md"


def blocks():
    """The shell lines of each fenced block."""
    return [[line for line in block.splitlines() if line] for block in doc_pages.blocks(README, "sh")]


def printed_lines(*arguments, **environment):
    """What `./dev run` prints before it starts the server, and the commands in it."""
    run = subprocess.run([ROOT / "dev", "lines", *arguments], capture_output=True, text=True, timeout=60,
                         env=dict(os.environ, **environment))
    assert run.returncode == 0, run.stderr
    joined = run.stdout.replace("\\\n", " ")
    return run.stdout, [line.strip() for line in joined.splitlines() if line.startswith("  ")]


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
        put, lease, ack = next(block for block in blocks() if block[0].startswith("curl"))
        with Daemon() as daemon:
            daemon.start()
            due_ms = json.loads(self.run_line(daemon, put))["due_ms"]
            daemon.kill()
            daemon.start()
            asked_ms = time.time() * 1000
            leased, acked = self.run_line(daemon, f"{lease}\n{ack}").splitlines()
            (message,) = json.loads(leased)["messages"]
            self.assertEqual(json.loads(acked)["outcome"], "done")
            self.assertEqual(message["body"], "hello")
            self.assertEqual(message["due_ms"], due_ms)
            self.assertGreaterEqual(message["delivered_ms"], due_ms)
            # Asked for late, as on a machine that takes long to start, it comes late.
            self.assertLess(message["delivered_ms"] - max(due_ms, asked_ms), 5000)

    def test_the_lines_of_the_command_line_deliver(self):
        put, lease, ack = next(block for block in blocks() if "duewheel put" in block[0])
        with Daemon() as daemon:
            daemon.start()
            self.run_line(daemon, put)
            self.assertIn("hello", self.run_line(daemon, f"{lease}\n{ack}"))


# Runs the text of a file in which `print`, the work of the pages, takes longer than a lease.
SLOW_WORK = """
import builtins, sys, threading, time
shown, whole = builtins.print, threading.Lock()
def print_slowly(*words, **how):
    with whole:  # the end of a line is written by itself
        shown(*words, **how)
    if words == ("bad",):
        raise ValueError("it is bad")
    if words in (("one",), ("two",)):
        time.sleep(4)
builtins.print = print_slowly
exec(open(sys.argv[1]).read())
"""


class Worker(unittest.TestCase):
    # The worker leased ten messages for 30 s, worked on one after the other, and died of the first lease that had ended.
    def test_a_worker_without_a_library_does_slow_work_once_and_survives_a_restart(self):
        self.do_slow_work_over_a_restart(ROOT / "docs" / "clients.md", sys.executable, "ValueError('it is bad')")

    # A message that came while the worker started was leased for ever, and not handled.
    def test_a_worker_of_the_client_does_slow_work_once_and_survives_a_restart(self):
        doc_pages.skip_without_client(self)
        self.do_slow_work_over_a_restart(README, CLIENT_PYTHON, "ValueError: it is bad")

    def test_the_message_of_the_page_is_put_and_delivered(self):
        doc_pages.skip_without_client(self)
        text, = doc_pages.blocks(README, "python")
        with Daemon() as daemon:
            daemon.start()
            text = text.replace("127.0.0.1:7420", f"127.0.0.1:{daemon.port}").replace("seconds=10", "seconds=1")
            environment = dict(os.environ, PYTHONPATH=str(ROOT / "clients" / "python" / "src"))
            worker = subprocess.Popen([CLIENT_PYTHON, "-c", text], stdout=subprocess.PIPE, text=True, env=environment)
            try:
                self.assertEqual(worker.stdout.readline(), "hello\n")
                self.wait_until(lambda: daemon.client().request("GET", "/v1/queues/orders")[1]["pending"] == 0)
            finally:
                worker.terminate()
                worker.communicate(timeout=60)

    def do_slow_work_over_a_restart(self, page, python, reason):
        text, = doc_pages.blocks(page, "python")
        text = text.replace("seconds=10", "days=1")  # the message of the page is in the way
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            client.request("PUT", "/v1/queues/orders", {"lease": "3s"})
            bad = client.put("orders", "bad", retry={"attempts": 1})[1]["id"]
            slow = [client.put("orders", body)[1]["id"] for body in ("one", "two")]
            (daemon.directory / "worker.py").write_text(text.replace("127.0.0.1:7420", f"127.0.0.1:{daemon.port}"))
            environment = dict(os.environ, PYTHONPATH=str(ROOT / "clients" / "python" / "src"))
            workers = [subprocess.Popen([python, "-c", SLOW_WORK, daemon.directory / "worker.py"], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, env=environment) for _ in range(2)]
            try:
                self.wait_until(lambda: self.states(client, [bad, *slow]) == ["dead", "leased", "leased"])
                self.assertTrue(client.get(bad)[1]["reason"].endswith(reason))
                self.assertEqual(client.lease("orders", wait="3300ms"), [], "their leases would have ended")
                daemon.kill()
                daemon.listen = f"127.0.0.1:{daemon.port}"
                daemon.start()
                client = daemon.client()
                self.wait_until(lambda: self.states(client, slow) == ["done", "done"])
                self.assertEqual([worker.poll() for worker in workers], [None, None])
                self.assertEqual([client.get(number)[1]["attempts"] for number in slow], [1, 1])
            finally:
                for worker in workers:
                    worker.kill()
                output = "".join(worker.communicate(timeout=60)[0] for worker in workers)
        self.assertEqual([output.splitlines().count(body) for body in ("one", "two")], [1, 1], output)
        self.assertNotIn(":ack HTTP Error 409", output)

    def states(self, client, numbers):
        return [client.get(number)[1]["state"] for number in numbers]

    def wait_until(self, is_so):
        deadline = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)


class Dev(unittest.TestCase):
    # The lease had no --wait, so that the pair pasted at once said that nothing was there; and the address and the data
    # directory of the environment were passed over. Without an ack the same message came again after 30 seconds.
    def test_the_printed_lines_deliver_and_ack_when_pasted_at_once(self):
        with Daemon() as daemon:
            daemon.start()
            _, lines = printed_lines(DUEWHEEL_HTTP=f"127.0.0.1:{daemon.port}")
            for pasted in (lines[:2], lines[2:]):
                pasted = "\n".join(pasted).replace("build/release/bin", str(BIN))
                shell = subprocess.Popen(["bash", "-c", pasted], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                         start_new_session=True)  # so that the worker gets the Ctrl-C, too
                try:
                    self.wait_until_done(daemon.client())
                finally:
                    os.killpg(shell.pid, signal.SIGINT)
                    output, errors = shell.communicate(timeout=60)
                self.assertIn("hello in five seconds", output, errors)

    def wait_until_done(self, client):
        """Until a message was put into the queue and none is left; a leased one is."""
        seen, end = False, time.monotonic() + 60
        while time.monotonic() < end:
            status, queue = client.request("GET", "/v1/queues/mail")
            left = queue["pending"] if status == 200 else 0
            if seen and not left:
                return
            seen = seen or left > 0
            time.sleep(0.02)
        self.fail(f"not put and acknowledged within a minute: {status} {queue}")

    def test_the_printed_address_is_the_one_that_the_server_will_have(self):
        for arguments, environment, address in (
                ((), {}, "127.0.0.1:7420"),
                (("--http", "127.0.0.1:7500"), {}, "127.0.0.1:7500"),
                (("--http=127.0.0.1:7500",), {"DUEWHEEL_HTTP": "127.0.0.1:7600"}, "127.0.0.1:7500"),
                ((), {"DUEWHEEL_HTTP": "0.0.0.0:7600", "DUEWHEEL_UNSAFE_PLAIN_LISTEN": "true"}, "127.0.0.1:7600"),
                (("--http", "[::1]:0"), {}, "[::1]:PORT")):
            text, lines = printed_lines(*arguments, **environment)
            self.assertEqual([address in line for line in lines], [True] * 5, text)
        for refused in ("--nonsense", "--http=0.0.0.0:7600"):
            self.assertEqual(printed_lines(refused)[1], [])

    def test_the_data_directory_is_left_to_the_server(self):
        self.assertNotIn("--data", (ROOT / "dev").read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
