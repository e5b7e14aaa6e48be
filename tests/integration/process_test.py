"""The real process: start, stop, and fatal errors."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import threading
import time
import unittest

from daemon import BIN, Daemon
from raw_sockets import metric, wait_until

EXIT_BROKEN_WORLD = 74
EXIT_DATA = 65


def segments(daemon):
    return sorted(daemon.data.glob("journal/seg-*.log"))


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x40]))


class Start(unittest.TestCase):
    def test_a_message_put_before_kill_9_comes_on_time_after_it(self):
        with Daemon() as daemon:
            daemon.start()
            status, answer = daemon.client().put("q", "hello", delay="1s")
            self.assertEqual(status, 201)
            daemon.kill()
            daemon.start()
            messages = daemon.client().lease("q", wait="10s")
            self.assertEqual([message["body"] for message in messages], ["hello"])
            self.assertGreaterEqual(messages[0]["delivered_ms"], answer["due_ms"])

    # A wait of an hour ended with the server's restart, and a script took that for a failure of the message.
    def test_the_verb_wait_goes_on_after_a_stop_and_a_kill_within_its_time(self):
        def verb(daemon, *arguments):
            return subprocess.Popen([BIN / "duewheel", "--server", f"http://127.0.0.1:{daemon.port}", "wait", *arguments],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def is_waited_for(daemon):
            client = daemon.client()
            wait_until(lambda: metric(client, "duewheel_message_waits") == 1, "the verb waits")

        with Daemon() as daemon:
            daemon.start()
            daemon.listen = f"127.0.0.1:{daemon.port}"
            number = daemon.client().put("q", "job")[1]["id"]
            waiting = verb(daemon, number, "--timeout", "2m")
            is_waited_for(daemon)
            self.assertEqual(daemon.terminate(), 0)
            daemon.start()
            is_waited_for(daemon)
            daemon.kill()
            daemon.start()
            lease = daemon.client().lease("q", wait="10s")[0]["lease"]
            daemon.client().request("POST", f"/v1/leases/{lease}:ack", {"result": {"sum": 21}})
            output, error = waiting.communicate(timeout=60)
            self.assertEqual((waiting.returncode, output), (0, '{"sum": 21}\n'), error)
            # The time is over while the server is away; and one that never was there is not waited for.
            number = daemon.client().put("q", "job")[1]["id"]
            waiting = verb(daemon, number, "--timeout", "3s")
            is_waited_for(daemon)
            daemon.kill()
            self.assertEqual(waiting.wait(30), 3)
            waiting.communicate()
            never = verb(daemon, number, "--timeout", "1h")
            self.assertEqual(never.wait(30), 3)
            never.communicate()

    def test_a_second_process_on_one_data_directory_is_refused(self):
        with Daemon() as daemon:
            daemon.start()
            second = subprocess.run([BIN / "duewheeld", "--data", daemon.data, "--http", "127.0.0.1:0"],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual(second.returncode, 1)
            self.assertIn("in_use", second.stderr)
            self.assertEqual(daemon.client().put("q", "x")[0], 201)

    def test_the_memory_of_the_process_is_never_written_to_a_core_file(self):
        with Daemon() as daemon:
            if os.geteuid() == 0:
                daemon.directory.chmod(0o777)
                daemon.before = ["setpriv", "--reuid=65534", "--clear-groups"]
            daemon.start()
            process = pathlib.Path(f"/proc/{daemon.process.pid}")
            limits = (process / "limits").read_text()
            self.assertRegex(limits, r"Max core file size +0 +0 ")
            # The kernel gives what a process that may not be dumped has in /proc to root.
            self.assertEqual((process / "environ").stat().st_uid, 0)
            self.assertEqual(daemon.client().request("GET", "/metrics")[0], 200)
            self.assertGreater(int(re.search(r"^process_open_fds (\d+)", daemon.client().request("GET", "/metrics")[1], re.M)[1]), 5)
            daemon.process.send_signal(signal.SIGSEGV)
            self.assertEqual(daemon.wait(), -signal.SIGSEGV)
            self.assertEqual([path.name for path in daemon.directory.rglob("core*")], [])

    # systemd repeated each of these starts every five seconds for ever.
    def test_a_data_directory_that_no_start_can_use_has_an_exit_status_of_its_own(self):
        def start(*arguments):
            return subprocess.run([BIN / "duewheeld", "--data", daemon.data, "--http", "127.0.0.1:0", *arguments],
                                  capture_output=True, text=True, timeout=60)

        with Daemon() as daemon:
            daemon.start()
            daemon.terminate()
            for arguments, name, code in (((), "backup", "not_a_data_directory"), ((), "topic", "log_is_replicated"),
                                          (("--shard", "1", "--shards", "2", "--shards-urls", "http://127.0.0.1:1,http://127.0.0.1:2"),
                                           None, "shards_changed")):
                if name:
                    (daemon.data / name).touch()
                run = start(*arguments)
                self.assertEqual(run.returncode, EXIT_DATA, run.stderr)
                self.assertIn(f"code={code}", run.stderr)
                if name:
                    (daemon.data / name).unlink()
            daemon.data.chmod(0o707)
            run = start()
            self.assertEqual(run.returncode, EXIT_DATA, run.stderr)
            self.assertIn("code=unsafe_data_directory", run.stderr)
            self.assertEqual(start("--print-config").returncode, EXIT_DATA)
            daemon.data.chmod(0o700)
            daemon.start()

    def test_a_port_in_use_is_refused(self):
        with socket.socket() as taken, Daemon() as daemon:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            run = subprocess.run(
                [BIN / "duewheeld", "--data", daemon.data, "--http", f"127.0.0.1:{taken.getsockname()[1]}"],
                capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 1)
            self.assertIn("port_in_use", run.stderr)
            self.assertFalse(daemon.data.exists(), "an address that cannot be had makes no store")

    # "cannot make directory /x: File exists" was all that was said.
    def test_a_data_directory_that_cannot_be_one_is_refused_with_what_to_do(self):
        with Daemon() as daemon:
            (daemon.directory / "file").touch()
            for data, code, told in ((daemon.directory / "file", 1, "with --data"), ("/proc/none", 1, "with --data"),
                                     ("", 2, "remove the setting")):
                with self.subTest(data=data):
                    run = subprocess.run([BIN / "duewheeld", "--data", data, "--http", "127.0.0.1:0"],
                                         capture_output=True, text=True, timeout=60)
                    self.assertEqual(run.returncode, code, run.stderr)
                    self.assertIn(told, run.stderr)

    # "nonsense is no loopback address" was said of it, after a store had been made.
    def test_an_address_that_is_none_is_called_so_before_anything_is_made(self):
        with Daemon() as daemon:
            run = subprocess.run([BIN / "duewheeld", "--data", daemon.data, "--http", "nonsense"],
                                 capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 2)
            self.assertIn("is not an address to listen on", run.stderr)
            self.assertNotIn("loopback", run.stderr)
            self.assertFalse(daemon.data.exists())

    def test_an_index_that_is_gone_is_built_anew(self):
        with Daemon(arguments=["--store-segment-size", "1MiB"]) as daemon:
            daemon.start()
            client = daemon.client()
            numbers = [client.put("q", "x" * 3000, delay="1h")[1]["id"] for _ in range(1500)]
            self.assertGreater(len(segments(daemon)), 3)
            daemon.kill()
            subprocess.run(["rm", "-r", daemon.data / "index"], check=True)
            daemon.start()
            client = daemon.client()
            for number in numbers[::50]:
                self.assertEqual(client.get(number)[1]["state"], "scheduled")
            self.assertEqual(client.cancel(numbers[0])[1]["outcome"], "cancelled")


def raw_request(daemon, head, body=None):
    content = b"" if body is None else json.dumps(body).encode()
    kind = "" if body is None else "Content-Type: application/json\r\n"
    return f"{head} HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n{kind}Content-Length: {len(content)}\r\n\r\n".encode() + content


def read_answer(stream):
    """(status, body) of the next answer on a connection's stream."""
    status = int(stream.readline().split()[1])
    length = 0
    for line in iter(stream.readline, b"\r\n"):
        name, value = line.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
    return status, stream.read(length)


