"""Clients of beanstalkd's protocol that send what is no command, or a command on what is not theirs: jobs that another connection has reserved,
and messages of other namespaces. What HTTP, other protocols and endless lines do is in other_protocol_attack_test.py and
tests/integration/hostile_clients_test.py.
"""

import unittest

from attacks import main
from beanstalk_client import BeanstalkDaemon
from raw_sockets import memory_bytes, rest_of

REFUSED = (b"BAD_FORMAT\r\n", b"UNKNOWN_COMMAND\r\n", b"NOT_FOUND\r\n", b"JOB_TOO_BIG\r\n", b"EXPECTED_CRLF\r\n")


class Protocol(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(BeanstalkDaemon())
        cls.daemon.start()
        cls.http = cls.daemon.client()
        cls.victim = cls.daemon.connect()
        cls.job = cls.victim.put(b"victim", delay=3600)
        cls.foreign = int(cls.http.request("POST", "/v1/namespaces/team/queues/default/messages", {"body": "foreign"})[1]["id"])
        cls.rule = int(cls.http.put("default", "x", delay="1h", repeat={"every": "1h"})[1]["id"])

    def state(self):
        jobs = [self.http.get(number) for number in (self.job, self.rule)]
        return jobs, self.http.request("GET", f"/v1/namespaces/team/messages/{self.foreign}"), self.http.request("GET", "/v1/queues")

    def replies(self, sent):
        connection = self.daemon.connect()
        connection.send(b"list-tube-used\r\n" + sent + b"\r\nquit\r\n")
        replies = rest_of(connection.socket)
        self.assertTrue(replies.startswith(b"USING default\r\n"), replies)
        return replies.removeprefix(b"USING default\r\n")

    def assert_refused(self, sent):
        before = self.state()
        replies = self.replies(sent)
        self.assertIn(replies.splitlines(True)[0], REFUSED, replies)
        self.assertNotIn(b"INSERTED", replies)
        self.assertEqual(self.state(), before)

    def test_numbers(self):
        job = self.job
        for what, sent in {
                "negative size": b"put 0 0 60 -1", "size with a sign": b"put 0 0 60 +4\r\nevil", "size beyond 32 bits": b"put 0 0 60 4294967296",
                "size beyond 64 bits": b"put 0 0 60 18446744073709551620\r\nevil", "size in hexadecimal": b"put 0 0 60 0x4\r\nevil",
                "size with an exponent": b"put 0 0 60 4e0\r\nevil", "half a size": b"put 0 0 60 4.0\r\nevil", "negative priority": b"put -1 0 60 4\r\nevil",
                "priority beyond 32 bits": b"put 4294967296 0 60 4\r\nevil", "negative delay": b"put 0 -1 60 4\r\nevil",
                "delay beyond 32 bits": b"put 0 4294967296 60 4\r\nevil", "negative time to run": b"put 0 0 -1 4\r\nevil", "no size": b"put 0 0 60\r\nevil",
                "too many numbers": b"put 0 0 60 4 4\r\nevil", "no numbers": b"put\r\nevil", "negative id": b"delete -%d" % job,
                "id with a sign": b"delete +%d" % job, "id in hexadecimal": b"delete 0x%x" % job, "id and more": b"delete %d;" % job,
                "id that wraps": b"delete %d" % (job + (1 << 64)), "id of zero": b"delete 0", "two ids": b"delete %d %d" % (job, job),
                "NUL behind the id": b"delete %d\0" % job, "digits of another script": "delete ".encode() + "١٠٢٤".encode(),
                "negative bound": b"kick -1", "bound beyond 64 bits": b"kick 18446744073709551616", "negative pause": b"pause-tube default -1",
                "pause beyond 32 bits": b"pause-tube default 4294967296", "wait beyond 32 bits": b"reserve-with-timeout 4294967296"}.items():
            with self.subTest(what):
                self.assert_refused(sent)

    def test_names_and_lines(self):
        for what, sent in {"tube that begins with a hyphen": b"use -tube", "long tube": b"use " + b"a" * 201, "empty tube": b"use ",
                           "tube with a space": b"use a b", "tube with NUL": b"use a\0b", "tube with a line feed": b"use a\nb", "tube of bytes": b"use \xff\xfe",
                           "tube with an escape": b"use a\x1b[2J", "tube of another namespace": b"use team:default", "tube as a path": b"use ..\\team",
                           "long line": b"use " + b"a" * 5000, "capitals": b"DELETE %d" % self.job, "command with NUL": b"delete\0%d" % self.job,
                           "tab for a space": b"delete\t%d" % self.job, "comment": b"# delete %d" % self.job, "backspaces": b"x\b\bdelete %d" % self.job}.items():
            with self.subTest(what):
                self.assert_refused(sent)

    # The body of a job does not become commands.
    def test_commands_in_a_job(self):
        commands = b"\r\ndelete %d\r\ndelete %d\r\n" % (self.job, self.rule)
        for what, size in {"stored": len(commands), "too big": 100_000, "as big as its limit": 65_535}.items():
            with self.subTest(what):
                before = self.state()
                self.replies(b"put 0 3600 60 %d\r\n" % size + commands.ljust(size, b"\n"))
                self.assertEqual(self.state()[:2], before[:2])

    def test_messages_of_another_namespace(self):
        foreign = b"%d" % self.foreign
        for verb in (b"delete %s", b"peek %s", b"reserve-job %s", b"kick-job %s", b"stats-job %s", b"touch %s", b"release %s 0 0", b"bury %s 0"):
            with self.subTest(verb):
                self.assert_refused(verb % foreign)
        with self.subTest("lists and counts"):
            self.assertNotIn(b"team", self.replies(b"list-tubes\r\nstats\r\nstats-tube default"))

    def test_jobs_that_another_connection_has_reserved(self):
        owner = self.daemon.connect()
        owner.ask("use reserved\r\n")
        owner.ask("watch reserved\r\n")
        job = owner.put(b"mine")
        self.assertEqual(owner.ask("reserve\r\n")[:8], b"RESERVED")
        for verb in (b"delete %d", b"reserve-job %d", b"kick-job %d", b"touch %d", b"release %d 0 0", b"bury %d 0"):
            with self.subTest(verb):
                self.assertEqual(self.replies(verb % job), b"NOT_FOUND\r\n")
        self.assertEqual(owner.ask(f"delete {job}\r\n"), b"DELETED\r\n")

    def test_many_tubes_of_one_client_take_little_memory(self):
        before = memory_bytes(self.daemon)
        connection = self.daemon.connect()
        for part in range(20):
            connection.send(b"".join(b"watch %s%d\r\n" % (b"w" * 190, part * 1000 + number) for number in range(1000)))
            for _ in range(1000):
                connection.read()
        self.assertLess(memory_bytes(self.daemon) - before, 64 << 20)
        self.assertIn(b"\nstate: delayed\n", self.victim.ask(f"stats-job {self.job}\r\n"))


if __name__ == "__main__":
    main(tries=64)
