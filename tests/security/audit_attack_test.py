"""Attacks on the audit log: to push lines out of it, to hide an act in noise, and to fill its lines."""

import hashlib
import json
import re
import subprocess
import time
import unittest

from attacks import main
from daemon import BIN, Daemon

FLOOD = 1200


def duewheel(*arguments):
    return subprocess.run([BIN / "duewheel", *map(str, arguments)], capture_output=True, text=True, timeout=120)


def with_own_hash(line):
    own = hashlib.sha256(line.split(',"hash"')[0].encode()).hexdigest()
    return re.sub('"hash":"[^"]*"', f'"hash":"{own}"', line)


class AuditAttack(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(arguments=["--auth-required"]))
        self.daemon.data.mkdir()
        made = duewheel("token", "add", "root", "--admin", "--data", self.daemon.data)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.root = made.stdout.strip()
        self.daemon.start()
        self.client = self.daemon.client()
        self.tenant = self.ask("PUT", "/v1/tokens/tenant", {"scopes": ["admin"], "namespaces": ["shop"]}, self.root)[1]["token"]

    def ask(self, method, path, body=None, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.client.request_text(method, path, None if body is None else json.dumps(body), headers)

    def lines(self):
        every = [json.loads(line) for path in sorted((self.daemon.data / "audit").glob("audit-*.jsonl"))
                 for line in path.read_text().splitlines()]
        return [line for line in every if line["verb"] != "audit.file"]

    def wait_for_line(self, **members):
        deadline = time.monotonic() + 20
        while True:
            found = [line for line in self.lines() if all(line.get(name) == value for name, value in members.items())]
            if found:
                return found
            self.assertLess(time.monotonic(), deadline, f"no line has {members}")
            time.sleep(0.02)

    def told(self):
        """Refusals of the tenant that have a line or are counted in one."""
        return sum(line.get("suppressed", 0) + ("outcome" in line) for line in self.lines() if line["actor"] == "tenant")

    # 60,000 of them in four seconds replaced all files, and the verification called the log intact.
    def test_requests_that_are_not_valid_push_no_line_out(self):
        attacks = [("PUT", "/v1/namespaces/shop/queues/-q", {}), ("PUT", "/v1/namespaces/shop/queues/q", {"lease": "soon"}),
                   ("PUT", "/v1/namespaces/shop/queues/" + "q" * 1000, {}), ("POST", "/v1/namespaces/shop/queues/-q:purge", None),
                   ("PUT", "/v1/namespaces/shop/schedules/s", {"nonsense": 1}), ("PUT", "/v1/namespaces/other/queues/q", {})]
        for number in range(FLOOD):
            status, _ = self.ask(*attacks[number % len(attacks)], self.tenant)
            self.assertGreaterEqual(status, 400)
        self.assertEqual(self.daemon.terminate(), 0)
        lines = self.lines()
        of_tenant = [line for line in lines if line["actor"] == "tenant" and "outcome" in line]
        self.assertLess(len(of_tenant), 80, "a burst, and one line every ten seconds")
        self.assertEqual(self.told(), FLOOD, "each is counted")
        self.assertEqual((lines[0]["verb"], lines[0]["object"]), ("token.set", "root"), "the oldest line is still there")
        longest = max(len(line) for path in (self.daemon.data / "audit").glob("audit-*.jsonl") for line in path.read_text().splitlines())
        self.assertLess(longest, 1500)
        verified = json.loads(duewheel("--json", "audit", "verify", "--data", self.daemon.data).stdout)
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

    # Whoever can write the files can also compute a new chain to their end: against that, the newest hash is kept elsewhere.
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
        newest = json.loads(duewheel("--json", "audit", "verify", "--data", self.daemon.data).stdout)["last_hash"]
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
        self.assertNotEqual(json.loads(duewheel("--json", "audit", "verify", "--data", self.daemon.data).stdout)["last_hash"], newest)


if __name__ == "__main__":
    main(tries=21)