# Reads and leases acted when they arrived, changes when they were on disk: in one write, a lease overtook the put before
# it, and a look the cancel.
class Pipelining(unittest.TestCase):
    def ask(self, daemon, *requests):
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
            connection.sendall(b"".join(raw_request(daemon, *request) for request in requests))
            with connection.makefile("rb") as stream:
                return [(status, json.loads(body)) for status, body in (read_answer(stream) for _ in requests)]

    def test_requests_in_one_write_act_one_after_the_other(self):
        with Daemon() as daemon:
            daemon.start()
            for _ in range(20):
                put, lease = self.ask(daemon, ("POST /v1/queues/q/messages", {"body": "x"}),
                                      ("POST /v1/queues/q:lease", {"max": 1}))
                (message,) = lease[1]["messages"]
                self.assertEqual(message["id"], put[1]["id"])
                ended, look = self.ask(daemon, (f"POST /v1/leases/{message['lease']}:ack",),
                                       (f"GET /v1/messages/{message['id']}",))
                self.assertEqual((ended[1]["outcome"], look[1]["state"]), ("done", "done"))
                number = daemon.client().put("q", "x", delay="1h")[1]["id"]
                cancel, look = self.ask(daemon, (f"DELETE /v1/messages/{number}",), (f"GET /v1/messages/{number}",))
                self.assertEqual((cancel[1]["outcome"], look[1]["state"]), ("cancelled", "cancelled"))


