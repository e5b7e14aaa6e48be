"""Attacks on the audit log: to push lines out of it, to hide an act in noise, and to fill its lines."""

import hashlib
import json
import re
import subprocess
import time
import unittest

from attacks import main
from daemon import BIN, Daemon
from raw_sockets import connect, read_answer, request
from small_disk import Refused, SmallDisk

FLOOD = 1200


def duewheel(*arguments):
    return subprocess.run([BIN / "duewheel", *map(str, arguments)], capture_output=True, text=True, timeout=120)


def with_own_hash(line):
    own = hashlib.sha256(line.split(',"hash"')[0].encode()).hexdigest()
    return re.sub('"hash":"[^"]*"', f'"hash":"{own}"', line)


class Audited(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(arguments=["--auth-required"]))
        self.daemon.data.mkdir()
        self.prepare()
        made = duewheel("token", "add", "root", "--admin", "--data", self.daemon.data)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.root = made.stdout.strip()
        self.daemon.start()
        self.client = self.daemon.client()
        self.tenant = self.ask("PUT", "/v1/tokens/tenant", {"scopes": ["admin"], "namespaces": ["shop"]}, self.root)[1]["token"]

    def prepare(self):
        """Before the server has files."""

    def ask(self, method, path, body=None, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.client.request_text(method, path, None if body is None else json.dumps(body), headers)

    def wait_for_line(self, **members):
        deadline = time.monotonic() + 20
        while True:
            found = [line for line in self.daemon.audit_lines() if all(line.get(name) == value for name, value in members.items())]
            if found:
                return found
            self.assertLess(time.monotonic(), deadline, f"no line has {members}")
            time.sleep(0.02)

    def told(self):
        """Refusals of the tenant that have a line or are counted in one."""
        return sum(line.get("suppressed", 0) + ("outcome" in line) for line in self.daemon.audit_lines() if line["actor"] == "tenant")

    def verify(self):
        return json.loads(duewheel("--json", "audit", "verify", "--data", self.daemon.data).stdout)


class AuditAttack(Audited):
    # 60,000 of them in four seconds replaced all files, and the verification called the log intact.
    def test_requests_that_are_not_valid_push_no_line_out(self):
        attacks = [("PUT", "/v1/namespaces/shop/queues/-q", {}), ("PUT", "/v1/namespaces/shop/queues/q", {"lease": "soon"}),
                   ("PUT", "/v1/namespaces/shop/queues/" + "q" * 1000, {}), ("POST", "/v1/namespaces/shop/queues/-q:purge", None),
                   ("PUT", "/v1/namespaces/shop/schedules/s", {"nonsense": 1}), ("PUT", "/v1/namespaces/other/queues/q", {})]
        for number in range(FLOOD):
            status, _ = self.ask(*attacks[number % len(attacks)], self.tenant)
            self.assertGreaterEqual(status, 400)
        self.assertEqual(self.daemon.terminate(), 0)
        lines = self.daemon.audit_lines()
        of_tenant = [line for line in lines if line["actor"] == "tenant" and "outcome" in line]
        self.assertLess(len(of_tenant), 80, "a burst, and one line every ten seconds")
        self.assertEqual(self.told(), FLOOD, "each is counted")
        self.assertEqual((lines[0]["verb"], lines[0]["object"]), ("token.set", "root"), "the oldest line is still there")
        longest = max(len(line) for path in (self.daemon.data / "audit").glob("audit-*.jsonl") for line in path.read_text().splitlines())
        self.assertLess(longest, 1500)
        verified = self.verify()
        self.assertEqual((verified["is_whole"], verified["removed_lines"], verified["lost_young_lines"]), (True, 0, False))
        self.assertIn("whole_from", verified)

    # Refusals of an address had a limit in common with logins and with refused administrative requests from there.
    def test_noise_hides_neither_a_login_nor_a_refused_act(self):
        for _ in range(300):
            self.assertEqual(self.ask("GET", "/v1/queues", None, "dw_none_" + "x" * 43)[0] // 100, 4)
            self.assertEqual(self.ask("GET", "/v1/namespaces/other/queues", None, self.tenant)[0], 403)
            self.assertEqual(self.ask("PUT", "/v1/namespaces/shop/queues/-q", {}, self.tenant)[0], 400)
        self.assertEqual(self.ask("DELETE", "/v1/tokens/root", None, self.tenant)[0], 403)
        self.assertEqual(self.ask("POST", "/v1/session", {"token": self.root})[0], 200)
        self.wait_for_line(verb="token.remove", actor="tenant", object="root", outcome="forbidden")
        self.wait_for_line(verb="session.begin", actor="root", outcome="ok")

    def test_each_of_many_successes_has_its_line(self):
        for number in range(300):
            self.assertEqual(self.ask("PUT", f"/v1/namespaces/shop/queues/q{number}", {}, self.tenant)[0], 200)
        done = self.wait_for_line(verb="queue.set", actor="tenant", outcome="ok")
        self.assertEqual([line["object"] for line in done], [f"q{number}" for number in range(300)])

    # A user that can write the files can also compute a new chain to their end: against that, the newest hash is kept elsewhere.
    def test_a_log_that_was_changed_afterwards_is_not_intact(self):
        for number in range(5):
            self.ask("PUT", f"/v1/namespaces/shop/queues/q{number}", {}, self.tenant)
        self.assertEqual(self.daemon.terminate(), 0)
        (file,) = (self.daemon.data / "audit").glob("audit-*.jsonl")
        lines = file.read_text().splitlines(keepends=True)
        other = lines[4].replace('"actor":"tenant"', '"actor":"nobody"')
        for what, changed in {"a line is cut out": lines[:3] + lines[4:], "the first lines are cut off": lines[2:], "a line has another actor": lines[:4] + [other] + lines[5:],
                              "its hash is computed anew": lines[:4] + [with_own_hash(other)] + lines[5:], "two lines are swapped": lines[:3] + [lines[4], lines[3]] + lines[5:],
                              "a line is there twice": lines[:4] + [lines[3]] + lines[4:], "a line is made up": lines[:4] + [with_own_hash(lines[3])] + lines[4:],
                              "a member is added": lines[:4] + [lines[4].replace(',"outcome"', ',"note":"x","outcome"')] + lines[5:],
                              "a space is added": lines[:4] + [lines[4].replace('","', '", "', 1)] + lines[5:], "half a line is cut off in the middle": lines[:3] + [lines[3][:50] + "\n"] + lines[4:],
                              "two lines are one": lines[:3] + [lines[3].rstrip("\n") + lines[4]] + lines[5:], "an empty line is added": lines[:3] + ["\n"] + lines[3:],
                              "the number of a line is another": lines[:4] + [lines[4].replace('"seq":5', '"seq":6')] + lines[5:],
                              "all lines are empty": ["\n"] * len(lines), "the file is of another server": ['{"seq":1}\n']}.items():
            with self.subTest(what):
                self.assertNotEqual(changed, lines)
                file.write_text("".join(changed))
                self.assertEqual(duewheel("audit", "verify", "--data", self.daemon.data).returncode, 1)
        with self.subTest("the file has another number"):
            file.unlink()
            (file.parent / "audit-000002.jsonl").write_text("".join(lines))
            self.assertEqual(duewheel("audit", "verify", "--data", self.daemon.data).returncode, 1)
        with self.subTest("no file is left"):
            (file.parent / "audit-000002.jsonl").unlink()
            self.assertEqual(duewheel("audit", "verify", "--data", self.daemon.data).returncode, 1)

    # The last lines have nothing behind them: that they are gone shows by the hash that was kept elsewhere.
    def test_the_last_lines_that_were_cut_off_show_by_their_hash(self):
        self.ask("PUT", "/v1/namespaces/shop/queues/q", {}, self.tenant)
        self.assertEqual(self.daemon.terminate(), 0)
        (file,) = (self.daemon.data / "audit").glob("audit-*.jsonl")
        newest = self.verify()["last_hash"]
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
        self.assertNotEqual(self.verify()["last_hash"], newest)


class ChangesAttack(Audited):
    """A tenant with valid rights makes changes until they would push older lines out. Each has its line, and the server says
    whose they are long before a line is lost. The log is as small as it can be: 128 MiB.
    """

    def prepare(self):
        try:
            self.enterContext(SmallDisk(self.daemon.data / "audit", 1024))
        except Refused as why:
            self.skipTest(f"no small disk can be made here: {why}")
        self.addCleanup(self.daemon.kill)  # before the disk goes

    def test_the_party_that_fills_the_log_is_named_before_a_line_is_lost(self):
        change = request("PUT", f"/v1/namespaces/shop/queues/{'q' * 200}", {}, Authorization=f"Bearer {self.tenant}",
                         Traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        done = 0
        with connect(self.daemon) as connection, connection.makefile("rb") as stream:
            while "audit_log_filling" not in self.daemon.log_text():
                self.assertLess(done, 20_000)
                connection.sendall(change * 200)
                for _ in range(200):
                    self.assertEqual(read_answer(stream)[0], 200)
                done += 200
        self.assertGreater(done, 5_000, "programs that make some thousand changes are no trouble")
        (said,) = [line for line in self.daemon.log_text().splitlines() if "audit_log_filling" in line]
        for text in ("warning", "actor=tenant", "address=127.0.0.1", "verb=queue.set"):
            self.assertIn(text, said)
        self.assertIn("\nduewheel_audit_lines_removed_early_total 0\n", self.ask("GET", "/metrics", None, self.root)[1])
        self.assertEqual(self.daemon.terminate(), 0)
        lines = self.daemon.audit_lines()
        self.assertEqual(sum(line["actor"] == "tenant" and line["outcome"] == "ok" for line in lines), done)
        self.assertEqual((lines[0]["verb"], lines[0]["object"]), ("token.set", "root"), "the oldest line is still there")
        verified = self.verify()
        self.assertEqual((verified["is_whole"], verified["removed_lines"]), (True, 0))
        bytes_of_log = sum(path.stat().st_size for path in (self.daemon.data / "audit").glob("audit-*.jsonl"))
        self.assertLess(bytes_of_log, 128 * 2**20 / 10)


if __name__ == "__main__":
    main(tries=22)
