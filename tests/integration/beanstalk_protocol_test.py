"""The protocol of beanstalkd: random scripts of commands against Debian's beanstalkd and this server, whose replies must be
the same, and a client library of others. docs/beanstalk.md lists the differences that the scripts avoid.

DUEWHEEL_SEED replays one script of commands.
"""

import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from beanstalk_client import BeanstalkDaemon, Connection, WITHIN_S
from contract import with_packages
from daemon import BIN

SCRIPTS = 3
STEPS = 250
TUBES = ["default", "a", "b", "work.later", "0.5", "Null", "2027-01-01", "y", "0x1F"]


class Reference:
    """Debian's beanstalkd."""

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(["beanstalkd", "-l", "127.0.0.1", "-p", str(self.port)])
        deadline = time.monotonic() + WITHIN_S
        while True:
            try:
                self.connect().close()
                return self
            except OSError:
                assert time.monotonic() < deadline, "beanstalkd did not start"
                time.sleep(0.02)

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()

    def connect(self):
        return Connection(("127.0.0.1", self.port))


# The keys of statistics whose values differ, with the reasons in docs/beanstalk.md, or with time.
MASKED = ("age|time-left|pid|version|rusage-.time|uptime|binlog-.*|id|hostname|os|platform|current-jobs-urgent|timeouts|releases|buries|kicks|total-jobs|"
          "delay|max-job-size|current-tubes|.*connections|current-producers|current-workers|cmd-.*|job-timeouts|pause-time-left")


# The keys whose values are texts.
TEXTS = {"name", "tube", "state", "version", "hostname", "os", "platform"}


class Side:
    """One of the two servers: its connections, and its ids of the script's jobs."""

    def __init__(self, server):
        self.is_ours = not isinstance(server, Reference)
        self.connections = [server.connect() for _ in range(3)]
        self.ids = []  # by the number of the put

    def id_of(self, number):
        return self.ids[number] if number < len(self.ids) else 999_999_999

    def run(self, connection, command):
        name, *arguments = command
        text = name
        if name == "put":
            priority, delay, ttr, body = arguments
            text = f"put {priority} {delay} {ttr} {len(body)}\r\n{body}"
        elif arguments and name in ("delete", "peek", "release", "reserve-job", "bury", "touch", "kick-job", "stats-job"):
            text = " ".join([name, str(self.id_of(arguments[0])), *map(str, arguments[1:])])
        elif arguments:
            text = " ".join([name, *map(str, arguments)])
        reply = self.connections[connection].ask(text + "\r\n").decode()
        if reply.startswith("INSERTED "):
            self.ids.append(int(reply.split()[1]))
        if reply.startswith("OK ") and self.is_ours:
            reply = without_quotes(reply)
        return self.masked(name, reply)

    def masked(self, name, reply):
        for number, known in enumerate(self.ids):
            reply = re.sub(rf"\b(INSERTED|RESERVED|FOUND) {known}\b", rf"\1 #{number}", reply)
        if name.startswith("stats"):
            reply = re.sub(rf"(?m)^({MASKED}): .*$", r"\1: *", reply)
            reply = re.sub(r"^OK \d+", "OK *", reply)
        if name == "peek-buried":  # in the order of burying, or of due times
            reply = reply.split()[0]
        if name == "list-tubes":
            reply = "\n".join(sorted(reply.splitlines()))
        return reply


def without_quotes(reply):
    """The document as beanstalkd writes it, whose tubes `0.5` and `null` are no texts for a YAML reader. Ours are."""
    text = reply.split("\r\n", 1)[1].removesuffix("\r\n")
    document = yaml.safe_load(text)
    if isinstance(document, list):
        assert all(isinstance(tube, str) for tube in document), reply
    else:
        texts = TEXTS | ({"id"} if "hostname" in document else set())  # jobs have numbers
        wrong = [key for key, value in document.items() if isinstance(value, str) != (key in texts)]
        assert not wrong, (wrong, reply)
    text = re.sub(r'(?m)^(- |\S+: )"(.*)"$', r"\1\2", text)
    return f"OK {len(text)}\r\n{text}\r\n"