class Leases(unittest.TestCase):
    # What a lease counted from was the last turn of the loop, which may be seconds ago where nothing happens.
    def test_a_lease_that_is_asked_for_after_a_pause_lasts_its_full_time(self):
        with Daemon() as daemon, Daemon() as clock:
            daemon.start()
            clock.start()
            client = daemon.client()
            client.put("q", "x")
            clock.client().lease("nothing", wait="1500ms")
            asked_ms = time.time() * 1000
            (message,) = client.lease("q", lease="1s")
            self.assertGreater(message["lease_until_ms"], asked_ms + 900)


class Secrets(unittest.TestCase):
    def test_each_data_directory_has_its_own_and_no_token_opens_anothers_lease(self):
        identity = slice(120, 152)  # of a segment's header: instance and token key (docs/storage_format.md)
        with Daemon() as one, Daemon() as other:
            seen = []
            for daemon in (one, other):
                daemon.start()
                number = daemon.client().put("q", "x")[1]["id"]
                lease = daemon.client().lease("q")[0]["lease"]
                seen.append((number, lease, segments(daemon)[0].read_bytes()[identity]))
            self.assertEqual(seen[0][0], seen[1][0], "the same message in both, but for their secrets")
            self.assertNotEqual(seen[0][2][:16], seen[1][2][:16])
            self.assertNotEqual(seen[0][2][16:], seen[1][2][16:])
            client = one.client()
            self.assertEqual(client.ack(seen[1][1])[1]["code"], "bad_lease_token")
            lease = seen[0][1]
            for place, character in enumerate(lease):
                forged = lease[:place] + ("B" if character == "A" else "A") + lease[place + 1:]
                self.assertEqual(client.ack(forged)[0], 400, forged)
            self.assertEqual(client.get(seen[0][0])[1]["state"], "leased")
            self.assertEqual(client.ack(lease), (200, {"outcome": "done"}))


class Outcomes(unittest.TestCase):
    # Only sealing told how late it is: in a server that then fell quiet an outcome in the index never expired.
    def test_they_expire_in_a_server_that_seals_nothing_any_more(self):
        with Daemon(arguments=["--store-segment-size", "1MiB", "--store-keep-outcomes", "3s"]) as daemon:
            daemon.start()
            client = daemon.client()
            number = client.put("q", "x", delay="1h")[1]["id"]
            self.assertEqual(client.cancel(number)[1]["outcome"], "cancelled")
            for _ in range(400):
                client.put("q", "x" * 3000, delay="1h")
            deadline = time.monotonic() + 60
            while client.get(number)[0] == 200 and time.monotonic() < deadline:
                pass
            self.assertGreaterEqual(client.get(number)[0], 404)

    # Keys were kept in memory for a day, whatever the setting said, and in the index as long as it said.
    def test_a_key_is_free_again_when_the_outcome_is_forgotten(self):
        with Daemon(arguments=["--store-keep-outcomes", "1s"]) as daemon:
            daemon.start()
            client = daemon.client()
            number = client.put("q", "x", key="k", delay="1h")[1]["id"]
            self.assertEqual(client.put("q", "x", key="k", delay="1h"), (200, client.put("q", "x", key="k", delay="1h")[1]))
            self.assertEqual(client.cancel(number)[1]["outcome"], "cancelled")
            deadline = time.monotonic() + 60
            while (answer := client.put("q", "x", key="k", delay="1h"))[0] == 200 and time.monotonic() < deadline:
                self.assertEqual(answer[1]["id"], number)
            self.assertEqual(answer[0], 201)
            self.assertNotEqual(answer[1]["id"], number)


class Stop(unittest.TestCase):
    def test_sigterm_loses_no_attempt_that_has_begun(self):
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            for number in range(200):
                client.put("q", str(number))
            with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
                put = raw_request(daemon, "POST /v1/queues/other/messages", {"body": "x" * 1000, "delay": "1h"})
                connection.sendall(put * 500)  # the disk is busy while the leases begin
                leased = client.lease("q", maximum=200)
                self.assertEqual(daemon.terminate(), 0, daemon.log_text())
            self.assertEqual(len(leased), 200)
            daemon.start()
            client = daemon.client()
            attempts = [client.get(message["id"])[1]["attempts"] for message in leased]
            self.assertEqual(attempts, [1] * 200)

    def test_sigterm_loses_no_reply(self):
        with Daemon() as daemon:
            daemon.start()
            answered = []
            sent = []

            def work():
                client = daemon.client()
                mine_sent = mine_answered = 0
                try:
                    for number in range(100_000):
                        mine_sent += 1
                        status, _ = client.put("q", str(number), delay="1h")
                        assert status == 201
                        mine_answered += 1
                except (OSError, http.client.HTTPException):
                    pass
                sent.append(mine_sent)
                answered.append(mine_answered)

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            watcher = daemon.client()
            while watcher.request("GET", "/v1/stats")[1]["accepted"] < 500:
                pass
            self.assertEqual(daemon.terminate(), 0, daemon.log_text())
            for thread in threads:
                thread.join()
            daemon.start()
            stats = daemon.client().request("GET", "/v1/stats")[1]
            # Each answered put is there; what is there beyond was sent and its connection closed before the answer,
            # which a stop must not do to a request that had arrived.
            self.assertEqual(stats["pending"], sum(answered), (sent, answered))


# SIGUSR1, SIGUSR2 and others without a meaning ended the process.
class Signals(unittest.TestCase):
    MEANINGFUL = {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT,
                  signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS, signal.SIGXCPU}

    def test_those_without_a_meaning_have_no_effect(self):
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            for number in sorted(signal.valid_signals() - self.MEANINGFUL):
                daemon.process.send_signal(number)
                self.assertEqual(client.put("q", "x")[0], 201, number)
            self.assertIn(" nothing_to_drain: ", daemon.log_text())
            self.assertIn(" nothing_to_reload: ", daemon.log_text())
            self.assertEqual(daemon.terminate(), 0)