def random_command(draw, jobs, step):
    """Each priority occurs once: of jobs with the same priority beanstalkd takes the one with the lowest id, and this server
    the one that was ready first."""
    job = draw.randrange(jobs + 1)
    priority = draw.choice([0, 100_000, 4_000_000_000]) + draw.randrange(1000) * 1000 + step
    return draw.choice([
        lambda: ("put", priority, draw.choice([0, 0, 0, 1000, 4294967295]), draw.choice([600, 7200]), draw.choice(["", "x", "body" * 50])),
        lambda: ("put", priority, 0, 600, f"job {jobs}"),
        lambda: ("reserve-with-timeout", 0),
        lambda: ("reserve-with-timeout", 0),
        lambda: ("delete", job),
        lambda: ("reserve-job", job),
        lambda: ("release", job, priority, draw.choice([0, 0, 500, 4294967295])),
        lambda: ("bury", job, priority),
        lambda: ("touch", job),
        lambda: ("kick", draw.choice([0, 10_000])),
        lambda: ("kick-job", job),
        lambda: ("peek", job),
        lambda: (draw.choice(["peek-ready", "peek-delayed", "peek-buried"]),),
        lambda: ("use", draw.choice(TUBES)),
        lambda: ("stats-job", job),
        lambda: ("stats-tube", draw.choice(TUBES + ["never"])),
        lambda: (draw.choice(["list-tubes", "list-tube-used", "list-tubes-watched", "stats"]),),
        lambda: ("watch", draw.choice(TUBES)),
        lambda: ("ignore", draw.choice(TUBES)),
        lambda: (draw.choice(["", " ", "putt", "use", "use ", "use -a", "use a b", "use " + "t" * 201, "delete x", "delete 1 2", "delete -1",
                              "reserve-job", "reserve-job x", "kick 1x", "reserve-with-timeout 0 x", "statsx", "peek-ready 1", "put 1 2", "bury 1", "Reserve", "stats-tube",
                              "watch \x00", "touch 99999999999999999999", "release 1 2", "x" * 300, "pause-tube a", "pause-tube never 1", "put 1 4294967296 1 1",
                              "release 1 4294967296 1"]),),
    ])()


class Differential(unittest.TestCase):
    def test_both_servers_give_the_same_replies(self):
        seeds = [int(os.environ["DUEWHEEL_SEED"])] if "DUEWHEEL_SEED" in os.environ else range(SCRIPTS)
        for seed in seeds:
            with self.subTest(seed=seed), Reference() as reference, BeanstalkDaemon() as daemon:
                daemon.start()
                self.run_script(random.Random(seed), Side(reference), Side(daemon))

    def run_script(self, draw, reference, ours):
        history = []
        for step in range(STEPS):
            connection = draw.randrange(3)
            command = random_command(draw, len(reference.ids), step)
            want, got = reference.run(connection, command), ours.run(connection, command)
            history.append(f"{connection} {command} -> {want!r}")
            self.assertEqual(got, want, "\n".join(history))