class BrokenWorld(unittest.TestCase):
    # It ended with SIGABRT and "terminate called after throwing an instance of 'std::bad_alloc'", without an event.
    def test_a_lack_of_memory_ends_the_process_with_one_line(self):
        with Daemon(arguments=["--http-unfinished-max", "1GiB", "--http-body-max", "128MiB"]) as daemon:
            daemon.start()
            number = daemon.client().put("q", "x", delay="1h")[1]["id"]
            with open(f"/proc/{daemon.process.pid}/status") as status:
                used = int(re.search(r"VmSize:\s+(\d+) kB", status.read())[1]) << 10
            resource.prlimit(daemon.process.pid, resource.RLIMIT_AS, (used + (24 << 20), used + (24 << 20)))
            head = f"POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: {100 << 20}\r\n\r\n"
            with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection, contextlib.suppress(ConnectionError):
                connection.sendall(head.encode())
                for _ in range(99):
                    connection.sendall(b"x" * (1 << 20))
            self.assertEqual(daemon.wait(), EXIT_BROKEN_WORLD, daemon.log_text())
            (line,) = [line for line in daemon.log_text().splitlines() if "fatal_error" in line]
            self.assertIn("code=out_of_memory", line)
            daemon.start()
            self.assertEqual(daemon.client().get(number)[0], 200)
            # The metric said that it had been killed.
            self.assertIn("ended=fatal", daemon.log_text())

    def test_a_failed_sync_ends_the_process_and_nothing_is_answered(self):
        trigger_name = "fail-now"
        # With a test's clock, of which nothing is left on disk, the log alone is synced; else the mark of the clock may fail first.
        with Daemon(arguments=["--test-clock"], environment={"LD_PRELOAD": os.environ["DUEWHEEL_FAILING_SYNC"]}) as daemon:
            trigger = pathlib.Path(daemon.directory) / trigger_name
            daemon.environment["DUEWHEEL_FAIL_SYNC_WHEN"] = str(trigger)
            daemon.start()
            client = daemon.client()
            kept = client.put("q", "kept", delay="1h")[1]["id"]
            trigger.touch()
            with self.assertRaises((OSError, http.client.HTTPException)):
                client.put("q", "never answered", delay="1h")
            self.assertEqual(daemon.wait(), EXIT_BROKEN_WORLD)
            self.assertIn("code=log_failed", daemon.log_text())
            trigger.unlink()
            daemon.start()
            self.assertEqual(daemon.client().get(kept)[1]["state"], "scheduled")

    def test_damage_in_the_log_refuses_to_start_and_is_found_offline(self):
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            for number in range(50):
                self.assertEqual(client.put("q", f"message {number}", delay="1h")[0], 201)
            self.assertEqual(daemon.terminate(), 0)
            segment = segments(daemon)[-1]
            offset = segment.read_bytes().find(b"message 20")
            flip(segment, offset)
            check = subprocess.run([BIN / "duewheel", "check", daemon.data], capture_output=True, text=True, timeout=60)
            self.assertEqual(check.returncode, 1, check.stdout)
            self.assertIn(segment.name, check.stderr)
            with self.assertRaises(AssertionError):
                daemon.start()
            self.assertEqual(daemon.wait(), EXIT_DATA)
            self.assertIn("damaged_log", daemon.log_text())
            self.assertIn(segment.name, daemon.log_text())
            flip(segment, offset)
            check = subprocess.run([BIN / "duewheel", "check", daemon.data], capture_output=True, text=True, timeout=60)
            self.assertEqual(check.returncode, 0, check.stderr)
            daemon.start()
            self.assertEqual(daemon.client().request("GET", "/v1/stats")[1]["pending"], 50)

    def test_a_torn_end_is_cut_and_said(self):
        with Daemon() as daemon:
            daemon.start()
            client = daemon.client()
            first = client.put("q", "first", delay="1h")[1]["id"]
            daemon.kill()
            segment = segments(daemon)[-1]
            # Half a record beyond the last commit, as a power cut leaves it.
            data = segment.read_bytes()
            end = (len(data.rstrip(b"\0")) + 511) // 512 * 512
            with open(segment, "r+b") as file:
                file.seek(end)
                file.write(b"\x40\0\0\0torn, with a secret")
            daemon.start()
            self.assertIn("log_tail_truncated", daemon.log_text())
            self.assertNotIn("secret", daemon.log_text())  # the event had the first bytes, which may be of a message
            self.assertEqual(daemon.client().get(first)[1]["state"], "scheduled")


if __name__ == "__main__":
    unittest.main(verbosity=2)