class Sessions(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(BeanstalkDaemon())
        self.daemon.start()

    def test_what_was_acknowledged_is_there_after_a_kill(self):
        producer = self.daemon.connect()
        ids = [producer.put(b"%d" % number, priority=100 - number) for number in range(20)]
        self.assertEqual(producer.ask("delete %d\r\n" % ids[0]), b"DELETED\r\n")
        self.daemon.kill()
        self.daemon.start()
        consumer = self.daemon.connect()
        for number in reversed(range(1, 20)):
            self.assertEqual(consumer.ask("reserve-with-timeout 20\r\n"), b"RESERVED %d %d\r\n%d\r\n" % (ids[number], len(str(number)), number))
        self.assertEqual(consumer.ask("reserve-with-timeout 0\r\n"), b"TIMED_OUT\r\n")

    def test_priorities_given_later_are_there_after_a_kill(self):
        client = self.daemon.connect()
        jobs = [client.put(b"x", priority=number) for number in range(3)]
        client.ask("reserve-job %d\r\n" % jobs[0])
        self.assertEqual(client.ask("release %d 9 0\r\n" % jobs[0]), b"RELEASED\r\n")
        client.ask("reserve-job %d\r\n" % jobs[1])
        self.assertEqual(client.ask("bury %d 8\r\n" % jobs[1]), b"BURIED\r\n")
        self.daemon.kill()
        self.daemon.start()
        client = self.daemon.connect()
        self.assertEqual(client.ask("kick 1\r\n"), b"KICKED 1\r\n")
        for job in (jobs[2], jobs[1], jobs[0]):
            self.assertEqual(client.ask("reserve-with-timeout 20\r\n"), b"RESERVED %d 1\r\nx\r\n" % job)

    def test_jobs_of_a_client_that_leaves_are_ready_at_once(self):
        first, second = self.daemon.connect(), self.daemon.connect()
        job = first.put(b"x")
        self.assertEqual(first.ask("reserve\r\n"), b"RESERVED %d 1\r\nx\r\n" % job)
        second.send("reserve\r\n")
        first.close()
        self.assertEqual(second.read(), b"RESERVED %d 1\r\nx\r\n" % job)

    def test_a_job_that_takes_longer_than_its_ttr_is_ready_again(self):
        client, other = self.daemon.connect(), self.daemon.connect()
        job = client.put(b"x", ttr=2)
        client.ask("reserve\r\n")
        other.send("reserve\r\n")
        self.assertEqual(client.ask("reserve\r\n"), b"DEADLINE_SOON\r\n")
        self.assertEqual(other.read(), b"RESERVED %d 1\r\nx\r\n" % job)
        self.assertEqual(client.ask("delete %d\r\n" % job), b"NOT_FOUND\r\n")
        self.assertIn(b"\njob-timeouts: 1\n", client.ask("stats\r\n"))

    # On a server without other clients, commands that a reply or the end of a time led to were executed only when something
    # else came, at the latest ten seconds later.
    def test_an_idle_server_executes_the_commands_of_sessions_at_once(self):
        client, other = self.daemon.connect(), self.daemon.connect()
        began = time.monotonic()
        for _ in range(20):
            self.assertEqual(client.ask(b"kick 10\r\n"), b"KICKED 0\r\n")
            self.assertEqual(client.ask(b"peek-buried\r\n"), b"NOT_FOUND\r\n")
            self.assertEqual(client.ask(b"peek-delayed\r\n"), b"NOT_FOUND\r\n")
            self.assertEqual(other.ask(b"watch a\r\n"), b"WATCHING 2\r\n")
            self.assertEqual(other.ask(b"reserve-with-timeout 0\r\n"), b"TIMED_OUT\r\n")
        job = int(client.ask(b"put 0 0 1 1\r\nx\r\n").split()[1])
        for _ in range(5):
            self.assertEqual(client.ask(b"reserve\r\n"), b"RESERVED %d 1\r\nx\r\n" % job)
            client, other = other, client  # one that waits until the other one's TTR has passed
        self.assertEqual(client.ask(b"pause-tube default 1\r\n"), b"PAUSED\r\n")
        self.assertEqual(client.ask(b"reserve\r\n"), b"RESERVED %d 1\r\nx\r\n" % job)
        self.assertLess(time.monotonic() - began, 30)

    # The names of operating systems are such as "#1 SMP", a comment.
    def test_the_texts_of_statistics_are_texts_for_a_yaml_reader(self):
        document = yaml.safe_load(self.daemon.connect().ask("stats\r\n").split(b"\r\n", 1)[1])
        system = os.uname()
        self.assertEqual((document["hostname"], document["os"], document["platform"]), (system.nodename, system.version, system.machine))
        self.assertEqual((type(document["draining"]), type(document["rusage-utime"]), type(document["pid"])), (bool, float, int))

    def test_a_touched_job_keeps_its_full_ttr(self):
        client, other = self.daemon.connect(), self.daemon.connect()
        job = client.put(b"x", ttr=3)
        client.ask("reserve\r\n")
        began = time.monotonic()
        time.sleep(1)
        self.assertEqual(client.ask("touch %d\r\n" % job), b"TOUCHED\r\n")
        other.ask("reserve\r\n")
        self.assertGreaterEqual(time.monotonic() - began, 4)

    def test_a_waiting_client_gets_a_job_of_any_of_its_tubes_and_only_one(self):
        worker, producer = self.daemon.connect(), self.daemon.connect()
        for tube in ("a", "b"):
            worker.ask(f"watch {tube}\r\n")
        worker.send("reserve\r\n")
        producer.ask("use a\r\n")
        # Both puts are in one commit, perhaps.
        producer.send("put 0 0 60 1\r\nA\r\nput 0 0 60 1\r\nB\r\n")
        ids = [int(producer.read().split()[1]) for _ in range(2)]
        reserved = int(worker.read().split()[1])
        self.assertIn(reserved, ids)
        other, = set(ids) - {reserved}
        self.assertIn(b"state: ready\n", producer.ask(f"stats-job {other}\r\n"))

    def test_a_paused_tube_hands_out_nothing_until_the_pause_ends(self):
        worker, producer = self.daemon.connect(), self.daemon.connect()
        began = time.monotonic()
        self.assertEqual(producer.ask("pause-tube default 2\r\n"), b"PAUSED\r\n")
        job = producer.put(b"x")
        self.assertEqual(worker.ask("reserve-with-timeout 0\r\n"), b"TIMED_OUT\r\n")
        self.assertEqual(worker.ask("reserve\r\n"), b"RESERVED %d 1\r\nx\r\n" % job)
        self.assertGreaterEqual(time.monotonic() - began, 2)

    def test_pipelined_puts_are_answered_in_order(self):
        client = self.daemon.connect()
        client.send(b"".join(b"put 0 0 60 3\r\n%03d\r\n" % number for number in range(500)))
        ids = [int(client.read().split()[1]) for _ in range(500)]
        self.assertEqual(ids, sorted(ids))
        client.send(b"".join(b"delete %d\r\n" % each for each in ids))
        self.assertEqual({client.read() for _ in ids}, {b"DELETED\r\n"})

    # The last command of a pipeline was begun only when more bytes came.
    def test_pipelined_commands_of_all_kinds_are_answered_although_nothing_follows(self):
        client = self.daemon.connect()
        put = b"put 0 0 60 1\r\nx\r\n"
        client.send(put * 3 + b"reserve\r\n" * 3)
        replies = [client.read() for _ in range(6)]
        ids = [int(reply.split()[1]) for reply in replies[:3]]
        self.assertEqual(replies[3:], [b"RESERVED %d 1\r\nx\r\n" % job for job in ids])
        client.send(b"".join(b"delete %d\r\n" % job for job in ids) + put + b"reserve-with-timeout 0\r\n")
        replies = [client.read() for _ in range(5)]
        self.assertEqual(replies[:3], [b"DELETED\r\n"] * 3)
        self.assertEqual(replies[4], b"RESERVED %d 1\r\nx\r\n" % int(replies[3].split()[1]))

    def test_jobs_that_are_too_big_or_not_terminated_are_refused(self):
        client = self.daemon.connect()
        self.assertEqual(client.ask(b"put 0 0 60 65536\r\n" + b"x" * 65536 + b"\r\n"), b"JOB_TOO_BIG\r\n")
        self.assertEqual(client.ask(b"put 0 0 60 2\r\nabcd"), b"EXPECTED_CRLF\r\n")
        self.assertEqual(client.ask(b"put 0 0 60 65535\r\n" + b"x" * 65535 + b"\r\n")[:9], b"INSERTED ")

    def test_messages_of_both_protocols_meet(self):
        client, http = self.daemon.connect(), self.daemon.client()
        _, put = http.put("work", "by http", priority=-1, headers={"beanstalk-ttr": "7"})
        client.ask("watch work\r\n")
        self.assertEqual(client.ask("reserve\r\n"), b"RESERVED %d 7\r\nby http\r\n" % int(put["id"]))
        job = client.ask("stats-job %s\r\n" % put["id"])
        self.assertIn(b"\npri: 2147483647\n", job)
        self.assertIn(b"\nttr: 7\n", job)
        self.assertEqual(client.ask("bury %s 0\r\n" % put["id"]), b"BURIED\r\n")
        self.assertEqual(http.get(put["id"])[1]["state"], "held")
        client.ask("use jobs\r\n")
        job = client.put(b"by beanstalk", ttr=90)
        leased, = http.lease("jobs", 1)
        self.assertEqual((leased["id"], leased["body"], leased["headers"]), (str(job), "by beanstalk", {"beanstalk-ttr": "90"}))
        self.assertEqual(client.ask(f"delete {job}\r\n"), b"NOT_FOUND\r\n")

    def test_a_signal_drains_and_a_stop_answers(self):
        client, waiting = self.daemon.connect(), self.daemon.connect()
        waiting.send("reserve\r\n")
        self.daemon.process.send_signal(signal.SIGUSR1)
        deadline = time.monotonic() + WITHIN_S
        while client.ask("put 0 0 60 1\r\nx\r\n") != b"DRAINING\r\n":
            self.assertLess(time.monotonic(), deadline)
        self.assertIn(b"\ndraining: true\n", client.ask("stats\r\n"))
        self.assertEqual(self.daemon.terminate(), 0, self.daemon.log_text())
        while (reply := waiting.read()).startswith(b"RESERVED"):
            pass
        self.assertIn(reply, (b"TIMED_OUT\r\n", b""))


class TestClock(unittest.TestCase):
    # Leases and delays followed it, and what the sessions time themselves did not.
    def test_times_to_run_pauses_and_timeouts_follow_a_test_clock(self):
        daemon = self.enterContext(BeanstalkDaemon(arguments=["--test-clock"]))
        daemon.start()
        client, other, http = daemon.connect(), daemon.connect(), daemon.client()

        def advance(by):
            self.assertEqual(http.request("POST", "/v1/clock:advance", {"by": by})[0], 200)
        job = client.put(b"x", ttr=1_000)
        reserved = b"RESERVED %d 1\r\nx\r\n" % job
        self.assertEqual(client.ask("reserve\r\n"), reserved)
        other.send("reserve\r\n")
        advance("1000s")
        self.assertEqual(other.read(), reserved)
        self.assertEqual(client.ask("delete %d\r\n" % job), b"NOT_FOUND\r\n")
        self.assertEqual(client.ask("pause-tube default 5000\r\n"), b"PAUSED\r\n")
        self.assertEqual(other.ask("release %d 0 0\r\n" % job), b"RELEASED\r\n")
        client.send("reserve-with-timeout 2000\r\n")
        # An advance on another connection can overtake the command, whose time then begins after it.
        deadline = time.monotonic() + WITHIN_S
        while b"\ncurrent-waiting: 1\n" not in other.ask("stats\r\n"):
            self.assertLess(time.monotonic(), deadline)
        advance("2000s")
        self.assertEqual(client.read(), b"TIMED_OUT\r\n")
        client.send("reserve\r\n")
        advance("3000s")
        self.assertEqual(client.read(), reserved)
        # Without an advance its time passes as usual.
        self.assertEqual(other.ask("reserve-with-timeout 1\r\n"), b"TIMED_OUT\r\n")
        self.assertEqual(client.ask("release %d 0 4294967295\r\n" % job), b"RELEASED\r\n")
        other.send("reserve\r\n")
        for _ in range(5):
            advance("10000d")
        self.assertEqual(other.read(), reserved)


class UnderTheNameOfBeanstalkd(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.directory / "beanstalkd").symlink_to(BIN / "duewheeld")
        (self.directory / "temporary").mkdir()

    def start(self, *flags):
        process = subprocess.Popen([self.directory / "beanstalkd", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={"TMPDIR": str(self.directory / "temporary")})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        line = process.stdout.readline()
        self.assertTrue(line.startswith("ready "), line or process.stderr.read())
        return process, line.split("beanstalk=")[1].strip()

    def stop(self, process):
        process.terminate()
        self.assertEqual(process.wait(WITHIN_S), 0)

    def test_without_a_directory_the_jobs_are_gone_with_the_process(self):
        socket_file = self.directory / "socket"
        for _ in range(2):
            process, address = self.start("-l", f"unix:{socket_file}", "-z100", "-f0", "-VVV")
            self.assertEqual(address, f"unix:{socket_file}")
            client = Connection(str(socket_file))
            self.assertEqual(client.ask("peek-ready\r\n"), b"NOT_FOUND\r\n")
            client.put(b"x")
            self.assertEqual(client.ask("put 0 0 60 101\r\n" + "x" * 101 + "\r\n"), b"JOB_TOO_BIG\r\n")
            client.close()
            self.stop(process)
        self.assertEqual(list((self.directory / "temporary").iterdir()), [])

    def test_a_directory_keeps_the_jobs(self):
        data = self.directory / "data"
        for expected in (b"NOT_FOUND\r\n", b"FOUND 1024 1\r\nx\r\n"):
            process, address = self.start("-b", data, "-p", "0", "-s", "10000000")
            self.assertTrue(address.startswith("127.0.0.1:"), address)
            client = Connection(("127.0.0.1", int(address.rsplit(":", 1)[1])))
            self.assertEqual(client.ask("peek-ready\r\n"), expected)
            client.put(b"x")
            client.close()
            self.stop(process)

    def test_sizes_and_addresses_are_those_of_beanstalkd(self):
        for flags, replies, text in ((("-z", "0", "-l", "127.1"), [b"INSERTED", b"JOB_TOO_BIG\r\n"], ""),
                                     (("-z", "9" * 30, "-s", "0"), [b"INSERTED", b"INSERTED"], "set to 1073741824")):
            process, address = self.start("-p", "0", *flags)
            client = Connection(("127.0.0.1", int(address.rsplit(":", 1)[1])))
            self.assertEqual([client.ask(f"put 0 0 60 {size}\r\n{'x' * size}\r\n").split(b" ")[0] for size in (0, 100_000)], replies)
            client.close()
            self.stop(process)
            self.assertIn(text, process.stderr.read())

    def test_other_flags_are_refused(self):
        for flags, code, text in ((("-x",), 5, "unknown option -x"), (("-p",), 5, "no value for -p"), (("-u", "root"), 5, "start it as user root"),
                                  (("more",), 5, "unexpected argument more"), (("-l", "0.0.0.0"), 2, "unsafe_beanstalk_listen"),
                                  (("-l", "0"), 2, "unsafe_beanstalk_listen"), (("-l", "unix:" + "x" * 200), 2, "--beanstalk"),
                                  (("-z", "many"), 2, "beanstalk-job-max"), (("-v",), 0, ""), (("-h",), 0, "")):
            done = subprocess.run([self.directory / "beanstalkd", *flags], capture_output=True, text=True, timeout=WITHIN_S,
                                  env={"TMPDIR": str(self.directory / "temporary")})
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)
        self.assertEqual(list((self.directory / "temporary").iterdir()), [])


class Listening(unittest.TestCase):
    def test_a_socket_file_serves_and_one_left_over_is_replaced(self):
        with tempfile.TemporaryDirectory() as directory, BeanstalkDaemon(f"unix:{directory}/socket") as daemon:
            daemon.start()
            daemon.connect().put(b"x")
            daemon.kill()
            daemon.start()
            self.assertEqual(daemon.connect().ask("reserve\r\n")[:9], b"RESERVED ")

    def test_an_address_that_others_reach_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            for address, code in (("0.0.0.0:11300", "unsafe_beanstalk_listen"), ("somewhere", "bad_beanstalk_address")):
                done = subprocess.run([BIN / "duewheeld", "--data", directory, "--http", "127.0.0.1:0", "--beanstalk", address],
                                      capture_output=True, text=True, timeout=WITHIN_S)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(code, done.stderr)

    def test_a_client_library_of_others_works(self):
        import greenstalk  # one of the packages

        with BeanstalkDaemon() as daemon:
            daemon.start()
            port = int(re.findall(r"beanstalk_ready.*:(\d+)", daemon.log_text())[-1])
            with greenstalk.Client(("127.0.0.1", port), use="mail", watch=["mail", "sms"]) as client:
                later = client.put("later", delay=1)
                client.put("urgent", priority=1)
                client.put("normal")
                job = client.reserve(timeout=20)
                self.assertEqual(job.body, "urgent")
                client.touch(job)
                client.bury(job, priority=1)
                self.assertEqual(client.peek_buried().body, "urgent")
                self.assertEqual(client.kick(10), 1)
                self.assertEqual([client.reserve(timeout=20).body for _ in range(2)], ["urgent", "normal"])
                job = client.reserve(timeout=20)
                self.assertEqual((job.id, job.body), (later, "later"))
                client.release(job, delay=100)
                self.assertEqual(client.stats_job(job)["state"], "delayed")
                client.kick_job(job)
                client.delete(client.reserve(timeout=20))
                self.assertEqual(client.stats_tube("mail")["current-jobs-reserved"], 2)
                self.assertEqual(client.tubes(), ["default", "mail", "sms"])
                self.assertRaises(greenstalk.TimedOutError, client.reserve, timeout=0)
                self.assertRaises(greenstalk.NotFoundError, client.peek, 1)


if __name__ == "__main__":
    if not shutil.which("beanstalkd"):
        raise SystemExit("beanstalkd is missing, which the replies are compared with: run ./dev packages")
    with_packages()
    import yaml  # one of them
    unittest.main(verbosity=2)
